"""Fetches that fail: try again later, or give up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from store_invariants import violations

from pagesift_store import CrawlState, FailKind, Frontier, InvalidValue, LinkState, Page, StopReason

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pagesift_store import Lease

DAY = 86_400.0


@pytest.fixture
def opened(frontier: Callable[..., Frontier]) -> Frontier:
    opened = frontier()
    opened.add(["https://a.example/1", "https://a.example/2", "https://b.example/"])
    return opened


@pytest.fixture
def lease(opened: Frontier) -> Lease:
    return opened.lease(1)[0]


@pytest.mark.parametrize(
    ("kind", "state"),
    [
        ("timeout", LinkState.WAITING),
        ("http_5xx", LinkState.WAITING),
        ("http_429", LinkState.WAITING),
        ("content", LinkState.WAITING),
        ("robots", LinkState.WAITING),
        ("other", LinkState.WAITING),
        ("http_4xx", LinkState.DEAD),
        ("dns", LinkState.QUEUED),
        ("connect", LinkState.QUEUED),
    ],
)
def test_what_a_kind_of_failure_leads_to(
    opened: Frontier, lease: Lease, store: Path, kind: str, state: LinkState
) -> None:
    outcome = opened.fail(lease, kind, "what went wrong")
    assert outcome.state is state
    assert outcome.reason == (f"{kind}: what went wrong" if state is LinkState.DEAD else None)
    assert opened.explain(lease.url).history[0]["error"] == f"{kind}: what went wrong"
    assert violations(store) == []


@pytest.mark.parametrize(
    ("status", "state"),
    [
        (400, LinkState.DEAD),
        (403, LinkState.DEAD),
        (404, LinkState.DEAD),
        (410, LinkState.DEAD),
        (451, LinkState.DEAD),
        (408, LinkState.WAITING),
        (425, LinkState.WAITING),
        (429, LinkState.WAITING),
        (500, LinkState.WAITING),
        (503, LinkState.WAITING),
    ],
)
def test_an_observed_error_acts_as_a_failure_and_feeds_no_statistic(
    opened: Frontier, lease: Lease, store: Path, status: int, state: LinkState
) -> None:
    seen = opened.observe(lease, Page(url=lease.url, status=status, text="student visa fees " * 40))
    assert (seen.state, seen.relevance, seen.hit, seen.added) == (state, 0.0, False, ())
    assert opened.status().pages == 0
    assert violations(store) == []


def test_the_wait_doubles_until_the_link_is_dead(
    frontier: Callable[..., Frontier], clock: Any, store: Path
) -> None:
    opened = frontier()
    opened.add(["https://a.example/"])
    waits = []
    while leases := opened.lease():
        outcome = opened.fail(leases[0], FailKind.TIMEOUT)
        if outcome.due is not None:
            waits.append(outcome.due - clock.now)
            assert opened.lease() == []
            clock.now = outcome.due
    assert (outcome.state, outcome.failures, outcome.reason) == (LinkState.DEAD, 5, "timeout")
    assert [round(wait / 60 / 2**k) for k, wait in enumerate(waits)] == [1, 1, 1, 1]
    assert all(0.8 <= wait / 60 / 2**k <= 1.2 for k, wait in enumerate(waits))
    assert violations(store) == []


def test_the_wait_is_the_same_whenever_it_is_computed(
    frontier: Callable[..., Frontier], tmp_path: Path
) -> None:
    dues = []
    for name in ("one.db", "other.db"):
        opened = frontier(path=tmp_path / name)
        opened.add(["https://a.example/"])
        dues.append(opened.fail(opened.lease()[0], "timeout").due)
    assert dues[0] == dues[1]


def test_a_success_ends_the_row_of_failures_not_their_total(
    opened: Frontier, lease: Lease, clock: Any
) -> None:
    clock.now = opened.fail(lease, "timeout").due
    (again,) = [one for one in opened.lease(5) if one.url == lease.url]
    opened.observe(again, Page(url=again.url))
    facts = opened.explain(lease.url).facts
    assert (facts["failures"], facts["failures_total"]) == (0, 1)


@pytest.mark.parametrize(
    ("arguments", "wait"),
    [
        ({"retry_in": 5.0}, 5.0),
        ({"retry_in": 0}, 0.0),
        ({"retry_after": 3_000}, 3_000.0),
        ({"retry_after": "3000"}, 3_000.0),
    ],
)
def test_when_to_try_again_can_be_told(
    opened: Frontier, lease: Lease, clock: Any, arguments: dict[str, Any], wait: float
) -> None:
    assert opened.fail(lease, "other", **arguments).due == clock.now + wait


def test_permanent_means_never_again(opened: Frontier, lease: Lease) -> None:
    assert opened.fail(lease, "dns", permanent=True).state is LinkState.DEAD


@pytest.mark.parametrize(
    ("header", "rest", "note"),
    [
        ("120", 120.0, None),
        (120, 120.0, None),
        ("-5", 0.0, None),
        ("0", 0.0, None),
        ("1e9", DAY, "Retry-After '1e9' clamped to 86400 s"),
        ("Mon, 12 Jan 1970 13:48:40 GMT", 120.0, None),
        (
            "Wed, 21 Oct 2037 07:28:00 GMT",
            DAY,
            "Retry-After 'Wed, 21 Oct 2037 07:28:00 GMT' clamped to 86400 s",
        ),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0, None),
        ("", 0.0, "Retry-After '' ignored: neither seconds nor a date"),
        ("12, 30", 0.0, "Retry-After '12, 30' ignored: neither seconds nor a date"),
    ],
)
def test_a_host_rests_as_long_as_it_asks(
    opened: Frontier, lease: Lease, clock: Any, header: str | float, rest: float, note: str | None
) -> None:
    opened.observe(lease, Page(url=lease.url, status=503, retry_after=header))
    (host,) = [row for row in opened.dump() if row["table"] == "host" and row["name"] == "a.example"]
    assert host["ready_at"] == clock.now + rest
    assert host["note"] == note


def test_a_host_out_of_reach_rests_as_a_whole(
    opened: Frontier, lease: Lease, clock: Any, store: Path
) -> None:
    outcome = opened.fail(lease, "dns")
    assert 48.0 <= outcome.due - clock.now <= 72.0
    assert [one.url for one in opened.lease(5)] == ["https://b.example/"]
    clock.now = outcome.due
    assert [one.url for one in opened.lease(5)] == ["https://a.example/1", "https://a.example/2"]
    assert violations(store) == []


def test_a_host_out_of_reach_five_times_is_given_up_at_once(
    frontier: Callable[..., Frontier], clock: Any, store: Path
) -> None:
    opened = frontier()
    opened.add([f"https://a.example/{i}" for i in range(100)])
    opened.add(["https://b.example/"])
    (kept,) = [lease for lease in opened.lease(101) if "b.example" in lease.url]
    clock.forward(301.0)
    opened.observe(kept, Page(url=kept.url))
    for _ in range(5):
        (lease,) = opened.lease(1)
        outcome = opened.fail(lease, "connect", "refused")
        clock.now = outcome.due or clock.now
    assert opened.status().counts[LinkState.DEAD] == 100
    assert opened.explain("https://a.example/99").facts["reason"] == (
        "host given up after 5 failures in a row; the last: connect: refused"
    )
    assert opened.status().stop.reason is StopReason.EXHAUSTED
    assert violations(store) == []


@pytest.mark.parametrize("status", [200, 304, 404, 429])
def test_any_answer_ends_a_hosts_row_of_failures(opened: Frontier, clock: Any, status: int) -> None:
    for _ in range(4):
        (lease,) = [one for one in opened.lease(5) if "a.example/1" in one.url]
        clock.now = opened.fail(lease, "dns").due
        clock.forward(301.0)
    (lease,) = [one for one in opened.lease(5) if "a.example/1" in one.url]
    opened.observe(lease, Page(url=lease.url, status=status))
    (host,) = [row for row in opened.dump() if row["table"] == "host" and row["name"] == "a.example"]
    assert host["failures"] == 0


@pytest.mark.parametrize(
    "arguments",
    [
        {"kind": "gone"},
        {"kind": "other", "retry_in": -1.0},
        {"kind": "other", "retry_in": float("nan")},
        {"kind": "other", "retry_in": "5"},
    ],
)
def test_what_no_failure_can_be(opened: Frontier, lease: Lease, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue):
        opened.fail(lease, **arguments)
    assert opened.status().counts[LinkState.LEASED] == 1


# -- what a worker should do now ------------------------------------------------------------------------------------


def test_ready(opened: Frontier, clock: Any) -> None:
    status = opened.status()
    assert (status.state, status.next_due, status.stop) == (CrawlState.READY, clock.now, None)


def test_leased_out(opened: Frontier, clock: Any) -> None:
    opened.lease(5, ttl=70.0)
    assert (opened.status().state, opened.status().next_due) == (CrawlState.LEASED_OUT, clock.now + 70.0)


def test_cooling(frontier: Callable[..., Frontier], clock: Any) -> None:
    opened = frontier(default_delay=10.0)
    opened.add(["https://a.example/1", "https://a.example/2"])
    opened.lease(1)
    assert (opened.status().state, opened.status().next_due) == (CrawlState.COOLING, clock.now + 10.0)


def test_waiting(frontier: Callable[..., Frontier], clock: Any) -> None:
    opened = frontier()
    opened.add(["https://a.example/"])
    opened.fail(opened.lease()[0], "other", retry_in=500.0)
    assert (opened.status().state, opened.status().next_due) == (CrawlState.WAITING, clock.now + 500.0)


@pytest.mark.parametrize("until", [77.0, float("inf")])
def test_blocked(frontier: Callable[..., Frontier], clock: Any, until: float) -> None:
    opened = frontier()
    opened.add(["https://a.example/"])
    opened.set_host("a.example", blocked_until=clock.now + until)
    due = None if until == float("inf") else clock.now + until
    assert (opened.status().state, opened.status().next_due) == (CrawlState.BLOCKED, due)


def test_finished(frontier: Callable[..., Frontier]) -> None:
    opened = frontier()
    opened.add(["https://a.example/"])
    opened.observe(opened.lease()[0], Page(url="https://a.example/"))
    status = opened.status()
    assert (status.state, status.next_due) == (CrawlState.FINISHED, None)
    assert (status.stop.reason, status.stop.detail) == (
        StopReason.EXHAUSTED,
        {"done": 1, "dead": 0, "skipped": 0},
    )


def test_what_is_set_aside_waits_for_a_better_host_that_rests(
    frontier: Callable[..., Frontier], clock: Any, page: Callable[..., Page]
) -> None:
    """Nothing is leased now, and yet the crawl is not finished."""
    opened = frontier(scope="any", default_delay=30.0)
    same = "The list is empty. There is nothing to be seen here on any of these pages. " * 6
    opened.add([f"https://lists.example/list?page={i}" for i in range(13)])
    for _ in range(12):
        (lease,) = opened.lease(1)
        opened.observe(lease, page(lease, text=same))
        clock.forward(30.0)
    opened.add(["https://good.example/1", "https://good.example/2"])
    (lease,) = opened.lease(2)
    opened.observe(lease, page(lease))
    assert lease.url == "https://good.example/1"
    assert opened.lease(2) == []
    assert (opened.status().state, opened.status().next_due) == (CrawlState.COOLING, clock.now + 30.0)
    clock.forward(30.0)
    assert [lease.url for lease in opened.lease(2)] == ["https://good.example/2"]
