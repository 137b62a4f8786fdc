"""What an operator does to a crawl that is going on: block, forget, requeue, group hosts, resume."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from store_invariants import violations

from pagesift_store import (
    CrawlState,
    FoundLink,
    Frontier,
    InvalidSettings,
    InvalidValue,
    LeaseLost,
    LinkState,
    Page,
    Refusal,
    StopReason,
    Verdict,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DAY = 86_400.0


@pytest.fixture
def opened(frontier: Callable[..., Frontier]) -> Frontier:
    """Two hosts, three pages each, scope `any`."""
    opened = frontier(scope="any")
    opened.add([FoundLink(f"https://{host}.example/{i}") for host in "ab" for i in range(3)], depth=1)
    return opened


def state_of(frontier: Frontier, url: str) -> LinkState:
    return frontier.explain(url).state


def row_of(frontier: Frontier, name: str) -> Any:
    (row,) = [row for row in frontier.dump() if row["table"] == "host" and row["name"] == name]
    return row


# -- blocks ---------------------------------------------------------------------------------------------------------


def test_a_blocked_host_keeps_its_links_and_gives_none(opened: Frontier, clock: Any, store: Path) -> None:
    assert opened.block("a.example") == 1
    assert {lease.url[8] for lease in opened.lease(9)} == {"b"}
    assert opened.unblock("a.example") == 1
    assert len(opened.lease(9)) == 3
    assert violations(store) == []


def test_a_block_can_end_by_itself(opened: Frontier, clock: Any) -> None:
    opened.block("www.a.example", until=clock.now + 50)
    opened.block("b.example")
    assert (opened.status().state, opened.status().next_due) == (CrawlState.BLOCKED, clock.now + 50)
    clock.forward(50)
    assert len(opened.lease(9)) == 3


def test_a_blocked_pattern_takes_out_what_is_unfinished_and_refuses_what_comes(
    opened: Frontier, page: Callable[..., Page], store: Path
) -> None:
    done, held, *_ = opened.lease(2)
    opened.observe(done, page(done))
    assert opened.block(pattern=r"a\.example/") == 2
    assert state_of(opened, done.url) is LinkState.DONE
    assert opened.explain(held.url).why == r"skipped: blocked: a\.example/"
    with pytest.raises(LeaseLost):
        opened.observe(held, page(held))
    seed, found = (
        opened.add([item])[0] for item in ("https://a.example/new", FoundLink("https://a.example/x"))
    )
    assert (seed.verdict, seed.reason, found.reason) == (Verdict.REJECTED, Refusal.BLOCKED, Refusal.BLOCKED)
    assert violations(store) == []


def test_another_frontier_hears_of_a_block_at_once(
    opened: Frontier, frontier: Callable[..., Frontier]
) -> None:
    other = frontier()
    other.add([FoundLink("https://c.example/")])
    opened.block(pattern="c.example")
    assert other.add([FoundLink("https://c.example/2")])[0].reason is Refusal.BLOCKED
    assert "c.example" not in " ".join(lease.url for lease in other.lease(9))


def test_an_unblocked_pattern_gives_back_what_no_other_holds(opened: Frontier, store: Path) -> None:
    assert opened.block(pattern="a.example") == 3
    assert opened.block(pattern="example/2") == 1  # that of the other host: the first is skipped already
    assert opened.unblock(pattern="a.example") == 2
    assert state_of(opened, "https://a.example/2") is LinkState.SKIPPED
    assert opened.unblock(pattern="example/2") == 2
    assert opened.status().counts[LinkState.QUEUED] == 6
    assert violations(store) == []


def test_a_page_that_leads_to_a_blocked_one_feeds_nothing(
    opened: Frontier, page: Callable[..., Page]
) -> None:
    opened.block(pattern="secret")
    (lease,) = opened.lease()
    seen = opened.observe(
        lease, page(lease, "/next", url="https://a.example/secret", redirects=[lease.url], text="visa " * 99)
    )
    assert [added.verdict for added in seen.added] == [Verdict.REJECTED]
    assert opened.status().relevant == 0


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("block", {}),
        ("block", {"host": "a.example", "pattern": "x"}),
        ("block", {"pattern": "("}),
        ("block", {"pattern": "x", "until": 5.0}),
        ("block", {"host": "a.example", "until": float("nan")}),
        ("unblock", {}),
        ("unblock", {"pattern": "never blocked"}),
        ("forget", {}),
        ("forget", {"pattern": "["}),
        ("forget", {"host": "no host"}),
        ("requeue", {"state": "done"}),
        ("requeue", {"pattern": "("}),
        ("set_host", {"host": "a.example", "reset": ["everything"]}),
        ("set_host", {"host": "a.example", "group": ""}),
        ("set_host", {"host": "a.example", "group": "a.example"}),
        ("set_revisit", {"every": -1.0}),
        ("set_revisit", {"every": float("inf")}),
        ("set_robots", {"host": "a.example", "status": 0}),
    ],
)
def test_what_no_act_can_be(opened: Frontier, call: str, arguments: dict[str, Any], store: Path) -> None:
    before = list(opened.dump())
    with pytest.raises(InvalidValue):
        getattr(opened, call)(**arguments)
    assert list(opened.dump()) == before


# -- forgetting -----------------------------------------------------------------------------------------------------


def test_a_forgotten_host_is_as_if_it_had_never_been_met(
    opened: Frontier, page: Callable[..., Page], store: Path
) -> None:
    for lease in opened.lease(4):
        opened.observe(lease, page(lease, "https://b.example/from-a", text="student visa fees " * 30))
    opened.lease(1)
    assert opened.forget("a.example") == 3
    tables = {
        row["table"] for row in opened.dump() if "a.example" in str(row) and "b.example" not in str(row)
    }
    assert tables <= {"host"}
    assert opened.status().pages == 1
    assert violations(store) == []


def test_ids_of_forgotten_links_never_come_back(opened: Frontier, store: Path) -> None:
    opened.forget(pattern="b.example")
    (again,) = opened.add([FoundLink("https://b.example/2")])
    assert (again.verdict, again.link_id) == (Verdict.NEW, 7)


def test_ids_of_forgotten_pages_never_come_back(opened: Frontier, page: Callable[..., Page]) -> None:
    """Whoever reads on from the last page read would miss those that were given its id."""
    ids: list[int] = []
    for lease in opened.lease(2):
        opened.observe(lease, page(lease))
        ids += [row["id"] for row in opened.dump() if row["table"] == "page"]
        opened.forget(pattern=re.escape(lease.url))
    assert len(ids) == len(set(ids)) == 2


def test_a_lease_of_a_forgotten_link_is_lost_and_its_place_free(
    frontier: Callable[..., Frontier], page: Callable[..., Page], store: Path
) -> None:
    opened = frontier(max_in_flight=1)
    opened.add(["https://a.example/1", "https://a.example/2"])
    (lease,) = opened.lease(1)
    opened.forget(pattern="/1$")
    with pytest.raises(LeaseLost):
        opened.observe(lease, page(lease))
    assert [lease.url for lease in opened.lease(2)] == ["https://a.example/2"]
    assert violations(store) == []


def test_what_led_to_a_forgotten_page_goes_with_it(
    frontier: Callable[..., Frontier], page: Callable[..., Page], store: Path
) -> None:
    opened = frontier(scope="any")
    opened.add(["https://old.example/"])
    (lease,) = opened.lease()
    opened.observe(lease, page(lease, url="https://new.example/", redirects=["https://old.example/"]))
    assert opened.forget("old.example", dry_run=True) == 2
    assert opened.status().pages == 1
    assert opened.forget("old.example") == 2
    assert opened.add(["https://new.example/"])[0].verdict is Verdict.NEW
    assert violations(store) == []


def test_a_forgotten_host_rests_and_stays_blocked(frontier: Callable[..., Frontier], clock: Any) -> None:
    opened = frontier(default_delay=10.0)
    opened.add(["https://a.example/1", "https://a.example/2"])
    opened.lease(1)
    opened.forget("a.example")
    opened.add(["https://a.example/1"])
    assert opened.lease(1) == []
    clock.forward(10)
    assert len(opened.lease(1)) == 1


def test_pages_that_repeated_a_forgotten_one_repeat_nothing(
    opened: Frontier, page: Callable[..., Page]
) -> None:
    same = "The very same words on both of these pages, and enough of them to be compared. " * 4
    for lease in opened.lease(2):
        opened.observe(lease, page(lease, text=same))
    opened.forget(pattern="a.example/0")
    assert [row["duplicate_of"] for row in opened.dump() if row["table"] == "page"] == [None]


# -- requeueing -----------------------------------------------------------------------------------------------------


@pytest.fixture
def dead(opened: Frontier) -> Frontier:
    """All six links dead: those of the first host by 404, the others by time-out."""
    for lease in opened.lease(6):
        if "a.example" in lease.url:
            opened.observe(lease, Page(url=lease.url, status=404))
        else:
            opened.fail(lease, "timeout", "no answer", permanent=True)
    return opened


@pytest.mark.parametrize(
    ("choice", "count"),
    [
        ({}, 6),
        ({"reason": "timeout"}, 3),
        ({"reason": "status 404"}, 3),
        ({"host": "www.a.example"}, 3),
        ({"pattern": "/[12]$"}, 4),
        ({"pattern": "/0$", "reason": "timeout"}, 1),
        ({"state": "skipped"}, 0),
    ],
)
def test_the_dead_are_queued_again_by_hand(
    dead: Frontier, store: Path, choice: dict[str, Any], count: int
) -> None:
    assert dead.requeue(**choice) == count
    assert dead.status().counts[LinkState.QUEUED] == count
    for lease in dead.lease(9):
        assert dead.fail(lease, "other").failures == 1
    assert violations(store) == []


def test_a_host_that_was_given_up_starts_anew(frontier: Callable[..., Frontier], clock: Any) -> None:
    opened = frontier()
    opened.add(["https://a.example/1", "https://a.example/2"])
    while leases := opened.lease(1):
        clock.now = opened.fail(leases[0], "dns").due or clock.now
    assert opened.requeue(reason="dns") == 2
    outcome = opened.fail(opened.lease(1)[0], "dns")
    assert (outcome.state, outcome.failures) == (LinkState.QUEUED, 1)


def test_what_is_blocked_stays_out(opened: Frontier) -> None:
    opened.block(pattern="a.example")
    assert opened.requeue(state="skipped") == 0


def test_a_link_that_comes_back_has_the_score_of_today(
    frontier: Callable[..., Frontier], page: Callable[..., Page], store: Path
) -> None:
    opened = frontier(rescore_drift=0.0)
    opened.add(["https://a.example/", FoundLink("https://a.example/gone", "student visa")])
    for lease in opened.lease(1):
        links = [FoundLink(f"/{i}", "student") for i in range(6)]
        opened.observe(lease, page(lease, *links, text="student " * 60))
    gone = next(lease for lease in opened.lease(9) if "gone" in lease.url)
    opened.fail(gone, "content", permanent=True)
    opened.recover()
    for lease in opened.lease(9):
        opened.observe(lease, page(lease, text=f"student fees {lease.url} " * 40))
    opened.requeue()
    assert violations(store) == []


# -- hosts that share a delay ---------------------------------------------------------------------------------------


def names(count: int) -> list[FoundLink]:
    return [FoundLink(f"https://s{i}.shared.example/{j}") for i in range(count) for j in range(2)]


def test_hosts_can_be_put_together_by_hand_and_apart_again(
    frontier: Callable[..., Frontier], clock: Any, store: Path
) -> None:
    opened = frontier(scope="any", default_delay=10.0)
    opened.add(names(3), depth=1)
    assert [opened.set_host(f"s{i}.shared.example", group="192.0.2.7") for i in range(3)] == [1, 1, 1]
    assert opened.set_host("s0.shared.example", group="192.0.2.7") == 0
    assert len(opened.lease(9)) == 1
    clock.forward(10)
    assert len(frontier().lease(9)) == 1
    opened.add([FoundLink("https://s1.shared.example/later")])
    assert "192.0.2.7 rests" in opened.explain("https://s1.shared.example/later").why
    assert violations(store) == []
    for i in range(3):
        assert opened.set_host(f"s{i}.shared.example", reset=["group"]) == 1
    assert opened.lease(9) == []  # each rests as long as the group had to
    clock.forward(10)
    assert [lease.url[8:10] for lease in opened.lease(9)] == ["s1", "s2"]  # the other has nothing left
    assert violations(store) == []


def test_a_group_that_joins_another_takes_its_members_along(
    frontier: Callable[..., Frontier], store: Path
) -> None:
    opened = frontier(scope="any", default_delay=10.0)
    opened.add(names(3), depth=1)
    opened.set_host("s1.shared.example", group="s0.shared.example")
    opened.set_host("s0.shared.example", group="s2.shared.example")
    assert len(opened.lease(9)) == 1
    opened.add([FoundLink("https://s1.shared.example/later")])
    assert len(opened.lease(9)) == 0
    assert violations(store) == []


def test_rules_can_name_what_shares_a_delay(frontier: Callable[..., Frontier]) -> None:
    opened = frontier(
        scope="any", default_delay=10.0, host_groups=(r"\.(shared)\.example$", r"^(?:eu|us)-.*")
    )
    opened.add([*names(50), *(FoundLink(f"https://eu-{i}.example/") for i in range(2))], depth=1)
    assert sorted(lease.url for lease in opened.lease(50)) == [
        "https://eu-0.example/",
        "https://eu-1.example/",
        "https://s0.shared.example/0",
    ]


def test_a_rule_must_be_a_regular_expression(frontier: Callable[..., Frontier]) -> None:
    with pytest.raises(InvalidSettings, match="host_groups"):
        frontier(host_groups=("(",))


def test_a_host_can_be_set_back(frontier: Callable[..., Frontier], clock: Any) -> None:
    opened = frontier(scope="any", default_delay=5.0)
    opened.set_host("a.example", delay=60.0, max_in_flight=1, blocked_until=clock.now + 9)
    opened.set_host("a.example", reset=["delay", "max_in_flight", "blocked_until"])
    row = row_of(opened, "a.example")
    assert (row["delay"], row["max_in_flight"], row["blocked_until"]) == (None, None, None)


# -- robots.txt -----------------------------------------------------------------------------------------------------


def test_a_robots_txt_that_cannot_be_had_defers_longer_each_time(opened: Frontier, clock: Any) -> None:
    waits = []
    for status in (503, None, 429, 500):
        opened.set_robots("a.example", status)
        waits.append(opened.robots("a.example").until - clock.now)
        assert {lease.url[8] for lease in opened.lease(9)} <= {"b"}
        clock.now = opened.robots("a.example").until
    assert all(0.8 <= wait / 60 / 2**k <= 1.2 for k, wait in enumerate(waits))
    assert len(opened.lease(9)) >= 3
    opened.set_robots("a.example", 200)
    opened.set_robots("a.example", 503)
    assert opened.robots("a.example").until - clock.now <= 72


def test_deferrals_by_robots_txt_do_not_count_as_a_dead_name_server(opened: Frontier, clock: Any) -> None:
    for _ in range(6):
        opened.set_robots("a.example", None)
        clock.now = opened.robots("a.example").until
    lease = next(lease for lease in opened.lease(9) if "a.example" in lease.url)
    assert opened.fail(lease, "dns").state is LinkState.QUEUED


def test_whether_robots_txt_must_be_asked_again(opened: Frontier, clock: Any) -> None:
    assert not opened.robots("a.example").holds
    opened.set_robots("a.example", 404, crawl_delay=2.5)
    known = opened.robots("www.a.example")
    assert (known.status, known.crawl_delay, known.holds) == (404, 2.5, True)
    clock.forward(DAY)
    assert not opened.robots("a.example").holds


def test_nobody_can_say_whose_robots_txt_a_shared_row_holds(opened: Frontier) -> None:
    opened.set_host("a.example", group="b.example")
    opened.set_robots("b.example", 404)
    assert not opened.robots("a.example").holds
    assert not opened.robots("b.example").holds


def test_a_crawl_delay_outlives_a_robots_txt_that_cannot_be_had(opened: Frontier) -> None:
    opened.set_robots("a.example", 200, crawl_delay=7.0)
    opened.set_robots("a.example", 503)
    assert opened.robots("a.example").crawl_delay == 7.0
    opened.set_robots("a.example", 200)
    assert opened.robots("a.example").crawl_delay is None


# -- stop rules -----------------------------------------------------------------------------------------------------


def test_a_crawl_that_a_rule_stopped_goes_on(
    frontier: Callable[..., Frontier], page: Callable[..., Page]
) -> None:
    opened = frontier(adaptive=True, patience=2, scope="any")
    opened.add([f"https://a.example/{i}" for i in range(9)])
    assert opened.resume() == 0
    (lease,) = opened.lease()
    opened.observe(lease, page(lease, text="student visa fees " * 30))
    for lease in opened.lease(2):
        opened.observe(lease, page(lease))
    assert opened.lease() == []
    assert opened.status().stop.reason is StopReason.SATURATED
    assert opened.resume() == 1
    assert len(opened.lease(2)) == 2


def test_what_another_sets_back_stays_so(frontier: Callable[..., Frontier]) -> None:
    one, other = frontier(), frontier()
    one.add(["https://a.example/"])
    one.configure(max_depth=1)
    other.configure(max_depth=None)
    (added,) = one.add(["https://a.example/deep"], depth=5, base="https://a.example/")
    assert added.verdict is Verdict.NEW
    assert one.configure(max_failures=3).max_depth is None


def test_a_host_s_delay_is_its_group_s_whoever_remembers_the_host(
    frontier: Callable[..., Frontier], store: Path
) -> None:
    opened = frontier()
    opened.add(["https://a.example/", "https://b.example/"])
    opened.set_host("a.example", group="m", delay=30.0)
    opened.close()
    again = frontier()
    again.set_host("b.example", group="n", delay=40.0)
    delays = {row["name"]: row["delay"] for row in again.dump() if row["table"] == "host"}
    assert delays == {"a.example": None, "m": 30.0, "b.example": None, "n": 40.0}
    assert violations(store) == []
