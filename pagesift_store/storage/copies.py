"""Whole copies of a store's file: made by SQLite's own backup, verified before they have a name, sealed.

`cp` of a store in use misses what its log holds, or takes half of it (https://www.sqlite.org/howtocorrupt.html, 1.2).
"""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import sqlite3
import time
import zlib
from typing import TYPE_CHECKING, NamedTuple

from pagesift_store.errors import NotAStore, StoreDamaged, StoreExists, StoreFull, StoreUnreachable
from pagesift_store.storage import schema
from pagesift_store.storage.engine import CACHE_KIB, address, identify, reading_mode
from pagesift_store.storage.translation import translated
from pagesift_store.storage.turns import BUSY_TIMEOUT, in_turn, patience_with, require_no_own, wait_by_steps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SEAL_AT = 60
"""Where the header of a SQLite file keeps `user_version`, four bytes that are the program's own: there is the seal."""

_CHUNK = 1 << 20
_STEP = 2_000
"""Free pages given back at a time: no writer waits for long."""

_COPIED_AT_ONCE = 10_000
"""Pages copied at a time, 40 MB: an interrupt is heard in between."""


class Content(NamedTuple):
    """What a file holds."""

    links: int
    pages: int


def copy(source: Path, target: Path) -> None:
    """Copy a store, in use or not, into a new file: one moment of it, written to the disk.

    Raises:
        StoreFull, StoreUnreachable, StoreDamaged: there is no copy, or not a whole one.
    """
    with (
        _translated_copy(source, target),
        _opened(source, reading_mode(source)) as from_store,
        _made(target) as to,
    ):
        _copy_pages(from_store, to)
    _write_seal(target, 0)


def _copy_pages(source: sqlite3.Connection, target: sqlite3.Connection) -> None:
    """Copy one moment of a store, in steps.

    Raises:
        sqlite3.OperationalError: the target is busy, and as it was.
    """
    # Without a moment that is held, a copy would begin anew whenever another process has written between two steps.
    # Readers block nobody.
    source.execute("BEGIN")
    source.execute("SELECT 1 FROM sqlite_master").fetchone()
    try:
        source.backup(target, pages=_COPIED_AT_ONCE, progress=lambda *state: _heed(*state))
    finally:
        source.execute("ROLLBACK")


def _heed(status: int, _left: int, _all: int) -> None:
    """Leave a copy that cannot begin: the driver would try again for ever. Here interrupts are heard, too."""
    if status & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        error = sqlite3.OperationalError("database is locked")
        error.sqlite_errorcode = sqlite3.SQLITE_BUSY
        raise error


def seal(path: Path) -> None:
    """Write a checksum of the whole file into its header, so that a single bit that changes later is noticed."""
    _write_seal(path, _checksum(path))


def _write_seal(path: Path, value: int) -> None:
    with path.open("r+b") as file:
        file.seek(SEAL_AT)
        file.write(value.to_bytes(4, "big"))
        file.flush()
        os.fsync(file.fileno())


def verify(path: Path) -> Content:
    """Read a copy from end to end, touching nothing.

    Returns:
        What is in it.

    Raises:
        StoreDamaged: it is malformed, or another than it was when it was sealed.
        StoreMissing, StoreEmpty, NotAStore, StoreUnreachable: it is no store.
        SchemaTooNew: it is of a later release.
    """
    identify(path, shared=False)
    with translated(path), _opened(path, "mode=ro&immutable=1") as connection:
        stored = connection.execute("PRAGMA user_version").fetchone()[0] & 0xFFFFFFFF
        if stored and stored != _checksum(path):
            raise StoreDamaged(f"{path} is not what it was when it was made: its checksum differs")
        # The check looks up every index entry, in no order: with SQLite's own 2 MB it reads most pages again and again.
        connection.execute(f"PRAGMA cache_size=-{CACHE_KIB}")
        wrong = [row[0] for row in connection.execute("PRAGMA integrity_check(3)") if row[0] != "ok"]
        if wrong:
            raise StoreDamaged(f"{path} is damaged: {'; '.join(wrong)}")
        schema.require_known(connection, path)
        return content(connection)


def content(connection: sqlite3.Connection) -> Content:
    """How much there is in an open store."""
    row = connection.execute("SELECT (SELECT count(*) FROM link), (SELECT count(*) FROM page)").fetchone()
    return Content(*row)


def look(path: Path) -> Content:
    """How much there is in a store."""
    identify(path)
    with translated(path), _opened(path, reading_mode(path)) as connection:
        return content(connection)


def free_bytes(path: Path) -> int:
    """What a store holds in pages without content."""
    with translated(path), _opened(path, reading_mode(path)) as connection:
        return _free_pages(connection) * int(connection.execute("PRAGMA page_size").fetchone()[0])


def place(draft: Path, path: Path, keep: int) -> Path | None:
    """Give a verified copy its name; the copies before it move on to `.1`, `.2`, ….

    At no moment is there no copy under the name.

    Args:
        draft: the copy.
        path: its name.
        keep: how many older ones stay.

    Returns:
        The name of the one before it; None when there is none.
    """
    names = [path, *(path.with_name(f"{path.name}.{number}") for number in range(1, keep + 1))]
    for older, newer in reversed(list(zip(names[1:], names[:-1], strict=True))):
        if newer == path and path.exists():
            spare = schema.draft_of(path)
            os.link(path, spare)
            spare.replace(older)
            # A kill after this line once left one file under both names: renaming one to the other does nothing.
            spare.unlink(missing_ok=True)
        elif newer.exists():
            newer.replace(older)
    draft.replace(path)
    schema.sync_folder(path.parent)
    return names[1] if keep and names[1].exists() else None


def older(path: Path) -> list[Path]:
    """The copies before one, latest first. A kill while they moved on may have left a gap in their numbers."""
    found = {
        int(number): entry
        for entry in path.parent.glob(f"{glob.escape(path.name)}.*")
        if (number := entry.name.rpartition(".")[2]).isdecimal()
    }
    return [found[number] for number in sorted(found)]


def put(backup: Path, path: Path, prepare: Callable[[Path], None], *, force: bool) -> None:
    """Put a verified copy in the place of a store, whole or not at all.

    A store that is there is overwritten by SQLite, in one transaction: whoever has it open sees the old one, then the
    new one. One whose file cannot be opened any more is moved aside first.

    Args:
        backup: what to put there; stays as it is.
        path: where.
        prepare: the last touch to the copy, before anyone sees it.
        force: overwrite.
    """
    schema.sweep(path)
    draft = schema.draft_of(path)
    try:
        copy(backup, draft)
        prepare(draft)
        if path.exists():
            if not force:
                raise StoreExists(f"there is something at {path}; have it overwritten, or name another place")
            if _overwrite(draft, path):
                return
            move_aside(path)
        schema.require_no_log(path)
        _link(draft, path)
    finally:
        schema.remove(draft)


def _link(draft: Path, path: Path) -> None:
    try:
        os.link(draft, path)
    except FileExistsError as error:
        raise StoreExists(f"there is a store at {path} now; another process made it") from error
    except OSError as error:
        raise StoreUnreachable(f"cannot make {path}: {error.strerror}") from error
    schema.sync_folder(path.parent)


def _overwrite(draft: Path, path: Path) -> bool:
    """Replace all pages of a store in one transaction; False when its file is no database that SQLite could open."""
    try:
        with translated(path), _opened(draft, "mode=rw") as source, _in_turns(path) as target:
            in_turn(lambda: _copy_pages(source, target), lambda: patience_with(path))
            _fold(target)
    except (StoreDamaged, NotAStore):
        return False
    return True


def move_aside(path: Path) -> Path:
    """Rename what is left of a store, its log with it."""
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    for suffix in ("-wal", "-shm", "-journal", ""):
        with contextlib.suppress(FileNotFoundError):
            path.with_name(path.name + suffix).rename(aside.with_name(aside.name + suffix))
    return aside


def require_room(folder: Path, needed: int) -> None:
    """Refuse what would fill the disk.

    Raises:
        StoreFull: nothing was begun.
    """
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise StoreFull(f"{folder} has {free:,} bytes free, this may need {needed:,}; free some space first")


def shrink(path: Path, *, full: bool) -> None:
    """Give free pages back to the disk.

    Args:
        path: a store; others may go on using it.
        full: write the whole file anew, which also packs half-empty pages; others wait meanwhile.

    Raises:
        StoreFull: there is not enough free disk; nothing was done.
        StoreBusy: another process writes.
    """
    with translated(path), _in_turns(path) as connection:

        def run(statement: str) -> None:
            in_turn(lambda: connection.execute(statement).fetchall(), lambda: patience_with(path))

        size = path.stat().st_size
        if full:
            require_room(path.parent, 2 * size)
            run("VACUUM")
        else:
            (page_size,) = connection.execute("PRAGMA page_size").fetchone()
            require_room(path.parent, 4 * _STEP * page_size)
            while _free_pages(connection):
                run(f"PRAGMA incremental_vacuum({_STEP})")
                run("PRAGMA wal_checkpoint(PASSIVE)")
        _fold(connection)


def _fold(connection: sqlite3.Connection) -> None:
    """Have the log folded into the file, which has its new size then, unless somebody reads an older moment for long.

    Writers wait meanwhile, so this waits for no longer than they do with the smallest store.
    """
    end = time.monotonic() + BUSY_TIMEOUT
    while connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] and time.monotonic() < end:
        pass


def _free_pages(connection: sqlite3.Connection) -> int:
    free: int = connection.execute("PRAGMA freelist_count").fetchone()[0]
    return free


def _checksum(path: Path) -> int:
    """CRC-32 of a file without its seal, never 0. Finds any error that is shorter than 32 bits for certain.

    Of a sealed copy only: to read a store so, which this process may have open, would drop its locks.
    """
    checksum = 0
    with path.open("rb") as file:
        first = bytearray(file.read(_CHUNK))
        first[SEAL_AT : SEAL_AT + 4] = bytes(4)
        checksum = zlib.crc32(first)
        while chunk := file.read(_CHUNK):
            checksum = zlib.crc32(chunk, checksum)
    return checksum or 1


@contextlib.contextmanager
def _opened(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(
        sqlite3.connect(address(path, mode), uri=True, timeout=BUSY_TIMEOUT, isolation_level=None)
    ) as connection:
        yield connection


@contextlib.contextmanager
def _in_turns(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection for what is done `in_turn`."""
    require_no_own(path)
    with _opened(path, "mode=rw") as connection:
        wait_by_steps(connection, patience_with(path))
        yield connection


@contextlib.contextmanager
def _made(path: Path) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


@contextlib.contextmanager
def _translated_copy(source: Path, target: Path) -> Iterator[None]:
    """An error says which of two files it is about as far as that can be told."""
    try:
        with translated(source):
            yield
    except StoreFull as error:
        raise StoreFull(f"no room left for {target}; free some space and repeat the call") from error
    except StoreUnreachable as error:
        if target.parent.is_dir():
            raise
        raise StoreUnreachable(f"cannot create {target}: there is no such folder; make it first") from error
