"""The score of a link, written once for numbers and for SQL.

    score = max(floor, factor · (wa·A + wu·U + wc·C + wp·P + wh·H)) · decay

A, U, C are the weighted coverage of the anchor, URL and context hit masks, P is the relevance of the page that
carries the link, H is 1 when the anchor holds two or more terms. Everything below uses only operators that Python's
floats and SQL expressions share, in one fixed order, so that a row scored in Python when it is inserted and one
rescored by the UPDATE have the same bits.
"""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Weights", "bit_of", "coverage_by_bits", "score"]


class Weights(NamedTuple):
    """The weights in use.

    Attributes:
        features: weights of anchor, url, context, parent and phrase; 0 or more.
        terms: weight of each term, in bit order; 0.15 to 1.
        total: their sum, in bit order; 0 without terms.
    """

    features: Sequence[Any]
    terms: Sequence[Any]
    total: Any

    @classmethod
    def of(cls, features: Sequence[float], terms: Sequence[float]) -> Weights:
        """Weights with the total that `coverage` divides by."""
        return cls(tuple(features), tuple(terms), reduce(add, terms, 0.0))


def bit_of(mask: int, bit: int) -> int:
    """Bit of a mask, signed or not: 0 or 1."""
    return (mask >> bit) & 1


def coverage_by_bits(mask: Any, weights: Weights, bit_of: Callable[[Any, int], Any] = bit_of) -> Any:
    """Weighted share of the query's terms that a hit mask holds: Σ wᵢ·bitᵢ / Σ wᵢ, 0 to 1; 0 without terms."""
    if not weights.terms:
        return 0.0
    parts = [weight * bit_of(mask, bit) for bit, weight in enumerate(weights.terms)]
    return reduce(add, parts) / weights.total


def score(
    signal: Sequence[Any],
    weights: Weights,
    cover: Callable[[Any], Any],
    *,
    larger: Callable[[Any, Any], Any] = max,
) -> Any:
    """The score of a link.

    Args:
        signal: the hit masks of anchor, URL and context, phrase, relevance of the carrier, floor, factor and decay, all
            as numbers or all as columns of the link table. It is taken apart at once: to ask a named tuple for each
            takes as long as to add them up.
        weights: numbers, or bound parameters.
        cover: gives the coverage of a mask by these weights, as `coverage_by_bits` does.
        larger: the larger of two values; SQL has no portable one, so the statement brings its own.
    """
    anchor_hits, url_hits, context_hits, has_phrase, relevance, floor, factor, decay = signal
    anchor, url, context, parent, phrase = weights.features
    linear = (
        anchor * cover(anchor_hits)
        + url * cover(url_hits)
        + context * cover(context_hits)
        + parent * relevance
        + phrase * has_phrase
    )
    return larger(floor, factor * linear) * decay
