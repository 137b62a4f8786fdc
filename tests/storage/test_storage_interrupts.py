"""An interrupt at any line of a call: no lock is left held, and the next call finds a store that it can work with."""

from __future__ import annotations

import contextlib
import gc
import sqlite3
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from store_invariants import violations

from pagesift_store import FoundLink, Frontier, LeaseLost, LinkState, Page
from pagesift_store import frontier as calls
from pagesift_store.storage import engine, translation, turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from pagesift_store import Lease

WATCHED = {module.__file__ for module in (calls, engine, turns, translation)}
"""What begins and ends a transaction."""


def watched(frame: FrameType | None) -> bool:
    """Whether an interrupt is to come here: in those modules, or where one of them enters or leaves a block."""
    if frame is not None and frame.f_code.co_filename == contextlib.__file__:
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename in WATCHED


class Interrupted:
    """Raises `KeyboardInterrupt` where the interpreter hears of a signal, at the n-th such place that a call comes to.

    It looks for signals when a function begins, or a generator goes on, and when one that is not written in Python has
    returned: there is an interrupt raised that came meanwhile.

    Attributes:
        at: where it was raised; "" when the call ended before.
    """

    def __init__(self, n: int) -> None:
        self.at = ""
        self._left = n

    def __enter__(self) -> Interrupted:
        sys.setprofile(self._heard)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _heard(self, frame: FrameType, event: str, function: Any) -> None:
        if event not in ("call", "c_return") or not watched(frame):
            return
        self._left -= 1
        if self._left == 0:
            line = f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
            self.at = f"{line} {event} {getattr(function, '__name__', frame.f_code.co_name)}"
            raise KeyboardInterrupt


def late(opened: Frontier, lease: Lease) -> None:
    with contextlib.suppress(LeaseLost):
        opened.release(lease)


CALLS: dict[str, Callable[[Frontier, Lease, Lease], Any]] = {
    "add": lambda opened, *_: opened.add(
        ["https://a.example/b", FoundLink("https://a.example/c", score=2.0)]
    ),
    "lease": lambda opened, *_: opened.lease(1),
    "observe": lambda opened, lease, _: opened.observe(lease, Page(url=lease.url, text="visa fees")),
    "a lost lease": lambda opened, _, lost: late(opened, lost),
    "forget, dry run": lambda opened, *_: opened.forget("a.example", dry_run=True),
    "status": lambda opened, *_: opened.status(),
    "close": lambda opened, *_: opened.close(),
}


def require_free(opened: Frontier, store: Path, at: str) -> None:
    """Another process may write, and another thread may call."""
    with closing(sqlite3.connect(store, timeout=0.0, isolation_level=None)) as other:
        try:
            other.execute("BEGIN IMMEDIATE")
            other.execute("ROLLBACK")
        except sqlite3.OperationalError:
            pytest.fail(f"{at}: the write lock is held")
    free: list[bool] = []

    def look() -> None:
        for lock in (opened._lock, opened._database._lock):
            free.append(lock.acquire(blocking=False))
            if free[-1]:
                lock.release()

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert free == [True, True], f"{at}: other threads would wait for ever"


@pytest.fixture
def uncollected() -> Iterator[None]:
    """No generator of another test is collected, and so goes on, in the middle of a call."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize(("call", "connected"), [*((call, True) for call in CALLS), ("add", False)])
def test_no_place_in_a_call_leaves_a_lock_held_when_it_is_interrupted(
    frontier: Callable[..., Frontier], store: Path, call: str, *, connected: bool
) -> None:
    """Whoever keeps what was raised, as an interactive shell does, keeps alive all that its frames hold."""
    opened = frontier()
    opened.add([f"https://a.example/{i}" for i in range(300)])
    kept: list[BaseException] = []
    while True:
        (lost,) = opened.lease(1)
        opened.release(lost)
        lease, _ = opened.lease(2)
        if not connected:
            opened._database._drop_writer()
        interrupted = Interrupted(len(kept) + 1)
        try:
            with interrupted:
                CALLS[call](opened, lease, lost)
        except KeyboardInterrupt as error:
            kept.append(error)
        else:
            break
        require_free(opened, store, interrupted.at)
        added = opened.add([f"https://a.example/after/{len(kept)}"])
        assert added[0].link_id is not None, interrupted.at
        opened.close()
        assert opened.status().counts[LinkState.LEASED] == 0, interrupted.at
    opened.close()
    assert len(kept) > 10
    assert violations(store) == []
