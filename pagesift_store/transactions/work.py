"""One write transaction at work."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from pagesift_store.focus.order import Harvest
from pagesift_store.storage.prepared import Runner
from pagesift_store.storage.statements import crawl as crawl_sql
from pagesift_store.transactions.texts import clean

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import SimpleNamespace

    from sqlalchemy import Connection

    from pagesift_store.errors import Refusal
    from pagesift_store.records import LinkState
    from pagesift_store.settings import Settings
    from pagesift_store.transactions.memory import HostInfo, Memory


class NewLane(NamedTuple):
    """A lane that is still to be written.

    Attributes:
        id: that it will have.
        host: what its links queue with.
        subtree: key of the part that decides dryness.
        cluster: key of the part that decides proof.
    """

    id: int
    host: HostInfo
    subtree: str
    cluster: str


class Work(Runner):
    """One write transaction; runs prepared statements on its connection.

    Attributes:
        connection: inside `BEGIN IMMEDIATE`.
        memory: what is remembered of the store; changed along with the rows.
        crawl: the crawl's row, of that memory; changes are written by `save`.
        settings: the crawl's settings, of that memory.
        now: the moment of the call.
        refused: URLs refused in this transaction: reason → (count, an example).
        new_lanes: lanes made and not written yet.
        heads: the best link that was queued in a lane and not offered to it yet: lane → (demoted, -score, link).
    """

    __slots__ = (
        "_saved",
        "connection",
        "crawl",
        "heads",
        "memory",
        "new_lanes",
        "now",
        "refused",
        "settings",
    )

    def __init__(self, connection: Connection, memory: Memory, now: float) -> None:
        super().__init__(connection)
        self.connection = connection
        self.memory = memory
        self.crawl: SimpleNamespace = memory.crawl
        self.settings: Settings = memory.settings
        self.now = now
        self.refused: dict[Refusal, tuple[int, str]] = {}
        self.new_lanes: list[NewLane] = []
        self.heads: dict[int, tuple[int, float, int]] = {}
        self._saved = _counters(memory.crawl)

    @property
    def total(self) -> Harvest:
        """Pages that count and hits among them, over the whole crawl."""
        return Harvest(self.crawl.pages, self.crawl.hits)

    def moved(self, before: LinkState | None, after: LinkState | None, links: int = 1) -> None:
        """Count links that went from one state to another; None is "not in the store"."""
        if before is not None:
            setattr(self.crawl, before.value, getattr(self.crawl, before.value) - links)
        if after is not None:
            setattr(self.crawl, after.value, getattr(self.crawl, after.value) + links)

    def refuse(self, reason: Refusal, url: str) -> None:
        """Count a refused URL."""
        count, example = self.refused.get(reason, (0, clean(url[:200])))
        self.refused[reason] = (count + 1, example)

    def save(self) -> None:
        """Write the counters back, as the last step before the commit."""
        self.run_many(
            crawl_sql.count_refusal(),
            [
                {"reason": reason.value, "refused": count, "example": example}
                for reason, (count, example) in self.refused.items()
            ],
        )
        if _counters(self.crawl) != self._saved:
            self.crawl.moment = self.now  # along with a change only: looking in vain must not write
            self.run(crawl_sql.save_counters(), **vars(self.crawl))
        self.memory.trim()


_counters: Callable[[SimpleNamespace], tuple[Any, ...]] = attrgetter(*crawl_sql.COUNTERS)
