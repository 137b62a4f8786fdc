"""Waiting for another's write lock: writers take turns by milliseconds, or one of them rescores for a minute."""

from __future__ import annotations

import sqlite3
import threading
import time
from typing import TYPE_CHECKING, TypeVar

from pagesift_store.errors import NestedCall

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BUSY_TIMEOUT = 30.0
"""Seconds to wait for another process's write lock before `StoreBusy`, and `PER_BYTE` more."""

PER_BYTE = 60.0 / 1e9
"""A rescore holds the lock for as long as the store is large: 40 seconds with ten million links, 2.5 GB."""

AT_ONCE = 1.0
"""Seconds that the driver waits by itself: nothing can interrupt it meanwhile.

How it waits is SQLite's way, with pauses that grow to a tenth of a second. Looking again every few milliseconds was
tried: eight processes then take turns at every transaction, each reads anew what the others have changed, and together
they do two thirds of what they do this way.
"""


Result = TypeVar("Result")


class Turn:
    """A write transaction of a thread.

    Args:
        file: which file it is in, whatever its name.
        driver: the connection; the turn goes on for as long as that is in a transaction, unless it is left before.
    """

    __slots__ = ("_driver", "_file", "_is_left")

    def __init__(self, file: tuple[int, int] | None, driver: sqlite3.Connection) -> None:
        self._file = file
        self._driver = driver
        self._is_left = False

    def enter(self) -> None:
        """Let its thread know of it, and forget those that an interrupt kept from being left."""
        turns = _own.turns
        if turns:
            turns[:] = filter(Turn.goes_on, turns)
        turns.append(self)

    def leave(self) -> None:
        """It is over. May be said again."""
        self._is_left = True
        turns = _own.turns
        if turns and turns[-1] is self:
            turns.pop()

    def goes_on(self) -> bool:
        """Whether it holds the write lock. A forked child has inherited that, and cannot let go of it."""
        return not self._is_left and is_writing(self._driver)

    def is_in(self, file: tuple[int, int]) -> bool:
        """Whether it is in this file."""
        return file == self._file


class _Own(threading.local):
    """Turns that the thread has entered: some calls inside of each other, of one store each."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []


_own = _Own()


def require_no_own(path: Path) -> None:
    """Refuse to wait for a turn that this thread has, through whichever connection: it would wait in vain.

    Raises:
        NestedCall: it has one.
    """
    if _own.turns:  # else nothing is asked of the file
        file = identity(path)
        if file is not None and any(turn.is_in(file) and turn.goes_on() for turn in _own.turns):
            raise nested(path)


def nested(path: Path) -> NestedCall:
    """Says that a call is refused because of one that goes on."""
    return NestedCall(
        f"{path} is in the middle of another call of this thread, which goes on; nothing was done. "
        "Finish that call first: where its clock makes calls of its own, leave them to the caller"
    )


def identity(path: Path) -> tuple[int, int] | None:
    """Which file has this name now; None: there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def is_writing(driver: sqlite3.Connection) -> bool:
    """Whether a connection is in a transaction."""
    try:
        return driver.in_transaction
    except sqlite3.ProgrammingError:  # it is closed
        return False


def patience_with(path: Path) -> float:
    """Seconds to wait at most for whoever writes to a store."""
    try:
        return BUSY_TIMEOUT + PER_BYTE * path.stat().st_size
    except OSError:  # it is gone, and whoever writes is about to be told so
        return BUSY_TIMEOUT


def wait_by_steps(driver: sqlite3.Connection, patience: float) -> None:
    """Have the driver wait so long by itself that an interrupt is heard in time; `in_turn` goes on waiting."""
    driver.execute(f"PRAGMA busy_timeout={min(patience, AT_ONCE) * 1000:.0f}")


def in_turn(act: Callable[[], Result], patience: Callable[[], float]) -> Result:
    """Do what needs the write lock once no other connection is in a write transaction.

    Args:
        act: does nothing when the store is busy; its connection waits by steps.
        patience: gives the seconds to wait at most; asked when there is something to wait for.

    Raises:
        sqlite3.OperationalError: busy all that time, or anything else.
    """
    start = time.monotonic()
    while True:
        try:
            return act()
        except sqlite3.OperationalError as error:
            is_busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not is_busy or time.monotonic() - start >= patience():
                raise


def begin_writing(driver: sqlite3.Connection, patience: Callable[[], float]) -> None:
    """Begin a write transaction in turn, on a connection that is in none."""
    in_turn(lambda: driver.execute("BEGIN IMMEDIATE"), patience)
