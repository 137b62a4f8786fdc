"""Back-off, what servers ask for, and revisits."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagesift_store.focus.retry import backoff, crawl_delay, jitter, retry_after
from pagesift_store.focus.revisit import FIRST_INTERVAL, next_interval

HOUR, DAY = 3600.0, 86_400.0
NOW = 2_139_809_280.0 - 120.0  # two minutes before Fri, 22 Oct 2037 07:28:00 GMT


def test_backoff_doubles_up_to_six_hours() -> None:
    assert [backoff(k) for k in range(1, 11)] == [60, 120, 240, 480, 960, 1920, 3840, 7680, 15360, 21600]
    assert backoff(10**9, 1.0) == 6 * HOUR
    assert backoff(1, -1.0) == pytest.approx(48.0)
    assert backoff(1, 1.0) == pytest.approx(72.0)


@pytest.mark.parametrize(("failures", "spread"), [(0, 0.0), (-1, 0.0), (1, 1.01), (1, math.nan)])
def test_backoff_refuses(failures: int, spread: float) -> None:
    with pytest.raises(ValueError, match=r"failures=|jitter="):
        backoff(failures, spread)


@given(st.integers(-(2**63), 2**63), st.integers(0, 2**63), st.integers(1, 100))
def test_jitter_is_in_range_and_repeats(seed: int, link: int, failures: int) -> None:
    value = jitter(seed, link, failures)
    assert -1.0 <= value < 1.0
    assert value == jitter(seed, link, failures)


def test_jitter_spreads() -> None:
    values = [jitter(7, link, 1) for link in range(1000)]
    assert len(set(values)) == 1000
    assert abs(sum(values)) < 60
    assert jitter(7, 1, 1) != jitter(8, 1, 1) != jitter(7, 1, 2)


@pytest.mark.parametrize(
    ("value", "seconds", "noted"),
    [
        (None, None, None),
        ("120", 120.0, None),
        (" 120 ", 120.0, None),
        (7.5, 7.5, None),
        ("-5", None, None),
        (-5.0, None, None),
        ("0", None, None),
        ("1e9", DAY, "clamped"),
        ("9" * 100, DAY, "clamped"),
        ("1e999", DAY, "clamped"),
        (math.inf, DAY, "clamped"),
        ("86400", DAY, None),
        ("86401", DAY, "clamped"),
        (math.nan, None, "ignored"),
        ("nan", None, "ignored"),
        ("inf", None, "ignored"),
        ("", None, "ignored"),
        ("12, 30", None, "ignored"),
        ("10s", None, "ignored"),
        ("1_000", None, "ignored"),
        ("٣٠", None, "ignored"),
        ("soon\x00", None, "ignored"),
        ("9" * 10_000, None, "ignored"),
        ("Wed, 99 Oct 2037 07:28:00 GMT", None, "ignored"),
        ("Wed, 21 Oct 2015 07:28:00 GMT", None, None),
    ],
)
def test_retry_after(value: str | float | None, seconds: float | None, noted: str | None) -> None:
    found, note = retry_after(value, NOW)
    assert found == seconds
    assert (noted in note) if noted and note else note is noted
    assert note is None or len(note) < 250


@pytest.mark.parametrize(
    "date", ["Wed, 21 Oct 2037 07:28:00 GMT", "Wednesday, 21-Oct-37 07:28:00 GMT", "Wed Oct 21 07:28:00 2037"]
)
def test_retry_after_reads_the_three_forms_of_dates(date: str) -> None:
    at = 2_139_722_880.0
    assert retry_after(date, at - 120.0) == (120.0, None)
    assert retry_after(date, at) == (None, None)
    assert retry_after(date, at - 2 * DAY)[0] == DAY
    assert "clamped" in str(retry_after(date, at - 2 * DAY)[1])


@given(st.one_of(st.none(), st.floats(), st.text(st.characters())), st.floats(0, 1e10))
def test_retry_after_takes_anything(value: str | float | None, now: float) -> None:
    seconds, _ = retry_after(value, now)
    assert seconds is None or 0 < seconds <= DAY


def test_crawl_delay() -> None:
    assert crawl_delay(0) == (0.0, None)
    assert crawl_delay(0.5) == (0.5, None)
    assert crawl_delay(300) == (300.0, None)
    delay, note = crawl_delay(86_400)
    assert delay == 300.0
    assert "86400" in str(note)


@pytest.mark.parametrize("value", [-1, -0.1, math.nan, math.inf, -math.inf])
def test_crawl_delay_refuses(value: float) -> None:
    with pytest.raises(ValueError, match="crawl delay"):
        crawl_delay(value)


def test_revisits_follow_change() -> None:
    assert next_interval(None, True, HOUR, 90 * DAY) == FIRST_INTERVAL
    assert next_interval(DAY, True, HOUR, 90 * DAY) == DAY / 2
    assert next_interval(DAY, False, HOUR, 90 * DAY) == DAY * 1.5
    assert next_interval(HOUR, True, HOUR, 90 * DAY) == HOUR
    assert next_interval(80 * DAY, False, HOUR, 90 * DAY) == 90 * DAY
    assert next_interval(None, False, 2 * DAY, 3 * DAY) == 2 * DAY


@pytest.mark.parametrize(("minimum", "maximum"), [(0.0, 1.0), (2.0, 1.0), (math.nan, 1.0)])
def test_revisit_limits_are_checked(minimum: float, maximum: float) -> None:
    with pytest.raises(ValueError, match="minimum="):
        next_interval(DAY, True, minimum, maximum)
