"""Who owns a lease: a process of one machine, told apart from a later one that was given the same number."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Process:
    """One process.

    Attributes:
        boot: id of the machine's present boot; None where the system does not tell.
        namespace: its pid namespace; None where the system does not tell.
        pid: its number there.
        started: clock ticks after boot when it started; None where the system does not tell.
    """

    boot: str | None
    namespace: str | None
    pid: int
    started: int | None

    @classmethod
    def own(cls) -> Process:
        """The process that calls."""
        return _own(os.getpid())

    def sibling(self, pid: int, started: int) -> Process:
        """Another process, seen from the same boot and namespace."""
        return Process(self.boot, self.namespace, pid, started)

    def is_gone(self) -> bool:
        """Whether it is provably no longer there; False where that cannot be known from here."""
        me = Process.own()
        if (
            self.boot is None
            or self.started is None
            or (self.boot, self.namespace) != (me.boot, me.namespace)
        ):
            return False
        return _started(self.pid) != self.started


@lru_cache(maxsize=4)
def _own(pid: int) -> Process:
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        # Unlinked names keep their number: the link's target is the namespace's identity.
        namespace = os.readlink(_PROC / "self/ns/pid")
    except OSError:
        return Process(None, None, pid, None)
    return Process(boot, namespace, pid, _started(pid))


def _started(pid: int) -> int | None:
    """Start time in ticks (field 22 of /proc/PID/stat, see proc(5)); None when there is no such process.

    A zombie has ended: it holds nothing any more, and its parent may leave it there for long.
    """
    try:
        stat = (_PROC / str(pid) / "stat").read_text()
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else int(fields[19])
