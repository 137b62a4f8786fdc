"""A clock that several processes share: eight bytes of a file. It moves only when one of them moves it."""

from __future__ import annotations

import fcntl
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class SharedClock:
    """Gives the time that the file holds; made with a time, it begins there.

    Args:
        path: the file.
        now: seconds; None: as the file says.
    """

    def __init__(self, path: str | Path, now: float | None = None) -> None:
        self._path = path
        if now is not None:
            with open(path, "wb") as file:
                file.write(struct.pack("d", now))

    def __call__(self) -> float:
        with open(self._path, "rb") as file:
            now: float = struct.unpack("d", file.read(8))[0]
        return now

    def forward_to(self, moment: float) -> None:
        """Move it, unless somebody else moved it further."""
        with open(self._path, "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            (now,) = struct.unpack("d", file.read(8))
            if moment > now:
                file.seek(0)
                file.write(struct.pack("d", moment))
