"""Quantiles, intervals, tails and the false discovery rate."""

from __future__ import annotations

import math
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagesift_store.focus.harvest import is_dry, is_proven
from pagesift_store.focus.stats import benjamini_hochberg, normal_quantile, poisson_upper_tail, wilson

shares = st.floats(1e-9, 1 - 1e-9)


@pytest.mark.parametrize(
    ("p", "wanted"),
    [(0.975, 1.959963984540054), (0.95, 1.6448536269514722), (0.025, -1.959963984540054), (0.5, 0.0)],
)
def test_quantiles_that_the_rules_name(p: float, wanted: float) -> None:
    assert normal_quantile(p) == pytest.approx(wanted, rel=4e-16, abs=0)


@given(shares)
def test_quantile_inverts_the_distribution(p: float) -> None:
    x = normal_quantile(p)
    tail = 0.5 * math.erfc(abs(x) / math.sqrt(2))
    assert tail == pytest.approx(min(p, 1 - p), rel=1e-13)
    assert (x < 0) == (p < 0.5) or x == 0
    assert x == pytest.approx(NormalDist().inv_cdf(p), rel=1e-12, abs=1e-15)


def test_quantile_in_the_far_tail() -> None:
    assert normal_quantile(5e-324) == pytest.approx(-38.467, abs=1e-3)


@pytest.mark.parametrize("p", [0.0, 1.0, -0.1, 1.1, math.nan])
def test_quantile_refuses_what_is_no_probability(p: float) -> None:
    with pytest.raises(ValueError, match="p="):
        normal_quantile(p)


@given(st.integers(1, 10**6), st.data(), st.sampled_from([0.01, 0.05, 0.2]))
def test_wilson_holds_the_share_and_grows_with_hits(n: int, data: st.DataObject, delta: float) -> None:
    hits = data.draw(st.integers(0, n - 1))
    lower, upper = wilson(hits, n, delta)
    assert 0.0 <= lower <= hits / n <= upper <= 1.0
    above = wilson(hits + 1, n, delta)
    assert above[0] > lower
    assert above[1] > upper or above[1] == 1.0


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_wilson_is_symmetric(hits: int, misses: int) -> None:
    lower, upper = wilson(hits, hits + misses, 0.05)
    mirrored = wilson(misses, hits + misses, 0.05)
    assert mirrored == pytest.approx((1 - upper, 1 - lower), abs=1e-12)


@pytest.mark.parametrize(("hits", "n", "delta"), [(-1, 3, 0.05), (4, 3, 0.05), (1, 3, 0.0), (1, 3, 2.0)])
def test_wilson_refuses_contradictions(hits: int, n: int, delta: float) -> None:
    with pytest.raises(ValueError, match="must lie"):
        wilson(hits, n, delta)


def exact_tail(k: int, mean: float) -> float:
    return 1.0 - math.fsum(math.exp(-mean) * mean**i / math.factorial(i) for i in range(k))


@pytest.mark.parametrize(
    ("k", "mean"), [(0, 2.0), (1, 2.0), (2, 2.0), (5, 2.0), (3, 3.0), (40, 30.0), (10, 30.0)]
)
def test_poisson_tail_against_its_definition(k: int, mean: float) -> None:
    assert poisson_upper_tail(k, mean) == pytest.approx(exact_tail(k, mean), rel=1e-9)


def test_poisson_tail_at_the_edges() -> None:
    assert poisson_upper_tail(0, 0.0) == 1.0
    assert poisson_upper_tail(1, 0.0) == 0.0
    assert poisson_upper_tail(1, 1e-300) == pytest.approx(1e-300)
    assert poisson_upper_tail(10**6, 1000.0) == 0.0
    assert poisson_upper_tail(10**6, 1e6) == pytest.approx(0.5, abs=1e-3)
    assert poisson_upper_tail(5, 1e9) == 1.0


@pytest.mark.parametrize("mean", [-1.0, math.nan, math.inf])
def test_poisson_tail_refuses_means(mean: float) -> None:
    with pytest.raises(ValueError, match="mean="):
        poisson_upper_tail(1, mean)


@given(st.integers(0, 500), st.floats(0, 400))
def test_poisson_tail_falls_with_the_count(k: int, mean: float) -> None:
    assert 1.0 >= poisson_upper_tail(k, mean) >= poisson_upper_tail(k + 1, mean) - 1e-12 >= -1e-12


def test_benjamini_hochberg_steps_up() -> None:
    # 0.04 alone fails its own rank (0.0333), but 0.041 passes the last (0.05) and takes all before it along.
    assert benjamini_hochberg([0.041, 0.01, 0.04], 0.05) == [True, True, True]
    assert benjamini_hochberg([0.06, 0.01, 0.04], 0.05) == [False, True, False]
    assert benjamini_hochberg([], 0.05) == []


@given(st.lists(st.floats(0, 1), max_size=16))
def test_benjamini_hochberg_rejects_the_smallest(pvalues: list[float]) -> None:
    rejected = benjamini_hochberg(pvalues, 0.05)
    kept = [p for p, out in zip(pvalues, rejected, strict=True) if not out]
    assert all(p < min(kept, default=2) for p, out in zip(pvalues, rejected, strict=True) if out)
    assert all(out for p, out in zip(pvalues, rejected, strict=True) if p <= 0.05 / len(pvalues))


@given(*[st.integers(0, 300)] * 4)
def test_no_part_is_dry_and_proven(hits: int, misses: int, other_hits: int, other_misses: int) -> None:
    counts = (hits + misses, hits, hits + misses + other_hits + other_misses, hits + other_hits, 0.05)
    assert not (is_dry(*counts) and is_proven(*counts))


def test_first_hit_of_an_only_part_proves_it() -> None:
    assert is_proven(1, 1, 1, 1, 0.05)
    assert not is_proven(0, 0, 5, 5, 0.05)
    assert not is_dry(0, 0, 5, 5, 0.05)
