"""The link model beyond the golden vectors."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagesift_store.focus.model import FEATURES, PRIORS, Posterior
from pagesift_store.focus.weights import coverage, term_weight, term_weights

unit = st.floats(0, 1)
samples = st.tuples(st.tuples(unit, unit, unit, unit, unit), st.booleans())


def test_prior_is_in_use_at_once() -> None:
    prior = Posterior.prior()
    assert prior.used == PRIORS
    assert prior.mean == (*PRIORS, 0.0)
    assert sum(prior.used) == 5.5


@given(st.lists(samples, max_size=30))
def test_evidence_only_adds_precision(history: list[tuple[tuple[float, ...], bool]]) -> None:
    posterior = Posterior.prior()
    for x, relevant in history:
        after, changed = posterior.updated(x, relevant, 0.05)
        assert all(new >= old for new, old in zip(after.precision, posterior.precision, strict=True))
        assert changed == (after.used != posterior.used)
        assert all(weight >= 0 for weight in after.used)
        posterior = after


@given(samples)
def test_a_sample_moves_only_what_it_shows(sample: tuple[tuple[float, ...], bool]) -> None:
    x, relevant = sample
    prior = Posterior.prior()
    after, _ = prior.updated(x, relevant, 0.05)
    for i, value in enumerate(x):
        if value == 0:
            assert (after.mean[i], after.precision[i]) == (prior.mean[i], prior.precision[i])


def test_minus_zero_is_zero() -> None:
    prior = Posterior.prior()
    assert prior.updated((-0.0,) * 5, True, 0.05) == prior.updated((0.0,) * 5, True, 0.05)


def test_probability_saturates_without_overflow() -> None:
    assert Posterior.prior((2000.0, 0, 0, 0, 0)).predict((1, 0, 0, 0, 0)) == 1.0
    assert Posterior.prior((-2000.0, 0, 0, 0, 0)).predict((1, 0, 0, 0, 0)) == 0.0


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", range(5))
def test_non_finite_features_are_named(bad: float, place: int) -> None:
    x = [0.0] * 5
    x[place] = bad
    with pytest.raises(ValueError, match=f"feature {FEATURES[place]}="):
        Posterior.prior().updated(x, True, 0.05)


def test_the_number_of_features_is_checked() -> None:
    with pytest.raises(ValueError, match="4 feature values"):
        Posterior.prior().updated((0.0,) * 4, True, 0.05)


@given(st.integers(-(2**63), 2**64 - 1), st.lists(st.floats(0.15, 1), max_size=64))
def test_coverage_is_a_share_and_sign_does_not_matter(mask: int, weights: list[float]) -> None:
    value = coverage(mask, weights)
    assert 0.0 <= value <= 1.0
    assert value == coverage(mask & (2**64 - 1), weights)
    assert value == coverage(mask & ((1 << len(weights)) - 1), weights)
    assert coverage(-1, weights) == (1.0 if weights else 0.0)


@given(st.integers(3, 10**9), st.data())
def test_rarer_terms_weigh_more(pages: int, data: st.DataObject) -> None:
    df = data.draw(st.integers(1, pages))
    assert 0.15 <= term_weight(pages, df) <= term_weight(pages, df - 1) <= 1.0
    assert term_weights(pages, (df, df - 1)) == (term_weight(pages, df), term_weight(pages, df - 1))


def test_terms_weigh_the_same_on_the_first_pages() -> None:
    assert term_weights(2, (0, 1, 2)) == (1.0, 1.0, 1.0)
