"""Whoever looks after a store waits for its writers as they wait for each other, and can be interrupted meanwhile."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import pytest
from store_invariants import violations

from pagesift_store import Frontier, StoreBusy, upkeep
from pagesift_store.storage import copies, turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Act = Callable[[Path], object]


@pytest.fixture
def loose(filled: Path, tmp_path: Path) -> Path:
    """A store with free pages, and a backup of it beside it."""
    with Frontier.open(filled) as frontier:
        frontier.add([f"https://a.example/{'long-' * 30}{i}" for i in range(2_000)])
    with closing(sqlite3.connect(filled)) as connection, connection:
        connection.execute("DELETE FROM link WHERE state = 'queued'")
    upkeep.check(filled, repair=True)
    upkeep.backup(filled, tmp_path / "backup.db")
    return filled


ACTS: dict[str, Act] = {
    "vacuum": upkeep.vacuum,
    "vacuum --full": lambda store: upkeep.vacuum(store, full=True),
    "restore": lambda store: upkeep.restore(store.with_name("backup.db"), store, force=True),
    "check --repair": lambda store: upkeep.check(store, repair=True),
}


@pytest.fixture(params=ACTS)
def act(request: pytest.FixtureRequest) -> Act:
    return ACTS[request.param]


def content(store: Path) -> list[str]:
    """All of it; read through SQLite, because to close the file by oneself would drop the locks of this process."""
    with closing(sqlite3.connect(store)) as connection:
        return list(connection.iterdump())


@contextmanager
def written_to(store: Path) -> Iterator[sqlite3.Connection]:
    """A store that another program writes to."""
    with closing(sqlite3.connect(store, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield other


@contextmanager
def interrupted_soon() -> Iterator[None]:
    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(KeyboardInterrupt):
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_they_wait_longer_for_a_large_store(loose: Path, act: Act, monkeypatch: pytest.MonkeyPatch) -> None:
    before = content(loose)
    monkeypatch.setattr(turns, "BUSY_TIMEOUT", 0.0)
    with written_to(loose) as other:
        monkeypatch.setattr(turns, "PER_BYTE", 0.0)
        with pytest.raises(StoreBusy, match="nothing was written, try again"):
            act(loose)
        assert content(loose) == before
        monkeypatch.setattr(turns, "PER_BYTE", 1.0)
        release = threading.Timer(0.05, other.execute, ["ROLLBACK"])
        release.start()
        act(loose)
        release.join()
    assert violations(loose) == []


def test_their_wait_can_be_interrupted_and_leaves_all_as_it_was(
    loose: Path, act: Act, tmp_path: Path
) -> None:
    before = content(loose)
    with written_to(loose):
        with interrupted_soon():
            act(loose)
        assert content(loose) == before
    assert {name for name in os.listdir(tmp_path) if name.startswith(".")} == set()
    act(loose)
    assert violations(loose) == []


def test_a_copy_can_be_interrupted_half_way_and_leaves_nothing(
    loose: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "_COPIED_AT_ONCE", 1)
    steps = 0

    def interrupt(*_: object) -> None:
        nonlocal steps
        steps += 1
        if steps == 10:
            raise KeyboardInterrupt

    monkeypatch.setattr(copies, "_heed", interrupt)
    before = set(os.listdir(tmp_path))
    for act in (lambda: upkeep.backup(loose, tmp_path / "other.db"), lambda: ACTS["restore"](loose)):
        steps = 0
        with pytest.raises(KeyboardInterrupt):
            act()
        assert set(os.listdir(tmp_path)) == before
    upkeep.backup(loose, tmp_path / "other.db")
    assert violations(tmp_path / "other.db") == []


def test_a_copy_in_steps_is_one_moment(loose: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite begins anew whenever another has written between two steps, unless the reader holds its moment."""
    monkeypatch.setattr(copies, "_COPIED_AT_ONCE", 1)
    links = upkeep.content(loose)[0]
    with Frontier.open(loose) as other:
        steps: list[int] = []

        def write(_status: int, left: int, _all: int) -> None:
            steps.append(left)
            if len(steps) % 10 == 0:
                other.add([f"https://a.example/meanwhile/{len(steps)}"])

        monkeypatch.setattr(copies, "_heed", write)
        assert upkeep.backup(loose, tmp_path / "other.db").links == links
    assert steps == sorted(steps, reverse=True)
    assert len(steps) > 20
    assert upkeep.content(loose)[0] > links
    assert violations(tmp_path / "other.db") == []
