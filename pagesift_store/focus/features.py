"""What a link shows of itself: its context, its phrase, and the shape of its URL, as numbers.

Shape does not learn. A factor lowers what the features say, a floor keeps promising places from being
starved, and decay prefers what is near the seeds.
"""

from __future__ import annotations

import re
from itertools import accumulate, repeat
from operator import mul
from typing import TYPE_CHECKING

from pagesift_store.focus.text import unsigned

if TYPE_CHECKING:
    from pagesift_store.focus.text import QueryTerms

__all__ = [
    "CONTEXT_BYTES",
    "CONTINUATION_FLOOR",
    "DATED_FACTOR",
    "DECAY",
    "FOREIGN_FACTOR",
    "FURNITURE_FACTOR",
    "LANGUAGE_EDITION_FLOOR",
    "SECTION_FLOOR",
    "SUBSITE_FLOOR",
    "context_mask",
    "decay",
    "factor",
    "floor",
    "phrase",
]

CONTEXT_BYTES = 400
"""Bytes of UTF-8 around the middle of the anchor that count as its context, the anchor's own included."""

FURNITURE_FACTOR = 0.2
"""Of links to news, tags, log-ins, legal pages and the like."""

DATED_FACTOR = 0.1
"""Of links to dated articles."""

FOREIGN_FACTOR = 0.3
"""Of links into another language than the query's."""

LANGUAGE_EDITION_FLOOR = 0.6
"""Of links from a page in another language to the site's edition in the query's language."""

SECTION_FLOOR = 0.3
"""Of links to a section of a seed host."""

SUBSITE_FLOOR = 0.3
"""Of links to the root of a sub-site."""

CONTINUATION_FLOOR = 0.2
"""Of links from a list to its next page: before links that show nothing at all, after those to sections. Between 0.05
and 0.3 the value made no difference to speak of."""

DECAY = 0.9
"""What each level of depth leaves of a score."""

_DEEPEST = 1000
# Repeated multiplication is the same on every platform; `pow` need not be.
_DECAYS = tuple(accumulate(repeat(DECAY, _DEEPEST), mul, initial=1.0))

_HALF_WORD_BEFORE = re.compile(r"\A[a-z0-9]+", re.IGNORECASE)
_HALF_WORD_AFTER = re.compile(r"[a-z0-9]+\Z", re.IGNORECASE)


def context_mask(terms: QueryTerms, context: str, anchor: str) -> int:
    """Which terms stand near a link, its own words left out.

    The context is cut to 400 bytes of UTF-8 centred on the anchor, moved inwards at either end of the text
    so that no byte is given away; words of Latin letters that the cut divides are dropped. Then the anchor
    is taken out. Where it cannot be found (the caller may have left it out), the middle of the context
    stands for its place.

    Args:
        terms: the query.
        context: the text of the line or block around the link, with or without the anchor.
        anchor: the text of the link.

    Returns:
        Signed 64-bit hit mask.
    """
    start, end = _place(context, anchor)
    before, after = context[:start], context[end:]
    if len(context) * 4 > CONTEXT_BYTES:  # a character takes up to four bytes
        before, after = _cut(before, context[start:end], after)
    # What is left of a word that the anchor or the cut takes a part of is no word of the text.
    around = terms.mask(before) | terms.mask(after)
    return around and around & terms.mask(context)


def _place(context: str, anchor: str) -> tuple[int, int]:
    """Where the anchor stands in its context as a whole, preferably not inside another word."""
    if anchor:
        start = first = context.find(anchor)
        while start >= 0:
            end = start + len(anchor)
            if not (context[start - 1 : start].isalnum() or context[end : end + 1].isalnum()):
                return start, end
            start = context.find(anchor, start + 1)
        if first >= 0:
            return first, first + len(anchor)
    middle = len(context) // 2
    while middle < len(context) and context[middle].isalnum() and context[middle - 1 : middle].isalnum():
        middle += 1  # never through a word
    return middle, middle


def _cut(before: str, anchor: str, after: str) -> tuple[str, str]:
    """What a window of `CONTEXT_BYTES`, centred on the anchor, leaves of both sides."""
    left, right = (side.encode("utf-8", "surrogatepass") for side in (before, after))
    own = len(anchor.encode("utf-8", "surrogatepass"))
    room = max(CONTEXT_BYTES - own, 0)
    if len(left) + len(right) <= room:
        return before, after
    share = room // 2
    from_left = min(len(left), max(share, room - len(right)))
    from_right = min(len(right), room - from_left)
    if from_left < len(left):
        before = left[len(left) - from_left :].decode("utf-8", "ignore")
        if left[len(left) - from_left - 1 : len(left) - from_left].isalnum():
            before = _HALF_WORD_BEFORE.sub("", before)
    if from_right < len(right):
        after = right[:from_right].decode("utf-8", "ignore")
        if right[from_right : from_right + 1].isalnum():
            after = _HALF_WORD_AFTER.sub("", after)
    return before, after


def phrase(anchor_mask: int) -> int:
    """Whether an anchor holds two or more terms of the query.

    Args:
        anchor_mask: hit mask of the anchor, signed or unsigned.

    Returns:
        1 or 0.
    """
    bits = unsigned(anchor_mask)
    return 1 if bits & (bits - 1) else 0


def factor(*, furniture: bool = False, dated: bool = False, foreign: bool = False) -> float:
    """What the shape of a URL leaves of what its features say.

    Furniture and dates describe the same thing (a dated path is furniture by its own list), so the lower of
    the two counts once. Language is told by another part of the URL and tells something else, so its factor
    multiplies: the foreign news page is worse than the foreign page and worse than the news page.

    Args:
        furniture: the path or the anchor says news, tag, login, privacy, …
        dated: the path carries a date.
        foreign: the path leads into another language than the query's.

    Returns:
        0.03 to 1; exactly 1 for a plain link.
    """
    shape = DATED_FACTOR if dated else FURNITURE_FACTOR if furniture else 1.0
    return shape * FOREIGN_FACTOR if foreign else shape


def floor(
    *, edition: bool = False, section: bool = False, subsite: bool = False, continuation: bool = False
) -> float:
    """The least score of a link before decay: the highest floor that applies.

    Args:
        edition: leads from a page in another language to the edition in the query's language.
        section: leads to a section of a seed host.
        subsite: leads to the root of a sub-site.
        continuation: leads from a list to another page of it.

    Returns:
        0 to 0.6; 0 where none applies.
    """
    if edition:
        return LANGUAGE_EDITION_FLOOR
    if section:
        return SECTION_FLOOR
    if subsite:
        return SUBSITE_FLOOR
    return CONTINUATION_FLOOR if continuation else 0.0


def decay(depth: int) -> float:
    """What depth leaves of a score: 0.9 for each level.

    Args:
        depth: clicks from the nearest seed, 0 or more. From 1,000 on it no longer lowers anything, so that
            the score stays above 0.

    Returns:
        0.9 ** depth by repeated multiplication, in (0, 1].

    Raises:
        ValueError: a negative depth.
    """
    if depth < 0:
        raise ValueError(f"depth={depth!r} must be 0 or more")
    return _DECAYS[min(depth, _DEEPEST)]
