"""Connections: all that is particular to SQLite, and the one place where a transaction begins and ends.

Writers begin with the write lock (`BEGIN IMMEDIATE`), because a transaction that reads first and then writes
fails at once when another has written meanwhile, whatever the busy timeout. Readers take no lock.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from pagesift_store.errors import (
    NotAStore,
    StoreDamaged,
    StoreEmpty,
    StoreError,
    StoreMissing,
    StoreReplaced,
    StoreUnreachable,
)
from pagesift_store.storage.filesystem import require_shared_memory
from pagesift_store.storage.translation import translated
from pagesift_store.storage.turns import (
    BUSY_TIMEOUT,
    Turn,
    begin_writing,
    identity,
    is_writing,
    nested,
    patience_with,
    require_no_own,
    wait_by_steps,
)
from pagesift_store.storage.writeout import WriteOut

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy import ExceptionContext

APPLICATION_ID = 0x50534654
"""In the header of every store ("PSFT"): tells ours from other programs' databases."""

WAL_PAGES = 16_000
"""Checkpoint after so many pages of log (64 MiB): at SQLite's 1,000 each page is written again and again."""

CACHE_KIB = 65_536
"""Page cache of the writing connection."""

Result = TypeVar("Result")


def path_of(store: str | os.PathLike[str]) -> Path:
    """The absolute path of a store given as a path or as a `sqlite:///` URL: the process may change its folder later.

    Raises:
        StoreUnreachable: a URL of another engine, or a text that no file can be named by.
    """
    text = os.fsdecode(store)
    if "://" in text:
        scheme, _, rest = text.partition("://")
        if scheme.partition("+")[0] != "sqlite" or not rest.startswith("/") or len(rest) < 2:
            raise StoreUnreachable(f"cannot open {text!r}: give a path, or sqlite:///path")
        text = rest[1:]
    try:
        if b"\x00" in os.fsencode(text):
            raise StoreUnreachable(f"cannot open {text!r}: no path holds a NUL")
    except UnicodeEncodeError as error:
        raise StoreUnreachable(f"cannot open {text!r}: no file can have this name") from error
    return Path(text).absolute()


def identify(path: Path, *, shared: bool = True) -> None:
    """Refuse what cannot be a store, touching nothing.

    The mark is read through SQLite: to open and close the file by ourselves would drop every lock that this process
    holds on it, whoever took it (https://www.sqlite.org/howtocorrupt.html, 2.2).

    Args:
        path: the file.
        shared: it is to be used, so that its processes must share memory; a backup that is read needs none.

    Raises:
        StoreMissing: there is no file.
        StoreUnreachable: a directory, or a file that may not be read.
        StoreEmpty: a file of zero bytes.
        NotAStore: a text file, or another program's SQLite database.
    """
    if path.is_dir():
        raise StoreUnreachable(f"{path} is a directory; name a file in it")
    try:
        size = path.stat().st_size
    except FileNotFoundError as error:
        raise StoreMissing(f"there is no store at {path}; give a query to create one") from error
    except OSError as error:
        raise StoreUnreachable(f"cannot read {path}: {error.strerror}") from error
    if size == 0:
        raise StoreEmpty(f"{path} is empty; remove it to create a store there, or restore a backup")
    if _application_id(path) != APPLICATION_ID:
        raise NotAStore(f"{path} is a SQLite database of another program; name another file")
    if shared:
        require_shared_memory(path)


def address(path: Path, options: str) -> str:
    """The address of a file for SQLite; nothing in its name has a meaning."""
    return f"file:{quote(str(path.absolute()))}?{options}"


def _application_id(path: Path) -> int:
    try:
        try:
            # Immutable: no lock, no log, no file made beside it. The mark was there before the store had its name.
            return _mark(path, "mode=ro&immutable=1")
        except sqlite3.DatabaseError:
            # While the log is copied into the file, and after a power cut or a kill in the middle of that, its pages
            # are whole only together with the log.
            return _mark(path, reading_mode(path))
    except sqlite3.OperationalError as error:
        raise StoreUnreachable(f"cannot read {path}: {error}; check its rights") from error
    except sqlite3.DatabaseError as error:
        raise _unreadable(path, error) from error


def _mark(path: Path, mode: str) -> int:
    with contextlib.closing(sqlite3.connect(address(path, mode), uri=True)) as connection:
        mark: int = connection.execute("PRAGMA application_id").fetchone()[0]
        return mark


def _unreadable(path: Path, error: sqlite3.DatabaseError) -> StoreError:
    if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_CORRUPT:
        return StoreDamaged(f"{path} is damaged: {error}; restore a backup")
    return NotAStore(f"{path} is not a SQLite database, so it is no store; name another file")


class Database:
    """One store's connections: one that writes, made on demand, and readers made for each question.

    Safe to use from several threads: writers of one object wait for each other. After a fork the child opens
    connections of its own and leaves the inherited ones alone, because closing them would drop the parent's locks.

    Args:
        path: the file; it must be there.
        durability: `full` or `normal`.
        timeout: seconds to wait for another's write lock. None: as `patience_with` says.
        read_only: for questions alone: nothing is ever written, in a folder without write permission either.
        upgrading: for a revision that may rebuild tables.

    Attributes:
        path: the file.
        has_committed: whether the last write transaction was committed, even if it then raised: an interrupt that comes
            while SQLite writes is raised when all is written.
    """

    def __init__(
        self,
        path: Path,
        *,
        durability: str = "full",
        timeout: float | None = None,
        read_only: bool = False,
        upgrading: bool = False,
    ) -> None:
        self.path = path
        self.has_committed = False
        self.durability = durability
        self._timeout = timeout
        self._read_only = read_only
        self._upgrading = upgrading
        self._file: tuple[int, int] | None = None
        self._lock = threading.RLock()
        self._writer: Connection | None = None
        self._writers = 0
        self._turn: Turn | None = None
        self._is_sound = True
        self._write_out = WriteOut(path)
        self._engine = self._new_engine()
        self._pid = os.getpid()

    def write(self, act: Callable[[Connection], Result]) -> Result:
        """Do something in a write transaction: committed when it is done, rolled back whole by any exception.

        A function: a block of `with` that is ours may be entered, and an interrupt come before it has begun.

        Raises:
            NestedCall: this thread is in one already, which goes on.
            StoreBusy, StoreFull, StoreReadOnly, StoreReplaced, StoreDamaged: nothing was written.
        """
        require_no_own(self.path)  # before the lock: another thread may have it, and wait for ours
        with self._lock:
            self.require_outermost()
            with translated(self.path):
                writer = self._sound_writer()
                driver = _driver(writer)
                if self._turn is not None:
                    self._turn.leave()  # an interrupt may have come before
                turn = self._turn = Turn(self._file, driver)
                self.has_committed = self._is_sound = False
                try:
                    turn.enter()
                    # The driver rolls back what is open at the end of its block: no interrupt can come between.
                    with driver:
                        begin_writing(driver, self._patience)
                        self._require_same_file()
                        result = act(writer)
                        self._commit(driver)
                    self._is_sound = True
                except Exception:
                    self._is_sound = True
                    raise
                finally:
                    turn.leave()
                return result

    def _commit(self, driver: sqlite3.Connection) -> None:
        self.has_committed = True  # not behind the statement: that is where an interrupt during it is raised
        try:
            driver.execute("COMMIT")
        except sqlite3.Error:
            self.has_committed = False
            raise
        if self.durability != "full":  # else it is on disk already
            self._write_out.committed()

    def _sound_writer(self) -> Connection:
        """The connection that writes; a new one after an interrupt.

        A statement that an interrupt left open would let nothing be committed from now on.
        """
        writer = self._writer
        if writer is not None and (not self._is_sound or writer.invalidated or is_writing(_driver(writer))):
            self._drop_writer()
        if self._writer is None:
            self._writer = self._new_writer()
        return self._writer

    def _new_writer(self) -> Connection:
        """A connection that is ready to write; an interrupt on the way leaves the next call to make another one."""
        writer = self._engine.connect().execution_options(pagesift_writes=True)
        try:
            writer.begin()
            wait_by_steps(_driver(writer), self._patience())
            self._writers += 1
            self._file = identity(self.path)
        except BaseException:
            writer.close()
            raise
        return writer

    def _patience(self) -> float:
        return patience_with(self.path) if self._timeout is None else self._timeout

    def require_outermost(self) -> None:
        """Refuse what would end the transaction that this thread is in; other threads wait until it is over.

        Raises:
            NestedCall: there is one.
        """
        with self._lock:
            self._notice_fork()
            if self._turn is not None and self._turn.goes_on():
                raise nested(self.path)

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """A read transaction: one moment of the store, on a connection of its own."""
        with self._lock:
            self._notice_fork()
            engine = self._engine
        with translated(self.path), engine.connect() as connection, connection.begin():
            yield connection

    def data_version(self, connection: Connection) -> tuple[int, int]:
        """Changes whenever another connection has committed; caches of what is stored compare it.

        SQLite's number means something within one connection only, so it is told which of our writers gave it.
        """
        version: int = _driver(connection).execute("PRAGMA data_version").fetchone()[0]
        return self._writers, version

    def free_bytes(self, connection: Connection) -> int:
        """What the file holds in pages without content."""
        pages: int = connection.exec_driver_sql("PRAGMA freelist_count").scalar_one()
        return pages * int(connection.exec_driver_sql("PRAGMA page_size").scalar_one())

    def set_durability(self, durability: str) -> None:
        """Use `full` or `normal` from the next transaction on."""
        with self._lock:
            if durability != self.durability:
                self.durability = durability
                self.close()

    def close(self) -> None:
        """Close the connections; the last one to close a store folds the log into the file."""
        with self._lock:
            self._notice_fork()
            self._drop_writer()
            self._engine.dispose()

    def _drop_writer(self) -> None:
        writer, self._writer = self._writer, None  # first: an interrupt must not leave a closed one in use
        if writer is not None:
            with contextlib.suppress(DBAPIError):
                writer.close()

    def _notice_fork(self) -> None:
        if self._pid != os.getpid():
            # SQLite's locks belong to the process: an inherited handle must be neither used nor closed.
            _INHERITED.append((self._engine, self._writer))
            self._engine, self._writer, self._pid = self._new_engine(), None, os.getpid()
            self._turn = None

    def _require_same_file(self) -> None:
        """SQLite would go on writing to a file that has lost its name, and all of it would be gone in the end."""
        if identity(self.path) != self._file:
            raise StoreReplaced(
                f"{self.path} was deleted, moved or exchanged while it was open; nothing was written, open it again"
            )

    def _new_engine(self) -> Engine:
        engine = create_engine("sqlite://", poolclass=NullPool, creator=self._open)
        event.listen(engine, "connect", self._configure)
        event.listen(engine, "begin", _begin)
        event.listen(engine, "handle_error", _keep)
        return engine

    def _open(self) -> sqlite3.Connection:
        mode = reading_mode(self.path) if self._read_only else "mode=rw"  # one that has gone is not made anew
        return sqlite3.connect(
            address(self.path, mode),
            uri=True,
            timeout=BUSY_TIMEOUT if self._timeout is None else self._timeout,
            check_same_thread=False,
        )

    def _configure(self, connection: sqlite3.Connection, _record: Any) -> None:
        connection.isolation_level = None  # transactions begin where _begin says, DDL included
        if self._upgrading:
            # Tables are rebuilt under another name: with foreign keys on, dropping a parent empties its children, and
            # without the old way of renaming, views stand in the way. Neither can be switched inside a transaction.
            connection.execute("PRAGMA legacy_alter_table=ON")
        # Temporary files: what SQLite sorts, and what pages held before a statement that may fail half-way, grows with
        # the store. Little of either stays in memory all the same.
        for pragma in (
            f"foreign_keys={'OFF' if self._upgrading else 'ON'}",
            f"synchronous={'FULL' if self.durability == 'full' else 'NORMAL'}",
            f"cache_size=-{CACHE_KIB}",
            "temp_store=FILE",
            f"wal_autocheckpoint={WAL_PAGES}",
            f"journal_size_limit={WAL_PAGES * 4096}",
        ):
            try:
                connection.execute(f"PRAGMA {pragma}")
            except (
                UnicodeDecodeError
            ) as error:  # the driver reads SQLite's message, which quotes what is in the file
                raise StoreDamaged(
                    f"{self.path} is damaged: its schema cannot be read; restore a backup"
                ) from error


def reading_mode(path: Path) -> str:
    """How SQLite may open a store for questions alone.

    In a folder that may be written, as ever: the files that SQLite needs beside a store are gone once it is closed.
    Else as it is, without log and locks, unless there is a log: then somebody is writing.
    """
    if os.access(path.parent, os.W_OK) and os.access(path, os.W_OK):
        return "mode=rw"
    return "mode=ro" if path.with_name(path.name + "-wal").exists() else "mode=ro&immutable=1"


_INHERITED: list[Any] = []
"""Handles that a fork left us: kept referenced, for being collected would close them."""


def _keep(context: ExceptionContext) -> None:
    # When interrupted, SQLAlchemy would close the connection, and with a statement open SQLite would keep its lock.
    context.is_disconnect = False


def _begin(connection: Connection) -> None:
    # The writer's begin and end with the driver, at a third of the cost, two a page. What SQLAlchemy takes for a
    # transaction of the writer lasts as long as the connection, so that it neither begins nor ends one in between.
    if not connection.get_execution_options().get("pagesift_writes", False):
        _driver(connection).execute("BEGIN")


def _driver(connection: Connection) -> sqlite3.Connection:
    driver: Any = connection.connection.dbapi_connection
    found: sqlite3.Connection = driver
    return found
