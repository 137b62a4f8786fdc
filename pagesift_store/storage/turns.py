"""Waiting for another's write lock: writers take turns by milliseconds, or one of them rescores for a minute."""

from __future__ import annotations

import sqlite3
import time
from typing import TYPE_CHECKING, TypeVar

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
