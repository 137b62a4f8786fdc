"""Pages that are due for another visit, longest due first, as far as somebody looks."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

from pagesift_store.storage.statements import revisits as sql

if TYPE_CHECKING:
    from pagesift_store.settings import Settings
    from pagesift_store.storage.prepared import Runner, Stream
    from pagesift_store.transactions.heads import Walk


@dataclass(frozen=True, slots=True)
class Due:
    """A page that may be visited again now.

    Attributes:
        row: its lane, as `walk_again` gives it.
        again: what it came from.
    """

    row: Any
    again: Again

    @property
    def link_id(self) -> int:
        """The link."""
        return int(self.row.again_id)

    @property
    def lane_id(self) -> int:
        """Its lane."""
        return int(self.row.lane_id)

    @property
    def host_id(self) -> int:
        """Its host."""
        return int(self.row.host_id)

    @property
    def cluster_id(self) -> int:
        """Its cluster."""
        return int(self.row.cluster_id)

    @property
    def delay(self) -> float:
        """Seconds that its host rests between two leases."""
        return float(self.row.delay)

    def took(self, ready_at: float) -> None:
        """It was leased."""
        self.again.took(self, ready_at)


class Again:
    """The due pages whose hosts may be visited now, as leases are taken from them.

    Args:
        runner: inside a transaction, which need not be a writing one.
        settings: of the crawl.
        now: the moment.
        walk: counts what is leased in the same call.
        waiting: whether any page waits at all.
    """

    def __init__(
        self, runner: Runner, settings: Settings, now: float, walk: Walk, *, waiting: bool = True
    ) -> None:
        self._runner = runner
        self._now = now
        self._walk = walk
        self._met: set[int] = set()
        self._behind: list[tuple[float, int, Any]] = []
        self._stream: Stream | None = None
        first = self._runner.first(sql.next_again()) if waiting else None
        if first is not None and first.again_due <= now:
            self._stream = self._runner.stream(
                sql.walk_again(),
                now=now,
                max_in_flight=settings.max_in_flight,
                default_delay=settings.default_delay,
            )
        self._following = self._read()

    def close(self) -> None:
        """Stop reading. An unfinished read would hold its snapshot of the store beyond the transaction."""
        if self._stream is not None:
            self._stream.close()

    def _read(self) -> tuple[float, int, Any] | None:
        """The next lane; one whose first page was leased meanwhile may be met again, and is passed over."""
        for row in self._stream or ():
            if row.lane_id not in self._met:
                self._met.add(row.lane_id)
                return row.again_due, row.again_id, row
        return None

    def next(self) -> Due | None:
        """The page to lease next; None when none may be leased now. Asked again, it gives the same one."""
        while (first := self._first()) is not None:
            if self._walk.open_again(first[2]):
                return Due(first[2], self)
            self._drop(first)  # what was shut in this call stays shut in it: the moment is one
        return None

    def _first(self) -> tuple[float, int, Any] | None:
        if self._behind and (self._following is None or self._behind[0][:2] < self._following[:2]):
            return self._behind[0]
        return self._following

    def _drop(self, first: tuple[float, int, Any]) -> None:
        if first is self._following:
            self._following = self._read()
        else:
            heappop(self._behind)

    def took(self, due: Due, ready_at: float) -> None:
        """A page was leased: its host is busier, and the next one of its lane, if it is due, takes its place."""
        first = self._first()
        if first is not None:
            self._drop(first)
        self._walk.revisited(due.host_id, due.cluster_id, ready_at)
        behind = self._runner.first(sql.behind(), the_lane=due.lane_id)
        if behind is not None and behind.due_at <= self._now:
            row = due.row._replace(again_id=behind.id, again_due=behind.due_at)
            heappush(self._behind, (behind.due_at, behind.id, row))
