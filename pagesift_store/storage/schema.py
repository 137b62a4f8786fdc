"""Versions of the schema: which one a store has, which one this release needs, and the way from one to the other.

Nothing else creates tables. Alembic is imported only where something is created or upgraded, because opening a
store must not wait for it.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import sqlite3
import threading
from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Select, column, inspect, select, table
from sqlalchemy.schema import CreateIndex, DropIndex

from pagesift_store.errors import (
    NotAStore,
    SchemaTooNew,
    SchemaTooOld,
    StoreDamaged,
    StoreError,
    StoreUnreachable,
)
from pagesift_store.storage.engine import APPLICATION_ID, Database, identify, path_of
from pagesift_store.storage.filesystem import require_shared_memory
from pagesift_store.storage.prepared import Runner
from pagesift_store.storage.process import Process
from pagesift_store.storage.tables import WORST
from pagesift_store.storage.translation import translated

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HEAD = "0004"
"""The revision that this release works with; a test holds it against the migrations."""

VERSION_TABLE = "pagesift_schema"
"""Alembic's bookkeeping, under a name of our own beside a host program that uses Alembic itself."""

_upgrading = threading.Lock()
"""Alembic's operations context belongs to the process: one upgrade at a time."""


def current(connection: Connection) -> str | None:
    """The revision of an open store; None when it has none."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    found = connection.exec_driver_sql(f"SELECT version_num FROM {VERSION_TABLE}").scalar()  # noqa: S608
    return None if found is None else str(found)


def revisions() -> list[str]:
    """All revisions that this release knows, oldest first.

    Raises:
        StoreError: the installation lacks its migrations.
    """
    script = _script()
    known = [revision.revision for revision in script.walk_revisions()][::-1]
    if not known or known[-1] != HEAD:
        raise StoreError(
            f"this installation lacks its migrations (expected {HEAD}); install the package again"
        )
    return known


def require_head(connection: Connection, path: Path) -> None:
    """Refuse a store of another revision, naming both and the remedy.

    Raises:
        SchemaTooOld, SchemaTooNew: nothing was touched.
        NotAStore: it has no revision at all.
        StoreEmpty: nothing is in it, so that it took the place of the store that was opened.
    """
    found = current(connection)
    if found == HEAD:
        return
    if found is None:
        identify(path)
        raise _unknown(path)
    if found in revisions():
        raise SchemaTooOld(
            f"{path} has schema {found}, this release needs {HEAD}: run `pagesift-store migrate {path}`"
        )
    raise SchemaTooNew(f"{path} has schema {found}, newer than {HEAD} of this release: update pagesift-store")


def require_unchanged(connection: Connection, path: Path) -> None:
    """As `require_head`, for an open store that others have written to: theirs may be another release, or a backup.

    Raises:
        SchemaTooOld, SchemaTooNew, NotAStore, StoreEmpty: nothing was touched.
    """
    try:
        row = Runner(connection).first(_revision())
    except sqlite3.OperationalError:  # a broken store: the other question finds out
        row = None
    if row is None or row.version_num != HEAD:
        require_head(connection, path)


@cache
def _revision() -> Select[Any]:
    return select(column("version_num")).select_from(table(VERSION_TABLE))


def require_known(connection: sqlite3.Connection, path: Path) -> str:
    """Refuse a store that this release could not even bring up; returns its revision.

    Raises:
        SchemaTooNew, NotAStore: nothing was touched.
    """
    try:
        row = connection.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchone()  # noqa: S608
    except sqlite3.OperationalError:
        row = None
    if row is None:
        raise _unknown(path)
    if row[0] not in revisions():
        raise SchemaTooNew(
            f"{path} has schema {row[0]}, newer than {HEAD} of this release: update pagesift-store"
        )
    return str(row[0])


def _unknown(path: Path) -> NotAStore:
    return NotAStore(f"{path} has our mark but no tables of ours; restore a backup")


def upgrade(connection: Connection, target: str = HEAD) -> list[str]:
    """Bring an open store to a revision, inside the caller's transaction; returns the revisions that were applied."""
    from alembic.operations import Operations
    from alembic.runtime.migration import MigrationContext

    drop_leftovers(connection)
    script = _script()
    applied: list[str] = []

    def steps(revision: str, _context: MigrationContext) -> list[object]:
        found = list(script._upgrade_revs(target, revision))
        applied.extend(step.revision.revision for step in found)
        return list(found)

    with _upgrading:
        context = MigrationContext.configure(
            connection, opts={"version_table": VERSION_TABLE, "fn": steps, "transactional_ddl": False}
        )
        with Operations.context(context):
            context.run_migrations()
    _require_references(connection)
    return applied


def follow_bound(connection: Connection, *, bounded: bool) -> None:
    """Have the index over the worst queued links in a store whose queue is bounded, and in no other.

    To be called in the transaction that writes the setting. Others need not be told: SQLite prepares their statements
    anew once the schema has changed.
    """
    connection.execute(
        CreateIndex(WORST, if_not_exists=True) if bounded else DropIndex(WORST, if_exists=True)
    )


def leftovers(connection: Connection) -> list[str]:
    """Tables that a rebuild made and a killed program left, one that upgraded outside of a transaction."""
    names = connection.exec_driver_sql(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE '\\_alembic\\_tmp\\_%' ESCAPE '\\'"
    )
    return [str(name) for name in names.scalars()]


def drop_leftovers(connection: Connection) -> None:
    """Remove them: the next rebuild would stumble over their names, and for ever."""
    for name in leftovers(connection):
        quoted = name.replace('"', '""')
        connection.exec_driver_sql(f'DROP TABLE "{quoted}"')


def _require_references(connection: Connection) -> None:
    """Foreign keys are off while tables are rebuilt: what they promise is looked at before the commit."""
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
    if broken is not None:
        raise StoreDamaged(
            f"row {broken[1]} of {broken[0]} refers to a row of {broken[2]} that is not there; nothing was changed: "
            "run `pagesift-store check --repair` with the release that made the store, or restore a backup"
        )


def create(path: Path, fill: Callable[[Connection], None]) -> bool:
    """Make a store at a path whole or not at all: under a temporary name first, then linked into place.

    Args:
        path: where it is to be; nothing may be there.
        fill: writes the first rows, in the transaction that makes the tables.

    Returns:
        False when another process made one there meanwhile: open that.

    Raises:
        StoreUnreachable: the folder is missing, cannot be written, or is one of a network; or the log of a store that
            is gone is in the way.
    """
    sweep(path)
    require_shared_memory(path)
    draft = draft_of(path)
    try:
        _prepare(draft)
        with contextlib.closing(Database(draft, upgrading=True)) as database:
            database.write(lambda connection: upgrade(connection, HEAD))
        with contextlib.closing(Database(draft)) as database:
            database.write(fill)
        require_no_log(path)
        os.link(draft, path)
    except FileExistsError:
        return False
    except OSError as error:
        raise StoreUnreachable(f"cannot create {path}: {error.strerror}") from error
    finally:
        remove(draft)
    sync_folder(path.parent)
    return True


def draft_of(path: Path) -> Path:
    """A name for what is to be at a path once it is whole; says whose it is, so that `sweep` knows when he is gone."""
    me = Process.own()
    return path.with_name(f".{path.name}.{me.pid}-{me.started or 0}-{secrets.token_hex(4)}.new")


def require_no_log(path: Path) -> None:
    """SQLite would take a log that lies beside a new store for its own.

    A log that was there before the store was found missing is nobody's: makers link first and open then.

    Raises:
        StoreUnreachable: the store that it belongs to is gone.
    """
    log = path.with_name(path.name + "-wal")
    if log.exists() and not path.exists():
        raise StoreUnreachable(
            f"{log} holds what was written last to a store that is gone; put that store back, or move the file away"
        )


def _prepare(draft: Path) -> None:
    """What has to be said before the first table: our mark, the log mode, that freed pages can be given back."""
    if not draft.parent.is_dir():
        raise StoreUnreachable(f"cannot create {draft.parent}/…: there is no such folder; make it first")
    with translated(draft), contextlib.closing(_raw(draft)) as connection:
        connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        connection.execute("PRAGMA journal_mode=WAL")


def _raw(path: Path) -> sqlite3.Connection:
    try:
        return sqlite3.connect(path, isolation_level=None)
    except sqlite3.OperationalError as error:
        raise StoreUnreachable(f"cannot create a file in {path.parent}: {error}; check its rights") from error


def tidy(path: Path) -> None:
    """Remove the second name that a maker leaves who is killed just after a store was linked into place."""
    if path.stat().st_nlink > 1:
        sweep(path)


def sweep(path: Path) -> None:
    """Remove drafts whose makers were killed; those of living makers, and of other machines, stay."""
    pattern = re.compile(re.escape(f".{path.name}.") + r"(\d+)-(\d+)-[0-9a-f]{8}\.new(-wal|-shm|-journal)?")
    if not path.parent.is_dir():
        return
    for entry in path.parent.iterdir():
        found = pattern.fullmatch(entry.name)
        if found and Process.own().sibling(int(found[1]), int(found[2])).is_gone():
            entry.unlink(missing_ok=True)


def remove(draft: Path) -> None:
    """Remove a draft, with all that SQLite keeps beside it."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        with contextlib.suppress(OSError):
            draft.with_name(draft.name + suffix).unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """A new name is durable only once its folder is synced."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def migrate(store: str | os.PathLike[str]) -> list[str]:
    """Bring a store to this release's schema; a copy of the old one is kept beside it.

    The write lock is taken before the version is read, so that of several processes one upgrades and the others
    find it done. The copy is SQLite's own, named for the revision that it has: `crawl.db.0001`.

    Args:
        store: a path, or `sqlite:///path`.

    Returns:
        The revisions that were applied; none when it was up to date.

    Raises:
        StoreMissing, SchemaTooNew, NotAStore, StoreEmpty, StoreUnreachable: nothing was touched.
    """
    path = path_of(store)
    identify(path)
    known = revisions()

    def bring_up(connection: Connection) -> list[str]:
        found = current(connection)
        if found == HEAD:
            return []
        if found is None or found not in known:
            require_head(connection, path)
        _keep_copy(path, path.with_name(f"{path.name}.{found}"))
        return upgrade(connection, HEAD)

    with contextlib.closing(Database(path, upgrading=True)) as database:
        return database.write(bring_up)


def _keep_copy(path: Path, copy: Path) -> None:
    """A whole copy of a store under a temporary name first, so that a kill leaves none or a whole one."""
    draft = copy.with_name(f".{copy.name}.new")
    remove(draft)
    with (
        translated(path),
        contextlib.closing(_raw(path)) as source,
        contextlib.closing(_raw(draft)) as target,
    ):
        source.backup(target)
    draft.replace(copy)
    sync_folder(copy.parent)


def _script() -> Any:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", "pagesift_store.migrations:")
    return ScriptDirectory.from_config(config)
