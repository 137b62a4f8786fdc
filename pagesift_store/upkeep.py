"""Looking after a store: check, backup, restore, vacuum, export, import.

Each is a function of a path, because each is about the file as a whole. All may run while others use the store; what
others notice of it stands with each.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import sqlite3
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pagesift_store.errors import (
    InvalidValue,
    NestedCall,
    PagesiftError,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreExists,
    StoreReadOnly,
)
from pagesift_store.reports import BackedUp, Checked, Upkeep, Vacuumed
from pagesift_store.storage import copies, schema
from pagesift_store.storage.engine import Database, identify, path_of
from pagesift_store.storage.statements import checks as sql
from pagesift_store.transactions import carrying, checking
from pagesift_store.transactions.work import Work

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator

    from sqlalchemy import Connection

__all__ = ["backup", "check", "content", "export_lines", "history", "import_lines", "restore", "vacuum"]


def check(
    store: str | os.PathLike[str],
    *,
    repair: bool = False,
    all_keys: bool = False,
    clock: Callable[[], float] = time.time,
) -> Checked:
    """Hold a store against itself: the file, references, states, every counter, every head and score, keys.

    Reads one moment of the store; others go on meanwhile, and their log grows until the check is done. With repair
    it is one write transaction, and other writers wait for it.

    Args:
        store: a path, or `sqlite:///path`.
        repair: put right what can be recomputed from the rows: all or nothing.
        all_keys: make the key of every link anew; otherwise of 20,000 at most, spread evenly.
        clock: gives UTC epoch seconds.

    Raises:
        StoreDamaged: so much is broken that it cannot even be read.
        StoreMissing, NotAStore, SchemaTooOld, SchemaTooNew, StoreBusy: see `pagesift_store.errors`.
    """
    path = path_of(store)
    identify(path)

    def hold(connection: Connection) -> Checked:
        schema.require_head(connection, path)
        work = Work(connection, checking.believed(connection, path), clock())
        try:
            checked = checking.check(work, repair=repair, all_keys=all_keys)
        except UnicodeDecodeError as error:
            raise StoreDamaged(f"{path} is damaged: a text in it cannot be read; restore a backup") from error
        if repair:
            work.save()
            _note(connection, "check", work.now, sound=checked.sound, findings=len(checked.findings))
        return checked

    with contextlib.closing(Database(path, read_only=not repair)) as database:
        if repair:
            return database.write(hold)
        with database.reading() as connection:
            return hold(connection)


def backup(
    store: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    keep: int = 1,
    clock: Callable[[], float] = time.time,
) -> BackedUp:
    """Copy one moment of a store, read the copy back, and only then give it its name.

    Others may read and write meanwhile. The copy is a closed store, sealed with a checksum. Those before it stay as
    `target.1` (the latest) to `target.KEEP`; a copy that fails its test leaves all of them as they were.

    Args:
        store: a path, or `sqlite:///path`.
        target: a path; what is there is moved on, never overwritten, unless `keep` is 0.
        keep: older backups that stay, 0 or more.
        clock: gives UTC epoch seconds.

    Raises:
        StoreDamaged: the store itself is damaged, as the copy shows; see `check`.
        StoreFull, StoreUnreachable: there is no room, or no such folder.
        InvalidValue: the target is the store, or `keep` is below 0.
    """
    path, place = path_of(store), path_of(target)
    if isinstance(keep, bool) or not isinstance(keep, int) or keep < 0:
        raise InvalidValue(f"keep={keep!r} must be a whole number, 0 or more")
    identify(path)
    if place == path or (place.exists() and place.samefile(path)):
        raise InvalidValue(f"{place} is the store itself; name another file for its backup")
    schema.sweep(place)
    draft = schema.draft_of(place)
    try:
        copies.copy(path, draft)
        try:
            content = copies.verify(draft)
        except StoreDamaged as error:
            raise StoreDamaged(
                f"the copy of {path} is damaged, so the store is; older backups stay as they were: {error}"
            ) from error
        copies.seal(draft)
        previous = copies.place(draft, place, keep)
    finally:
        schema.remove(draft)
    _remember(path, "backup", clock(), target=str(place), links=content.links)
    return BackedUp(
        path=str(place),
        bytes=place.stat().st_size,
        links=content.links,
        pages=content.pages,
        previous=None if previous is None else str(previous),
    )


def restore(
    source: str | os.PathLike[str], store: str | os.PathLike[str], *, force: bool = False
) -> BackedUp:
    """Put a backup in the place of a store, whole or not at all, after reading it from end to end.

    What comes back is another branch of history, so it gets an identity of its own: leases that were taken before are
    refused (`WrongStore`). A store that is overwritten is so in one transaction; whoever has it open goes on with
    what was restored. One whose file SQLite cannot open any more is moved aside (`….damaged-1`).

    Args:
        source: a backup; stays as it is.
        store: where to put it.
        force: overwrite a store that is there.

    Returns:
        What was restored.

    Raises:
        StoreDamaged: the backup is damaged; the message names it, and the latest one before it that is not.
        StoreExists: there is a store, and no `force`.
    """
    path, place = path_of(source), path_of(store)
    content = _verified(path)
    if place.exists() and not force:
        raise StoreExists(
            f"there is {_described(place)} at {place}; restoring would overwrite it: say so, by force"
        )
    copies.put(path, place, _new_identity, force=force)
    return BackedUp(path=str(place), bytes=place.stat().st_size, links=content.links, pages=content.pages)


def vacuum(
    store: str | os.PathLike[str], *, full: bool = False, clock: Callable[[], float] = time.time
) -> Vacuumed:
    """Give what a file holds in free pages back to the disk.

    Args:
        store: a path, or `sqlite:///path`.
        full: write the file anew: packs half-empty pages too, needs up to twice its size of free disk, and others
            wait meanwhile. Otherwise free pages alone, some at a time, and nobody waits for long.
        clock: gives UTC epoch seconds.

    Raises:
        StoreFull: there is not enough free disk; nothing was done.
        StoreBusy: another process keeps the store locked.
    """
    path = path_of(store)
    identify(path)
    before = path.stat().st_size
    copies.shrink(path, full=full)
    after, free = path.stat().st_size, copies.free_bytes(path)
    _remember(path, "vacuum", clock(), before=before, after=after)
    return Vacuumed(before=before, after=after, free=free)


def export_lines(store: str | os.PathLike[str]) -> Iterator[str]:
    """A store as lines of JSON, without line ends: everything but leases.

    A copy is made first, in the folder for temporary files, and read: a slow reader holds nothing up.

    Raises:
        StoreMissing, NotAStore, SchemaTooOld, SchemaTooNew, StoreFull: see `pagesift_store.errors`.
    """
    path = path_of(store)
    identify(path)
    with tempfile.TemporaryDirectory(prefix="pagesift-") as folder:
        copied = Path(folder) / "copy.db"
        copies.copy(path, copied)
        with contextlib.closing(Database(copied)) as database, database.reading() as connection:
            schema.require_head(connection, path)
            yield from carrying.lines(connection)


def import_lines(
    lines: Iterable[str | bytes],
    store: str | os.PathLike[str],
    *,
    clock: Callable[[], float] = time.time,
) -> int:
    """Make a store of an export, whole or not at all; leases are not in it, so all leased links are queued.

    Args:
        lines: as `export_lines` gave them, with or without line ends.
        store: a path; nothing may be there.
        clock: gives UTC epoch seconds.

    Returns:
        Rows.

    Raises:
        InvalidExport: the lines are not those of an export, or not all of them, or they make no sound store.
        StoreExists: there is a store.
    """
    path = path_of(store)
    if path.exists():
        raise StoreExists(f"there is {_described(path)} at {path}; name another place")
    rows = 0

    def fill(connection: Connection) -> None:
        nonlocal rows
        rows = carrying.load(connection, lines, clock())

    if not schema.create(path, fill):
        raise StoreExists(f"there is a store at {path} now; another process made it")
    return rows


def content(store: str | os.PathLike[str]) -> tuple[int, int]:
    """How many links and fetches a store of any release holds: what an operator is told before it is overwritten."""
    return copies.look(path_of(store))


def history(store: str | os.PathLike[str]) -> list[Upkeep]:
    """When a store was last repaired, backed up and vacuumed."""
    path = path_of(store)
    identify(path)
    with contextlib.closing(Database(path, read_only=True)) as database, database.reading() as connection:
        schema.require_head(connection, path)
        rows = connection.execute(sql.read_upkeep()).all()
    return [Upkeep(kind=row.kind, at=row.at, detail=json.loads(row.detail)) for row in rows]


def _verified(path: Path) -> copies.Content:
    try:
        return copies.verify(path)
    except StoreError as error:
        good = next(filter(_is_good, copies.older(path)), None)
        if good is None:
            raise
        raise StoreDamaged(f"{error}; the backup before it is good: {good}") from error


def _is_good(path: Path) -> bool:
    try:
        copies.verify(path)
    except StoreError:
        return False
    return True


def _described(path: Path) -> str:
    try:
        links, pages = copies.look(path)
    except (PagesiftError, sqlite3.Error):
        return "something that cannot be read as a store"
    return f"a store of {links:,} links and {pages:,} fetches"


def _new_identity(draft: Path) -> None:
    with contextlib.closing(sqlite3.connect(draft, isolation_level=None)) as connection:
        connection.execute("UPDATE crawl SET store_id = ?", (secrets.token_hex(8),))


def _note(connection: Connection, kind: str, at: float, **detail: Any) -> None:
    connection.execute(
        sql.note_upkeep(), {"kind": kind, "at": at, "detail": json.dumps(detail, sort_keys=True)}
    )


def _remember(path: Path, kind: str, at: float, **detail: Any) -> None:
    """Note what was done. It is done: that a busy store takes no note, or one that may not be written, is no error.

    Nor is it that it was done in the middle of a call, which a backup may be.
    """

    def note(connection: Connection) -> None:
        if schema.current(connection) == schema.HEAD:
            _note(connection, kind, at, **detail)

    with (
        contextlib.suppress(StoreBusy, StoreReadOnly, NestedCall),
        contextlib.closing(Database(path, timeout=1.0)) as database,
    ):
        database.write(note)
