"""The signal of a link: what was seen of it where it was found."""

from __future__ import annotations

from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from pagesift_store.focus import features
from pagesift_store.focus.nearby import Nearby
from pagesift_store.focus.score import score
from pagesift_store.transactions.memory import UrlShape
from pagesift_store.transactions.places import host_of_url, note_language
from pagesift_store.urls.parts import bare_host
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
    from collections.abc import Iterable

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


NO_SIGNAL = Signal()
"""Of seeds and links with a given score: they have no features and never train the model."""


@lru_cache(maxsize=1024)
def no_signal(by_depth: float) -> Signal:
    """`NO_SIGNAL` with the decay of a depth."""
    return NO_SIGNAL._replace(decay=by_depth)


MOST_ANCHOR = 1_000
MOST_CONTEXT = 10_000
"""Characters of free text that are looked at; what is longer is cut."""


class Carrier(NamedTuple):
    """The page that carries links.

    Attributes:
        relevance: its relevance; 0 for links that were added by hand.
        language: its language, a code of two or three letters; None when unknown.
        repeated: its text was there before.
        series: of a new page of links, its URL with numbers blanked; None for other pages, and without a number.
    """

    relevance: float = 0.0
    language: str | None = None
    repeated: bool = False
    series: str | None = None


NO_CARRIER = Carrier()
"""Of links that were added by hand."""


def nearby_of(work: Work, links: Iterable[FoundLink]) -> Nearby:
    """The texts of some links, read together."""
    return Nearby(
        work.memory.terms,
        [
            text
            for link in links
            for text in (link.anchor[:MOST_ANCHOR], link.context[:MOST_CONTEXT])
            if text and not text.isspace()
        ],
        FURNITURE,
    )


def signal_of(
    work: Work, web: WebUrl, found: FoundLink, carrier: Carrier, by_depth: float, nearby: Nearby
) -> Signal:
    """The signal of one link (RULES 2.3 and 2.4).

    Args:
        work: the transaction.
        web: where it leads.
        found: the link.
        carrier: the page that carries it.
        by_depth: decay of its depth.
        nearby: has read its texts, among others.
    """
    if not work.memory.terms.words:
        return no_signal(by_depth)  # without a query the order is that of discovery
    signal = _features(work, web, *_hits(found, nearby), carrier.relevance, by_depth)
    return _shaped(work, web, found, carrier, signal, nearby)


def better_signal_of(
    work: Work, link: Any, web: WebUrl, found: FoundLink, carrier: Carrier, nearby: Nearby
) -> tuple[Signal, float] | None:
    """The signal of a known link where it is found again, and its score; None when nothing is better than before.

    What the shape of a URL leaves is at most what the features say, so most finds need no look at the shape.
    """
    memory = work.memory
    if not memory.terms.words:
        signal = no_signal(link.decay)
        value = scored(memory, signal)
        return (signal, value) if value > link.score else None
    best, least, most = None, link.score, carrier.relevance
    if work.settings.focus == "full":
        # The menus of dull pages often have the best words: the carrier is the most relevant page, whichever it is.
        most = max(most, link.parent_relevance)
        if most > link.parent_relevance:
            kept = _signal_as_it_is(link)._replace(parent_relevance=most)
            least = scored(memory, kept)
            best = kept, least
    anchor_hits, context_hits = _hits(found, nearby)
    flat = not _may_have_floor(work, web, carrier)
    known = best is not None or most <= link.parent_relevance
    if flat and known and not (anchor_hits or context_hits) and link.factor == 1.0 and link.url == web.url:
        return best  # the URL alone, which the link has already
    signal = _features(work, web, anchor_hits, context_hits, most, link.decay)
    if flat and scored(memory, signal) <= least:
        return best
    signal = _shaped(work, web, found, carrier, signal, nearby)
    value = scored(memory, signal)
    return (signal, value) if value > least else best


def scored(memory: Memory, signal: Any) -> float:
    """The score of a signal, or of a link, by the weights in use."""
    value: float = score(signal, memory.weights, coverage=memory.cover)
    return value


_columns = attrgetter(*Signal._fields)


def _signal_as_it_is(link: Any) -> Signal:
    return Signal._make(_columns(link))


def _hits(found: FoundLink, nearby: Nearby) -> tuple[int, int]:
    """Hit masks of anchor and context."""
    anchor, context = found.anchor[:MOST_ANCHOR], found.context
    return (
        nearby.anchor(anchor),
        nearby.context(context[:MOST_CONTEXT], anchor) if context and context != anchor else 0,
    )


def _features(
    work: Work, web: WebUrl, anchor_hits: int, context_hits: int, parent_relevance: float, by_depth: float
) -> Signal:
    phrase = features.phrase(anchor_hits) if anchor_hits else 0
    url_hits = _url_hits(work, web)
    return Signal(anchor_hits, url_hits, context_hits, phrase, parent_relevance, 0.0, 1.0, by_depth)


def _url_hits(work: Work, web: WebUrl) -> int:
    known = work.memory.shapes.get(web.url)
    return work.memory.terms.mask_of_words(url_words(web)) if known is None else known.hits


def _shape(work: Work, web: WebUrl, hits: int) -> UrlShape:
    """What the URL alone says; navigation repeats its links on every page, so it is remembered."""
    shapes = work.memory.shapes
    known = shapes.get(web.url)
    if known is None:
        dated = is_dated(web)
        known = shapes[web.url] = UrlShape(
            hits, dated, dated or has_furniture_path(web), language_candidate(web)
        )
    return known


def _shaped(
    work: Work, web: WebUrl, found: FoundLink, carrier: Carrier, signal: Signal, nearby: Nearby
) -> Signal:
    """The signal with the floor and the factor that the link's shape brings."""
    memory = work.memory
    anchor = found.anchor[:MOST_ANCHOR]
    shape = _shape(work, web, signal.url_hits)
    host = host_of_url(work, web)
    language = _language(work, host, web, shape.segment)
    wanted = memory.terms.language
    full = work.settings.focus == "full"
    factor = features.factor(
        furniture=shape.furniture or (nearby.watched and is_furniture_anchor(anchor)),
        dated=shape.dated,
        foreign=language is not None and language != wanted and (full or wanted == "en"),
    )
    on_seed_host = bare_host(web.host) in memory.seed_hosts
    floor = features.floor(
        edition=language == wanted and (is_edition_entry(web) if full else _elsewhere(carrier, wanted)),
        section=on_seed_host and is_section(web, anchor, host.languages),
        subsite=not on_seed_host and web.path == "/" and web.query is None,
        # Furniture goes on and on (archives, calendars); of such lists more is not better.
        continuation=full and factor == 1.0 and carrier.series is not None and carrier.series == series(web),
    )
    return signal if floor == 0.0 and factor == 1.0 else signal._replace(floor=floor, factor=factor)


def _may_have_floor(work: Work, web: WebUrl, carrier: Carrier) -> bool:
    """Whether a floor is possible at all, by a glance at the path.

    Lists go on anywhere; a section has one segment below a language, an entry of an edition no name or `index.…`.
    """
    path = web.path
    return (
        work.settings.focus != "full"
        or carrier.series is not None
        or path.count("/") <= 3
        or path.endswith("/")
        or "//" in path
        or "/index." in path.lower()
    )


def _elsewhere(carrier: Carrier, wanted: str) -> bool:
    return carrier.language is not None and carrier.language != wanted


def _language(work: Work, host: HostInfo, web: WebUrl, segment: str | None) -> str | None:
    """The language of the edition that a URL leads to; the host's evidence takes the URL in."""
    if segment is not None:
        note_language(work, host, segment)
    if work.settings.focus == "full":
        return edition_language(web, host.languages)
    return None if segment is None else path_language(web, host.languages)
