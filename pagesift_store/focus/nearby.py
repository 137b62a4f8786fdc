"""What stands in and around the links of one page, read together.

Few links hold a word of the query. Which words of all their texts do is found in one pass; a link whose texts hold none
of these, not even within a word, needs no closer look.
"""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING

from pagesift_store.focus.features import context_mask
from pagesift_store.focus.text import fold, spread, tokeniser

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pagesift_store.focus.text import QueryTerms

__all__ = ["Nearby"]


class Nearby:
    """The anchors and contexts of some links.

    Args:
        terms: the query.
        texts: every text that will be asked about, in any order.
        watched: other words to look for, in lower case.

    Attributes:
        watched: whether one of these words may stand in a text; True as well where the texts are not all ASCII.
    """

    __slots__ = ("_hitting", "_terms", "watched")

    def __init__(
        self, terms: QueryTerms, texts: Iterable[str], watched: frozenset[str] = frozenset()
    ) -> None:
        # No word spans a line break, and folding joins nothing across one.
        folded = fold(spread("\n".join(texts)))
        words = tokeniser(folded)(folded)
        self.watched = not folded.isascii() or not watched.isdisjoint(words)
        self._terms = terms
        self._hitting = set(compress(words, terms.masks(words)))

    def anchor(self, text: str) -> int:
        """Signed 64-bit hit mask of an anchor."""
        return self._terms.mask(text) if self._may_hit(text) else 0

    def context(self, text: str, anchor: str) -> int:
        """Signed 64-bit hit mask of what stands around an anchor; see `focus.features.context_mask`."""
        return context_mask(self._terms, text, anchor) if self._may_hit(text) else 0

    def _may_hit(self, text: str) -> bool:
        if not self._hitting or not text:
            return False
        folded = text.lower() if text.isascii() else fold(spread(text))
        for word in self._hitting:  # noqa: SIM110 - `any` costs more than the look itself
            if word in folded:
                return True
        return False
