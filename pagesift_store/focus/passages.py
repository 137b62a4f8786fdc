"""One pass over the main text of a page: its length, its hits, and its relevant passages."""

from __future__ import annotations

from collections import Counter
from functools import reduce
from itertools import pairwise, repeat
from operator import or_
from typing import TYPE_CHECKING, NamedTuple

from pagesift_store.focus.fingerprint import digest64, squeeze
from pagesift_store.focus.text import fold, tokeniser, word_count, written_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pagesift_store.focus.text import QueryTerms

__all__ = [
    "MAX_PASSAGES",
    "MIN_PASSAGE",
    "RANKED_TERMS",
    "Body",
    "Passage",
    "glance",
    "passages",
    "read_body",
]

RANKED_TERMS = 16
"""Terms of the query, the first ones, that take part in relevance; neighbours among them form its pairs."""

MIN_PASSAGE = 40
"""Characters, white space squeezed, from which a block is a passage."""

MAX_PASSAGES = 64
"""Relevant passages of a page that are kept, the first ones."""

_PAIR_BITS = (1 << (RANKED_TERMS - 1)) - 1


class Passage(NamedTuple):
    """A block of the main text that holds a query term.

    Attributes:
        hash: signed 64-bit hash of the block, folded for case and white space.
        mask: signed 64-bit hit mask.
        tokens: its relevant tokens: all its words, since what is said about a term stands around it.
    """

    hash: int
    mask: int
    tokens: int


class Body(NamedTuple):
    """What one pass over a main text finds.

    Attributes:
        mask: signed 64-bit hit mask of the whole text.
        words: length in words.
        hits: hit mask of a word → words with that mask; words without a hit are left out.
        pairs: pair mask → places with it. Bit i: the terms i and i + 1 stand side by side, in this order.
        passages: the relevant passages, distinct by hash, in order of appearance, at most 64.
    """

    mask: int
    words: int
    hits: Counter[int]
    pairs: Counter[int]
    passages: tuple[Passage, ...]


def passages(terms: QueryTerms, text: str) -> list[Passage]:
    """The relevant passages of a text.

    Args:
        terms: the query.
        text: main text; blocks (paragraphs, list items, table rows) separated by line breaks.

    Returns:
        Passages of 40 characters or more that hold a query term, distinct by hash, in order, at most 64.
    """
    return list(read_body(terms, written_out(text, fold(text))).passages)


def read_body(terms: QueryTerms, folded: str) -> Body:
    """Read a main text once.

    Words stand side by side within a block only.

    Args:
        terms: the query.
        folded: main text as `focus.text.fold` returns it.

    Returns:
        Its length, hits, pairs and passages.
    """
    cut, plain = tokeniser(folded), folded.isascii()
    everything = cut(folded)  # no word spans a line break
    length = len(everything) if plain else word_count(everything)
    hitting = terms.hitting(everything)
    mask_of = {word: terms.lookup(word) for word in hitting}.get
    whole = 0
    hits: list[int] = []
    pairs: list[int] = []
    found: dict[int, Passage] = {}
    for block in folded.splitlines() if hitting else ():
        if not any(word in block for word in hitting):
            continue
        tokens = cut(block)
        masks = list(map(mask_of, tokens, repeat(0)))
        own = list(filter(None, masks))
        if not own:
            continue
        hits += own
        if len(own) > 1 or terms.has_runs:
            pairs += _side_by_side(terms, tokens, masks)
        mask = reduce(or_, own)
        whole |= mask
        squeezed = squeeze(block)
        if len(found) < MAX_PASSAGES and len(squeezed) >= MIN_PASSAGE:
            size = len(tokens) if plain else word_count(tokens)
            passage = Passage(digest64(squeezed.encode("utf-8", "surrogatepass")), mask, size)
            found.setdefault(passage.hash, passage)
    return Body(whole, length, Counter(hits), Counter(pairs), tuple(found.values()))


def glance(terms: QueryTerms, text: str) -> tuple[int, int]:
    """The hits of a short text, such as a title.

    Args:
        terms: the query.
        text: any text.

    Returns:
        Signed hit mask, and pair mask as in `Body.pairs`.
    """
    folded = written_out(text, fold(text))
    tokens = tokeniser(folded)(folded)
    masks = list(map(terms.lookup, tokens))
    return reduce(or_, masks, 0), reduce(or_, _side_by_side(terms, tokens, masks), 0)


def _side_by_side(terms: QueryTerms, tokens: Sequence[str], masks: Sequence[int]) -> list[int]:
    """The pair masks of all places of a block where neighbouring terms stand side by side."""
    places = [
        pair for left, right in pairwise(masks) if left and right and (pair := _neighbours(left, right))
    ]
    if terms.has_runs:
        for token, mask in zip(tokens, masks, strict=True):
            places += _within_run(terms.words, token, mask)
    return places


def _within_run(words: Sequence[str], token: str, mask: int) -> list[int]:
    """The pair masks of neighbouring terms that one run of CJK holds side by side."""
    both = _neighbours(mask, mask)
    if not both:
        return []
    return [1 << i for i, (a, b) in enumerate(pairwise(words)) if both >> i & 1 and a + b in token]


def _neighbours(left: int, right: int) -> int:
    """Bit i: the left mask holds term i and the right one term i + 1."""
    return left & right >> 1 & _PAIR_BITS
