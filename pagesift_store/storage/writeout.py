"""Having the log written to disk while a crawl goes on, so that a checkpoint has little left to wait for.

With durability `normal` nothing is synced at a commit, and the system writes nothing by itself for half a minute: so a
checkpoint waits for all of the log, 64 MiB of it, in the middle of some call. The system can be asked to begin earlier,
without waiting (https://man7.org/linux/man-pages/man2/sync_file_range.2.html). Nothing becomes durable by that: a
checkpoint syncs the log as ever, and hears of what could not be written, as everyone does who has the file open.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

EVERY = 0.1
"""Seconds between two requests at least: some megabytes of a crawl at full speed."""

_BEGIN = 2
"""`SYNC_FILE_RANGE_WRITE`: pages that were changed and are not on their way yet; none is waited for."""


class WriteOut:
    """What has been asked for the log of one store.

    Args:
        path: the store's file.
    """

    __slots__ = ("_last", "_log")

    def __init__(self, path: Path) -> None:
        self._log = f"{os.path.realpath(path)}-wal"  # beside the file itself, whatever link leads there
        self._last = 0.0

    def committed(self) -> None:
        """Something was written to the log: have it go to disk, unless that was asked for a moment ago."""
        now = time.monotonic()
        if now - self._last >= EVERY:
            self._last = now
            begin(self._log)


def begin(file: str) -> bool:
    """Have the system begin to write out what was changed of a file; whether it does.

    To open and close the log drops no lock, as it would with the store itself: SQLite has none on it
    (https://www.sqlite.org/howtocorrupt.html, 2.2).
    """
    ask = _sync_file_range()
    if ask is None:
        return False
    with contextlib.suppress(
        OSError
    ):  # the log comes and goes with its connections; they report what is wrong
        opened = os.open(file, os.O_RDONLY)
        try:
            return ask(opened, 0, 0, _BEGIN) == 0
        finally:
            os.close(opened)
    return False


@cache
def _sync_file_range() -> Callable[[int, int, int, int], int] | None:
    """The function of the C library; None: this system has none."""
    if sys.platform != "linux":
        return None
    import ctypes  # two milliseconds, and with durability `full` nobody needs it

    found: Callable[[int, int, int, int], int] | None = getattr(ctypes.CDLL(None), "sync_file_range", None)
    if found is not None:
        found.argtypes = (ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint)  # type: ignore[attr-defined]
    return found
