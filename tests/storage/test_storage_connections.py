"""How the file is opened, who waits for whom, and what a fork may touch."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import threading
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from racing import race
from sqlalchemy import Connection
from sqlalchemy.engine.default import DefaultDialect
from store_invariants import violations

from pagesift_store import FoundLink, Frontier, LinkState, NestedCall, StoreBusy
from pagesift_store.storage import engine, turns
from pagesift_store.storage.engine import APPLICATION_ID, Database

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pagesift_store import Page
    from pagesift_store.transactions.work import Work


@contextmanager
def write_lock(store: Path) -> Iterator[None]:
    """What another program that writes looks like."""
    with closing(sqlite3.connect(store, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


@pytest.fixture
def impatient(
    frontier: Callable[..., Frontier], store: Path, clock: Callable[[], float]
) -> Iterator[Frontier]:
    """A frontier that waits a twentieth of a second for the write lock."""
    frontier().add(["https://a.example/"])
    with Frontier(Database(store, timeout=0.05), worker=None, clock=clock) as opened:
        yield opened


@pytest.mark.parametrize(
    ("pragma", "value"),
    [
        ("application_id", APPLICATION_ID),
        ("journal_mode", "wal"),
        ("foreign_keys", 1),
        ("auto_vacuum", 2),
        ("temp_store", 1),
    ],
)
def test_how_a_store_is_kept(
    frontier: Callable[..., Frontier], store: Path, pragma: str, value: str | int
) -> None:
    frontier()
    with Database(store).reading() as connection:
        assert connection.exec_driver_sql(f"PRAGMA {pragma}").scalar_one() == value


@pytest.mark.parametrize(("durability", "synchronous"), [("full", 2), ("normal", 1)])
def test_durability_is_how_often_the_disk_is_waited_for(
    frontier: Callable[..., Frontier], durability: str, synchronous: int
) -> None:
    opened = frontier(durability=durability)
    driver = opened._write(lambda work: work._driver)
    assert driver.execute("PRAGMA synchronous").fetchone() == (synchronous,)


def test_durability_can_be_changed(frontier: Callable[..., Frontier]) -> None:
    opened = frontier(durability="full")
    opened.configure(durability="normal")
    for again in (opened, frontier()):
        driver = again._write(lambda work: work._driver)
        assert driver.execute("PRAGMA synchronous").fetchone() == (1,)


def test_a_change_of_durability_does_not_hide_what_others_wrote(frontier: Callable[..., Frontier]) -> None:
    opened = frontier(durability="full")
    opened.add(["https://a.example/1"])
    opened.configure(durability="normal")
    with frontier() as other:
        other.add(["https://a.example/2"])
    assert opened.add(["https://a.example/3"])[0].link_id == 3


def test_a_reader_neither_blocks_a_writer_nor_sees_half_of_it(
    frontier: Callable[..., Frontier], store: Path
) -> None:
    opened = frontier()
    with Database(store, timeout=0.05).reading() as reader:
        assert reader.exec_driver_sql("SELECT count(*) FROM link").scalar_one() == 0
        opened.add(["https://a.example/"])
        assert reader.exec_driver_sql("SELECT count(*) FROM link").scalar_one() == 0
    assert opened.status().counts[LinkState.QUEUED] == 1


def test_a_writer_does_not_block_readers(impatient: Frontier, store: Path) -> None:
    with write_lock(store):
        assert impatient.status().counts[LinkState.QUEUED] == 1
        assert impatient.explain("https://a.example/").link_id == 1


def test_who_writes_waits_longer_for_a_large_store(
    frontier: Callable[..., Frontier], store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rescore of ten million links takes longer than any patience for a small one."""
    opened = frontier()
    monkeypatch.setattr(turns, "BUSY_TIMEOUT", 0.0)
    with closing(sqlite3.connect(store, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        monkeypatch.setattr(turns, "PER_BYTE", 0.0)
        with pytest.raises(StoreBusy):
            opened.add(["https://a.example/1"])
        monkeypatch.setattr(turns, "PER_BYTE", 1.0)
        release = threading.Timer(0.05, other.execute, ["ROLLBACK"])
        release.start()
        assert opened.add(["https://a.example/1"])[0].link_id == 1
        release.join()


def test_a_wait_for_the_lock_can_be_interrupted(frontier: Callable[..., Frontier], store: Path) -> None:
    opened = frontier()

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with write_lock(store):
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            with pytest.raises(KeyboardInterrupt):
                opened.add(["https://a.example/1"])
    finally:
        signal.signal(signal.SIGALRM, before)
    assert opened.add(["https://a.example/1"])[0].link_id == 1


def test_an_interrupt_while_the_connection_is_made_leaves_the_next_call_to_make_it(
    frontier: Callable[..., Frontier], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = frontier()

    def interrupted(_driver: sqlite3.Connection, _seconds: float) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(engine, "wait_by_steps", interrupted)
        with pytest.raises(KeyboardInterrupt):
            opened.add(["https://a.example/1"])
    assert opened.add(["https://a.example/1"])[0].link_id == 1


def test_an_interrupt_inside_of_sqlalchemy_leaves_the_next_call_to_connect_again(
    frontier: Callable[..., Frontier], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = frontier()
    opened.add(["https://a.example/1"])

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(DefaultDialect, "do_execute", interrupted)
        with pytest.raises(KeyboardInterrupt):
            opened.lease(1)
    assert len(opened.lease(1)) == 1


def test_a_statement_that_an_interrupt_left_open_holds_nothing_up(
    frontier: Callable[..., Frontier], store: Path
) -> None:
    opened = frontier(scope="any")
    opened.add([FoundLink(f"https://{host}.example/", score=1.0) for host in "abc"], depth=1)
    left: list[sqlite3.Cursor] = []

    def interrupt(work: Work) -> None:
        left.append(work._driver.cursor())
        left[0].execute("UPDATE host SET pages = pages + 1 RETURNING id")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        opened._write(interrupt)
    assert opened.add(["https://a.example/2"])[0].link_id is not None
    assert len(opened.lease(1)) == 1
    opened.close()
    assert violations(store) == []


def test_an_interrupt_of_close_leaves_the_next_call_to_connect_again(
    frontier: Callable[..., Frontier], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = frontier()
    assert opened.add(["https://a.example/1"])[0].link_id == 1

    def interrupted(connection: Connection, close: Any = Connection.close) -> None:
        close(connection)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Connection, "close", interrupted)
        with pytest.raises(KeyboardInterrupt):
            opened.close()
    assert opened.add(["https://a.example/2"])[0].link_id == 2


def test_a_write_that_cannot_begin_is_an_error_and_stores_nothing(impatient: Frontier, store: Path) -> None:
    with (
        write_lock(store),
        pytest.raises(StoreBusy, match=r"crawl\.db is locked by another process .* try again"),
    ):
        impatient.add(["https://a.example/1"])
    assert impatient.status().counts[LinkState.QUEUED] == 1
    assert impatient.add(["https://a.example/1"])[0].link_id == 2
    assert violations(store) == []


def test_leases_are_given_back_after_a_call_that_found_the_store_busy(
    impatient: Frontier, store: Path
) -> None:
    assert len(impatient.lease(1)) == 1
    with write_lock(store), pytest.raises(StoreBusy):
        impatient.add(["https://a.example/1"])
    impatient.close()
    assert impatient.status().counts[LinkState.QUEUED] == 1


def test_a_store_that_is_busy_to_the_end_is_closed_all_the_same(impatient: Frontier, store: Path) -> None:
    """Its leases stay until the process has ended, or they run out."""
    assert len(impatient.lease(1)) == 1
    with write_lock(store), pytest.raises(StoreBusy):
        impatient.close()
    assert impatient._database._writer is None
    assert impatient.status().counts[LinkState.LEASED] == 1


def test_a_failed_call_leaves_nothing_behind(frontier: Callable[..., Frontier], store: Path) -> None:
    opened = frontier()
    before = list(opened.dump())

    def urls() -> Iterator[str]:
        yield from (f"https://a.example/{i}" for i in range(1_200))
        raise RuntimeError("the source of the URLs broke")

    with pytest.raises(RuntimeError):
        opened.add(urls())
    assert list(opened.dump()) == before
    assert opened.add(["https://a.example/"])[0].link_id == 1
    assert violations(store) == []


def test_a_transaction_inside_another_is_refused_and_the_outer_one_goes_on(
    frontier: Callable[..., Frontier], store: Path
) -> None:
    frontier()
    with closing(Database(store)) as database:

        def change(connection: Connection) -> None:
            connection.exec_driver_sql("UPDATE crawl SET links = 7")
            with pytest.raises(NestedCall, match="which goes on; nothing was done"):
                database.write(lambda _: None)
            assert connection.exec_driver_sql("SELECT links FROM crawl").scalar_one() == 7

        database.write(change)
        with database.reading() as connection:
            assert connection.exec_driver_sql("SELECT links FROM crawl").scalar_one() == 7


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C raises, as in a shell: what runs in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_while_waiting_for_the_lock_leaves_it_free(
    frontier: Callable[..., Frontier], store: Path
) -> None:
    """Python hears of the signal once the wait is over, when the lock is ours already."""
    opened, locked = frontier(), threading.Event()

    def other() -> None:
        with write_lock(store):
            locked.set()
            threading.Event().wait(0.2)
            signal.raise_signal(signal.SIGINT)
            threading.Event().wait(0.2)

    thread = threading.Thread(target=other)
    thread.start()
    locked.wait()
    with pytest.raises(KeyboardInterrupt):
        opened.add(["https://a.example/"])
    thread.join()
    with write_lock(store):
        pass
    assert not opened.status().counts[LinkState.QUEUED]
    opened.add(["https://a.example/"])


def test_a_transaction_that_an_interrupt_left_open_is_taken_back(
    store: Path, frontier: Callable[..., Frontier]
) -> None:
    frontier().close()
    with closing(Database(store)) as database:
        driver: Any = database.write(lambda connection: connection.connection.dbapi_connection)
        driver.execute("BEGIN IMMEDIATE")
        driver.execute("UPDATE crawl SET links = 9")
        read = "SELECT links FROM crawl"
        assert database.write(lambda connection: connection.exec_driver_sql(read).scalar_one()) == 0


def test_two_processes_take_turns_without_an_error(frontier: Callable[..., Frontier], store: Path) -> None:
    """Each transaction reads, then writes: begun without the write lock, one of two would fail at once."""
    frontier().add([f"https://a.example/{i}" for i in range(200)])
    fetched = race(
        """
fetched = []
with Frontier.open(arguments["store"]) as frontier:
    while leases := frontier.lease(1):
        frontier.observe(leases[0], Page(url=leases[0].url, text="student visa fees"))
        fetched.append(leases[0].link_id)
print(json.dumps(fetched))
""",
        [{"store": store}] * 2,
    )
    assert sorted(fetched[0] + fetched[1]) == list(range(1, 201))
    assert violations(store) == []


def test_threads_share_one_frontier(
    frontier: Callable[..., Frontier], page: Callable[..., Page], store: Path
) -> None:
    opened = frontier()
    opened.add([f"https://a.example/{i}" for i in range(40)])
    fetched: list[int] = []
    wrong: list[BaseException] = []

    def work() -> None:
        try:
            while leases := opened.lease(1):
                opened.observe(leases[0], page(leases[0], "/0", "/1"))
                opened.status()
                fetched.append(leases[0].link_id)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert sorted(fetched) == list(range(1, 41))
    assert violations(store) == []


def test_a_forked_child_uses_a_connection_of_its_own(frontier: Callable[..., Frontier], store: Path) -> None:
    opened = frontier()
    opened.add(["https://a.example/"])
    for i in range(20):
        opened.add([f"https://a.example/parent/{i}"])
        child = os.fork()
        if child == 0:
            code = 1
            try:
                opened.add([f"https://a.example/child/{i}"])
                code = len(opened.lease(1)) - 1
            finally:
                os._exit(code)
        opened.add([f"https://a.example/meanwhile/{i}"])
        assert os.waitpid(child, 0)[1] == 0
    assert opened.status().counts[LinkState.QUEUED] + opened.status().counts[LinkState.LEASED] == 61
    opened.recover()
    assert opened.status().counts[LinkState.QUEUED] == 61
    assert violations(store) == []


def test_a_forked_child_sees_what_its_parent_wrote_since(frontier: Callable[..., Frontier]) -> None:
    """SQLite counts changes per connection: a new one may well start at the number that was remembered."""
    opened = frontier()
    opened.add(["https://a.example/"])
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.read(reading, 1)
            code = 0 if opened.add(["https://a.example/child"])[0].link_id == 3 else 2
        finally:
            os._exit(code)
    opened.add(["https://a.example/parent"])
    os.write(writing, b".")
    assert os.waitpid(child, 0)[1] == 0
    os.close(reading)
    os.close(writing)


def test_a_closed_store_is_one_file_that_may_be_copied(
    frontier: Callable[..., Frontier], store: Path, tmp_path: Path
) -> None:
    with frontier() as opened:
        opened.add([f"https://a.example/{i}" for i in range(1_000)])
        rows = list(opened.dump())
        assert set(os.listdir(tmp_path)) == {"crawl.db", "crawl.db-wal", "crawl.db-shm"}
    assert os.listdir(tmp_path) == ["crawl.db"]
    copy = tmp_path / "copy.db"
    shutil.copyfile(store, copy)
    with Frontier.open(copy) as opened:
        assert list(opened.dump()) == rows


def test_a_frontier_that_was_closed_opens_again_when_it_is_used(frontier: Callable[..., Frontier]) -> None:
    opened = frontier()
    opened.close()
    opened.close()
    assert opened.add(["https://a.example/"])[0].link_id == 1
