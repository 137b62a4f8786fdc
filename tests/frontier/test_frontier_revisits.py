"""Pages that are visited again: when, in which order beside new links, and what becomes of those that fail."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from store_invariants import violations

from pagesift_store import (
    CrawlState,
    FoundLink,
    Frontier,
    InvalidValue,
    LinkState,
    Page,
    StopReason,
    upkeep,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HOUR, DAY = 3_600.0, 86_400.0
SITE = "https://a.example"


def fetch_all(frontier: Frontier, page: Callable[..., Page], text: str = "") -> list[str]:
    """Observe all that is ready, one by one; returns the paths in order."""
    fetched = []
    while leases := frontier.lease(1):
        (lease,) = leases
        fetched.append(lease.url.removeprefix(SITE))
        frontier.observe(lease, page(lease, text=f"{text} {lease.url} " * 20))
    return fetched


@pytest.fixture
def watched(frontier: Callable[..., Frontier], page: Callable[..., Page]) -> Frontier:
    """A store that visits its three pages again, each fetched once."""
    opened = frontier(revisit=True, scope="any")
    opened.add([f"{SITE}/{i}" for i in range(3)])
    fetch_all(opened, page)
    return opened


# -- when -----------------------------------------------------------------------------------------------------------


def test_the_interval_follows_the_changes(watched: Frontier, page: Callable[..., Page], clock: Any) -> None:
    watched.set_revisit(0, pattern="/[12]$")
    waits = []
    for text in ("as before", "new", "new", "new", "newer", "newer, by so much " * 30):
        clock.now = watched.status().next_due
        (lease,) = watched.lease(3)
        waits.append((watched.observe(lease, page(lease, text=text)).due - clock.now) / DAY)
    assert waits == [0.5, 0.25, 0.375, 0.5625, 0.28125, 0.140625]


@pytest.mark.parametrize(("change", "wait"), [(True, 6 * HOUR), (False, 2 * DAY)])
def test_the_interval_stays_within_its_bounds(
    frontier: Callable[..., Frontier], page: Callable[..., Page], clock: Any, *, change: bool, wait: float
) -> None:
    opened = frontier(revisit=True, revisit_min=6 * HOUR, revisit_max=2 * DAY)
    opened.add([SITE])
    for round_ in range(6):
        (lease,) = opened.lease()
        due = opened.observe(lease, page(lease, text=f"{change and round_} is what it says now. " * 9)).due
        then, clock.now = clock.now, due
    assert due - then == wait


def test_an_unchanged_page_is_told_by_304_as_by_its_text(
    watched: Frontier, page: Callable[..., Page], clock: Any
) -> None:
    clock.forward(DAY)
    one, other, _ = watched.lease(3)
    text = f" {other.url} " * 20
    dues = {
        watched.observe(one, Page(url=one.url, status=304)).due,
        watched.observe(other, page(other, text=text)).due,
    }
    assert dues == {clock.now + 1.5 * DAY}


def test_status_says_when_the_next_visit_is_due(watched: Frontier, clock: Any) -> None:
    assert (watched.status().state, watched.status().next_due) == (CrawlState.WAITING, clock.now + DAY)
    clock.forward(DAY)
    assert watched.status().state is CrawlState.READY


def test_a_due_page_of_a_host_that_rests_is_cooling(
    frontier: Callable[..., Frontier], page: Callable[..., Page], clock: Any
) -> None:
    opened = frontier(revisit=True, default_delay=10.0)
    opened.add([f"{SITE}/1", f"{SITE}/2"])
    for _ in range(2):
        (lease,) = opened.lease(2)
        opened.observe(lease, page(lease))
        clock.forward(10)
    clock.forward(DAY)
    assert len(opened.lease(2)) == 1
    assert (opened.status().state, opened.status().next_due) == (CrawlState.COOLING, clock.now + 10.0)
    clock.forward(10)
    assert len(opened.lease(2)) == 1


# -- beside new links -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("share", "order"), [(0.5, "rnrnrnnn"), (0.0, "nnnnnrrr"), (1.0, "rrrnnnnn"), (0.25, "rnnnrnnr")]
)
def test_due_pages_and_new_links_take_turns(
    watched: Frontier, clock: Any, share: float, order: str, store: Path
) -> None:
    """Turns are told by the number of leases so far, of which three were given before."""
    watched.configure(revisit_share=share)
    watched.add([FoundLink(f"{SITE}/new/{i}") for i in range(5)])
    clock.forward(DAY)
    assert "".join("n" if "/new/" in lease.url else "r" for lease in watched.lease(8)) == order
    assert violations(store) == []


@pytest.mark.parametrize("at_once", [1, 2])
def test_a_visit_counts_for_its_cluster_within_the_same_call(
    frontier: Callable[..., Frontier], page: Callable[..., Page], clock: Any, at_once: int
) -> None:
    """The second lease of a call sees what the first one took, as a call of its own would."""
    opened = frontier(revisit=True, revisit_share=1.0, cluster_cap=2, learn=False, scope="any")
    opened.add([f"{SITE}/x/1.html"])
    fetch_all(opened, page)
    opened.add([FoundLink(f"{SITE}/x/2.html", score=2.0), FoundLink(f"{SITE}/y/1.html", score=1.9)])
    clock.forward(90 * DAY)
    leases = [lease for _ in range(2 // at_once) for lease in opened.lease(at_once)]
    assert [lease.url.removeprefix(SITE) for lease in leases] == ["/x/1.html", "/y/1.html"]


def test_turns_do_not_depend_on_restarts_nor_on_how_many_are_leased_at_once(
    frontier: Callable[..., Frontier], page: Callable[..., Page], clock: Any, tmp_path: Path
) -> None:
    def order(name: str, at_once: int) -> list[int]:
        clock.now = 1_000_000.0
        path = tmp_path / name
        with frontier(path=path, revisit=True, revisit_share=0.3, scope="any") as opened:
            opened.add([f"{SITE}/{i}" for i in range(6)])
            fetch_all(opened, page)
            opened.add([FoundLink(f"{SITE}/new/{i}") for i in range(6)])
        clock.forward(DAY)
        found: list[int] = []
        while len(found) < 12:
            taken = frontier(path=path, worker="cron").lease(at_once)
            found += [lease.link_id for lease in taken]
        return found

    assert order("one.db", 1) == order("four.db", 4) == order("all.db", 12)


def test_the_longest_due_goes_first(watched: Frontier, page: Callable[..., Page], clock: Any) -> None:
    clock.forward(DAY)
    (lease,) = watched.lease(1)
    watched.observe(lease, page(lease, text="changed " * 40))
    clock.forward(30 * DAY)
    assert [lease.url.removeprefix(SITE) for lease in watched.lease(3)] == ["/1", "/2", "/0"]


def test_a_visit_that_comes_back_is_as_due_as_before(watched: Frontier, clock: Any, store: Path) -> None:
    clock.forward(DAY)
    first = [lease.url for lease in watched.lease(3)]
    clock.forward(301)
    before = watched.status().counts
    assert [lease.url for lease in watched.lease(3)] == first
    assert before[LinkState.LEASED] == 3
    for lease in [watched.lease(1) for _ in range(2)]:
        assert lease == []
    assert watched.recover() == 0
    watched.close()
    assert violations(store) == []


def test_thousands_of_due_pages_of_a_host_that_rests_hold_nobody_up(
    frontier: Callable[..., Frontier], page: Callable[..., Page], clock: Any
) -> None:
    opened = frontier(revisit=True, scope="any", default_delay=0.0)
    opened.add([FoundLink(f"https://big.example/{i}") for i in range(300)], depth=1)
    opened.add([FoundLink(f"https://s{i}.example/") for i in range(12)], depth=1)
    fetch_all(opened, page)
    opened.configure(default_delay=10.0)
    clock.forward(DAY)
    hosts = [lease.url.split("/")[2] for lease in opened.lease(10)]
    assert hosts == ["big.example", *[f"s{i}.example" for i in range(9)]]


# -- limits ---------------------------------------------------------------------------------------------------------


def test_pages_at_the_limit_are_visited_again_and_nothing_new_is_fetched(
    frontier: Callable[..., Frontier], page: Callable[..., Page], clock: Any, store: Path
) -> None:
    opened = frontier(revisit=True, max_pages=2, scope="any")
    opened.add([f"{SITE}/{i}" for i in range(5)])
    assert len(fetch_all(opened, page)) == 2
    assert (opened.status().state, opened.status().next_due) == (CrawlState.WAITING, clock.now + DAY)
    clock.forward(DAY)
    assert fetch_all(opened, page) == ["/0", "/1"]
    assert violations(store) == []


# -- validators -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("etag", ['W/"a,b"', '""', "", '"caf\xe9"', '"\udce9"'])
def test_validators_come_back_byte_for_byte(
    frontier: Callable[..., Frontier], page: Callable[..., Page], clock: Any, etag: str
) -> None:
    opened = frontier(revisit=True)
    opened.add([SITE])
    (lease,) = opened.lease()
    assert (lease.etag, lease.last_modified) == (None, None)
    opened.observe(lease, page(lease, etag=etag, last_modified="yesterday, or so"))
    clock.now = opened.status().next_due
    (lease,) = opened.lease()
    assert lease.last_modified == "yesterday, or so"
    assert lease.etag == etag
    opened.observe(lease, Page(url=lease.url, status=304, etag=None if etag else "\udcff"))
    clock.now = opened.status().next_due
    (lease,) = opened.lease()
    assert (lease.etag, lease.last_modified) == (etag or "\udcff", "yesterday, or so")


# -- pages that fail ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [404, 410])
def test_a_page_that_is_gone_is_dead_until_somebody_asks_for_it(
    watched: Frontier, clock: Any, status: int, store: Path
) -> None:
    clock.forward(DAY + 1)
    (lease,) = watched.lease(1)
    assert watched.observe(lease, Page(url=lease.url, status=status)).state is LinkState.DEAD
    assert watched.status().pages == 3
    assert watched.requeue(reason=f"status {status}") == 1
    assert [again.url for again in watched.lease(3)][-1] == lease.url
    assert violations(store) == []


def test_an_hour_without_an_answer_does_not_end_what_was_watched(
    watched: Frontier, page: Callable[..., Page], clock: Any, store: Path
) -> None:
    clock.forward(DAY)
    watched.set_revisit(0, pattern="/[12]$")
    waits = []
    for _ in range(6):
        (lease,) = watched.lease(3)
        outcome = watched.fail(lease, "timeout")
        waits.append(outcome.due - clock.now)
        clock.now = outcome.due
    assert [round(wait / HOUR) for wait in waits] == [0, 0, 0, 0, 36, 36]
    (lease,) = watched.lease(3)
    assert watched.observe(lease, page(lease)).state is LinkState.WAITING
    assert watched.explain(lease.url).facts["failures"] == 0
    assert violations(store) == []


def test_what_never_answers_again_is_dead_in_the_end(watched: Frontier, clock: Any) -> None:
    clock.forward(DAY)
    failures = 0
    while leases := watched.lease(1):
        outcome = watched.fail(leases[0], "timeout")
        failures += 1
        clock.now = watched.status().next_due or clock.now
    assert failures == 3 * 10
    assert outcome.state is LinkState.DEAD


def test_a_dead_name_server_does_not_kill_what_was_watched(
    watched: Frontier, page: Callable[..., Page], clock: Any, store: Path
) -> None:
    clock.forward(DAY)
    watched.add([FoundLink(f"{SITE}/new")])
    for _ in range(6):
        lease = watched.lease(1)[0]
        watched.fail(lease, "dns")
        clock.now = watched.status().next_due
    assert watched.status().counts[LinkState.DEAD] == 1  # the one that nobody had ever seen
    assert fetch_all(watched, page)
    assert violations(store) == []


# -- one by one, and all at once ------------------------------------------------------------------------------------


def test_a_link_can_have_an_interval_of_its_own(
    frontier: Callable[..., Frontier], page: Callable[..., Page], clock: Any, store: Path
) -> None:
    opened = frontier(scope="any")
    opened.add([FoundLink(f"{SITE}/often", revisit=60.0), f"{SITE}/once"])
    opened.add([f"{SITE}/daily", FoundLink(f"{SITE}/hourly", revisit=HOUR)], revisit=DAY)
    (root,) = opened.add([FoundLink(f"{SITE}/")])
    dues = {}
    while leases := opened.lease(1):
        links = [FoundLink("/found", revisit=120.0)] if leases[0].link_id == root.link_id else []
        dues[leases[0].url.removeprefix(SITE)] = opened.observe(leases[0], page(leases[0], *links)).due
    assert dues == {
        "/often": clock.now + 60,
        "/once": None,
        "/daily": clock.now + DAY,
        "/hourly": clock.now + HOUR,
        "/": None,
        "/found": clock.now + 120,
    }
    assert violations(store) == []


def test_the_interval_of_known_links_can_be_set(
    watched: Frontier, page: Callable[..., Page], clock: Any
) -> None:
    assert watched.set_revisit(60, pattern="/[01]$") == 2
    assert watched.set_revisit(0, pattern="/2$") == 1
    clock.forward(60)
    assert fetch_all(watched, page) == ["/0", "/1"]
    assert watched.set_revisit(None, host="a.example") == 3
    assert watched.status().counts[LinkState.WAITING] == 3
    assert watched.status().next_due == clock.now + 60 or watched.status().next_due > clock.now


@pytest.mark.parametrize("every", [-1, float("nan"), float("inf"), "5", True])
def test_what_no_interval_can_be(
    frontier: Callable[..., Frontier], page: Callable[..., Page], every: Any
) -> None:
    opened = frontier()
    opened.add([SITE])
    with pytest.raises(InvalidValue, match="revisit"):
        opened.add([FoundLink(SITE, revisit=every)])
    (lease,) = opened.lease()
    with pytest.raises(InvalidValue, match="revisit"):
        opened.observe(lease, page(lease, FoundLink("/x", revisit=every)))


def test_visits_can_be_switched_on_and_off_for_what_was_fetched(
    frontier: Callable[..., Frontier], page: Callable[..., Page], clock: Any, store: Path
) -> None:
    opened = frontier(scope="any")
    opened.add([f"{SITE}/{i}" for i in range(3)])
    (moved,) = opened.lease(1)
    opened.observe(moved, page(moved, url=f"{SITE}/moved", redirects=[moved.url]))
    fetch_all(opened, page)
    assert opened.status().stop.reason is StopReason.EXHAUSTED
    clock.forward(20 * HOUR)
    opened.configure(revisit=True)
    assert (opened.status().state, opened.status().next_due) == (CrawlState.WAITING, clock.now + 4 * HOUR)
    clock.forward(4 * HOUR)
    assert fetch_all(opened, page) == ["/0", "/1", "/2"]  # what it led to is visited through it
    opened.configure(revisit=False)
    assert opened.status().state is CrawlState.FINISHED
    assert violations(store) == []


def test_a_seed_that_redirects_is_visited_under_its_own_name(
    frontier: Callable[..., Frontier], page: Callable[..., Page], clock: Any, store: Path
) -> None:
    opened = frontier(revisit=True)
    opened.add(["https://old.example/"])
    for _ in range(3):
        (lease,) = opened.lease(5)
        assert lease.url == "https://old.example/"
        opened.observe(lease, page(lease, url="https://new.example/", redirects=[lease.url], etag='"1"'))
        clock.now = opened.status().next_due
    assert opened.status().pages == 1
    assert violations(store) == []


# -- a month --------------------------------------------------------------------------------------------------------


def test_a_month_sees_more_than_the_same_fetches_at_one_interval(
    frontier: Callable[..., Frontier], page: Callable[..., Page], clock: Any
) -> None:
    """A small copy of `benchmarks/revisits.py`."""
    chance = random.Random(7)
    start, month, count = clock.now, 30 * DAY, 80
    changes = []
    for _ in range(count):
        rate, moment, events = 400 ** chance.random() / 200 / DAY, start, []
        while (moment := moment + chance.expovariate(rate)) < start + month:
            events.append(moment)
        changes.append(events)
    opened = frontier(revisit=True, revisit_min=DAY, scope="any")
    opened.add([f"{SITE}/{i}" for i in range(count)])
    visits: list[list[float]] = [[] for _ in range(count)]
    while clock.now < start + month:
        for lease in opened.lease(100):
            which = int(lease.url.rpartition("/")[2])
            visits[which].append(clock.now)
            version = sum(event <= clock.now for event in changes[which])
            opened.observe(lease, page(lease, text=f"version {version} of page {which} as it stands. " * 5))
        clock.now = max(opened.status().next_due, clock.now)
    fetches = sum(map(len, visits))
    interval = count * month / fetches
    at_one_interval = [[start + k * interval for k in range(fetches // count)] for _ in range(count)]
    assert seen(changes, visits) > 1.25 * seen(changes, at_one_interval)


def seen(changes: list[list[float]], visits: list[list[float]]) -> float:
    """The share of changes that a visit followed within a day."""
    total = sum(map(len, changes))
    found = sum(
        any(0 <= visit - event <= DAY for visit in times)
        for events, times in zip(changes, visits, strict=True)
        for event in events
    )
    return found / total


# -- beside blocks --------------------------------------------------------------------------------------------------


@pytest.fixture
def blocked(frontier: Callable[..., Frontier], page: Callable[..., Page]) -> Frontier:
    """A store whose two pages are fetched and done, and a pattern blocks the first of them."""
    opened = frontier(scope="any")
    opened.add([f"{SITE}/embassy/1", f"{SITE}/2"])
    fetch_all(opened, page)
    assert opened.block(pattern="/embassy/") == 0  # what is done stays so
    return opened


def _begin_by_hand(frontier: Frontier) -> None:
    assert frontier.set_revisit(HOUR) == 2


def _begin_by_setting(frontier: Frontier) -> None:
    frontier.configure(revisit=True)


@pytest.mark.parametrize("begin", [_begin_by_hand, _begin_by_setting])
def test_a_blocked_page_is_not_visited_again_before_it_is_unblocked(
    blocked: Frontier, begin: Callable[[Frontier], None], page: Callable[..., Page], clock: Any, store: Path
) -> None:
    """To say that pages are visited again is not to say that what is blocked may be fetched."""
    begin(blocked)
    clock.now += 30 * DAY
    assert fetch_all(blocked, page) == ["/2"]
    assert upkeep.check(store, all_keys=True).sound
    assert blocked.unblock(pattern="/embassy/") == 1
    clock.now += 30 * DAY
    assert sorted(fetch_all(blocked, page)) == ["/2", "/embassy/1"]
    assert violations(store) == []


def test_what_another_pattern_holds_is_not_visited_again(
    blocked: Frontier, page: Callable[..., Page], clock: Any
) -> None:
    blocked.block(pattern="a.example/embassy")
    blocked.set_revisit(HOUR)
    assert blocked.unblock(pattern="/embassy/") == 0
    clock.now += DAY
    assert fetch_all(blocked, page) == ["/2"]


def test_a_page_without_another_visit_stays_done_when_it_is_unblocked(blocked: Frontier) -> None:
    assert blocked.unblock(pattern="/embassy/") == 0
    assert blocked.status().counts[LinkState.DONE] == 2
