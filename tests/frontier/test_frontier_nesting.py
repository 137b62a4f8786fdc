"""A call inside another one of the same store: refused before it does anything, and the outer call goes on."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

import pytest
from store_invariants import violations

from pagesift_store import FailKind, Frontier, LinkState, NestedCall, Page, upkeep
from pagesift_store.storage import schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pagesift_store import Added, Lease

SEED = "https://a.example/"

CALLS: dict[str, Callable[[Frontier, Lease], Any]] = {
    "add": lambda opened, _: opened.add(["https://a.example/inner"]),
    "lease": lambda opened, _: opened.lease(1),
    "lease, waiting": lambda opened, _: opened.lease(1, wait=True),
    "observe": lambda opened, lease: opened.observe(lease, Page(url=lease.url, text="student visa")),
    "observe_many": lambda opened, lease: opened.observe_many([(lease, Page(url=lease.url))]),
    "fail": lambda opened, lease: opened.fail(lease, FailKind.TIMEOUT),
    "release": lambda opened, lease: opened.release(lease),
    "renew": lambda opened, lease: opened.renew(lease, 900.0),
    "recover": lambda opened, _: opened.recover(),
    "rescore": lambda opened, _: opened.rescore(),
    "configure": lambda opened, _: opened.configure(max_queue=1),
    "configure durability": lambda opened, _: opened.configure(durability="full"),
    "rekey": lambda opened, _: opened.rekey("loose"),
    "rekey, dry run": lambda opened, _: opened.rekey("loose", dry_run=True),
    "set_host": lambda opened, _: opened.set_host("a.example", delay=9.0),
    "set_robots": lambda opened, _: opened.set_robots("a.example", 200),
    "block": lambda opened, _: opened.block(pattern="a"),
    "requeue": lambda opened, _: opened.requeue(),
    "forget": lambda opened, _: opened.forget("a.example"),
    "set_revisit": lambda opened, _: opened.set_revisit(60.0),
    "resume": lambda opened, _: opened.resume(),
    "close": lambda opened, _: opened.close(),
    "leaving the with": lambda opened, _: opened.__exit__(None, None, None),
}


def add_around(opened: Frontier, act: Callable[[], Any]) -> list[Added]:
    """Add two URLs, and have something done in the middle of the call, by the clock that it looks at."""
    calm = opened._clock

    def clock() -> float:
        opened._clock = calm
        act()
        return calm()

    opened._clock = clock
    return opened.add(["https://a.example/before", "https://a.example/after"])


@pytest.mark.parametrize("call", CALLS)
def test_a_call_inside_another_is_refused_and_that_one_goes_on(
    frontier: Callable[..., Frontier], tmp_path: Path, call: str
) -> None:
    """What comes out is what would have without it, the leases that `close` gives back included."""
    dumps = []
    for name in ("disturbed", "calm"):
        store = tmp_path / f"{name}.db"
        opened = frontier(path=store)
        opened.add([SEED])
        (lease,) = opened.lease(1)

        def refused(opened: Frontier = opened, lease: Lease = lease) -> None:
            with pytest.raises(
                NestedCall, match=r"disturbed\.db is in the middle of another call .* Finish that call first"
            ):
                CALLS[call](opened, lease)

        add_around(opened, refused if name == "disturbed" else lambda: None)
        assert opened.status().counts[LinkState.LEASED] == 1
        opened.close()
        with frontier(path=store) as again:
            assert again.status().counts[LinkState.QUEUED] == 3
            dumps.append(list(again.dump()))
        assert violations(store) == []
    assert dumps[0] == dumps[1]


@pytest.mark.parametrize("call", [call for call in CALLS if call not in ("close", "leaving the with")])
def test_a_call_of_another_frontier_of_the_store_is_refused_instead_of_waiting_for_itself(
    frontier: Callable[..., Frontier], store: Path, call: str
) -> None:
    """Nothing could release the lock that it would wait for; by another name of the file it is the same lock."""
    outer = frontier()
    outer.add([SEED])
    (store.parent / "other-name.db").symlink_to(store)
    with Frontier.open(store.parent / "other-name.db", clock=outer._clock) as inner:
        (lease,) = inner.lease(1)

        def refused() -> None:
            with pytest.raises(
                NestedCall, match=r"other-name\.db is in the middle of another call of this thread"
            ):
                CALLS[call](inner, lease)

        add_around(outer, refused)
        assert inner.status().counts[LinkState.LEASED] == 1
        inner.release(lease)
        assert inner.status().counts[LinkState.QUEUED] == 3
    assert violations(store) == []


def test_another_frontier_may_be_opened_asked_and_closed(
    frontier: Callable[..., Frontier], store: Path
) -> None:
    outer = frontier()
    outer.add([SEED])

    def ask() -> None:
        with Frontier.open(store) as inner:
            assert inner.status().counts[LinkState.QUEUED] == 1

    add_around(outer, ask)
    assert outer.status().counts[LinkState.QUEUED] == 3


def test_another_frontier_with_leases_is_closed_once_the_call_is_over(
    frontier: Callable[..., Frontier], store: Path
) -> None:
    outer, inner = frontier(), frontier()
    outer.add([SEED])
    inner.lease(1)

    def refused() -> None:
        with pytest.raises(NestedCall):
            inner.close()

    add_around(outer, refused)
    inner.close()
    assert outer.status().counts[LinkState.QUEUED] == 3
    assert violations(store) == []


def test_calls_of_other_stores_and_of_other_threads_are_not_nested(
    frontier: Callable[..., Frontier], store: Path, tmp_path: Path
) -> None:
    outer, beside, elsewhere = frontier(), frontier(), frontier(path=tmp_path / "elsewhere.db")
    leases: list[Lease] = []
    thread = threading.Thread(target=lambda: leases.extend(beside.lease(5)))

    def call() -> None:
        thread.start()
        assert add_around(elsewhere, lambda: None)[0].link_id == 1
        with pytest.raises(NestedCall):
            add_around(elsewhere, lambda: beside.lease(1))
        assert elsewhere.add([SEED])[0].link_id == 3

    add_around(outer, call)
    thread.join()
    assert len(leases) == 2
    assert violations(store) == []


def test_a_child_that_was_forked_in_the_middle_of_a_call_does_not_wait_either(
    frontier: Callable[..., Frontier], store: Path
) -> None:
    """SQLite has inherited the lock with the connection, which may not be closed there."""
    outer, children = frontier(), list[int]()

    def fork() -> None:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                with pytest.raises(NestedCall):
                    Frontier.open(store).add([SEED])
                code = 0
            finally:
                os._exit(code)
        children.append(child)

    add_around(outer, fork)
    assert os.waitpid(children[0], 0)[1] == 0
    assert violations(store) == []


def test_what_looks_after_a_store_is_refused_too_where_it_writes(
    frontier: Callable[..., Frontier], store: Path, tmp_path: Path
) -> None:
    outer = frontier()
    outer.add([SEED])
    upkeep.backup(store, tmp_path / "before.db")
    acts: list[Callable[[], Any]] = [
        lambda: upkeep.vacuum(store),
        lambda: upkeep.vacuum(store, full=True),
        lambda: upkeep.check(store, repair=True),
        lambda: upkeep.restore(tmp_path / "before.db", store, force=True),
        lambda: schema.migrate(store),
    ]

    def refused() -> None:
        for act in acts:
            with pytest.raises(NestedCall):
                act()
        assert upkeep.check(store).sound
        assert upkeep.backup(store, tmp_path / "backup.db").links == 1

    add_around(outer, refused)
    assert outer.status().counts[LinkState.QUEUED] == 3
    assert violations(store) == []


def test_questions_may_be_asked_and_show_what_was_stored_before(frontier: Callable[..., Frontier]) -> None:
    opened = frontier()
    opened.add([SEED])
    asked: list[Any] = []

    def ask() -> None:
        asked.append(opened.status().counts[LinkState.QUEUED])
        asked.append(opened.explain(SEED).link_id)
        asked.append(sum(row["table"] == "link" for row in opened.dump()))
        asked.append(opened.robots("a.example").status)

    add_around(opened, ask)
    assert asked == [1, 1, 1, None]
    assert opened.status().counts[LinkState.QUEUED] == 3


def test_an_error_that_nobody_catches_ends_the_outer_call_and_nothing_of_it_is_stored(
    frontier: Callable[..., Frontier], store: Path
) -> None:
    opened = frontier()
    with pytest.raises(NestedCall):
        add_around(opened, lambda: opened.lease(1))
    assert opened.status().counts[LinkState.QUEUED] == 0
    assert [added.link_id for added in add_around(opened, lambda: None)] == [1, 2]
    assert len(opened.lease(5)) == 2
    opened.close()
    assert violations(store) == []


def test_another_thread_waits_for_the_call_to_end(frontier: Callable[..., Frontier], store: Path) -> None:
    opened = frontier()
    started, order = threading.Event(), list[str]()
    leases: list[Lease] = []

    def work() -> None:
        started.set()
        leases.extend(opened.lease(5))
        order.append("lease")

    thread = threading.Thread(target=work)

    def let_it_try() -> None:
        thread.start()
        started.wait()
        with pytest.raises(NestedCall):
            opened.lease(1)
        order.append("add")

    add_around(opened, let_it_try)
    thread.join()
    assert order == ["add", "lease"]
    assert len(leases) == 2
    assert violations(store) == []


def test_threads_that_ask_and_write_in_the_middle_of_each_others_calls_get_no_error(
    frontier: Callable[..., Frontier], store: Path
) -> None:
    opened = frontier()
    wrong: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for i in range(10):
                urls = [f"https://a.example/{number}-{i}-{j}" for j in range(3)]
                add_around(opened, opened.status)
                opened.add(urls)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert opened.status().counts[LinkState.QUEUED] == 122
    assert violations(store) == []


def test_what_is_added_is_read_before_others_have_to_wait(
    frontier: Callable[..., Frontier], store: Path
) -> None:
    """A source may be slow, such as a sitemap over the network, and may make calls of its own."""
    opened, other = frontier(), frontier()

    def source() -> Iterator[str]:
        yield SEED
        assert other.add(["https://a.example/other"])[0].link_id == 1
        assert opened.add([SEED])[0].link_id == 2
        yield "https://a.example/last"

    assert [added.link_id for added in opened.add(source())] == [2, 3]
    assert violations(store) == []
