"""From links as they were found to rows: read, refuse, score, insert, or raise what is known."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from pagesift_store.errors import InvalidUrl, InvalidValue, Refusal
from pagesift_store.focus.features import decay
from pagesift_store.records import LinkState, Verdict, accepted
from pagesift_store.storage.statements import lanes as lanes_sql
from pagesift_store.storage.statements import links as sql
from pagesift_store.transactions import moves
from pagesift_store.transactions.keys import found_on_repeats, key_of
from pagesift_store.transactions.places import host_of_url, place_of, write_lanes
from pagesift_store.transactions.signals import NO_SIGNAL, Signals, nearby_of, no_signal, scored
from pagesift_store.urls.pipeline import key_hash
from pagesift_store.urls.reading import new_tuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pagesift_store.focus.nearby import Nearby
    from pagesift_store.records import Added, FoundLink
    from pagesift_store.transactions.signals import Carrier, Signal
    from pagesift_store.transactions.work import Work
    from pagesift_store.urls.reading import WebUrl

BATCH = 500
"""Links looked up and inserted at a time: within every engine's limit of bound parameters."""

LARGEST = 1.7e308
"""Of a given score, either way: what the store takes for finite (`storage.tables.FINITE`)."""

_HASH = attrgetter("hash")
_QUEUED = LinkState.QUEUED.value
# Read once: the class of an enum asks a function in Python for every name.
_NEW, _KNOWN = Verdict.NEW, Verdict.KNOWN
_UNFINISHED = frozenset({LinkState.QUEUED, LinkState.LEASED, LinkState.WAITING})


class Offer(NamedTuple):
    """A link that passed the rules, on its way to a row.

    Its signal is read only where it matters: most links of a page are known and finished.

    Attributes:
        web: the URL as it will be requested.
        key: its key.
        rewritten: whether a learned rule made the key.
        hash: 16 bytes of the key.
        found: the link as it was found.
        given: a score in place of ours; None: ours.
        seed: it is a seed.
    """

    web: WebUrl
    key: str
    rewritten: bool
    hash: bytes
    found: FoundLink
    given: float | None = None
    seed: bool = False


def offer(
    work: Work,
    target: tuple[WebUrl, str, bytes],
    found: FoundLink,
    depth: int,
    given: float | None,
    *,
    seed: bool = False,
) -> Offer:
    """An offer of a URL, with its key and the hash of it, under the key that learned rules leave.

    Raises:
        InvalidUrl: deeper than `max_depth`.
        InvalidValue: a given score that is not finite.
    """
    memory = work.memory
    web, key, digest = target
    limit = memory.settings.max_depth
    if limit is not None and depth > limit:
        raise InvalidUrl(web.url, Refusal.DEPTH, f"depth {depth} is beyond max_depth={limit}")
    if given is not None:
        given = check_score(given)
    rewritten = False
    if memory.rewrites:  # few crawls have any
        plain, key = key, memory.rewritten(web, key)
        if key != plain:
            digest, rewritten = key_hash(key), True
    return new_tuple(Offer, (web, key, rewritten, digest, found, given, seed))


def check_score(value: Any, href: str = "") -> float:
    """A score of the caller's own: any finite number, but for the last 5 % of the range of floats.

    Args:
        value: what was given.
        href: the link that it was given for, to be named; "" for none in particular.

    Raises:
        InvalidValue: NaN, an infinity, more than `LARGEST`, or no number.
    """
    if type(value) is float and abs(value) <= LARGEST:
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
        whose = f" of the link {href[:200]!r}" if href else ""
        is_huge = isinstance(value, int) and value.bit_length() > 1
        shown = f"an integer of {value.bit_length()} bits" if is_huge else repr(value)[:200]
        raise InvalidValue(
            f"score={shown}{whose} must be a finite number from {-LARGEST:g} to {LARGEST:g}; higher is better"
        )
    return float(value)


LONGEST = 100 * 365 * 86_400.0
"""Seconds between two visits at most; beyond them lies never."""


def check_revisit(every: Any) -> float | None:
    """Seconds between two visits of a link; 0: never again, None: by the store's rule.

    Raises:
        InvalidValue: anything else.
    """
    if every is None:
        return None
    if isinstance(every, bool) or not isinstance(every, int | float) or not 0 <= every <= LONGEST:
        raise InvalidValue(f"revisit={every!r} must be a number of seconds from 0 (never) to {LONGEST:g}")
    return float(every)


def admit(
    work: Work,
    offers: list[Offer],
    refused: Mapping[int, Added],
    carrier: Carrier,
    nearby: Nearby | None = None,
) -> list[Added]:
    """Store offers in order, and take each off the list, so that few objects are alive for the collector to visit.

    The lanes learn of them by `settle_heads`, before anything looks at their heads.

    Args:
        work: the transaction.
        offers: the links that passed the rules; none is left.
        refused: the verdicts on the others, by their places among all links, in order.
        carrier: what carries them all.
        nearby: has read their texts; None: they are read.
    """
    verdicts: list[Added] = []
    offers.reverse()
    while offers:
        verdicts += _Batch(work, carrier).run(offers, nearby)
    for place, verdict in refused.items():
        verdicts.insert(place, verdict)
    if work.settings.max_queue is not None:
        settle_heads(work)
        _evict(work, work.settings.max_queue)
    return verdicts


def settle_heads(work: Work) -> None:
    """Make the links that were stored the heads of their lanes where they stand before them."""
    work.run_many(
        lanes_sql.offer_head(),
        [
            {"the_lane": lane, "link_id": link_id, "the_score": -minus_score, "is_demoted": demoted}
            for lane, (demoted, minus_score, link_id) in work.heads.items()
        ],
    )
    work.heads = {}


@dataclass(slots=True)
class _Link:
    """A link of the store, or a new one that is met again before it is written; the columns of `known_links` first.

    Flags are 0 or 1, as they are read, and the hash of a new link is a bytearray: the driver takes ten times as long
    to bind a bool or bytes, for which it looks for an adapter.
    """

    id: int
    url: str
    key: str | None
    key_hash: bytes | bytearray
    n: int
    lane_id: int
    template: int | None
    state: str
    anchor_hits: int
    url_hits: int
    context_hits: int
    phrase: int
    parent_relevance: float
    floor: float
    factor: float
    decay: float
    depth: int
    score: float
    given: int
    seed: int
    demoted: int
    on_repeats: int
    parent_id: int | None = None
    found_at: float = 0.0

    @property
    def the_id(self) -> int:
        """The id, as the parameter of an UPDATE names it: a column's own name is taken by what is written."""
        return self.id

    def take(self, signal: Signal, value: float) -> None:
        """Have this signal and this score from now on; the decay is the link's own."""
        (
            self.anchor_hits,
            self.url_hits,
            self.context_hits,
            self.phrase,
            self.parent_relevance,
            self.floor,
            self.factor,
            _,
        ) = signal
        self.score = value


class _Batch:
    """Some hundred offers: one look-up, one insert, one update.

    A new link is a row, its values in the order of the statement, and becomes a `_Link` only where it is met again: to
    make an object of each and to read it off takes far longer.
    """

    def __init__(self, work: Work, carrier: Carrier) -> None:
        self._work = work
        self._carrier = carrier
        self._decay = decay(carrier.depth)
        self._no_signal: tuple[Any, ...] = no_signal(self._decay)
        self._repeated = int(carrier.repeated)
        self._demoted = work.memory.demoted
        self._known: dict[bytes, list[_Link]] = {}
        self._next_n: dict[bytes, int] = {}  # by hash; 0 for one that no link has
        self._by_hand = carrier.link_id is None
        self._names = sql.BY_HAND if self._by_hand else sql.ON_PAGES
        self._origin = (carrier.depth,) if self._by_hand else (carrier.link_id, carrier.depth)
        self._new: dict[str, tuple[Any, ...]] = {}
        self._rare: dict[str, tuple[Any, ...]] = {}
        self._met_again: dict[str, _Link] = {}
        self._raised: dict[int, _Link] = {}
        self._lowered: set[int] = set()
        self._heads = work.heads
        self._first_new: int = work.crawl.links + 1

    def run(self, offers: list[Offer], nearby: Nearby | None) -> list[Added]:
        """Take a batch of offers off a list, the last first; their verdicts in that order."""
        batch = offers[-BATCH:]
        if nearby is None:
            to_read = [item.found for item in batch if item.given is None]
            nearby = nearby_of(self._work.memory.terms, to_read)
            if self._by_hand and not to_read:  # of no link is there a signal to bind
                self._names, self._no_signal = sql.GIVEN, (self._decay,)
        self._signals = Signals(self._work, nearby)
        self._look_up(set(map(_HASH, batch)))
        size = len(batch)
        del batch  # so that each offer is let go when it is placed
        verdicts = [self._place(offers.pop()) for _ in range(size)]
        self._write()
        return verdicts

    def _look_up(self, hashes: set[bytes]) -> None:
        # In order, so that the statement and what it touches are the same in every run.
        self._blobs = {digest: bytearray(digest) for digest in sorted(hashes)}
        for row in self._work.rows_in(sql.known_links, sql.HASHES, list(self._blobs.values())):
            self._known.setdefault(row.key_hash, []).append(_Link(*row))
            self._next_n[row.key_hash] = max(self._next_n.get(row.key_hash, 0), row.n + 1)

    def _place(self, item: Offer) -> Added:
        n = self._next_n.get(item.hash, 0)
        link = self._find(item) if n else None
        if link is None:
            return self._insert(item, n)
        # A page does not tell where it was found.
        if link.state in _UNFINISHED and link.id != self._carrier.link_id:
            self._raise(link, item)
        return accepted(_KNOWN, link.url, item.key, link.id)

    def _find(self, item: Offer) -> _Link | None:
        """The link of this key; equal URLs have equal keys, so that few keys are made anew."""
        for link in self._known.get(item.hash, ()):
            if link.url == item.web.url or key_of(self._work, link.key, link.url) == item.key:
                return link
        row = self._new.get(item.key)
        if row is None:
            return None
        again = self._met_again.get(item.key)
        if again is None:
            columns = NO_SIGNAL._asdict() | dict(zip(self._names, row, strict=True))
            again = self._met_again[item.key] = _Link(**columns, key=None, state=_QUEUED)
        return again

    def _insert(self, item: Offer, n: int) -> Added:
        """Make the row of a new link, whose hash `n` others have."""
        work = self._work
        web, key, rewritten, digest, found, given, seed = item
        url = web.url
        link_id = self._first_new + len(self._new)
        host = host_of_url(work, web)
        signal: tuple[Any, ...]
        if given is None:
            signal, value = self._signals.of(web, found, self._carrier, self._decay)
            is_given = 0
        else:
            signal, value, is_given = self._no_signal, given, 1
        lane_id, template = place_of(work, web, host)
        in_vain = template in self._demoted or (self._repeated and self._leads_nowhere(web))
        demoted = 1 if in_vain else 0
        self._next_n[digest] = n + 1
        self._new[key] = (
            link_id,
            url,
            self._blobs[digest],
            n,
            lane_id,
            *self._origin,
            *signal,
            value,
            is_given,
            1 if seed else 0,
            demoted,
            self._repeated,
            template,
            work.now,
        )
        if rewritten or found.revisit is not None:
            self._rare[key] = (key if rewritten else None, found.revisit)
        self._offer_head(lane_id, (demoted, -value, link_id))
        return accepted(_NEW, url, key, link_id)

    def _leads_nowhere(self, web: WebUrl) -> bool:
        """Whether links that only repeated pages carry have led to repeated pages on this host."""
        return found_on_repeats(self._work.memory.politeness_of(web)) in self._demoted

    def _offer_head(self, lane: int, place: tuple[int, float, int]) -> None:
        """Keep a queued link for the head of its lane if none of this transaction stands before it."""
        best = self._heads.get(lane)
        if best is None or place < best:
            self._heads[lane] = place

    def _raise(self, link: _Link, item: Offer) -> None:
        """The better signal wins; the smaller depth wins; a given score stands before a computed one (RULES 2.7).

        What only repeated pages carried so far, and a new page carries too, is a link like any other.
        """
        work, carrier, before, changed = self._work, self._carrier, link.score, False
        if carrier.depth < link.depth:
            link.depth, link.decay, changed = carrier.depth, self._decay, True
            if not link.given:
                link.score = scored(work.memory, link)
        if item.given is not None:
            if not link.given or item.given > link.score:
                link.take(NO_SIGNAL, item.given)
                link.given, changed = 1, True
        elif not link.given:
            better = self._signals.better(link, item.web, item.found, carrier)
            if better is not None:
                link.take(*better)
                changed = True
        if item.seed and not link.seed:
            link.seed, changed = 1, True
        if link.on_repeats and not carrier.repeated:
            link.on_repeats, link.demoted, changed = 0, int(link.template in self._demoted), True
        if link.score < before:  # a given score took the place of a better computed one
            self._lowered.add(link.lane_id)
        if changed and link.id < self._first_new:
            self._raised[link.id] = link

    def _write(self) -> None:
        work = self._work
        write_lanes(work)
        self._write_new()
        work.run_all(sql.raise_link(), list(self._raised.values()))
        for link in (*self._met_again.values(), *self._raised.values()):
            if link.state == _QUEUED:
                self._offer_head(link.lane_id, (link.demoted, -link.score, link.id))
        for lane in self._lowered:  # what was kept for it may be the very link that has less now
            self._heads.pop(lane, None)
        moves.refresh_heads(work, self._lowered)

    def _write_new(self) -> None:
        work, new, names = self._work, self._new, self._names
        work.crawl.links += len(new)
        work.moved(None, LinkState.QUEUED, len(new))
        row_of = attrgetter(*names)
        new |= {key: row_of(link) for key, link in self._met_again.items()}
        rare = [(*new.pop(key), *values) for key, values in self._rare.items()]
        work.run_rows(sql.add_queued_links(names), names, new.values())
        names = (*names, *sql.RARE)
        work.run_rows(sql.add_queued_links(names), names, rare)


def _evict(work: Work, most: int) -> None:
    """Forget the worst queued links, and that they were seen, until the queue is within its bound."""
    excess = work.crawl.queued - most
    if excess <= 0:
        return
    worst = work.rows(sql.worst_queued(work.settings.revisit), most=excess)
    work.run_many(sql.evict(), [{"the_id": row.id} for row in worst])
    work.moved(LinkState.QUEUED, None, len(worst))
    moves.refresh_heads(work, (row.lane_id for row in worst))
