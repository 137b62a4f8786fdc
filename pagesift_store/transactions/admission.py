"""From links as they were found to rows: read, refuse, score, insert, or raise what is known."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from pagesift_store.errors import InvalidUrl, InvalidValue, Refusal
from pagesift_store.focus.features import decay
from pagesift_store.records import Added, LinkState, Verdict
from pagesift_store.storage.statements import lanes as lanes_sql
from pagesift_store.storage.statements import links as sql
from pagesift_store.transactions import moves
from pagesift_store.transactions.keys import found_on_repeats, key_of
from pagesift_store.transactions.places import host_of_url, place_of, write_lanes
from pagesift_store.transactions.signals import NO_SIGNAL, Signals, nearby_of, no_signal, scored
from pagesift_store.urls.pipeline import key_hash
from pagesift_store.urls.reading import new_tuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pagesift_store.focus.nearby import Nearby
    from pagesift_store.records import FoundLink
    from pagesift_store.transactions.signals import Carrier, Signal
    from pagesift_store.transactions.work import Work
    from pagesift_store.urls.pipeline import Target
    from pagesift_store.urls.reading import WebUrl

BATCH = 500
"""Links looked up and inserted at a time: within every engine's limit of bound parameters."""

LARGEST = 1.7e308
"""Of a given score, either way: what the store takes for finite (`storage.tables.FINITE`)."""

_rare_of = attrgetter(*sql.RARE)
_NOTHING_RARE = (None,) * len(sql.RARE)
_QUEUED = LinkState.QUEUED.value
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
        carrier: the page that carries it.
        depth: clicks from a seed.
        given: a score in place of ours; None: ours.
        seed: it is a seed.
        parent_id: the link whose page carried it.
    """

    web: WebUrl
    key: str
    rewritten: bool
    hash: bytes
    found: FoundLink
    carrier: Carrier
    depth: int
    given: float | None = None
    seed: bool = False
    parent_id: int | None = None


def offer(
    work: Work,
    target: Target,
    found: FoundLink,
    carrier: Carrier,
    depth: int,
    *,
    given: float | None = None,
    seed: bool = False,
    parent_id: int | None = None,
) -> Offer:
    """An offer, under the key that learned rules leave.

    Raises:
        InvalidUrl: deeper than `max_depth`.
        InvalidValue: a given score that is not finite.
    """
    memory = work.memory
    limit = memory.settings.max_depth
    if limit is not None and depth > limit:
        raise InvalidUrl(target.web.url, Refusal.DEPTH, f"depth {depth} is beyond max_depth={limit}")
    if given is not None:
        given = check_score(given)
    web, key, digest = target
    rewritten = False
    if memory.rewrites:  # few crawls have any
        plain, key = key, memory.rewritten(web, key)
        if key != plain:
            digest, rewritten = key_hash(key), True
    return new_tuple(Offer, (web, key, rewritten, digest, found, carrier, depth, given, seed, parent_id))


def check_score(value: Any, href: str = "") -> float:
    """A score of the caller's own: any finite number, but for the last 5 % of the range of floats.

    Args:
        value: what was given.
        href: the link that it was given for, to be named; "" for none in particular.

    Raises:
        InvalidValue: NaN, an infinity, more than `LARGEST`, or no number.
    """
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


def admit(work: Work, offers: Iterable[Offer | Added], nearby: Nearby | None = None) -> list[Added]:
    """Store offers in order; verdicts that were reached before (`Added`) keep their places.

    Args:
        work: the transaction.
        offers: the links.
        nearby: has read their texts; None: they are read.
    """
    items = list(offers)
    verdicts: list[Added] = []
    for start in range(0, len(items), BATCH):
        verdicts += _Batch(work).run(items[start : start + BATCH], nearby)
    if work.settings.max_queue is not None:
        _evict(work, work.settings.max_queue)
    return verdicts


@dataclass(slots=True)
class _Link:
    """A link as it is in the store, or as it will be; the columns of `known_links`, then what only new ones need.

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
    alias_of: None = None
    revisit: float | None = None
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

    def place(self) -> tuple[int, float, int]:
        """Sorts the links of a lane: the head first."""
        return (self.demoted, -self.score, self.id)


class _Batch:
    """Some hundred offers: one look-up, one insert, one update, one pass over the heads of the lanes."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._demoted = work.memory.demoted
        self._known: dict[bytes, list[_Link]] = {}
        self._new: list[_Link] = []
        self._raised: dict[int, _Link] = {}
        self._lowered: set[int] = set()
        self._first_new = work.crawl.links + 1

    def run(self, items: Sequence[Offer | Added], nearby: Nearby | None) -> list[Added]:
        """Verdicts, one per item."""
        offers = [item for item in items if isinstance(item, Offer)]
        if nearby is None:
            nearby = nearby_of(self._work.memory.terms, [item.found for item in offers if item.given is None])
        self._signals = Signals(self._work, nearby)
        self._look_up({item.hash for item in offers})
        verdicts = [self._place(item) if isinstance(item, Offer) else item for item in items]
        self._write()
        return verdicts

    def _look_up(self, hashes: set[bytes]) -> None:
        if not hashes:
            return
        # In order, so that the statement and what it touches are the same in every run.
        for row in self._work.rows_in(sql.known_links, sql.HASHES, list(map(bytearray, sorted(hashes)))):
            self._known.setdefault(row.key_hash, []).append(_Link(*row))

    def _find(self, item: Offer) -> _Link | None:
        """The link of this key; equal URLs have equal keys, so that few keys are made anew."""
        for link in self._known.get(item.hash, ()):
            if link.url == item.web.url or key_of(self._work, link.key, link.url) == item.key:
                return link
        return None

    def _place(self, item: Offer) -> Added:
        link = self._find(item)
        if link is None:
            link = self._insert(item)
            return Added(verdict=Verdict.NEW, url=item.web.url, key=item.key, link_id=link.id)
        if link.state in _UNFINISHED and link.id != item.parent_id:  # a page does not tell where it was found
            self._raise(link, item)
        return Added(verdict=Verdict.KNOWN, url=link.url, key=item.key, link_id=link.id)

    def _insert(self, item: Offer) -> _Link:
        work, web = self._work, item.web
        crawl, host = work.crawl, host_of_url(work, web)
        crawl.links += 1
        by_depth = decay(item.depth)
        if item.given is None:
            signal, value = self._signals.of(web, item.found, item.carrier, by_depth)
        else:
            signal, value = no_signal(by_depth), item.given
        lane_id, template = place_of(work, web, host)
        same_hash = self._known.setdefault(item.hash, [])
        n = max([known.n for known in same_hash]) + 1 if same_hash else 0
        link = _Link(
            crawl.links,
            web.url,
            item.key if item.rewritten else None,
            bytearray(item.hash),
            n,
            lane_id,
            template,
            _QUEUED,
            *signal,
            item.depth,
            value,
            int(item.given is not None),
            int(item.seed),
            int(template in self._demoted or (item.carrier.repeated and self._leads_nowhere(web))),
            int(item.carrier.repeated),
            item.parent_id,
            None,
            item.found.revisit,
            work.now,
        )
        same_hash.append(link)
        self._new.append(link)
        return link

    def _leads_nowhere(self, web: WebUrl) -> bool:
        """Whether links that only repeated pages carry have led to repeated pages on this host."""
        return found_on_repeats(self._work.memory.politeness_of(web)) in self._demoted

    def _raise(self, link: _Link, item: Offer) -> None:
        """The better signal wins; the smaller depth wins; a given score stands before a computed one (RULES 2.7).

        What only repeated pages carried so far, and a new page carries too, is a link like any other.
        """
        work, before, changed = self._work, link.score, False
        if item.depth < link.depth:
            link.depth, link.decay, changed = item.depth, decay(item.depth), True
            if not link.given:
                link.score = scored(work.memory, link)
        if item.given is not None:
            if not link.given or item.given > link.score:
                link.take(NO_SIGNAL, item.given)
                link.given, changed = 1, True
        elif not link.given:
            better = self._signals.better(link, item.web, item.found, item.carrier)
            if better is not None:
                link.take(*better)
                changed = True
        if item.seed and not link.seed:
            link.seed, changed = 1, True
        if link.on_repeats and not item.carrier.repeated:
            link.on_repeats, link.demoted, changed = 0, int(link.template in self._demoted), True
        if link.score < before:  # a given score took the place of a better computed one
            self._lowered.add(link.lane_id)
        if changed and link.id < self._first_new:
            self._raised[link.id] = link

    def _write(self) -> None:
        work = self._work
        write_lanes(work)
        rare = [link for link in self._new if _rare_of(link) != _NOTHING_RARE]
        plain = [link for link in self._new if _rare_of(link) == _NOTHING_RARE] if rare else self._new
        work.run_all(sql.add_plain_links(), plain)
        work.run_all(sql.add_links(), rare)
        work.moved(None, LinkState.QUEUED, len(self._new))
        work.run_all(sql.raise_link(), list(self._raised.values()))
        heads: dict[int, _Link] = {}
        for link in (*self._new, *self._raised.values()):
            if link.state == _QUEUED:
                best = heads.get(link.lane_id)
                if best is None or link.place() < best.place():
                    heads[link.lane_id] = link
        work.run_many(
            lanes_sql.offer_head(),
            [
                {
                    "the_lane": lane,
                    "link_id": link.id,
                    "the_score": link.score,
                    "is_demoted": link.demoted,
                }
                for lane, link in heads.items()
            ],
        )
        moves.refresh_heads(work, self._lowered)


def _evict(work: Work, most: int) -> None:
    """Forget the worst queued links, and that they were seen, until the queue is within its bound."""
    excess = work.crawl.queued - most
    if excess <= 0:
        return
    worst = work.rows(sql.worst_queued(work.settings.revisit), most=excess)
    work.run_many(sql.evict(), [{"the_id": row.id} for row in worst])
    work.moved(LinkState.QUEUED, None, len(worst))
    moves.refresh_heads(work, (row.lane_id for row in worst))
