"""Term weights and the weighted coverage of a hit mask.

A mask holds one bit a query term, bit i for term i, at most 64 of them. Stored masks are signed 64-bit
integers, so a mask may come negative (bit 63) or unsigned; both mean the same bits.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["MIN_PAGES", "MIN_WEIGHT", "coverage", "term_weight", "term_weights"]

MIN_PAGES = 3
"""Pages below which document frequencies say nothing and all terms weigh the same."""

MIN_WEIGHT = 0.15
"""What a term found on every page still weighs."""


def term_weight(pages: int, df: int) -> float:
    """How much a term tells on this site.

    clamp(ln((N + 1)/(df + ½)) / ln(N + 1), 0.15, 1): 1 for a term not seen yet, less the more pages have it.

    Args:
        pages: pages observed, N, 0 or more.
        df: those that hold the term, 0 to N.

    Returns:
        The weight, 0.15 to 1; exactly 1 below 3 pages.
    """
    return term_weights(pages, (df,))[0]


def term_weights(pages: int, dfs: Sequence[int]) -> tuple[float, ...]:
    """The weight of every term; see `term_weight`.

    Args:
        pages: pages observed, 0 or more.
        dfs: document frequency of each term, 0 to `pages`.

    Returns:
        One weight a term, each 0.15 to 1.
    """
    if pages < MIN_PAGES:
        return (1.0,) * len(dfs)
    scale = math.log(pages + 1)
    return tuple(min(max(math.log((pages + 1) / (df + 0.5)) / scale, MIN_WEIGHT), 1.0) for df in dfs)


def coverage(mask: int, weights: Sequence[float]) -> float:
    """The share of the query, by weight, that a mask covers.

    Args:
        mask: hit mask, signed or unsigned; bits that have no weight are ignored.
        weights: weight of each term, 0 or more, at most 64 of them.

    Returns:
        Sum of the weights hit, in bit order, over the sum of all, in bit order; in [0, 1], 0.0 with no terms.
    """
    hit = total = 0.0
    for weight in weights:
        total += weight
        if mask & 1:
            hit += weight
        mask >>= 1
    return hit / total if total > 0.0 else 0.0


class Covers(dict[int, float]):
    """Hit mask → `coverage` by some weights, worked out once a mask. Crawls see few masks; whoever keeps it bounds it.

    Args:
        weights: weight of each term.
    """

    __slots__ = ("_weights",)

    def __init__(self, weights: Sequence[float]) -> None:
        super().__init__()
        self._weights = weights

    def __missing__(self, mask: int) -> float:
        found = self[mask] = coverage(mask, self._weights)
        return found
