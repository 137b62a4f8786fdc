"""Clocks that jump: nothing waits for years, nothing is hurried, fences hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from store_invariants import violations

from pagesift_store import CrawlState, FoundLink, Frontier, LeaseLost, LinkState

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pagesift_store import Page

HOUR, DAY, YEAR = 3_600.0, 86_400.0, 365 * 86_400.0
A, B = "https://a.example/", "https://b.example/"


@pytest.fixture
def opened(frontier: Callable[..., Frontier], clock: Any) -> Frontier:
    """A store whose clock stands six years ahead, each host with a delay of ten seconds."""
    opened = frontier(default_delay=10.0, scope="any", revisit=True)
    opened.add([A, B])
    clock.forward(6 * YEAR)
    return opened


def host_row(frontier: Frontier, name: str) -> Any:
    (row,) = [row for row in frontier.dump() if row["table"] == "host" and row["name"] == name]
    return row


def test_a_host_rests_as_long_as_it_was_to_rest(opened: Frontier, clock: Any, store: Path) -> None:
    (lease,) = opened.lease(1)
    opened.fail(lease, "http_429", retry_after=100)
    clock.forward(-6 * YEAR)
    assert [lease.url for lease in opened.lease(5)] == [B]  # the other rests
    assert host_row(opened, "a.example")["ready_at"] == clock.now + 100.0
    assert host_row(opened, "a.example")["note"] == (
        "the clock went back by 189216000 s; times too far ahead were pulled back"
    )
    assert violations(store) == []


def test_a_retry_and_a_visit_come_when_they_were_to_come(
    opened: Frontier, clock: Any, page: Callable[..., Page], store: Path
) -> None:
    failed, fetched = opened.lease(2)
    opened.fail(failed, "timeout", retry_in=500.0)
    opened.observe(fetched, page(fetched))
    clock.forward(-6 * YEAR)
    opened.lease(1)
    assert opened.explain(failed.url).facts["due_at"] == clock.now + 500.0
    assert opened.explain(fetched.url).facts["due_at"] == clock.now + DAY
    assert opened.status().next_due == clock.now + 500.0
    assert violations(store) == []


def test_a_lease_runs_out_when_it_was_to_run_out(
    frontier: Callable[..., Frontier], clock: Any, page: Callable[..., Page], store: Path
) -> None:
    opened = frontier(worker="outlives processes")
    opened.add([A])
    clock.forward(6 * YEAR)
    (lease,) = opened.lease(1, ttl=300.0)
    clock.forward(-6 * YEAR)
    assert opened.lease(1) == []
    clock.forward(300)
    (again,) = opened.lease(1)
    with pytest.raises(LeaseLost):
        opened.observe(lease, page(lease))
    assert opened.observe(again, page(again)).state is LinkState.DONE
    assert violations(store) == []


def test_times_that_callers_and_operators_set_stay(
    frontier: Callable[..., Frontier], clock: Any, page: Callable[..., Page]
) -> None:
    opened = frontier(scope="any")
    opened.add([FoundLink(A, revisit=2 * YEAR), FoundLink("https://c.example/")], depth=1)
    opened.set_host("b.example", blocked_until=clock.now + 9 * YEAR)
    fetched, failed = opened.lease(2)
    opened.observe(fetched, page(fetched))
    due = opened.fail(failed, "other", retry_in=3 * YEAR).due
    clock.forward(-2 * HOUR)
    opened.lease(1)
    assert opened.explain(failed.url).facts["due_at"] == due
    assert opened.explain(fetched.url).facts["due_at"] == clock.now + 2 * YEAR  # an interval, not a moment
    assert host_row(opened, "b.example")["blocked_until"] == clock.now + 9 * YEAR + 2 * HOUR


@pytest.mark.parametrize("back", [59.0, 2 * HOUR])
def test_a_clock_that_goes_back_a_little_hurries_nobody(opened: Frontier, clock: Any, back: float) -> None:
    """Within what a rule can set nobody can tell an old time from a wrong one, and servers come first."""
    (lease,) = opened.lease(1)
    opened.fail(lease, "http_429", retry_after=HOUR)
    ready_at = clock.now + HOUR
    clock.forward(-back)
    opened.lease(5)
    assert host_row(opened, "a.example")["ready_at"] == ready_at


def test_a_robots_txt_of_the_future_does_not_hold(opened: Frontier, clock: Any) -> None:
    opened.set_robots("a.example", 404)
    clock.forward(-6 * YEAR)
    assert not opened.robots("a.example").holds
    opened.add(["https://a.example/2"])
    clock.forward(6 * YEAR + HOUR)
    assert not opened.robots("a.example").holds


def test_a_clock_that_jumps_ahead_ends_leases_and_keeps_fences(
    frontier: Callable[..., Frontier], clock: Any, page: Callable[..., Page], store: Path
) -> None:
    opened = frontier(default_delay=10.0)
    opened.add([A])
    (lease,) = opened.lease(1)
    clock.forward(YEAR)
    assert opened.status().state is CrawlState.READY
    (again,) = opened.lease(1)
    assert again.attempt == lease.attempt + 1
    with pytest.raises(LeaseLost):
        opened.fail(lease, "timeout")
    assert violations(store) == []


def test_a_clock_may_go_there_and_back_again_and_again(
    opened: Frontier, clock: Any, page: Callable[..., Page], store: Path
) -> None:
    for jump in (-6 * YEAR, 6 * YEAR, -3 * YEAR, 2 * DAY, -2 * DAY, -YEAR):
        clock.forward(jump)
        for lease in opened.lease(5):
            opened.observe(lease, page(lease))
        due = opened.status().next_due
        assert due is None or due <= clock.now + 90 * DAY
        assert violations(store) == []
