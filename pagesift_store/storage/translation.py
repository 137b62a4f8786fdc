"""Errors of the driver about the file, as errors of ours."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from typing import TYPE_CHECKING

from sqlalchemy.exc import DBAPIError

from pagesift_store.errors import (
    NotAStore,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreMissing,
    StoreReadOnly,
    StoreUnreachable,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


_CONTRADICTIONS = frozenset(
    {
        sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY,
        sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY,
        sqlite3.SQLITE_CONSTRAINT_ROWID,
        sqlite3.SQLITE_CONSTRAINT_UNIQUE,
    }
)
"""Codes for a row that does not fit the other rows: no call adds one, unless counters or rows are wrong already."""


@contextlib.contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn the driver's errors about the file into ours; what remains is a fault of this package."""
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        raise _translation(path, error) or error from error


def _translation(path: Path, error: DBAPIError | sqlite3.Error) -> StoreError | None:
    cause = error.orig if isinstance(error, DBAPIError) else error
    extended = getattr(cause, "sqlite_errorcode", 0)
    code, reason = extended & 0xFF, str(cause)
    if extended in _CONTRADICTIONS:
        return StoreDamaged(
            f"{path} contradicts itself: {reason}; nothing was written; run `pagesift-store check`, which says where, "
            "and with --repair mends what can be computed anew"
        )
    if code == sqlite3.SQLITE_CANTOPEN and not path.exists():
        return StoreMissing(f"there is no store at {path} any more; restore a backup")
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY) and not os.access(path.parent, os.W_OK):
        return StoreReadOnly(
            f"{path} is in use, or cannot be written, and its folder may not be written: whoever uses a store must be "
            "allowed to write beside it; read a closed store or a backup, or ask for the right"
        )
    known: dict[int, StoreError] = {
        sqlite3.SQLITE_BUSY: StoreBusy(
            f"{path} is locked by another process for longer than the timeout; nothing was written, try again"
        ),
        sqlite3.SQLITE_FULL: StoreFull(
            f"no room left for {path}: {reason}; free some space and repeat the call"
        ),
        sqlite3.SQLITE_READONLY: StoreReadOnly(f"{path} cannot be written: {reason}"),
        sqlite3.SQLITE_CORRUPT: StoreDamaged(f"{path} is damaged: {reason}; restore a backup"),
        sqlite3.SQLITE_NOTADB: NotAStore(f"{path} is not a SQLite database: {reason}"),
        sqlite3.SQLITE_CANTOPEN: StoreUnreachable(
            f"cannot open {path}: {reason}; check the folder and its rights"
        ),
        sqlite3.SQLITE_PERM: StoreUnreachable(f"cannot open {path}: {reason}; check its rights"),
        sqlite3.SQLITE_IOERR: StoreUnreachable(
            f"the disk under {path} failed: {reason}; nothing was written"
        ),
    }
    if code == sqlite3.SQLITE_LOCKED:
        code = sqlite3.SQLITE_BUSY
    return known.get(code)
