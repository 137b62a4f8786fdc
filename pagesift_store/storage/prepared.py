"""Statements compiled once and run by the driver itself: the hot path of a transaction.

SQLAlchemy builds and compiles them; what is spared is the work that it repeats at every execution (cache keys, context,
result metadata), which costs ten times what SQLite needs for a small statement. The same connection and the same
transaction are used, so both ways of running may be mixed.
"""

from __future__ import annotations

from collections import namedtuple
from functools import partial
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any

from sqlalchemy.dialects import sqlite
from sqlalchemy.dialects.sqlite.base import SQLiteCompiler

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from sqlalchemy import Connection, Executable

SIZES = (1, 4, 16, 32, 64, 128, 500)
"""Numbers of bound values that lists are filled up to, so that few statements serve every length."""

make_row: Callable[..., Any] = namedtuple  # mypy wants literal names, these are known at run time only


class _Compiler(SQLiteCompiler):
    """Writes constants into the text: bound, they would be put among the values of every execution anew.

    Raises:
        TypeError: one is a real that is no whole number: SQLite may read its text as its neighbour. It is to be bound.
    """

    def visit_bindparam(self, bindparam: Any, *args: Any, **options: Any) -> Any:
        constant = None if bindparam.required else bindparam.effective_value
        if isinstance(constant, float) and not constant.is_integer():
            raise TypeError(f"{constant!r} is a constant of a statement; make it a parameter")
        options["literal_binds"] = not bindparam.required
        return super().visit_bindparam(bindparam, *args, **options)  # type: ignore[no-untyped-call]


_DIALECT = sqlite.dialect(paramstyle="qmark")
_DIALECT.statement_compiler = _Compiler


class Prepared:
    """One statement as the driver takes it.

    Args:
        statement: built by `storage.statements`; without expanding parameters.

    Attributes:
        sql: its text.
        names: its parameters in their order.
        bound: puts the values of one execution, given by name, into that order.
        read_off: reads them from the attributes of an object, for statements with two parameters or more.
        row: makes a named tuple of a row.
    """

    __slots__ = ("bound", "names", "read_off", "row", "sql")

    def __init__(self, statement: Executable) -> None:
        compiled: Any = statement.compile(dialect=_DIALECT)  # type: ignore[attr-defined]
        self.sql: str = str(compiled)
        self.names: tuple[str, ...] = tuple(compiled.positiontup or ())
        self.bound: Callable[[Mapping[str, Any]], Sequence[Any]] = _binder(self.names)
        self.read_off: Any = attrgetter(*self.names) if len(self.names) > 1 else None
        columns: list[Any] = [entry.keyname for entry in compiled._result_columns or ()]
        # As `_make` does, less the count of the values, which are right: without a line of Python per row.
        self.row: Callable[[tuple[Any, ...]], Any] = partial(tuple.__new__, make_row("Row", columns))


def _binder(names: tuple[str, ...]) -> Callable[[Mapping[str, Any]], Sequence[Any]]:
    """See `Prepared.bound`; for two names or more it is a function of the interpreter's own."""
    if len(names) > 1:
        return itemgetter(*names)
    # Of one name that would give the value itself.
    return lambda values: tuple(values[name] for name in names)


class _ByStatement(dict[Any, Prepared]):
    """Prepared forms by statement, made at their first use.

    The functions that build statements remember them, so this grows with the code only.
    """

    def __missing__(self, statement: Any) -> Prepared:
        made = self[statement] = Prepared(statement)
        return made


_prepared = _ByStatement()


def prepared(statement: Executable) -> Prepared:
    """The prepared form of a statement."""
    return _prepared[statement]


def listed(
    statement_of: Callable[[int], Any], names: Sequence[str], values: Sequence[Any]
) -> tuple[Any, dict[str, Any]]:
    """A statement about a list, and its parameters.

    Args:
        statement_of: gives the statement for a number of values.
        names: its parameters, the first of which are used.
        values: 1 to 500 values; the last one is repeated to fill the statement up, which changes nothing.
    """
    size = next(size for size in SIZES if size >= len(values))
    padded = [*values, *[values[-1]] * (size - len(values))]
    return statement_of(size), dict(zip(names, padded, strict=False))


class Runner:
    """Runs prepared statements inside an open transaction.

    Args:
        connection: of SQLAlchemy, inside a transaction.
    """

    __slots__ = ("_cursor", "_driver")

    def __init__(self, connection: Connection) -> None:
        driver: Any = connection.connection.dbapi_connection
        self._driver: sqlite3.Connection = driver
        self._cursor = self._driver.cursor()

    def rows(self, statement: Executable, **parameters: Any) -> list[Any]:
        """All rows of a question, as named tuples."""
        ready = _prepared[statement]
        return list(map(ready.row, self._cursor.execute(ready.sql, ready.bound(parameters))))

    def first(self, statement: Executable, **parameters: Any) -> Any:
        """The first row of a question as a named tuple; None when there is none."""
        ready = _prepared[statement]
        found = self._cursor.execute(ready.sql, ready.bound(parameters)).fetchall()
        return ready.row(found[0]) if found else None

    def run(self, statement: Executable, **parameters: Any) -> int:
        """Run a change; returns the rows that it touched."""
        ready = _prepared[statement]
        touched: int = self._cursor.execute(ready.sql, ready.bound(parameters)).rowcount
        return touched

    def insert(self, statement: Executable, **parameters: Any) -> int:
        """Insert one row; returns its id."""
        ready = _prepared[statement]
        made = self._cursor.execute(ready.sql, ready.bound(parameters)).lastrowid
        return made if made is not None else 0

    def rows_in(
        self, statement_of: Callable[[int], Executable], names: Sequence[str], values: Sequence[Any]
    ) -> list[Any]:
        """All rows of a question about a list of 1 to 500 values; see `listed`."""
        statement, parameters = listed(statement_of, names, values)
        return self.rows(statement, **parameters)

    def run_many(self, statement: Executable, parameters: Sequence[Mapping[str, Any]]) -> None:
        """Run a change for each set of parameters; none at all for none."""
        if parameters:
            ready = _prepared[statement]
            self._cursor.executemany(ready.sql, map(ready.bound, parameters))

    def run_all(self, statement: Executable, objects: Sequence[object]) -> None:
        """Run a change for each object, whose attributes are its parameters, two or more; none at all for none."""
        if objects:
            ready = _prepared[statement]
            self._cursor.executemany(ready.sql, map(ready.read_off, objects))

    def run_rows(
        self, statement: Executable, names: tuple[str, ...], rows: Collection[tuple[Any, ...]]
    ) -> None:
        """Run a change for each row, whose values stand in the order of `names`, two or more; none at all for none.

        It is cheapest when that is the order of the statement: then the driver takes the rows as they are.
        """
        if rows:
            ready = _prepared[statement]
            in_order = itemgetter(*map(names.index, ready.names))
            self._cursor.executemany(ready.sql, rows if names == ready.names else map(in_order, rows))

    def stream(self, statement: Executable, **parameters: Any) -> Stream:
        """Rows that are read as far as somebody looks; to be closed before the transaction ends."""
        ready = _prepared[statement]
        return Stream(self._driver.cursor().execute(ready.sql, ready.bound(parameters)), ready.row)


class Stream:
    """Rows of a question, read one by one."""

    __slots__ = ("_cursor", "_row")

    def __init__(self, cursor: sqlite3.Cursor, row: Any) -> None:
        self._cursor = cursor
        self._row = row

    def __iter__(self) -> Iterator[Any]:
        return map(self._row, self._cursor)

    def close(self) -> None:
        """Stop reading: an unfinished read holds its snapshot of the store."""
        self._cursor.close()
