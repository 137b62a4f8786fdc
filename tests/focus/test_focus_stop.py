"""Hits, counters and stop rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagesift_store.focus.stop import PageFacts, StopState, covered_terms, is_hit, verdict

FRESH = PageFacts(relevance=0.5, new_tokens=100, traced=True)
STALE = PageFacts(relevance=0.5, new_tokens=4, traced=True)
BETWEEN = PageFacts(relevance=0.1, new_tokens=0, traced=False)
LOST = PageFacts(relevance=0.0, new_tokens=0, traced=False)
MISLED = PageFacts(relevance=0.0, new_tokens=0, traced=True)

facts = st.builds(PageFacts, st.floats(0, 1), st.integers(0, 10**6), st.booleans())


def after(*pages: PageFacts) -> StopState:
    state = StopState()
    for page in pages:
        state = state.after(page)
    return state


@pytest.mark.parametrize(
    ("relevance", "duplicate", "tokens", "new_tokens", "hit"),
    [
        (0.15, False, 10, 5, True),
        (0.15, False, 11, 5, False),
        (0.149, False, 10, 10, False),
        (0.9, True, 10, 10, False),
        (0.9, False, 0, 0, False),
    ],
)
def test_hit(relevance: float, duplicate: bool, tokens: int, new_tokens: int, hit: bool) -> None:
    assert is_hit(relevance, duplicate, tokens, new_tokens) is hit


def test_stale_pages_are_measured_by_the_mean_before_them() -> None:
    assert after(FRESH, STALE).stale_run == 1
    assert after(FRESH, FRESH._replace(new_tokens=5)).stale_run == 0
    assert after(FRESH, STALE, FRESH).stale_run == 0
    assert after(FRESH, STALE) == StopState(1, 0, 2, 104, True)
    assert after(STALE._replace(new_tokens=0)).stale_run == 1, "nothing new is stale, whatever the mean"


def test_irrelevant_pages_are_stale_once_something_was_found() -> None:
    assert after(LOST, MISLED).stale_run == 0
    assert after(LOST, FRESH, LOST, MISLED).stale_run == 2


def test_pages_in_between_neither_count_nor_end_a_run() -> None:
    assert after(FRESH, LOST, BETWEEN, LOST).stale_run == 2
    assert after(LOST, LOST, BETWEEN).untraced_run == 0


def test_saturated() -> None:
    assert verdict(after(FRESH, *[LOST] * 4), []) is None
    assert verdict(after(FRESH, *[LOST] * 5), []) == (
        "saturated",
        {"stale_pages": 5, "patience": 5, "evidence_pages": 1},
    )
    assert verdict(after(FRESH, *[LOST] * 5), [], patience=6) is None


def test_no_relevant_pages() -> None:
    assert verdict(after(*[LOST] * 9), []) is None
    assert verdict(after(*[LOST] * 10), []) == ("no_relevant_pages", {"irrelevant_pages": 10, "patience": 5})
    assert verdict(after(*[LOST] * 9, MISLED, LOST), []) is None
    assert verdict(after(FRESH, FRESH, *[BETWEEN] * 20), []) is None


def test_coverage_reached() -> None:
    enough = [(5, 2), (7, 3)]
    assert covered_terms([(5, 1), (4, 4), (5, 2)], 5) == 1
    assert verdict(after(FRESH, LOST, LOST), enough) is None
    found = verdict(after(FRESH, LOST, LOST, LOST), enough)
    assert found is not None
    assert found[0] == "coverage_reached"
    assert found[1]["covered"] == found[1]["terms"] == 2
    late = after(FRESH, LOST, LOST, LOST)
    assert verdict(late, [(5, 2), (7, 1)]) is None
    assert verdict(late, [(5, 2), (7, 1)], coverage_threshold=0.5) is not None
    assert verdict(late, [(1, 2), (2, 2)], evidence_per_term=1) is not None
    assert verdict(late, []) is None, "no term, no coverage"


def test_resuming_starts_the_runs_anew() -> None:
    state = after(FRESH, *[LOST] * 5).resumed()
    assert state == StopState(0, 0, 1, 100, True)
    assert verdict(state, []) is None


def test_the_counters_are_stored_as_json_in_one_form() -> None:
    assert after(FRESH).to_json() == (
        '{"stale_run":0,"untraced_run":0,"evidence_pages":1,"new_tokens":100,"found":true}'
    )


@given(st.lists(facts, max_size=30))
def test_round_trip_is_exact_and_a_resumed_count_goes_on(pages: list[PageFacts]) -> None:
    straight = stored = StopState()
    for page in pages:
        straight = straight.after(page)
        stored = StopState.from_json(stored.after(page).to_json())
    assert straight == stored
    assert straight.found == (straight.evidence_pages > 0)
    assert verdict(straight, []) == verdict(stored, [])
