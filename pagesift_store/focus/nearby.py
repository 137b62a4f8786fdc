"""What stands in and around the links of one page, read together.

Few links hold a word of the query. Which words of all their texts do is found in one pass; a link whose texts hold none
of these, not even within a word, needs no closer look.
"""

from __future__ import annotations

from itertools import compress, repeat
from operator import contains
from typing import TYPE_CHECKING

from pagesift_store.focus.features import context_mask
from pagesift_store.focus.text import fold, tokeniser, written_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pagesift_store.focus.text import QueryTerms

__all__ = ["Nearby"]

MOST_ANCHOR = 1_000
MOST_CONTEXT = 10_000
"""Characters of free text that are looked at; what is longer is cut."""


class Nearby:
    """The anchors and contexts of some links.

    Args:
        terms: the query.
        texts: every text that will be asked about, in any order.
        watched: other words to look for, in lower case.

    Attributes:
        watched: whether one of these words may stand in a text; True as well where the texts are not all ASCII, or
            long.
    """

    __slots__ = ("_may_hit", "_terms", "watched")

    def __init__(
        self, terms: QueryTerms, texts: Sequence[str], watched: frozenset[str] = frozenset()
    ) -> None:
        looked_at, longest = texts, max(map(len, texts), default=0)
        if longest > MOST_CONTEXT:
            looked_at = [text[:MOST_CONTEXT] for text in texts]
        # No word spans a line break, and folding joins nothing across one.
        joined = "\n".join(looked_at)
        folded = written_out(joined, fold(joined))
        words = tokeniser(folded)(folded)
        # A long anchor is cut, and the cut may leave another word.
        self.watched = longest > MOST_ANCHOR or not folded.isascii() or not watched.isdisjoint(words)
        self._terms = terms
        self._may_hit: set[str] = set()
        hitting = terms.hitting(words)
        if hitting:
            lines = folded.split("\n")
            if len(lines) != len(texts):  # there are line breaks within the texts
                lines = [written_out(text, fold(text)) for text in looked_at]
            for word in hitting:
                self._may_hit.update(compress(texts, map(contains, lines, repeat(word))))

    def hits(self, anchor: str, context: str) -> tuple[int, int]:
        """Signed 64-bit hit masks of an anchor, and of what stands around it (see `focus.features.context_mask`).

        A context that says no more than the anchor counts for nothing.
        """
        may_hit = self._may_hit
        of_anchor = of_context = 0
        if anchor in may_hit or len(anchor) > MOST_ANCHOR:  # a cut may leave a word that was none
            anchor = anchor[:MOST_ANCHOR]
            of_anchor = self._terms.mask(anchor)
        if context in may_hit and context != anchor:
            of_context = context_mask(self._terms, context[:MOST_CONTEXT], anchor)
        return of_anchor, of_context
