"""Which parts of a site pay off: dry and proven parts, by Wilson intervals.

A part is compared with all the other parts of its kind together. Both comparisons are strict, so a part that
cannot be told from the rest is neither dry nor proven, and either verdict falls again when the numbers turn.
"""

from __future__ import annotations

from functools import lru_cache

from pagesift_store.focus.stats import wilson

__all__ = ["is_dry", "is_proven"]

# Neighbouring calls ask for the same few intervals again and again, the rest's above all.
_bounds = lru_cache(maxsize=1 << 14)(wilson)


def is_dry(pages: int, hits: int, all_pages: int, all_hits: int, delta: float) -> bool:
    """Whether a part surely yields less than the rest.

    Args:
        pages: pages fetched from the part, 0 or more.
        hits: those of them that brought new on-topic content.
        all_pages: pages over all parts of the kind, this one included.
        all_hits: hits over all parts of the kind, this one included.
        delta: error level δ, two-sided.

    Returns:
        True when the part has a page and its upper bound lies below the lower bound of the rest.

    Raises:
        ValueError: the counts contradict each other, or δ is outside (0, 1).
    """
    if pages == 0:
        return False
    return _bounds(hits, pages, delta)[1] < _bounds(all_hits - hits, all_pages - pages, delta)[0]


def is_proven(pages: int, hits: int, all_pages: int, all_hits: int, delta: float) -> bool:
    """Whether a part surely yields more than the rest.

    Args:
        pages: pages fetched from the part, 0 or more.
        hits: those of them that brought new on-topic content.
        all_pages: pages over all parts of the kind, this one included.
        all_hits: hits over all parts of the kind, this one included.
        delta: error level δ, two-sided.

    Returns:
        True when the part has a page and its lower bound lies above the lower bound of the rest. A rest
        without a page has the bounds (0, 1), so the first hit of an only part proves it.

    Raises:
        ValueError: the counts contradict each other, or δ is outside (0, 1).
    """
    if pages == 0:
        return False
    return _bounds(hits, pages, delta)[0] > _bounds(all_hits - hits, all_pages - pages, delta)[0]
