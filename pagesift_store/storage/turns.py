"""Waiting for another's write lock: writers take turns by milliseconds, or one of them rescores for a minute."""

from __future__ import annotations

import sqlite3
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

AT_ONCE = 1.0
"""Seconds that the driver waits by itself: nothing can interrupt it meanwhile.

How it waits is SQLite's way, with pauses that grow to a tenth of a second. Looking again every few milliseconds was
tried: eight processes then take turns at every transaction, each reads anew what the others have changed, and together
they do two thirds of what they do this way.
"""


def begin_writing(driver: sqlite3.Connection, patience: Callable[[], float]) -> None:
    """Begin a write transaction once no other connection is in one.

    Args:
        driver: outside of a transaction; its busy timeout is `AT_ONCE`, or shorter where the patience is.
        patience: gives the seconds to wait at most; asked when there is something to wait for.

    Raises:
        sqlite3.OperationalError: busy all that time, or anything else.
    """
    start = time.monotonic()
    while True:
        try:
            driver.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            is_busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not is_busy or time.monotonic() - start >= patience():
                raise
        else:
            return
