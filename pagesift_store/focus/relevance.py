"""How relevant a page is to the query, from a summary of it and from what the site looked like before it.

The summary is made once and is small, so that the store can keep it and judge a page again when more is
known.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pagesift_store.focus.passages import RANKED_TERMS, Body, glance
from pagesift_store.focus.stats import benjamini_hochberg, poisson_upper_tail
from pagesift_store.focus.weights import MIN_PAGES, term_weights

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pagesift_store.focus.text import QueryTerms

__all__ = [
    "EVIDENCE_FROM",
    "FURNITURE_DISCOUNT",
    "HUB_DISCOUNT",
    "IRRELEVANT_BELOW",
    "PageEvidence",
    "SiteStatistics",
    "relevance",
]

IRRELEVANT_BELOW = 0.05
"""A page of a lower relevance is irrelevant."""

EVIDENCE_FROM = 0.15
"""A page of this relevance or more is evidence."""

_COMPACT = json.JSONEncoder(separators=(",", ":"))

HUB_DISCOUNT = 0.5
"""What being a page of links leaves of the relevance."""

FURNITURE_DISCOUNT = 0.2
"""What being furniture (news lists, legal pages, …) leaves of the relevance."""


@dataclass(frozen=True, slots=True)
class PageEvidence:
    """What relevance needs to know of a page.

    Masks are of the query's first 16 terms, bit i for term i; pair masks have bit i for terms i and i + 1
    side by side in this order. Counts are in the same orders.

    Attributes:
        words: length of the body in words.
        counts: occurrences of each ranked term in the body; one number a term, at most 16.
        pairs: occurrences of each pair in the body; one fewer than terms.
        title: terms in title or URL.
        title_pairs: pairs in title or URL.
        headings: terms in a heading.
        heading_pairs: pairs in a heading.
        hub: more words stand in links than outside.
        furniture: the caller says that the page is furniture.
    """

    words: int
    counts: tuple[int, ...]
    pairs: tuple[int, ...]
    title: int = 0
    title_pairs: int = 0
    headings: int = 0
    heading_pairs: int = 0
    hub: bool = False
    furniture: bool = False

    @classmethod
    def of(
        cls,
        terms: QueryTerms,
        body: Body,
        *,
        title: str = "",
        url_text: str = "",
        headings: Sequence[str] = (),
        hub: bool = False,
        furniture: bool = False,
    ) -> PageEvidence:
        """Summarise a page.

        Args:
            terms: the query.
            body: the main text as read.
            title: text of the title.
            url_text: host and path as words.
            headings: texts of the headings.
            hub: more words stand in links than outside.
            furniture: the page is furniture.

        Returns:
            The summary.
        """
        ranked = min(len(terms), RANKED_TERMS)
        title_hits, title_pairs = _glances(terms, (title, url_text))
        heading_hits, heading_pairs = _glances(terms, headings)
        return cls(
            words=body.words,
            counts=_counts(body.hits, ranked),
            pairs=_counts(body.pairs, max(ranked - 1, 0)),
            title=title_hits,
            title_pairs=title_pairs,
            headings=heading_hits,
            heading_pairs=heading_pairs,
            hub=hub,
            furniture=furniture,
        )

    def to_json(self) -> str:
        """As stored: a JSON array of the fields in order."""
        return _COMPACT.encode([getattr(self, name) for name in self.__slots__])

    @classmethod
    def from_json(cls, text: str) -> PageEvidence:
        """Read what `to_json` wrote."""
        words, counts, pairs, *rest = json.loads(text)
        return cls(words, tuple(counts), tuple(pairs), *rest)


@dataclass(frozen=True, slots=True)
class SiteStatistics:
    """What was observed so far. Frequencies are in the order of the ranked terms and of their pairs.

    Attributes:
        pages: pages observed.
        words: words in all their bodies.
        df: pages that hold each term in the body.
        counts: occurrences of each term in all bodies.
        pair_df: pages that hold each pair in the body.
        pair_counts: occurrences of each pair in all bodies.
    """

    pages: int
    words: int
    df: tuple[int, ...]
    counts: tuple[int, ...]
    pair_df: tuple[int, ...]
    pair_counts: tuple[int, ...]

    @classmethod
    def empty(cls, terms: int) -> SiteStatistics:
        """Before the first page.

        Args:
            terms: terms of the query; the first 16 are ranked.

        Returns:
            All counts 0.
        """
        ranked = min(terms, RANKED_TERMS)
        none, no_pair = (0,) * ranked, (0,) * max(ranked - 1, 0)
        return cls(0, 0, none, none, no_pair, no_pair)

    def including(self, evidence: PageEvidence) -> SiteStatistics:
        """The statistics with one more page.

        Raises:
            ValueError: the page was summarised for another number of terms.
        """
        return SiteStatistics(
            pages=self.pages + 1,
            words=self.words + evidence.words,
            df=_plus(self.df, [count > 0 for count in evidence.counts]),
            counts=_plus(self.counts, evidence.counts),
            pair_df=_plus(self.pair_df, [count > 0 for count in evidence.pairs]),
            pair_counts=_plus(self.pair_counts, evidence.pairs),
        )

    def collocations(self, delta: float) -> list[bool]:
        """Which pairs of the query stand side by side more often than chance would have it.

        Upper Poisson tail of the count against the expected c₁·c₂/words, Benjamini–Hochberg over the pairs
        at δ.

        Args:
            delta: false discovery rate allowed.

        Returns:
            One bool a pair; all False below 3 pages.
        """
        if self.pages < MIN_PAGES or self.words == 0:
            return [False] * len(self.pair_counts)
        pvalues = [
            poisson_upper_tail(together, left * right / self.words)
            for together, left, right in zip(self.pair_counts, self.counts, self.counts[1:], strict=False)
        ]
        return benjamini_hochberg(pvalues, delta)

    def to_json(self) -> str:
        """As stored: a JSON array of the fields in order."""
        return _COMPACT.encode([getattr(self, name) for name in self.__slots__])

    @classmethod
    def from_json(cls, text: str) -> SiteStatistics:
        """Read what `to_json` wrote."""
        pages, words, *frequencies = json.loads(text)
        return cls(pages, words, *map(tuple, frequencies))


def relevance(evidence: PageEvidence, stats: SiteStatistics, delta: float = 0.05) -> float:
    """How relevant a page is.

    A unit is a ranked term, or a pair of neighbouring ones that is a collocation on this site. Its evidence
    is the mean of: 1 if in title or URL; 1 if in a heading; tf / (tf + 1 + length/average length). The
    page's relevance is the mean over the units, weighted by their idf on this site, times the discounts of
    hubs and furniture.

    Args:
        evidence: the page.
        stats: the site before this page. Without an earlier word the average length is the page's own;
            below 3 pages all units weigh the same and there are no pairs.
        delta: error level δ of the collocations.

    Returns:
        0 to 1; 0 without terms.

    Raises:
        ValueError: page and statistics are of different numbers of terms.
    """
    average = stats.words / stats.pages if stats.words else evidence.words
    length = evidence.words / average if average else 0.0
    total = weight_sum = 0.0
    for weight, in_title, in_heading, tf in _units(evidence, stats, delta):
        total += weight * ((in_title + in_heading + tf / (tf + 1.0 + length)) / 3.0)
        weight_sum += weight
    value = total / weight_sum if weight_sum else 0.0
    if evidence.hub:
        value *= HUB_DISCOUNT
    if evidence.furniture:
        value *= FURNITURE_DISCOUNT
    return value


def _units(
    evidence: PageEvidence, stats: SiteStatistics, delta: float
) -> Iterator[tuple[float, int, int, int]]:
    """Weight, in title or URL, in a heading, and occurrences of every unit: terms, then collocations."""
    weights = term_weights(stats.pages, stats.df)
    for i, (weight, tf) in enumerate(zip(weights, evidence.counts, strict=True)):
        yield weight, evidence.title >> i & 1, evidence.headings >> i & 1, tf
    weights = term_weights(stats.pages, stats.pair_df)
    together = stats.collocations(delta)
    for i, (weight, tf, holds) in enumerate(zip(weights, evidence.pairs, together, strict=True)):
        if holds:
            yield weight, evidence.title_pairs >> i & 1, evidence.heading_pairs >> i & 1, tf


def _glances(terms: QueryTerms, texts: Sequence[str]) -> tuple[int, int]:
    """Masks of the ranked terms and of the pairs that stand in any of some short texts."""
    mask = pairs = 0
    for text in texts:
        own, side_by_side = glance(terms, text)
        mask |= own
        pairs |= side_by_side
    return mask & (1 << RANKED_TERMS) - 1, pairs


def _counts(by_mask: dict[int, int], size: int) -> tuple[int, ...]:
    """How often each of the first bits is set, from a count by mask."""
    return tuple(sum([n for mask, n in by_mask.items() if mask >> i & 1]) for i in range(size))


def _plus(left: Sequence[int], right: Sequence[int]) -> tuple[int, ...]:
    return tuple(a + b for a, b in zip(left, right, strict=True))
