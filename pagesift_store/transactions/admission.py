"""From links as they were found to rows: read, refuse, score, insert, or raise what is known."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pagesift_store.errors import InvalidUrl, InvalidValue, Refusal
from pagesift_store.focus.features import decay
from pagesift_store.focus.score import score
from pagesift_store.records import Added, LinkState, Verdict
from pagesift_store.storage.statements import lanes as lanes_sql
from pagesift_store.storage.statements import links as sql
from pagesift_store.transactions import moves
from pagesift_store.transactions.keys import found_on_repeats, key_of
from pagesift_store.transactions.places import host_of, place_of
from pagesift_store.transactions.signals import NO_SIGNAL, Signal, signal_of
from pagesift_store.urls.pipeline import key_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pagesift_store.records import FoundLink
    from pagesift_store.transactions.signals import Carrier
    from pagesift_store.transactions.work import Work
    from pagesift_store.urls.reading import WebUrl

BATCH = 500
"""Links looked up and inserted at a time: within every engine's limit of bound parameters."""

_UNFINISHED = frozenset({LinkState.QUEUED, LinkState.LEASED, LinkState.WAITING})


@dataclass(slots=True)
class Offer:
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
    web: WebUrl,
    found: FoundLink,
    carrier: Carrier,
    depth: int,
    *,
    given: float | None = None,
    seed: bool = False,
    parent_id: int | None = None,
) -> Offer:
    """An offer with its key.

    Raises:
        InvalidUrl: deeper than `max_depth`.
        InvalidValue: a given score that is not finite.
    """
    limit = work.settings.max_depth
    if limit is not None and depth > limit:
        raise InvalidUrl(web.url, Refusal.DEPTH, f"depth {depth} is beyond max_depth={limit}")
    if given is not None:
        given = check_score(given)
    plain = work.memory.rules.key(web)
    key = work.memory.rewritten(web, plain)
    return Offer(web, key, key != plain, key_hash(key), found, carrier, depth, given, seed, parent_id)


def check_score(value: Any, href: str = "") -> float:
    """A score of the caller's own: any finite number.

    Args:
        value: what was given.
        href: the link that it was given for, to be named; "" for none in particular.

    Raises:
        InvalidValue: NaN, an infinity, or no number.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        whose = f" of the link {href[:200]!r}" if href else ""
        raise InvalidValue(f"score={value!r}{whose} must be a finite number; higher is better")
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


def admit(work: Work, offers: Iterable[Offer | Added]) -> list[Added]:
    """Store offers in order; verdicts that were reached before (`Added`) keep their places."""
    items = list(offers)
    verdicts: list[Added] = []
    for start in range(0, len(items), BATCH):
        verdicts += _Batch(work).run(items[start : start + BATCH])
    if work.settings.max_queue is not None:
        _evict(work, work.settings.max_queue)
    return verdicts


class _Batch:
    """Some hundred offers: one look-up, one insert, one update, one pass over the heads of the lanes."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._known: dict[bytes, list[dict[str, Any]]] = {}
        self._new: list[dict[str, Any]] = []
        self._raised: dict[int, dict[str, Any]] = {}
        self._lowered: set[int] = set()
        self._first_new = work.crawl.links + 1

    def run(self, items: Sequence[Offer | Added]) -> list[Added]:
        """Verdicts, one per item."""
        self._look_up({item.hash for item in items if isinstance(item, Offer)})
        verdicts = [self._place(item) if isinstance(item, Offer) else item for item in items]
        self._write()
        return verdicts

    def _look_up(self, hashes: set[bytes]) -> None:
        if not hashes:
            return
        # In order, so that the statement and what it touches are the same in every run.
        for row in self._work.rows_in(sql.find_by_hash, sql.HASHES, sorted(hashes)):
            self._known.setdefault(row.key_hash, []).append(row._asdict())

    def _find(self, item: Offer) -> dict[str, Any] | None:
        """The link of this key; equal URLs have equal keys, so that few keys are made anew."""
        for link in self._known.get(item.hash, ()):
            if link["url"] == item.web.url or key_of(self._work, link["key"], link["url"]) == item.key:
                return link
        return None

    def _place(self, item: Offer) -> Added:
        link = self._find(item)
        if link is None:
            link = self._insert(item)
            return Added(verdict=Verdict.NEW, url=item.web.url, key=item.key, link_id=link["id"])
        if (
            link["state"] in _UNFINISHED and link["id"] != item.parent_id
        ):  # a page does not tell where it was found
            self._raise(link, item)
        return Added(verdict=Verdict.KNOWN, url=link["url"], key=item.key, link_id=link["id"])

    def _insert(self, item: Offer) -> dict[str, Any]:
        work = self._work
        work.crawl.links += 1
        host = host_of(work, work.memory.politeness_of(item.web))
        signal = self._signal(item, decay(item.depth))
        lane_id, template = place_of(work, item.web, host)
        same_hash = self._known.setdefault(item.hash, [])
        link = {
            "id": work.crawl.links,
            "url": item.web.url,
            "key": item.key if item.rewritten else None,
            "key_hash": item.hash,
            "n": max((known["n"] + 1 for known in same_hash), default=0),
            "lane_id": lane_id,
            "parent_id": item.parent_id,
            "alias_of": None,
            "depth": item.depth,
            **signal._asdict(),
            "score": item.given if item.given is not None else self._scored(signal),
            "given": item.given is not None,
            "seed": item.seed,
            "demoted": template in work.memory.demoted or self._leads_nowhere(item),
            "on_repeats": item.carrier.repeated,
            "template": template,
            "state": LinkState.QUEUED.value,
            "revisit": item.found.revisit,
            "found_at": work.now,
        }
        same_hash.append(link)
        self._new.append(link)
        return link

    def _leads_nowhere(self, item: Offer) -> bool:
        memory = self._work.memory
        return item.carrier.repeated and found_on_repeats(memory.politeness_of(item.web)) in memory.demoted

    def _signal(self, item: Offer, by_depth: float) -> Signal:
        if item.given is not None:
            return NO_SIGNAL._replace(decay=by_depth)
        return signal_of(self._work, item.web, item.found, item.carrier)._replace(decay=by_depth)

    def _raise(self, link: dict[str, Any], item: Offer) -> None:
        """The better signal wins; the smaller depth wins; a given score stands before a computed one (RULES 2.7).

        What only repeated pages carried so far, and a new page carries too, is a link like any other.
        """
        better = {name: link[name] for name in sql.RAISED}
        if item.depth < link["depth"]:
            better |= {"depth": item.depth, "decay": decay(item.depth)}
            if not link["given"]:
                own = Signal(**{name: better[name] for name in Signal._fields})
                better["score"] = self._scored(own)
        if item.given is not None:
            if not link["given"] or item.given > better["score"]:
                better |= {"score": item.given, "given": True}
                better |= NO_SIGNAL._replace(decay=better["decay"])._asdict()
        elif not link["given"]:
            signal = self._signal(item, better["decay"])
            value = self._scored(signal)
            if value > better["score"]:
                better |= {**signal._asdict(), "score": value}
        better["seed"] = link["seed"] or item.seed
        if link["on_repeats"] and not item.carrier.repeated:
            better |= {"on_repeats": False, "demoted": link["template"] in self._work.memory.demoted}
        if better == {name: link[name] for name in sql.RAISED}:
            return
        if better["score"] < link["score"]:  # a given score took the place of a better computed one
            self._lowered.add(link["lane_id"])
        link.update(better)
        if link["id"] < self._first_new:
            self._raised[link["id"]] = link

    def _scored(self, signal: Signal) -> float:
        memory = self._work.memory
        value: float = score(signal, memory.weights, coverage=memory.cover)
        return value

    def _write(self) -> None:
        work = self._work
        work.run_many(sql.add_links(), self._new)
        work.moved(None, LinkState.QUEUED, len(self._new))
        work.run_many(
            sql.raise_link(),
            [
                {"the_id": link["id"], **{name: link[name] for name in sql.RAISED}}
                for link in self._raised.values()
            ],
        )
        heads: dict[int, dict[str, Any]] = {}
        for link in (*self._new, *self._raised.values()):
            if link["state"] == LinkState.QUEUED:
                best = heads.get(link["lane_id"])
                if best is None or _place_in_lane(link) < _place_in_lane(best):
                    heads[link["lane_id"]] = link
        work.run_many(
            lanes_sql.offer_head(),
            [
                {
                    "the_lane": lane,
                    "link_id": link["id"],
                    "the_score": link["score"],
                    "is_demoted": link["demoted"],
                }
                for lane, link in heads.items()
            ],
        )
        moves.refresh_heads(work, self._lowered)


def _place_in_lane(link: dict[str, Any]) -> tuple[bool, float, int]:
    return (bool(link["demoted"]), -link["score"], link["id"])


def _evict(work: Work, most: int) -> None:
    """Forget the worst queued links, and that they were seen, until the queue is within its bound."""
    excess = work.crawl.queued - most
    if excess <= 0:
        return
    worst = work.rows(sql.worst_queued(work.settings.revisit), most=excess)
    work.run_many(sql.evict(), [{"the_id": row.id} for row in worst])
    work.moved(LinkState.QUEUED, None, len(worst))
    moves.refresh_heads(work, (row.lane_id for row in worst))
