"""The few statistical functions that decisions rest on.

All are deterministic: sums run in one fixed order, and nothing is random. δ is the error level of a decision.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["benjamini_hochberg", "normal_quantile", "poisson_upper_tail", "wilson"]

_STANDARD_NORMAL = NormalDist()


@lru_cache(maxsize=256)
def normal_quantile(p: float) -> float:
    """The quantile Φ⁻¹(p) of the standard normal distribution.

    The standard library's value (Wichura's AS 241, good to some 1e-15) takes one Halley step on Φ(x) − p. The
    step works on the smaller tail, where `erfc` keeps its relative accuracy.

    Args:
        p: a probability, 0 < p < 1.

    Returns:
        The quantile, to about 1e-15 relative; negative below p = ½.

    Raises:
        ValueError: p is not inside (0, 1).
    """
    if not 0.0 < p < 1.0:
        raise ValueError(f"p={p!r} must lie strictly between 0 and 1")
    tail = min(p, 1.0 - p)
    x = _STANDARD_NORMAL.inv_cdf(tail)
    if tail > 1e-300:  # beyond, the density underflows
        error = 0.5 * math.erfc(-x * math.sqrt(0.5)) - tail
        step = error * math.sqrt(2.0 * math.pi) * math.exp(0.5 * x * x)
        x -= step / (1.0 + 0.5 * x * step)
    return x if p < 0.5 else 0.0 - x


def wilson(hits: int, n: int, delta: float) -> tuple[float, float]:
    """The two-sided Wilson score interval of a share.

    E. B. Wilson, JASA 22 (1927). With p = hits/n and z = Φ⁻¹(1 − δ/2): centre (p + z²/2n) / (1 + z²/n),
    half-width z·√(p(1−p)/n + z²/4n²) / (1 + z²/n).

    Args:
        hits: successes, 0 to n.
        n: trials, 0 or more.
        delta: error level δ, 0 < δ < 1, both sides together.

    Returns:
        Lower and upper bound, each in [0, 1]. (0, 1) without trials. The lower bound is exactly 0 without
        hits and the upper exactly 1 without misses: rounding would leave some 1e-17 there, and strict
        comparisons of two such bounds would flip.

    Raises:
        ValueError: hits outside 0..n, or δ outside (0, 1).
    """
    if not 0 <= hits <= n:
        raise ValueError(f"hits={hits!r} must lie between 0 and n={n!r}")
    z = normal_quantile(1.0 - delta / 2.0)
    if n == 0:
        return 0.0, 1.0
    share = hits / n
    spread = z * z / n
    centre = (share + spread / 2.0) / (1.0 + spread)
    half = z * math.sqrt(share * (1.0 - share) / n + spread / (4.0 * n)) / (1.0 + spread)
    lower = 0.0 if hits == 0 else max(centre - half, 0.0)
    upper = 1.0 if hits == n else min(centre + half, 1.0)
    return lower, upper


def poisson_upper_tail(k: int, mean: float) -> float:
    """P(X ≥ k) of a Poisson variable.

    The shorter of the two tails is summed outwards from k, so that each term is a plain multiple of the one
    before. Relative accuracy is about 1e-12 for counts up to a thousand and 1e-8 for counts up to a million
    (the cancellation in the logarithm of the first term).

    Args:
        k: count; 0 or less gives 1.
        mean: the expected count, finite, 0 or more.

    Returns:
        A probability in [0, 1]; 0.0 where it is too small for a double.

    Raises:
        ValueError: the mean is negative or not finite.
    """
    if not (math.isfinite(mean) and mean >= 0.0):
        raise ValueError(f"mean={mean!r} must be finite and 0 or more")
    if k <= 0:
        return 1.0
    if mean == 0.0:
        return 0.0
    if k > mean:
        return min(_sum_upwards(k, mean), 1.0)
    return max(1.0 - _sum_downwards(k - 1, mean), 0.0)


def _poisson_mass(k: int, mean: float) -> float:
    return math.exp(k * math.log(mean) - mean - math.lgamma(k + 1))


def _sum_upwards(k: int, mean: float) -> float:
    """Σ P(X = i) for i from k, where k is above the mean, so that the terms shrink."""
    term = total = _poisson_mass(k, mean)
    while term > total * 1e-17:
        k += 1
        term *= mean / k
        total += term
    return total


def _sum_downwards(k: int, mean: float) -> float:
    """Σ P(X = i) for i from k down to 0, where k is below the mean, so that the terms shrink."""
    term = total = _poisson_mass(k, mean)
    while k > 0 and term > total * 1e-17:
        term *= k / mean
        total += term
        k -= 1
    return total


def benjamini_hochberg(pvalues: Sequence[float], level: float) -> list[bool]:
    """Which hypotheses to reject so that the share of false rejections stays below a level.

    Benjamini and Hochberg, J. R. Stat. Soc. B 57 (1995): with the p-values in ascending order, all up to the
    last with p₍ᵢ₎ ≤ i·level/m are rejected.

    Args:
        pvalues: one p-value a hypothesis, each in [0, 1].
        level: the false discovery rate allowed, in [0, 1].

    Returns:
        One bool a hypothesis, in the order given: True when it is rejected, that is, the effect is there.
    """
    count = len(pvalues)
    threshold = -1.0
    for rank, p in enumerate(sorted(pvalues), start=1):
        if p <= rank * level / count:
            threshold = p
    return [p <= threshold for p in pvalues]
