"""When a crawl has found what there is: hits, stale pages and the stop rules."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from pagesift_store.focus.relevance import EVIDENCE_FROM, IRRELEVANT_BELOW

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["PageFacts", "StopState", "covered_terms", "is_hit", "verdict"]

MIN_EVIDENCE_PAGES = 2
"""Pages that the passages of a covered term must come from."""


def is_hit(relevance: float, duplicate: bool, tokens: int, new_tokens: int) -> bool:
    """Whether a page brought new on-topic content.

    Args:
        relevance: of the page, 0 to 1.
        duplicate: an earlier page has the same text.
        tokens: relevant tokens of the page, over its passages.
        new_tokens: those of them in passages not seen before.

    Returns:
        True when the page is evidence, no duplicate, and at least half of its relevant tokens are new. A page
        without relevant tokens brings nothing, whatever its title says.
    """
    return relevance >= EVIDENCE_FROM and not duplicate and tokens > 0 and 2 * new_tokens >= tokens


class PageFacts(NamedTuple):
    """What the stop rules need to know of a page.

    Attributes:
        relevance: 0 to 1.
        new_tokens: relevant tokens in passages not seen before; 0 for a duplicate.
        traced: the link to it showed a trace of the query (a hit in anchor, URL or context); seeds do.
    """

    relevance: float
    new_tokens: int
    traced: bool


@dataclass(frozen=True, slots=True)
class StopState:
    """Counters of the stop rules.

    Attributes:
        stale_run: stale pages in a row; pages between irrelevant and evidence neither count nor end it.
        untraced_run: pages in a row that were irrelevant and reached by links without a trace of the query.
        evidence_pages: evidence pages so far.
        new_tokens: new relevant tokens over the evidence pages so far.
        found: something relevant was found.
    """

    stale_run: int = 0
    untraced_run: int = 0
    evidence_pages: int = 0
    new_tokens: int = 0
    found: bool = False

    def after(self, page: PageFacts, min_gain: float = 0.05) -> StopState:
        """The counters after one more page.

        An evidence page is stale when it brings no new relevant token, or fewer than `min_gain` times the
        mean of the evidence pages before it. An irrelevant page is stale once something relevant was found.

        Args:
            page: the page.
            min_gain: 0 to 1.

        Returns:
            The new counters.
        """
        if page.relevance >= EVIDENCE_FROM:
            stale = page.new_tokens == 0 or (
                page.new_tokens * self.evidence_pages < min_gain * self.new_tokens
            )
            return StopState(
                stale_run=self.stale_run + 1 if stale else 0,
                untraced_run=0,
                evidence_pages=self.evidence_pages + 1,
                new_tokens=self.new_tokens + page.new_tokens,
                found=True,
            )
        if page.relevance >= IRRELEVANT_BELOW:
            return replace(self, untraced_run=0)
        return replace(
            self,
            stale_run=self.stale_run + 1 if self.found else 0,
            untraced_run=0 if page.traced else self.untraced_run + 1,
        )

    def resumed(self) -> StopState:
        """The counters when a stopped crawl goes on: both runs start anew, what was found stays."""
        return replace(self, stale_run=0, untraced_run=0)

    def to_json(self) -> str:
        """As stored: a JSON object."""
        return _to_json({name: getattr(self, name) for name in self.__slots__})

    @staticmethod
    @lru_cache(maxsize=16)
    def from_json(text: str) -> StopState:
        """Read what `to_json` wrote; a page asks twice, and the next page asks for what this one left."""
        return StopState(**json.loads(text))


_to_json = json.JSONEncoder(separators=(",", ":")).encode


def covered_terms(evidence: Sequence[tuple[int, int]], evidence_per_term: int) -> int:
    """How many terms have all the evidence that is asked for.

    Args:
        evidence: (distinct relevant passages with the term, pages that brought them) of every term.
        evidence_per_term: passages that cover a term, 1 or more; they must come from two pages or more.

    Returns:
        0 to the number of terms.
    """
    return sum(passages >= evidence_per_term and pages >= MIN_EVIDENCE_PAGES for passages, pages in evidence)


def verdict(
    state: StopState,
    evidence: Sequence[tuple[int, int]],
    *,
    patience: int = 5,
    coverage_threshold: float = 1.0,
    evidence_per_term: int = 5,
) -> tuple[str, dict[str, float]] | None:
    """The stop rule that holds, if any.

    Args:
        state: the counters.
        evidence: as for `covered_terms`; empty without terms, and then nothing is ever covered.
        patience: stale pages in a row that the rules wait for, 1 or more.
        coverage_threshold: share of the terms that must be covered, 0 to 1.
        evidence_per_term: passages that cover a term, 1 or more.

    Returns:
        The name of the rule and the numbers behind it; None while none holds. In this order:
        `coverage_reached` (enough terms covered, then ⌈patience/2⌉ stale pages in a row), `saturated`
        (patience stale pages in a row), `no_relevant_pages` (nothing relevant, and 2·patience irrelevant
        pages in a row that no trace of the query led to).
    """
    covered = covered_terms(evidence, evidence_per_term)
    enough = len(evidence) > 0 and covered >= coverage_threshold * len(evidence)
    if enough and state.stale_run >= (patience + 1) // 2:
        return "coverage_reached", {
            "covered": covered,
            "terms": len(evidence),
            "coverage_threshold": coverage_threshold,
            "stale_pages": state.stale_run,
            "patience": patience,
        }
    if state.stale_run >= patience:
        return "saturated", {
            "stale_pages": state.stale_run,
            "patience": patience,
            "evidence_pages": state.evidence_pages,
        }
    if not state.found and state.untraced_run >= 2 * patience:
        return "no_relevant_pages", {"irrelevant_pages": state.untraced_run, "patience": patience}
    return None
