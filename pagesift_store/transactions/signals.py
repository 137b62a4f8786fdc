"""The signal of a link: what was seen of it where it was found."""

from __future__ import annotations

from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from pagesift_store.focus import features
from pagesift_store.focus.nearby import MOST_ANCHOR, Nearby
from pagesift_store.focus.score import score
from pagesift_store.transactions.memory import UrlShape
from pagesift_store.transactions.places import host_of_url, note_language
from pagesift_store.urls.parts import bare_host
from pagesift_store.urls.reading import new_tuple
from pagesift_store.urls.shapes import (
    FURNITURE,
    edition_language,
    has_furniture_path,
    is_dated,
    is_edition_entry,
    is_furniture_anchor,
    is_section,
    language_candidate,
    path_language,
    series,
)
from pagesift_store.urls.words import url_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pagesift_store.focus.text import QueryTerms
    from pagesift_store.records import FoundLink
    from pagesift_store.transactions.memory import HostInfo, Memory
    from pagesift_store.transactions.work import Work
    from pagesift_store.urls.reading import WebUrl


class Signal(NamedTuple):
    """What a score is computed from, in the names of the link table; see `focus.score`."""

    anchor_hits: int = 0
    url_hits: int = 0
    context_hits: int = 0
    phrase: int = 0
    parent_relevance: float = 0.0
    floor: float = 0.0
    factor: float = 1.0
    decay: float = 1.0


_SIGNAL = attrgetter(*Signal._fields)

NO_SIGNAL = Signal()
"""Of seeds and links with a given score: they have no features and never train the model."""


@lru_cache(maxsize=1024)
def no_signal(by_depth: float) -> Signal:
    """`NO_SIGNAL` with the decay of a depth."""
    return NO_SIGNAL._replace(decay=by_depth)


class Carrier(NamedTuple):
    """The page that carries links.

    Attributes:
        depth: clicks from a seed of what it carries.
        link_id: the link whose page it is; None: there is no page, the links were added by hand.
        relevance: its relevance; 0 for links that were added by hand.
        language: its language, a code of two or three letters; None when unknown.
        repeated: its text was there before.
        series: of a new page of links, its URL with numbers blanked; None for other pages, and without a number.
    """

    depth: int
    link_id: int | None = None
    relevance: float = 0.0
    language: str | None = None
    repeated: bool = False
    series: str | None = None


_ANCHOR, _CONTEXT = attrgetter("anchor"), attrgetter("context")


def nearby_of(terms: QueryTerms, links: Sequence[FoundLink]) -> Nearby:
    """The texts of some links, read together; what is no text hits nothing."""
    texts = [*map(_ANCHOR, links), *map(_CONTEXT, links)]
    try:
        return Nearby(terms, texts, FURNITURE)
    except TypeError:
        return Nearby(terms, [text for text in texts if isinstance(text, str)], FURNITURE)


class Signals:
    """Reads the signals of some links, which were found together (RULES 2.3 and 2.4).

    Args:
        work: the transaction.
        nearby: has read the texts of all that will be asked about.
    """

    __slots__ = ("_cover", "_full", "_memory", "_nearby", "_wanted", "_weights", "_work")

    def __init__(self, work: Work, nearby: Nearby) -> None:
        memory = work.memory
        self._work = work
        self._memory = memory
        self._full = work.settings.focus == "full"
        self._wanted = memory.terms.language
        self._weights = memory.weights
        self._cover = memory.covers.__getitem__
        self._nearby = nearby

    def of(self, web: WebUrl, found: FoundLink, carrier: Carrier, by_depth: float) -> tuple[Signal, float]:
        """The signal of a new link, and its score.

        Args:
            web: where it leads.
            found: the link.
            carrier: the page that carries it.
            by_depth: decay of its depth.
        """
        if not self._memory.terms.words:
            signal = no_signal(by_depth)  # without a query the order is that of discovery
        else:
            hits = self._nearby.hits(found.anchor, found.context)
            signal = self._read(web, found, carrier, *hits, carrier.relevance, by_depth)
        return signal, self._score(signal)

    def better(
        self, link: Any, web: WebUrl, found: FoundLink, carrier: Carrier
    ) -> tuple[Signal, float] | None:
        """The signal of a known link where it is found again, and its score; None when nothing is better than before.

        Most finds need no close look: without a floor, a link has at most what its features and its URL leave it.
        """
        if not self._memory.terms.words:
            signal = no_signal(link.decay)
            value = self._score(signal)
            return (signal, value) if value > link.score else None
        best, least, relevance = None, link.score, carrier.relevance
        if self._full:
            # The menus of dull pages often have the best words: the carrier is the most relevant page, whichever it is.
            if relevance > link.parent_relevance:
                kept = _kept(link, relevance)
                least = self._score(kept)
                best = kept, least
            else:
                relevance = link.parent_relevance
        anchor_hits, context_hits = self._nearby.hits(found.anchor, found.context)
        if not self._may_have_floor(web, carrier):
            same = link.url == web.url and (best is not None or relevance <= link.parent_relevance)
            if same and not (anchor_hits or context_hits) and link.factor == 1.0:
                return best  # the URL alone, which the link has already
            most = self._without_floor(web, anchor_hits, context_hits, relevance, link.decay)
            if self._score(most) <= least:
                return best
        signal = self._read(web, found, carrier, anchor_hits, context_hits, relevance, link.decay)
        value = self._score(signal)
        return (signal, value) if value > least else best

    def _score(self, signal: Signal) -> float:
        value: float = score(signal, self._weights, self._cover)
        return value

    def _may_have_floor(self, web: WebUrl, carrier: Carrier) -> bool:
        """Whether a floor is possible at all, by a glance at the path.

        Lists go on anywhere; a section has one segment below a language, an entry of an edition no name or `index.…`.
        """
        path = web.path
        return (
            not self._full
            or carrier.series is not None
            or path.count("/") <= 2
            or path.endswith("/")
            or "//" in path
            or "/index." in path.lower()
        )

    def _read(
        self,
        web: WebUrl,
        found: FoundLink,
        carrier: Carrier,
        anchor_hits: int,
        context_hits: int,
        relevance: float,
        by_depth: float,
    ) -> Signal:
        """The signal: what the texts say is known, what the shape of the URL says is looked at."""
        memory = self._memory
        shape = memory.shapes.get(web.url) or self._shape(web)
        host = host_of_url(self._work, web)
        language = self._language(host, web, shape.segment)
        anchor, wanted = found.anchor[:MOST_ANCHOR], self._wanted
        factor = features.factor(
            furniture=shape.furniture or (self._nearby.watched and is_furniture_anchor(anchor)),
            dated=shape.dated,
            foreign=language is not None and language != wanted and (self._full or wanted == "en"),
        )
        on_seed_host = bare_host(web.host) in memory.seed_hosts
        floor = features.floor(
            edition=language == wanted
            and (is_edition_entry(web) if self._full else _elsewhere(carrier, wanted)),
            section=on_seed_host and is_section(web, anchor, host.languages),
            subsite=not on_seed_host and web.path == "/" and web.query is None,
            # Furniture goes on and on (archives, calendars); of such lists more is not better.
            continuation=carrier.series is not None
            and self._full
            and factor == 1.0
            and carrier.series == series(web),
        )
        phrase = features.phrase(anchor_hits) if anchor_hits else 0
        return new_tuple(
            Signal, (anchor_hits, shape.hits, context_hits, phrase, relevance, floor, factor, by_depth)
        )

    def _without_floor(
        self, web: WebUrl, anchor_hits: int, context_hits: int, relevance: float, by_depth: float
    ) -> Signal:
        """The signal without a floor, and without what anchor and language may still take from it."""
        shape = self._memory.shapes.get(web.url) or self._shape(web)
        factor = features.factor(furniture=shape.furniture, dated=shape.dated)
        phrase = features.phrase(anchor_hits) if anchor_hits else 0
        return new_tuple(
            Signal, (anchor_hits, shape.hits, context_hits, phrase, relevance, 0.0, factor, by_depth)
        )

    def _shape(self, web: WebUrl) -> UrlShape:
        """What the URL alone says; navigation repeats its links on every page, so it is remembered."""
        memory, dated = self._memory, is_dated(web)
        hits = memory.terms.mask_of_words(url_words(web))
        furniture = dated or has_furniture_path(web)
        shape = memory.shapes[web.url] = new_tuple(
            UrlShape, (hits, dated, furniture, language_candidate(web))
        )
        return shape

    def _language(self, host: HostInfo, web: WebUrl, segment: str | None) -> str | None:
        """The language of the edition that a URL leads to; the host's evidence takes the URL in."""
        if segment is not None:
            note_language(self._work, host, segment)
        if self._full:
            return edition_language(web, host.languages)
        return None if segment is None else path_language(web, host.languages)


def scored(memory: Memory, link: Any) -> float:
    """The score of a link by the weights in use."""
    value: float = score(_SIGNAL(link), memory.weights, memory.covers.__getitem__)
    return value


def _kept(link: Any, relevance: float) -> Signal:
    """The signal that a link has, with another relevance of its carrier."""
    return new_tuple(
        Signal,
        (
            link.anchor_hits,
            link.url_hits,
            link.context_hits,
            link.phrase,
            relevance,
            link.floor,
            link.factor,
            link.decay,
        ),
    )


def _elsewhere(carrier: Carrier, wanted: str) -> bool:
    return carrier.language is not None and carrier.language != wanted
