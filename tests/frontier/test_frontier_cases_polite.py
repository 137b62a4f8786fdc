"""Cases about order, politeness, retries, limits and resuming, each with the input that others stumbled over."""

from __future__ import annotations

import signal
import sqlite3
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from racing import race, run
from store_invariants import violations

from pagesift_store import (
    CrawlState,
    FailKind,
    FoundLink,
    Frontier,
    Inspector,
    InvalidValue,
    LinkState,
    Page,
    StopReason,
    Verdict,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DAY = 86_400.0
A = "https://a.example"


def scored(*scores: float, host: str = "a.example") -> list[FoundLink]:
    return [FoundLink(f"https://{host}/{i}", score=score) for i, score in enumerate(scores)]


def order(frontier: Frontier) -> list[float]:
    """The scores of all that can be leased, one by one."""
    found = []
    while leases := frontier.lease(1):
        found.append(leases[0].score)
    return found


def host_row(frontier: Frontier, name: str = "a.example") -> Any:
    (row,) = [row for row in frontier.dump() if row["table"] == "host" and row["name"] == name]
    return row


# -- C20: best first turned out worst first -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ((0.1, 0.9, 0.5), [0.9, 0.5, 0.1]),
        ((-0.1, -0.9, -0.5), [-0.1, -0.5, -0.9]),
        ((0.0, -1.0, 1.0), [1.0, 0.0, -1.0]),
    ],
)
def test_c20_the_best_comes_first(
    frontier: Callable[..., Frontier], scores: tuple[float, ...], expected: list[float]
) -> None:
    opened = frontier(scope="any")
    opened.add(scored(*scores))
    opened.rescore()
    assert order(opened) == expected


def test_c20_equals_come_in_the_order_of_discovery(frontier: Callable[..., Frontier]) -> None:
    opened = frontier(scope="any")
    opened.add(scored(*[0.5] * 5))
    assert [opened.lease(1)[0].link_id for _ in range(5)] == [1, 2, 3, 4, 5]


# -- C21: cut-off before ranking ------------------------------------------------------------------------------------


def test_c21_a_budget_limits_fetches_not_what_is_known(
    frontier: Callable[..., Frontier], page: Callable[..., Page]
) -> None:
    opened = frontier(max_pages=10)
    opened.add([A])
    (lease,) = opened.lease()
    links = [FoundLink(f"/{i}", "something else") for i in range(99)] + [
        FoundLink("/visa", "student visa fees")
    ]
    opened.observe(lease, page(lease, *links))
    assert sum(opened.status().counts.values()) == 101
    assert opened.lease(1)[0].url == f"{A}/visa"


# -- C25: robots.txt answers 5xx, taken as "all allowed" ------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "allowed"), [(503, False), (500, False), (429, False), (None, False), (404, True), (403, True)]
)
def test_c25_only_an_answer_allows(
    frontier: Callable[..., Frontier], clock: Any, status: int | None, *, allowed: bool
) -> None:
    opened = frontier(scope="any")
    opened.add(scored(1.0))
    opened.set_robots("a.example", status)
    opened.close()
    assert bool(frontier().lease()) is allowed
    clock.forward(72)
    assert bool(frontier().lease()) is not allowed  # the deferral ends by itself


# -- C26: Retry-After in odd forms ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "rest", "noted"),
    [
        ("-5", 0.0, False),
        ("0", 0.0, False),
        ("1e9", DAY, True),
        ("Wed, 21 Oct 2037 07:28:00 GMT", DAY, True),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0, False),
        ("", 0.0, True),
        ("12, 30", 0.0, True),
    ],
)
def test_c26_odd_headers(
    frontier: Callable[..., Frontier], clock: Any, header: str, rest: float, *, noted: bool
) -> None:
    opened = frontier(default_delay=10.0)
    opened.add([A])
    opened.fail(opened.lease()[0], "http_429", retry_after=header)
    assert host_row(opened)["ready_at"] == clock.now + max(rest, 10.0)
    assert (host_row(opened)["note"] is not None) is noted


# -- C28: absurd crawl-delay ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("asked", "delay"), [(0, 0.0), (0.5, 0.5), (86_400, 300.0)])
@pytest.mark.parametrize("by", ["robots", "operator"])
def test_c28_a_delay_is_taken_or_clamped(
    frontier: Callable[..., Frontier], asked: float, delay: float, by: str
) -> None:
    opened = frontier(default_delay=7.0)
    opened.add([A])
    if by == "robots":
        opened.set_robots("a.example", 200, asked)
    else:
        opened.set_host("a.example", delay=asked)
    assert opened.lease()[0].host_delay == delay
    assert (host_row(opened)["note"] is not None) is (asked > delay)


@pytest.mark.parametrize("asked", [float("inf"), float("nan"), -1.0, "10s"])
def test_c28_what_is_no_delay_is_refused(frontier: Callable[..., Frontier], asked: Any) -> None:
    opened = frontier()
    for act in (
        lambda: opened.set_robots("a.example", 200, asked),
        lambda: opened.set_host("a.example", delay=asked),
    ):
        with pytest.raises(InvalidValue, match="delay"):
            act()


# -- C29: retries without end ---------------------------------------------------------------------------------------


def test_c29_a_thousand_failures_are_never_reached(frontier: Callable[..., Frontier], clock: Any) -> None:
    opened = frontier()
    opened.add([A])
    failed = 0
    while failed < 1_000 and (leases := opened.lease()):
        opened.fail(leases[0], "timeout", "again")
        failed += 1
        clock.forward(6 * 3_600.0)
    assert failed == 5
    facts = opened.explain(A).facts
    assert (opened.explain(A).state, facts["reason"]) == (LinkState.DEAD, "timeout: again")
    assert opened.requeue() == 1
    assert len(opened.lease()) == 1


# -- C30: a thousand host names, one machine ------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["domain", "rule", "hand"])
def test_c30_fifty_names_of_one_machine_share_a_delay(
    frontier: Callable[..., Frontier], clock: Any, how: str, store: Path
) -> None:
    settings: dict[str, Any] = {
        "domain": {"politeness": "domain"},
        "rule": {"host_groups": (r"\.(shared)\.example$",)},
        "hand": {},
    }[how]
    opened = frontier(scope="any", default_delay=10.0, **settings)
    opened.add([FoundLink(f"https://s{i}.shared.example/") for i in range(50)], depth=1)
    if how == "hand":
        for i in range(50):
            opened.set_host(f"s{i}.shared.example", group="203.0.113.9")
    assert len(opened.lease(50)) == 1
    opened.close()
    clock.forward(10)
    assert len(frontier().lease(50)) == 1
    assert violations(store) == []


# -- C32: budgets start again after a restart -----------------------------------------------------------------------


@pytest.mark.parametrize("limit", ["max_pages", "max_pages_per_host", "max_pages_per_part"])
def test_c32_a_budget_holds_over_all_runs(
    frontier: Callable[..., Frontier], page: Callable[..., Page], store: Path, limit: str
) -> None:
    frontier(scope="any", **{limit: 5}).add(scored(*range(20)))
    fetched = 0
    for _ in range(5):
        with frontier() as opened:
            for lease in opened.lease(3):
                opened.observe(lease, page(lease))
                fetched += 1
    assert fetched == 5
    status = frontier().status()
    assert (status.state, status.stop.reason) == (CrawlState.FINISHED, StopReason.LIMIT_REACHED)
    assert status.stop.detail[limit] == 5
    with frontier() as opened:
        opened.configure(**{limit: 6})
        assert len(opened.lease(3)) == 1
    assert violations(store) == []


def test_c32_a_full_host_leaves_the_others_alone(
    frontier: Callable[..., Frontier], page: Callable[..., Page], store: Path
) -> None:
    opened = frontier(scope="any", max_pages_per_host=2)
    opened.add([*scored(9.0, 8.0, 7.0), *scored(1.0, 0.5, 0.2, host="b.example")])
    for lease in opened.lease(9):
        opened.observe(lease, page(lease))
    assert opened.status().pages == 4
    opened.add(scored(5.0, host="c.example"))
    opened.add([FoundLink(f"{A}/another/folder/x")])
    assert [lease.url for lease in opened.lease(9)] == ["https://c.example/0"]
    assert "that a limit allows" in opened.explain(f"{A}/another/folder/x").why
    assert violations(store) == []


# -- C33: leases of the dead ----------------------------------------------------------------------------------------


def test_c33_leases_of_a_dead_worker_come_back(
    frontier: Callable[..., Frontier], clock: Any, store: Path
) -> None:
    opened = frontier(worker="cron", scope="any")
    opened.add(scored(*range(10)))
    assert len(opened.lease(10, ttl=300.0)) == 10
    later = frontier(worker="another")
    assert later.lease(10) == []
    with Inspector.open(str(store), clock=clock) as inspector:
        assert {(row["owner"], row["expires"]) for row in inspector.leases()} == {("cron", clock.now + 300.0)}
    assert later.recover("cron") == 10
    assert len(later.lease(10)) == 10
    clock.forward(300)
    assert len(frontier().lease(10)) == 10  # by themselves, when their time is over


def test_c33_leases_of_a_dead_process_come_back_at_once(store: Path) -> None:
    code = run(
        """
import os, signal, sys
from pagesift_store import Frontier
frontier = Frontier.open(sys.argv[1], query="visa")
frontier.set_host("a.example", delay=0, max_in_flight=10)
frontier.add([f"https://a.example/{i}" for i in range(10)])
assert len(frontier.lease(10, ttl=300.0)) == 10
os.kill(os.getpid(), signal.SIGKILL)
""",
        store,
    )
    assert code == -signal.SIGKILL
    with Frontier.open(store) as frontier:
        assert len(frontier.lease(10)) == 10


# -- C35: "empty" and "finished" confused ---------------------------------------------------------------------------


def test_c35_five_kinds_of_nothing_have_five_answers(
    frontier: Callable[..., Frontier], clock: Any, page: Callable[..., Page], tmp_path: Path
) -> None:
    def state(
        name: str, prepare: Callable[[Frontier], None], **settings: Any
    ) -> tuple[CrawlState, float | None]:
        opened = frontier(path=tmp_path / name, scope="any", **settings)
        opened.add(scored(1.0))
        prepare(opened)
        assert opened.lease() == []
        return opened.status().state, opened.status().next_due

    def cooling(opened: Frontier) -> None:
        opened.release(opened.lease()[0])

    now = clock.now
    assert state("a", lambda f: f.lease(ttl=50.0)) == (CrawlState.LEASED_OUT, now + 50)
    assert state("b", cooling, default_delay=10.0) == (CrawlState.COOLING, now + 10)
    assert state("c", lambda f: f.fail(f.lease()[0], "other", retry_in=77)) == (CrawlState.WAITING, now + 77)
    assert state("d", lambda f: f.observe(lease := f.lease()[0], page(lease))) == (CrawlState.FINISHED, None)
    assert state("e", lambda f: f.block("a.example")) == (CrawlState.BLOCKED, None)


# -- C36, C48: one host fills the front, and the top of the queue is cooling -----------------------------------------


@pytest.mark.parametrize(("big", "others"), [(2_000, 10), (300, 1_000)])
def test_c36_c48_one_of_the_big_host_and_nine_others(
    frontier: Callable[..., Frontier], page: Callable[..., Page], clock: Any, big: int, others: int
) -> None:
    """The same with 200,000 links, and what it costs: `benchmarks/lease.py`."""
    opened = frontier(scope="any", default_delay=10.0)
    opened.add([FoundLink(f"https://big.example/{i % 40}/{i}", score=0.9) for i in range(big)])
    opened.add(
        [FoundLink(f"https://small{i}.example/{j}", score=0.1) for j in range(4) for i in range(others)]
    )
    first = [lease.url.split("/")[2] for lease in opened.lease(10)]
    assert Counter(host == "big.example" for host in first) == {True: 1, False: 9}
    assert len(set(first)) == 10
    cooling = [lease.url.split("/")[2] for lease in opened.lease(10)]
    assert "big.example" not in cooling
    assert len(cooling) == min(10, others - 9)
    clock.forward(10)
    again = [lease.url.split("/")[2] for lease in opened.lease(10)]
    assert Counter(host == "big.example" for host in again) == {True: 1, False: 9}


# -- C42: a dead name server holds the job --------------------------------------------------------------------------


def test_c42_a_dead_name_server_ends_its_host_in_an_hour(
    frontier: Callable[..., Frontier], clock: Any, store: Path
) -> None:
    opened = frontier(scope="any")
    opened.add(scored(*[1.0] * 1_000))
    begun, failures = clock.now, 0
    while leases := opened.lease(1):
        outcome = opened.fail(leases[0], FailKind.DNS, "no such name")
        failures += 1
        if outcome.due is not None:
            assert opened.lease(10) == []  # one failure defers the host, not each link
            clock.now = outcome.due
    assert failures == 5
    assert clock.now - begun < 3_600
    assert opened.status().counts[LinkState.DEAD] == 1_000
    assert violations(store) == []


# -- C43, C64: why it stopped, and that this is history -------------------------------------------------------------


def test_c43_a_reason_of_an_earlier_run_is_no_gate(
    frontier: Callable[..., Frontier], page: Callable[..., Page], store: Path
) -> None:
    with frontier(scope="any", max_pages=1) as opened:
        opened.add(scored(2.0, 1.0))
        opened.observe(lease := opened.lease()[0], page(lease))
        assert opened.lease() == []
    with frontier() as opened:
        opened.configure(max_pages=5)
        assert len(opened.lease(1)) == 1
        assert opened.status().stop is None


@pytest.mark.parametrize(
    ("reason", "settings", "numbers"),
    [
        (StopReason.LIMIT_REACHED, {"max_pages": 3}, {"max_pages": 3, "fetched": 3}),
        (StopReason.LIMIT_REACHED, {"max_pages_per_host": 3}, {"max_pages_per_host": 3, "queued": 6}),
        (StopReason.SATURATED, {"adaptive": True, "patience": 2}, {"stale_pages": 2, "patience": 2}),
        (StopReason.EXHAUSTED, {}, {"done": 9}),
    ],
)
def test_c64_a_crawl_says_why_it_stopped(
    frontier: Callable[..., Frontier],
    page: Callable[..., Page],
    clock: Any,
    store: Path,
    reason: StopReason,
    settings: dict[str, Any],
    numbers: dict[str, Any],
) -> None:
    opened = frontier(scope="any", **settings)
    opened.add(scored(*range(9)))
    while leases := opened.lease(1):
        first = opened.status().pages == 0
        opened.observe(leases[0], page(leases[0], **({"text": "student visa fees " * 30} if first else {})))
    with Inspector.open(str(store), clock=clock) as inspector:
        stop = inspector.last_stop()
    assert stop is not None
    assert (stop.reason, stop.at) == (reason, clock.now)
    assert {name: stop.detail[name] for name in numbers} == numbers


# -- C44: overlapping cron runs -------------------------------------------------------------------------------------

CRON = """
import os, signal
frontier = Frontier.open(arguments["store"])
urls = []
for _ in range(6):
    for lease in frontier.lease(2):
        urls.append(lease.url)
        frontier.observe(lease, Page(url=lease.url))
if arguments["killed"]:
    frontier.lease(1)
print(json.dumps(urls), flush=True)
if arguments["killed"]:
    os._exit(0)
frontier.close()
"""


def test_c44_runs_that_overlap_neither_fail_nor_do_work_twice(
    frontier: Callable[..., Frontier], store: Path
) -> None:
    frontier(scope="any").add(scored(*range(60)))
    runs = race(CRON, [{"store": store, "killed": number == 2} for number in range(5)])
    runs += race(CRON, [{"store": store, "killed": False}])  # what the killed one held is free
    fetched = [url for run_ in runs for url in run_]
    assert len(fetched) == len(set(fetched)) == 60
    assert {path.suffix for path in store.parent.iterdir()} <= {".db", ".db-wal", ".db-shm"}  # no lock file
    assert violations(store) == []


# -- C46: zero, NaN, infinity as score ------------------------------------------------------------------------------


@pytest.mark.parametrize("score", [0.0, -0.0, 0])
def test_c46_zero_is_a_score(frontier: Callable[..., Frontier], score: float) -> None:
    opened = frontier(scope="any")
    opened.add(scored(-1.0, score, 1.0))
    assert order(opened) == [1.0, 0.0, -1.0]


@pytest.mark.parametrize("score", [float("nan"), float("inf"), -float("inf"), 1e308 * 10, "0.5"])
def test_c46_what_is_no_score_is_refused(frontier: Callable[..., Frontier], store: Path, score: Any) -> None:
    opened = frontier(scope="any")
    with pytest.raises(InvalidValue, match="score"):
        opened.add([FoundLink(A, score=score)])
    opened.add([A])
    opened.close()
    if isinstance(score, float):
        with closing(sqlite3.connect(store)) as connection, pytest.raises(sqlite3.IntegrityError):
            connection.execute("UPDATE link SET score = ?", (score,))


# -- C49, C59: resuming ---------------------------------------------------------------------------------------------


def test_c49_a_page_that_was_recorded_is_not_fetched_again(store: Path) -> None:
    program = """
import os, sys
from pagesift_store import Frontier, Page
frontier = Frontier.open(sys.argv[1], query="visa")
frontier.configure(default_delay=0, max_in_flight=100)
frontier.add([f"https://a.example/{i}" for i in range(100)])
with open(sys.argv[2], "a") as log:
    for number in range(int(sys.argv[3])):
        leases = frontier.lease(4)
        for lease in leases:
            print(lease.url, file=log, flush=True)
        for lease in leases:
            frontier.observe(lease, Page(url=lease.url))
    for lease in frontier.lease(4):
        print(lease.url, file=log, flush=True)
os._exit(7)
"""
    log = store.with_suffix(".log")
    assert run(program, store, log, "15") == 7
    assert run(program, store, log, "25") == 7
    fetches = Counter(log.read_text().split())
    assert len(fetches) == 100
    assert fetches.total() == 100 + 4  # those in flight when it ended


def test_c59_seeds_are_added_once_however_often_the_program_runs(store: Path) -> None:
    program = """
import os, signal, sys
from pagesift_store import Frontier
frontier = Frontier.open(sys.argv[1], query="visa")
for batch in range(10):
    if batch == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    frontier.add([f"https://a.example/{batch}/{i}" for i in range(200)])
"""
    assert run(program, store, "4") == -signal.SIGKILL
    assert run(program, store, "-1") == 0
    with Frontier.open(store) as frontier:
        assert frontier.status().counts[LinkState.QUEUED] == 2_000
        (again,) = frontier.add(["https://a.example/0/0"])
    assert again.verdict is Verdict.KNOWN
    assert violations(store) == []


# -- C63: the page limit overshoots ---------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", ["max_pages", "max_pages_per_host", "max_pages_per_part"])
def test_c63_what_is_leased_counts(frontier: Callable[..., Frontier], store: Path, limit: str) -> None:
    opened = frontier(scope="any", **{limit: 10})
    opened.add(scored(*range(30)))
    first = opened.lease(8)
    assert (len(first), len(opened.lease(8)), len(opened.lease(8))) == (8, 2, 0)
    assert opened.status().state is CrawlState.LEASED_OUT
    for lease in first[:3]:
        opened.release(lease)
    assert len(opened.lease(8)) == 3
    assert violations(store) == []


# -- C65: validators and 304 ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("etag", ['W/"a,b"', "", '"caf\xe9"'])
def test_c65_validators_survive_304_and_go_with_a_200_without(
    frontier: Callable[..., Frontier], page: Callable[..., Page], clock: Any, store: Path, etag: str
) -> None:
    opened = frontier(revisit=True)
    opened.add([A])
    texts = "What a student visa costs, and which fees are paid at the embassy. " * 6
    seen = []
    for status in (200, 304, 304, 200, 200):
        (lease,) = opened.lease()
        seen.append(lease.etag)
        fields = {"etag": etag} if len(seen) == 1 else {}
        found = Page(url=lease.url, status=304) if status == 304 else page(lease, text=texts, **fields)
        observation = opened.observe(lease, found)
        if len(seen) == 1:
            first = observation.relevance
        assert observation.relevance == pytest.approx(first)
        clock.now = observation.due
    assert seen == [None, etag, etag, etag, None]
    (crawl,) = [row for row in opened.dump() if row["table"] == "crawl"]
    assert (crawl["pages"], crawl["texts"], crawl["fetched"]) == (1, 1, 1)  # no new sample
    assert violations(store) == []
