"""Which link next: a pure choice among the heads of the lanes.

Heads are looked at one by one, best first, and only as many as the choice needs.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import TYPE_CHECKING, NamedTuple

from pagesift_store.focus.harvest import is_dry, is_proven

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["LANE_WEIGHT", "Harvest", "Head", "Heads", "Tier", "Yield", "choose", "lift", "set_aside"]


LANE_WEIGHT = 1.0
"""What the mean relevance of a lane's pages is worth beside the features of a link."""


class Harvest(NamedTuple):
    """Pages fetched and hits among them."""

    pages: int
    hits: int


class Yield(NamedTuple):
    """Pages fetched and the sum of their relevance."""

    pages: int
    relevance: float


def lift(lane: Yield, site: Yield, *, weight: float = LANE_WEIGHT) -> float:
    """What the pages fetched from a lane add to the rank of its links.

    weight · ((h + 2m) / (n + 2) − m) with n pages of summed relevance h in the lane and the site's mean relevance
    m: the lane's mean, drawn towards that of the site by two pages' worth, less the site's. So a lane without
    pages has 0, and whatever the site's mean becomes, only lanes with pages of their own move.

    Args:
        lane: of the lane, one page or more.
        site: of the whole crawl.
        weight: what a relevance of 1 is worth beside the features of a link.

    Returns:
        −weight to weight.
    """
    mean = site.relevance / site.pages if site.pages else 0.0
    return weight * ((lane.relevance - lane.pages * mean) / (lane.pages + 2.0))


class Head(NamedTuple):
    """The best queued link of a lane.

    Attributes:
        demoted: its template repeats itself.
        rank: its score plus its lane's term; higher is better.
        link_id: its discovery number.
        lane_id: its lane.
        host_id: the host that it would be fetched from.
        cluster_id: its cluster.
        subtree: harvest of its subtree.
        cluster: harvest of its cluster.
        scheduled: leases given in its cluster.
    """

    demoted: bool
    rank: float
    link_id: int
    lane_id: int
    host_id: int
    cluster_id: int
    subtree: Harvest
    cluster: Harvest
    scheduled: int

    def place(self) -> tuple[bool, float, int]:
        """Sorts heads: those not demoted first, then by rank, then by discovery."""
        return (self.demoted, -self.rank, self.link_id)


class Heads:
    """The heads in order, read from their source only as far as somebody looks.

    What is left out once is left out for good, and not looked at again for every further choice.

    Args:
        source: heads in the order of `Head.place`.
        is_open: whether a head may still be chosen.
        is_spent: whether its cluster is known to have had its leases. None: that is not asked.
    """

    def __init__(
        self,
        source: Iterable[Head],
        is_open: Callable[[Head], bool] = lambda head: True,
        is_spent: Callable[[Head], bool] | None = None,
    ) -> None:
        self._source = iter(source)
        self._following: Head | None = None
        self._has_read = False
        self._seen = _Seen(is_open)
        self._unspent = self._seen
        if is_spent is not None:
            self._unspent = _Seen(lambda head: is_open(head) and not is_spent(head))

    def __iter__(self) -> Iterator[Head]:
        return self._iterated(self._seen)

    def unspent(self) -> Iterator[Head]:
        """Those whose clusters may have leases left."""
        return self._iterated(self._unspent)

    def _iterated(self, seen: _Seen) -> Iterator[Head]:
        at = 0
        while True:
            following = self._next()
            known = seen.at(at, following)
            if known is None:
                if following is None:
                    return
                self._has_read = False
                self.add(following)
                known = seen.at(at, None)
                if known is not following:
                    continue
            yield known
            at += 1

    def _next(self) -> Head | None:
        """The first head of the source that was not seen here; read when it is asked for, and not again."""
        if not self._has_read:
            self._following = next(self._source, None)
            self._has_read = True
        return self._following

    def add(self, head: Head) -> None:
        """Take in a head that the source does not give, or gives no more."""
        self._seen.add(head)
        if self._unspent is not self._seen:
            self._unspent.add(head)

    def replace(self, head: Head, successor: Head | None) -> None:
        """Take out a head, if it was met here; what stood behind it in its lane, if anything, takes its own place.

        The source must not give either of them any more.
        """
        if self._has_read and head == self._following:
            self._has_read = False
        else:
            self._seen.remove(head)
            self._unspent.remove(head)
        if successor is not None:
            self.add(successor)


class _Seen:
    """Heads that were read, in order; those that do not pass a test are dropped where they are met."""

    def __init__(self, passes: Callable[[Head], bool]) -> None:
        self._heads: list[Head] = []
        self._passes = passes

    def at(self, at: int, before: Head | None) -> Head | None:
        """The head at this place of those that pass; None where there is none, or none that stands before another."""
        heads = self._heads
        if at < len(heads) and not self._passes(heads[at]):
            end = at + 1
            while end < len(heads) and not self._passes(heads[end]):
                end += 1
            del heads[at:end]
        if at < len(heads) and (before is None or heads[at].place() < before.place()):
            return heads[at]
        return None

    def add(self, head: Head) -> None:
        insort(self._heads, head, key=Head.place)

    def remove(self, head: Head) -> None:
        at = bisect_left(self._heads, head.place(), key=Head.place)
        if at < len(self._heads) and self._heads[at] == head:
            del self._heads[at]


class Tier(NamedTuple):
    """Heads to choose among, each kind in the order of `Head.place`, to be iterated as often as one likes.

    Attributes:
        heads: all of them; there may be others between them that belong to the other tier.
        unspent: those of them that may go first where a better one has to give way; those whose clusters have had their
            leases without a hit can be left out.
    """

    heads: Iterable[Head]
    unspent: Iterable[Head]


def set_aside(head: Head, total: Harvest, delta: float) -> bool:
    """Whether a head comes only when there is no other: its template is demoted, or its subtree is dry."""
    return head.demoted or is_dry(head.subtree.pages, head.subtree.hits, total.pages, total.hits, delta)


def choose(
    tier: Tier,
    proven_heads: Callable[[], Iterable[Head]],
    *,
    total: Harvest,
    cluster_cap: int,
    delta: float,
    scheduled: Callable[[Head], int] = lambda head: head.scheduled,
    last_resort: Callable[[], Tier | None] = lambda: None,
    lenient: bool = False,
) -> Head | None:
    """The head to lease next.

    Heads of dry subtrees and demoted templates are set aside: one of them is chosen only when there is no other
    and `last_resort` gives them, because none is about to come. Among those that count, the best wins, unless its
    cluster is not proven and

    - a proven cluster has a head of at least half its rank: the best such goes first; or
    - its cluster has been given `cluster_cap` leases or more: then the best head of at least half its rank whose
      cluster is proven or below its cap goes first. If there is none, the best stands.

    Args:
        tier: heads of hosts that may be visited now; of those that are set aside, all or some may be among them.
        proven_heads: gives those of them whose clusters are proven, in the same order. Proven clusters are few,
            and without this every head of half the best rank would have to be looked at to find them.
        total: pages and hits of the whole crawl, which both kinds of part add up to.
        cluster_cap: leases after which a cluster that is not proven gives way; 1 or more.
        delta: error level of dryness and proof.
        scheduled: leases given in a head's cluster, where the caller knows better than the head.
        last_resort: gives the tier that has all heads that are set aside; None when they may not be chosen. Asked only
            when there are no others.
        lenient: a hit stands for proof: no cluster with a hit gives way, and none has to give way to a proven one.

    Returns:
        The head, or None when there is none to choose.
    """
    for aside in (False, True):
        found = last_resort() if aside else tier
        if found is None:
            return None
        best = next(_among(found.heads, aside, total, delta), None)
        if best is None:
            continue
        if (best.cluster.hits > 0) if lenient else _proven(best, total, delta):
            return best
        proven = () if lenient else proven_heads()
        for head in proven:
            if head.demoted == best.demoted and set_aside(head, total, delta) is aside:
                if head.rank >= best.rank / 2:
                    return head
                break
        if scheduled(best) >= cluster_cap:
            others = _among(found.unspent, aside, total, delta)
            return _below_cap(best, others, cluster_cap, scheduled, lenient=lenient)
        return best
    return None


def _among(heads: Iterable[Head], aside: bool, total: Harvest, delta: float) -> Iterator[Head]:
    """The heads that are set aside, or those that are not; behind the first demoted one all are."""
    for head in heads:
        if head.demoted and not aside:
            return
        if set_aside(head, total, delta) is aside:
            yield head


def _proven(head: Head, total: Harvest, delta: float) -> bool:
    return is_proven(head.cluster.pages, head.cluster.hits, total.pages, total.hits, delta)


def _below_cap(
    best: Head,
    others: Iterator[Head],
    cluster_cap: int,
    scheduled: Callable[[Head], int],
    *,
    lenient: bool,
) -> Head:
    """The best head of at least half the rank whose cluster may still be given leases; else the best itself."""
    for head in others:
        if head.rank < best.rank / 2 or head.demoted != best.demoted:
            break
        if scheduled(head) < cluster_cap or (lenient and head.cluster.hits > 0):
            return head
    return best
