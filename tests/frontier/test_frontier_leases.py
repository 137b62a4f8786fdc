"""Leases: the fence, giving back, expiry, and what happens to the leases of the dead."""

from __future__ import annotations

import signal
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from racing import run
from store_invariants import violations

from pagesift_store import (
    FailKind,
    FoundLink,
    Frontier,
    InvalidValue,
    Lease,
    LeaseLost,
    LinkState,
    Page,
    WrongStore,
)
from pagesift_store.storage.engine import Database
from pagesift_store.transactions.work import Work

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from pathlib import Path

URLS = [f"https://a.example/{i}" for i in range(10)]

REPORTS: dict[str, Callable[[Frontier, Lease], Any]] = {
    "observe": lambda frontier, lease: frontier.observe(lease, Page(url=lease.url, text="late")),
    "observe a failure": lambda frontier, lease: frontier.observe(lease, Page(url=lease.url, status=503)),
    "fail": lambda frontier, lease: frontier.fail(lease, FailKind.TIMEOUT),
    "release": lambda frontier, lease: frontier.release(lease),
    "renew": lambda frontier, lease: frontier.renew(lease),
}


def rows(frontier: Frontier, *, without: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name not in without} for row in frontier.dump()]


@pytest.fixture
def leased(frontier: Callable[..., Frontier]) -> tuple[Frontier, Lease]:
    """A frontier and its lease of the only link, for 1 s."""
    opened = frontier()
    opened.add(URLS[:1])
    (lease,) = opened.lease(1, ttl=1.0)
    return opened, lease


@pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)
@pytest.mark.parametrize("reopened", [False, True])
def test_a_report_after_the_link_was_leased_again_is_refused(
    frontier: Callable[..., Frontier],
    leased: tuple[Frontier, Lease],
    clock: Any,
    store: Path,
    report: Callable[[Frontier, Lease], Any],
    *,
    reopened: bool,
) -> None:
    opened, late = leased
    clock.forward(2.0)
    if reopened:
        opened.close()
        opened = frontier()
    (own,) = opened.lease(1)
    assert own.attempt == late.attempt + 1
    before = rows(opened)
    with pytest.raises(LeaseLost, match=r"was leased again \(attempt 2, this lease is attempt 1\)"):
        report(opened, late)
    assert rows(opened) == before
    assert opened.observe(own, Page(url=own.url, text="in time")).state is LinkState.DONE
    with pytest.raises(LeaseLost):
        report(opened, late)
    assert violations(store) == []


@pytest.mark.parametrize("report", [REPORTS["observe"], REPORTS["fail"]], ids=["observe", "fail"])
def test_a_late_report_counts_while_nobody_else_has_the_link(
    leased: tuple[Frontier, Lease], clock: Any, store: Path, report: Callable[[Frontier, Lease], Any]
) -> None:
    opened, late = leased
    clock.forward(2.0)
    opened.recover()
    assert report(opened, late).state in (LinkState.DONE, LinkState.WAITING)
    assert violations(store) == []


def test_a_late_report_counts_even_after_the_link_was_queued_again(
    leased: tuple[Frontier, Lease], store: Path
) -> None:
    opened, lease = leased
    opened.release(lease)
    assert opened.observe(lease, Page(url=lease.url)).state is LinkState.DONE
    assert opened.lease() == []
    assert violations(store) == []


# -- the same report again ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "page", [{"text": "student visa fees " * 30}, {"status": 404}, {"status": 503}, {"status": 304}]
)
def test_repeating_an_observation_changes_nothing(
    leased: tuple[Frontier, Lease], page: dict[str, Any]
) -> None:
    opened, lease = leased
    outcome = Page(**({"url": lease.url, "links": [FoundLink("/next")]} | page))
    first = opened.observe(lease, outcome)
    before = rows(opened)
    again = opened.observe(lease, outcome)
    assert (first.repeated, again.repeated) == (False, True)
    assert (again.relevance, again.hit, again.state, again.due) == (
        first.relevance,
        first.hit,
        first.state,
        first.due,
    )
    assert rows(opened) == before


def test_repeating_a_failure_changes_nothing(leased: tuple[Frontier, Lease]) -> None:
    opened, lease = leased
    first = opened.fail(lease, "timeout", "slow")
    before = rows(opened)
    assert opened.fail(lease, "timeout", "slow") == first
    assert rows(opened) == before


SECOND: list[Callable[[Frontier, Lease], Any]] = [
    lambda frontier, lease: frontier.observe(lease, Page(url=lease.url, text="another")),
    lambda frontier, lease: frontier.observe(lease, Page(url=lease.url, text="one", title="another")),
    lambda frontier, lease: frontier.observe(lease, Page(url=lease.url, text="one", links=[FoundLink("/x")])),
    lambda frontier, lease: frontier.fail(lease, "timeout"),
]


@pytest.mark.parametrize("second", SECOND)
def test_another_outcome_under_the_same_lease_is_refused(
    leased: tuple[Frontier, Lease], second: Callable[[Frontier, Lease], Any]
) -> None:
    opened, lease = leased
    opened.observe(lease, Page(url=lease.url, text="one"))
    before = rows(opened)
    with pytest.raises(LeaseLost, match="another outcome"):
        second(opened, lease)
    assert rows(opened) == before


# -- other stores, odd leases ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)
def test_a_lease_of_another_store_is_refused(
    frontier: Callable[..., Frontier],
    leased: tuple[Frontier, Lease],
    tmp_path: Path,
    report: Callable[[Frontier, Lease], Any],
) -> None:
    other = frontier(path=tmp_path / "other.db")
    other.add(URLS)
    other.lease(1)
    before = rows(other)
    with pytest.raises(WrongStore, match=leased[1].store_id):
        report(other, leased[1])
    assert rows(other) == before


@pytest.mark.parametrize("change", [{"attempt": 2}, {"attempt": 0}, {"link_id": 99}])
def test_a_forged_lease_is_lost(leased: tuple[Frontier, Lease], change: dict[str, Any]) -> None:
    opened, lease = leased
    with pytest.raises(LeaseLost):
        opened.observe(replace(lease, **change), Page(url=lease.url))


# -- giving back, extending -----------------------------------------------------------------------------------------


def _release(opened: Frontier, leases: list[Lease], clock: Any) -> None:
    for lease in leases:
        opened.release(lease)


def _expire(opened: Frontier, leases: list[Lease], clock: Any) -> None:
    clock.forward(301.0)
    opened.release(opened.lease(1)[0])


def _close(opened: Frontier, leases: list[Lease], clock: Any) -> None:
    opened.close()


@pytest.mark.parametrize("give_back", [_release, _expire, _close])
def test_what_comes_back_leaves_no_trace_but_the_hosts_rest(
    frontier: Callable[..., Frontier], clock: Any, store: Path, give_back: Callable[..., None]
) -> None:
    opened = frontier(default_delay=0.5, max_in_flight=5, scope="any")
    opened.add([FoundLink(f"https://{host}.example/{i}") for host in "abc" for i in range(3)])
    before = rows(opened, without=("ready_at",))
    leases = opened.lease(5)
    ready = [row["ready_at"] for row in rows(opened) if row["table"] == "host"]
    assert ready == [clock.now + 0.5] * 3
    give_back(opened, leases, clock)
    after = frontier()
    assert rows(after, without=("ready_at",)) == before
    assert min(row["ready_at"] for row in rows(after) if row["table"] == "host") >= ready[0]
    assert violations(store) == []


def test_releasing_twice_is_harmless(leased: tuple[Frontier, Lease]) -> None:
    opened, lease = leased
    opened.release(lease)
    before = rows(opened)
    opened.release(lease)
    assert rows(opened) == before


def test_a_renewed_lease_lasts_longer(leased: tuple[Frontier, Lease], clock: Any) -> None:
    opened, lease = leased
    renewed = opened.renew(lease, ttl=100.0)
    assert renewed == replace(lease, expires=clock.now + 100.0)
    clock.forward(99.0)
    assert opened.lease() == []
    clock.forward(1.0)
    assert [again.attempt for again in opened.lease()] == [2]


def test_a_lease_that_came_back_cannot_be_renewed(leased: tuple[Frontier, Lease]) -> None:
    opened, lease = leased
    opened.release(lease)
    with pytest.raises(LeaseLost, match=r"has ended \(queued\); take a new one"):
        opened.renew(lease)


def lost(opened: Frontier, lease: Lease) -> None:
    with pytest.raises(LeaseLost):
        opened.release(replace(lease, attempt=99))


def broken(opened: Frontier, _: Lease) -> None:
    with pytest.raises(InvalidValue):
        opened.add(url for url in ["https://a.example/", 7])  # type: ignore[misc]


def tried(opened: Frontier, _: Lease) -> None:
    opened.forget("a.example", dry_run=True)


@pytest.mark.parametrize("act", [lost, broken, tried])
def test_what_was_leased_before_a_call_that_was_rolled_back_is_given_back(
    frontier: Callable[..., Frontier], store: Path, act: Callable[[Frontier, Lease], None]
) -> None:
    opened = frontier()
    opened.add(["https://a.example/1", "https://a.example/2"])
    (lease,) = opened.lease(1)
    act(opened, lease)
    opened.close()
    assert frontier().status().counts[LinkState.QUEUED] == 2
    assert violations(store) == []


def test_an_owner_that_was_rolled_back_is_registered_anew(
    frontier: Callable[..., Frontier], store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = frontier()
    opened.add(["https://a.example/1"])
    with monkeypatch.context() as patched:
        patched.setattr(Work, "save", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            opened.lease(1)
    assert len(opened.lease(1)) == 1
    assert violations(store) == []
    opened.close()
    assert frontier().status().counts[LinkState.QUEUED] == 1


def test_what_was_leased_is_given_back_though_an_interrupt_came_with_the_commit(
    frontier: Callable[..., Frontier], store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = frontier()
    opened.add(["https://a.example/1"])

    def interrupted(database: Database, driver: sqlite3.Connection, commit: Any = Database._commit) -> None:
        commit(database, driver)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Database, "_commit", interrupted)
        with pytest.raises(KeyboardInterrupt):
            opened.lease(1)
    assert opened.status().counts[LinkState.LEASED] == 1
    opened.close()
    assert frontier().status().counts[LinkState.QUEUED] == 1
    assert violations(store) == []


def test_leaving_by_an_exception_gives_back(frontier: Callable[..., Frontier]) -> None:
    def crawl() -> None:
        with frontier() as opened:
            opened.add(URLS)
            assert len(opened.lease(3)) == 3
            raise RuntimeError

    with pytest.raises(RuntimeError):
        crawl()
    assert frontier().status().counts[LinkState.LEASED] == 0


# -- the dead, and the named ----------------------------------------------------------------------------------------

LEASE_AND_DIE = """
import os, signal, sys
from pagesift_store import Frontier
store, worker = sys.argv[1:]
Frontier.open(store, worker=worker or None, clock=lambda: 1_000_000.0).lease(10)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_leases_of_a_killed_process_come_back_when_the_store_is_opened(
    frontier: Callable[..., Frontier], store: Path
) -> None:
    with frontier() as opened:
        opened.add(URLS)
    assert run(LEASE_AND_DIE, store, "") == -signal.SIGKILL
    again = frontier().lease(10)
    assert [(lease.url, lease.attempt) for lease in again] == [(url, 2) for url in URLS]
    assert violations(store) == []


def test_recover_frees_the_leases_of_the_dead_and_no_others(
    frontier: Callable[..., Frontier], store: Path
) -> None:
    opened = frontier()
    opened.add([*URLS, "https://b.example/"])
    (own,) = opened.lease(1)
    assert run(LEASE_AND_DIE, store, "") == -signal.SIGKILL
    assert opened.recover() == 10
    assert opened.observe(own, Page(url=own.url)).state is LinkState.DONE
    assert violations(store) == []


def test_leases_of_a_named_worker_outlive_its_process(
    frontier: Callable[..., Frontier], clock: Any, store: Path
) -> None:
    with frontier() as opened:
        opened.add(URLS)
    assert run(LEASE_AND_DIE, store, "cron") == -signal.SIGKILL
    opened = frontier()
    assert opened.lease(10) == []
    assert opened.recover() == 0
    assert opened.recover("cron") == 10
    assert [lease.attempt for lease in opened.lease(10)] == [2] * 10
    assert violations(store) == []


def test_leases_of_a_named_worker_outlive_its_frontier(frontier: Callable[..., Frontier]) -> None:
    with frontier() as opened:
        opened.add(URLS)
    with frontier(worker="night") as opened:
        (lease,) = opened.lease(1)
    with frontier(worker="morning") as other:
        assert len(other.lease(10)) == 9
    with frontier() as opened:
        assert opened.status().counts[LinkState.LEASED] == 10
        assert opened.observe(lease, Page(url=lease.url)).state is LinkState.DONE


def test_an_unknown_worker_is_named(frontier: Callable[..., Frontier]) -> None:
    with pytest.raises(InvalidValue, match="there is no worker 'nobody'"):
        frontier().recover("nobody")


def test_expired_leases_come_back_whoever_held_them(frontier: Callable[..., Frontier], clock: Any) -> None:
    opened = frontier(worker="slow")
    opened.add(URLS)
    opened.lease(10, ttl=30.0)
    clock.forward(29.9)
    assert opened.lease(10) == []
    clock.forward(0.1)
    assert len(opened.lease(10)) == 10


ADD_AND_DIE = """
import os, signal, sys
from pagesift_store import Frontier
Frontier.open(sys.argv[1]).add([f"https://a.example/{i}" for i in range(5000)])
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_was_added_before_a_kill_is_there(frontier: Callable[..., Frontier], store: Path) -> None:
    frontier().close()
    assert run(ADD_AND_DIE, store) == -signal.SIGKILL
    opened = frontier()
    assert opened.status().counts[LinkState.QUEUED] == 5_000
    assert opened.explain("https://a.example/0").state is LinkState.QUEUED
    assert violations(store) == []


def test_a_resumed_crawl_fetches_nothing_twice_but_what_was_in_flight(
    frontier: Callable[..., Frontier], page: Callable[..., Page], store: Path
) -> None:
    fetched: list[str] = []
    with frontier() as opened:
        opened.add([f"https://a.example/{i}" for i in range(40)])
        for lease in opened.lease(20):
            fetched.append(lease.url)
            opened.observe(lease, page(lease))
    assert run(LEASE_AND_DIE, store, "") == -signal.SIGKILL
    with frontier() as opened:
        while leases := opened.lease(1):
            fetched.append(leases[0].url)
            opened.observe(leases[0], page(leases[0]))
    assert len(fetched) == len(set(fetched)) == 40


# -- waiting --------------------------------------------------------------------------------------------------------


def test_waiting_ends_with_the_crawl(frontier: Callable[..., Frontier]) -> None:
    assert frontier().lease(wait=True) == []


def test_waiting_ends_when_somebody_says_stop(frontier: Callable[..., Frontier]) -> None:
    opened = frontier()
    opened.add(URLS[:1])
    opened.lease(1)
    opened.stop()
    assert opened.lease(wait=True) == []


def test_waiting_ends_when_its_time_is_up(frontier: Callable[..., Frontier]) -> None:
    opened = frontier()
    opened.add(URLS[:1])
    opened.lease(1)
    assert opened.lease(wait=0.01) == []


def test_waiting_leases_what_is_ready_at_once(frontier: Callable[..., Frontier]) -> None:
    opened = frontier()
    opened.add(URLS)
    assert len(opened.lease(3, wait=True)) == 3
