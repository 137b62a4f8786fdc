"""The signal of a link: what was seen of it where it was found."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pagesift_store.focus import features
from pagesift_store.transactions.places import host_of, note_language
from pagesift_store.transactions.work import UrlShape
from pagesift_store.urls.parts import bare_host
from pagesift_store.urls.shapes import (
    edition_language,
    is_dated,
    is_edition_entry,
    is_furniture,
    is_furniture_anchor,
    is_section,
    language_candidate,
    path_language,
)
from pagesift_store.urls.words import url_text

if TYPE_CHECKING:
    from pagesift_store.records import FoundLink
    from pagesift_store.transactions.work import HostInfo, Work
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

MOST_ANCHOR = 1_000
MOST_CONTEXT = 10_000
"""Characters of free text that are looked at; what is longer is cut."""


class Carrier(NamedTuple):
    """The page that carries links.

    Attributes:
        relevance: its relevance; 0 for links that were added by hand.
        language: its language, a code of two or three letters; None when unknown.
        repeated: its text was there before.
    """

    relevance: float = 0.0
    language: str | None = None
    repeated: bool = False


NO_CARRIER = Carrier()
"""Of links that were added by hand."""


def signal_of(work: Work, web: WebUrl, found: FoundLink, carrier: Carrier) -> Signal:
    """The signal of one link (RULES 2.3 and 2.4), the decay of its depth apart."""
    terms = work.memory.terms
    if not terms.words:
        return NO_SIGNAL  # without a query the order is that of discovery
    anchor = found.anchor[:MOST_ANCHOR]
    anchor_hits = terms.mask(anchor) if anchor else 0
    context = found.context
    shape = _shape(work, web)
    factor, floor = _factor_and_floor(work, web, shape, anchor, carrier)
    return Signal(
        anchor_hits,
        shape.hits,
        features.context_mask(terms, context[:MOST_CONTEXT], anchor) if context and context != anchor else 0,
        features.phrase(anchor_hits),
        carrier.relevance,
        floor,
        factor,
    )


def _shape(work: Work, web: WebUrl) -> UrlShape:
    """What the URL alone says; navigation repeats its links on every page, so it is remembered."""
    shapes = work.memory.shapes
    known = shapes.get(web.url)
    if known is None:
        dated = is_dated(web)
        known = shapes[web.url] = UrlShape(
            work.memory.terms.mask(url_text(web)),
            dated,
            dated or is_furniture(web),
            language_candidate(web),
        )
    return known


def _factor_and_floor(
    work: Work, web: WebUrl, shape: UrlShape, anchor: str, carrier: Carrier
) -> tuple[float, float]:
    memory = work.memory
    host = host_of(work, memory.politeness_of(web))
    language = _language(work, host, web, shape.segment)
    wanted = memory.terms.language
    full = work.settings.focus == "full"
    factor = features.factor(
        furniture=shape.furniture or is_furniture_anchor(anchor),
        dated=shape.dated,
        foreign=(full or wanted == "en") and language is not None and language != wanted,
    )
    on_seed_host = bare_host(web.host) in memory.seed_hosts
    floor = features.floor(
        edition=language == wanted and (is_edition_entry(web) if full else _elsewhere(carrier, wanted)),
        section=on_seed_host and is_section(web, anchor, host.languages),
        subsite=not on_seed_host and web.path == "/" and web.query is None,
    )
    return factor, floor


def _elsewhere(carrier: Carrier, wanted: str) -> bool:
    return carrier.language is not None and carrier.language != wanted


def _language(work: Work, host: HostInfo, web: WebUrl, segment: str | None) -> str | None:
    """The language of the edition that a URL leads to; the host's evidence takes the URL in."""
    if segment is not None:
        note_language(work, host, segment)
    if work.settings.focus == "full":
        return edition_language(web, host.languages)
    return None if segment is None else path_language(web, host.languages)
