"""Killing a process that works on a store: right before a statement, or from outside after a while.

The parent has imported everything already and holds no store open; a child is a fork of it, opens the store itself and
ends by the kill or by `os._exit`.
"""

from __future__ import annotations

import mmap
import os
import signal
import sqlite3
import struct
import time
import traceback
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

FAILED = 70


class End(NamedTuple):
    """How a child ended.

    Attributes:
        killed: by us.
        statements: how many SQLite had been told to run by then, `BEGIN` and `COMMIT` among them.
    """

    killed: bool
    statements: int


class Child:
    """A process that runs something; started at once.

    Args:
        body: what it does.
        kill_at: the statement before which it kills itself. None: it does not.
    """

    def __init__(self, body: Callable[[], object], kill_at: int | None = None) -> None:
        self._count = mmap.mmap(-1, 8)
        self.pid = os.fork()
        if self.pid == 0:
            code = FAILED
            try:
                _count_statements(self._count, kill_at)
                body()
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)

    def kill(self) -> None:
        """End it as hard as the system can."""
        os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> End:
        """Wait for its end.

        Raises:
            RuntimeError: it ended by itself, with an error (printed).
        """
        _, status = os.waitpid(self.pid, 0)
        statements = struct.unpack("q", self._count[:8])[0]
        self._count.close()
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        if not killed and status != 0:
            raise RuntimeError(f"the child ended with status {status}")
        return End(killed, statements)


def run(body: Callable[[], object], *, kill_at: int | None = None, kill_after: float | None = None) -> End:
    """Run something in a child, killed before a statement or after so many seconds; wait for its end."""
    child = Child(body, kill_at)
    if kill_after is not None:
        time.sleep(kill_after)
        child.kill()
    return child.wait()


def _count_statements(count: mmap.mmap, kill_at: int | None) -> None:
    """Have every connection of this process report its statements, whoever opens it."""
    done = [0]

    def statement(_: str) -> None:
        done[0] += 1
        count[:8] = struct.pack("q", done[0])
        if done[0] == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    genuine = sqlite3.connect

    def connect(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = genuine(*arguments, **options)
        connection.set_trace_callback(statement)
        return connection

    sqlite3.connect = connect  # type: ignore[assignment]
