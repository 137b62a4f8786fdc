"""The heads that may be leased at a moment, read as far as the choice looks."""

from __future__ import annotations

from heapq import merge
from typing import TYPE_CHECKING, Any

from pagesift_store.focus.harvest import is_dry, is_proven
from pagesift_store.focus.order import Harvest, Head, Heads, Tier, choose, set_aside
from pagesift_store.storage.prepared import listed
from pagesift_store.storage.statements import leases as sql
from pagesift_store.storage.statements import links as links_sql
from pagesift_store.transactions.aside import read_dry
from pagesift_store.transactions.lanes import Lanes
from pagesift_store.transactions.limits import Caps

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from sqlalchemy import Select

    from pagesift_store.settings import Settings
    from pagesift_store.storage.prepared import Runner, Stream

SOON = 60.0
"""Seconds: heads set aside wait for anything better that is due within them."""


_MARKS = ((False, False), (False, True), (True, False), (True, True))
"""What lanes are marked with: (dry, spent)."""

MANY = 64
"""Proven clusters up to which their heads are asked for by name."""

Fruitful = dict[Harvest, set[int]]
"""Clusters with a hit, by their harvest: few harvests, however many clusters."""


def read_fruitful(runner: Runner) -> Fruitful:
    """The clusters with a hit, as stored."""
    found: Fruitful = {}
    for row in runner.rows(sql.fruitful_clusters()):
        found.setdefault(Harvest(row.pages, row.hits), set()).add(row.id)
    return found


def proven_clusters(fruitful: Fruitful, total: Harvest, delta: float) -> set[int]:
    """The clusters that are proven; none without a hit is."""
    proven: set[int] = set()
    for harvest, clusters in fruitful.items():
        if is_proven(*harvest, *total, delta):
            proven |= clusters
    return proven


class Walk:
    """The heads whose hosts may be visited now, as leases are taken from them.

    Args:
        runner: inside a transaction, which need not be a writing one.
        settings: of the crawl.
        total: pages that count and hits among them, over the whole crawl.
        now: the moment.
        caps: limits on pages. None: those of the settings.
        fruitful: gives the clusters with a hit, by their harvest. None: as stored.
        reviewed: whether all subtrees that are marked dry are so now; else those that are not are found here.

    Attributes:
        dry: subtrees that were found dry and are not marked.
        spent: clusters that leases of this call have spent.
    """

    def __init__(
        self,
        runner: Runner,
        settings: Settings,
        total: Harvest,
        now: float,
        caps: Caps | None = None,
        *,
        fruitful: Callable[[], Fruitful] | None = None,
        reviewed: bool = False,
    ) -> None:
        self.dry: set[int] = set()
        self.spent: set[int] = set()
        self._fruitful = fruitful
        self._runner = runner
        self._caps = caps or Caps.of(settings)
        self._out: dict[int, int] = self._caps.leased(runner)
        self._settings = settings
        self._total = total
        self._now = now
        self._values = {
            "now": now,
            "soon": now + SOON,
            "max_in_flight": settings.max_in_flight,
            "default_delay": settings.default_delay,
            "most_of_host": self._caps.host,
            "most_of_part": self._caps.part,
        }
        self._rows: dict[int, Any] = {}
        self._in_flight: dict[int, int] = {}
        self._given: dict[int, int] = {}
        self._taken: dict[int, int] = {}
        self._ready_at: dict[int, float] = {}
        self._scheduled: dict[int, int] = {}
        self._met: list[set[int]] = []
        self._took_better = False
        self._reading: list[Stream | Lanes] = []
        self._kept: list[Any] = []
        self._verdicts: dict[tuple[int, int], bool] = {}
        all_dry = reviewed or all(self._is_dry(*harvest) for harvest in read_dry(runner))
        self._marks = _MARKS[:2] if all_dry else _MARKS
        self._heads = {marks: self._heads_of(*marks) for marks in self._marks}
        self._is_last = False
        self._proven: Heads | None = None
        self._clusters: set[int] | None = None

    def close(self) -> None:
        """Stop reading. An unfinished read would hold its snapshot of the store beyond the transaction."""
        for one in self._reading:
            one.close()
        # What refers to one another would wait for the garbage collector, which takes longer than all else here.
        self._reading.clear()
        self._heads.clear()
        self._proven = None

    def _lanes(self, dry: bool, spent: bool) -> Lanes:
        lanes = Lanes(self._runner, self._values, dry, spent, note=self._note, is_open=self._is_host_open)
        self._reading.append(lanes)
        return lanes

    def _resting(self, dry: bool, spent: bool) -> Lanes:
        """Lanes whose hosts rest and will be ready soon."""
        lanes = Lanes(self._runner, self._values, dry, spent, soon=True)
        self._reading.append(lanes)
        return lanes

    def _read(self, statement: Select[Any], **more: Any) -> Stream:
        stream = self._runner.stream(statement, **self._values, **more)
        self._reading.append(stream)
        return stream

    def _walk(self, rows: Iterable[Any]) -> Iterator[Any]:
        """Rows as they are read; a lane whose head was leased meanwhile may be met again, and is passed over."""
        met: set[int] = set()
        self._met.append(met)
        for row in rows:
            if row.lane_id not in met:
                met.add(row.lane_id)
                self._rows[row.lane_id] = row
                self._note(row)
                yield row

    def _note(self, row: Any) -> None:
        """Keep what a host or a cluster had, from its first row: only leases after that are counted here.

        What is read late may show leases taken meanwhile.
        """
        self._in_flight.setdefault(row.host_id, row.in_flight)
        self._given.setdefault(row.cluster_id, row.cluster_scheduled)

    def _head(self, row: Any) -> Head:
        return _head(row, self._given[row.cluster_id])

    def _worthwhile(self, dry: bool, spent: bool) -> Iterator[Head]:
        """The heads of lanes with these marks; those of dry subtrees are kept until there is nothing else."""
        for row in self._walk(self._lanes(dry, spent)):
            if self._is_dry(row.subtree_pages, row.subtree_hits):
                if not row.dry:
                    self.dry.add(row.subtree_id)
                if not self._is_last:
                    self._kept.append(row)
                    continue
            yield self._head(row)

    def _heads_of(self, dry: bool, spent: bool) -> Heads:
        lanes = self._worthwhile(dry, spent)
        return Heads(lanes, self._open, None if spent else lambda head: head.cluster_id in self.spent)

    def _tier(self, marks: Collection[tuple[bool, bool]]) -> Tier:
        unspent = [self._heads[dry, spent].unspent for dry, spent in marks if not spent]
        return Tier(_Merged([self._heads[one].__iter__ for one in marks]), _Merged(unspent))

    def _is_dry(self, pages: int, hits: int) -> bool:
        verdict = self._verdicts.get((pages, hits))
        if verdict is None:
            verdict = is_dry(pages, hits, *self._total, self._settings.delta)
            self._verdicts[pages, hits] = verdict
        return verdict

    def _last_resort(self) -> Tier | None:
        """All heads, those that are set aside among them; None while something better is about to come."""
        if not self._nothing_better():
            return None
        self._is_last = True
        for row in self._kept:
            self._heads[row.dry, row.spent].add(self._head(row))
        self._kept.clear()
        for marks in _MARKS:
            if marks not in self._heads:
                self._heads[marks] = self._heads_of(*marks)
        return self._tier(_MARKS)

    def _in_clusters(self, clusters: list[int]) -> Iterator[Head]:
        statement, parameters = listed(sql.heads_of_clusters, sql.CLUSTERS, clusters)
        return map(self._head, self._walk(self._read(statement, **parameters)))

    def _proven_heads(self) -> Iterable[Head]:
        """The heads whose clusters are proven."""
        if self._clusters is None:
            fruitful = read_fruitful(self._runner) if self._fruitful is None else self._fruitful()
            self._clusters = proven_clusters(fruitful, self._total, self._settings.delta)
        clusters = self._clusters
        if len(clusters) > MANY:
            # Among so many, the best is soon met on the way down.
            return (
                head for head in merge(*self._heads.values(), key=Head.place) if head.cluster_id in clusters
            )
        if self._proven is None:
            self._proven = Heads(self._in_clusters(sorted(clusters)) if clusters else (), self._open)
        return self._proven

    def next(self) -> Head | None:
        """The head to lease next; None when nothing may be leased now."""
        return choose(
            self._tier(self._marks),
            self._proven_heads,
            total=self._total,
            cluster_cap=self._settings.cluster_cap,
            delta=self._settings.delta,
            scheduled=self.scheduled,
            last_resort=self._last_resort,
            lenient=self._settings.focus == "full",
        )

    def _open(self, head: Head) -> bool:
        """Whether a head may still be leased, after what was leased meanwhile; once it may not, it never may again."""
        row = self._rows[head.lane_id]
        return (
            self._is_host_open(row)
            and row.subtree_fetched + self._out.get(row.subtree_id, 0) < self._caps.part
        )

    def _is_host_open(self, row: Any) -> bool:
        out = self._in_flight[row.host_id] + self._taken.get(row.host_id, 0)
        return self._ready_at.get(row.host_id, 0.0) <= self._now and out < min(
            row.places, self._caps.host - row.host_pages
        )

    def open_again(self, row: Any) -> bool:
        """Whether the host of a row of `walk_again` may still be visited, after what was leased meanwhile."""
        out = self._in_flight.setdefault(row.host_id, row.in_flight) + self._taken.get(row.host_id, 0)
        return self._ready_at.get(row.host_id, 0.0) <= self._now and out < row.places

    def _nothing_better(self) -> bool:
        """Whether no link that is not set aside is leased, or due, or about to be ready within a minute."""
        if self._took_better:
            return False
        due = self._runner.first(links_sql.next_due())
        if due is not None and due.due_at <= self._now + SOON:
            return False
        coming: list[Iterable[Any]] = [self._read(sql.leased_heads())]
        coming += [self._resting(*marks) for marks in self._marks]
        return not any(not self._aside(_head(row, row.cluster_scheduled)) for rows in coming for row in rows)

    def _aside(self, head: Head) -> bool:
        return set_aside(head, self._total, self._settings.delta)

    def scheduled(self, head: Head) -> int:
        """Leases given in the head's cluster, those of this call included."""
        return head.scheduled + self._scheduled.get(head.cluster_id, 0)

    def delay(self, head: Head) -> float:
        """Seconds that the head's host rests between two leases."""
        return float(self._rows[head.lane_id].delay)

    def took(self, head: Head, successor: Any, ready_at: float) -> None:
        """A head was leased: its host is busier, and what stood behind it is the lane's head now."""
        self._took_better = self._took_better or not self._aside(head)
        self._visited(head.host_id, ready_at)
        row = self._rows[head.lane_id]
        self._out[row.subtree_id] = self._out.get(row.subtree_id, 0) + 1
        self._scheduled[head.cluster_id] = self._scheduled.get(head.cluster_id, 0) + 1
        for met in self._met:
            met.add(head.lane_id)
        behind = None
        if successor is not None:
            behind = head._replace(
                demoted=bool(successor.demoted),
                rank=successor.score + row.lift,
                link_id=successor.id,
            )
        self._heads[row.dry, row.spent].replace(head, behind)
        if self._proven is not None and is_proven(*head.cluster, *self._total, self._settings.delta):
            self._proven.replace(head, behind)

    def revisited(self, host_id: int, cluster_id: int, ready_at: float) -> None:
        """A page that was due was leased."""
        self._visited(host_id, ready_at)
        if cluster_id in self._given:
            self._scheduled[cluster_id] = self._scheduled.get(cluster_id, 0) + 1

    def _visited(self, host_id: int, ready_at: float) -> None:
        self._taken[host_id] = self._taken.get(host_id, 0) + 1
        self._ready_at[host_id] = ready_at


class _Merged:
    """Heads of several kinds, best first, as often as somebody iterates."""

    def __init__(self, sources: Collection[Callable[[], Iterator[Head]]]) -> None:
        self._sources = sources

    def __iter__(self) -> Iterator[Head]:
        return merge(*(source() for source in self._sources), key=Head.place)


def _head(row: Any, scheduled: int) -> Head:
    return Head(
        demoted=bool(row.head_demoted),
        rank=row.head_rank,
        link_id=row.head_id,
        lane_id=row.lane_id,
        host_id=row.host_id,
        cluster_id=row.cluster_id,
        subtree=Harvest(row.subtree_pages, row.subtree_hits),
        cluster=Harvest(row.cluster_pages, row.cluster_hits),
        scheduled=scheduled,
    )
