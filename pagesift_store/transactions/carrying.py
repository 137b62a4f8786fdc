"""A store as lines of JSON, and lines as a store: the way to another engine, and into a text editor.

The form knows nothing of SQLite: a header, then every row as an object, then how many there were and their digest.
"""

from __future__ import annotations

import json
import secrets
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, Boolean, Float, Integer, LargeBinary, Table, insert, select
from sqlalchemy.exc import IntegrityError

from pagesift_store.errors import InvalidExport, StoreDamaged
from pagesift_store.reports import Fault
from pagesift_store.storage import schema, tables
from pagesift_store.storage.statements import checks as checks_sql
from pagesift_store.transactions import checking, moves
from pagesift_store.transactions.work import Work

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from sqlalchemy import Column, Connection

FORMAT = "pagesift-store"
VERSION = 1
"""Of the form; a later one says how older lines are read."""

CARRIED = (*tables.LASTING, tables.upkeep)
"""All tables but the owners of leases; what is referred to comes first."""

_DROPPED = {"link": {"owner_id", "lease_expires"}}
_TABLES = {table.name: table for table in CARRIED}
_COLUMNS = {
    table.name: {c.name: c for c in table.c if c.name not in _DROPPED.get(table.name, ())}
    for table in CARRIED
}
_BATCH = 1_000
_LEASED_UNTIL = 0.0
"""A lease that came along has run out already."""


def lines(connection: Connection) -> Iterator[str]:
    """A store's rows, one JSON object each, in a fixed order; leases are left out."""
    digest, count = sha256(), 0
    yield _dumps({"format": FORMAT, "version": VERSION, "schema": schema.HEAD})
    for table in CARRIED:
        columns = _COLUMNS[table.name]
        statement = select(*columns.values()).order_by(*table.primary_key.columns)
        for row in connection.execute(statement.execution_options(yield_per=_BATCH)).mappings():
            line = _dumps({"table": table.name} | {name: _plain(value) for name, value in row.items()})
            digest.update(line.encode())
            count += 1
            yield line
    yield _dumps({"rows": count, "sha256": digest.hexdigest()})


def _plain(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes) else value


def _dumps(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def load(connection: Connection, given: Iterable[str | bytes], now: float) -> int:
    """Fill an empty store from lines; leased links are queued again, as after a release.

    Returns:
        Rows.

    Raises:
        InvalidExport: it is no export, or another than it was; the transaction must not be committed.
    """
    connection.exec_driver_sql("PRAGMA defer_foreign_keys=ON")  # links refer to each other in both directions
    try:
        count = _insert(connection, given)
        work = Work(connection, checking.believed(connection, "the export"), now)
        work.crawl.store_id = secrets.token_hex(8)
        connection.execute(tables.crawl.update().values(store_id=work.crawl.store_id))
        schema.follow_bound(connection, bounded=work.settings.max_queue is not None)
        moves.give_back(work, work.rows(checks_sql.unowned()))
        _require_sound(work)
        work.save()
    except StoreDamaged as error:
        raise InvalidExport(f"the lines make no sound store: {error}") from error
    return count


def _require_sound(work: Work) -> None:
    checked = checking.check(work, all_keys=True)
    wrong = [finding for finding in checked.findings if finding.fault is not Fault.REFUSED]
    if wrong:
        first = f"{wrong[0].where}: {wrong[0].message}"
        raise InvalidExport(
            f"the lines make no sound store: {first}" + (", and more" if len(wrong) > 1 else "")
        )


def _insert(connection: Connection, given: Iterable[str | bytes]) -> int:
    digest, count, last = sha256(), 0, None
    batch: list[dict[str, Any]] = []
    table: Table | None = None
    for number, line in enumerate(given, 1):
        record = _parsed(line, number)
        if number == 1:
            _check_header(record)
            continue
        if last is not None:
            raise InvalidExport(f"line {number}: there is nothing after the last line of an export")
        if "sha256" in record:
            last = record
            continue
        row_table, row = _row(record, number)
        if row_table is not table or len(batch) == _BATCH:
            _write(connection, table, batch, number)
            table, batch = row_table, []
        batch.append(row)
        count += 1
        digest.update(_bytes(line))
    _write(connection, table, batch, count)
    if last is None:
        raise InvalidExport(
            f"the last line is missing: {count} rows came, and nothing says that they are all"
        )
    if (last.get("rows"), last.get("sha256")) != (count, digest.hexdigest()):
        raise InvalidExport(
            f"{count} rows came; they are not those that were written ({last.get('rows')!r} rows)"
        )
    return count


def _bytes(line: str | bytes) -> bytes:
    data = line.encode("utf-8", "surrogatepass") if isinstance(line, str) else line
    return data.rstrip(b"\r\n")


def _write(connection: Connection, table: Table | None, rows: list[dict[str, Any]], number: int) -> None:
    if table is None or not rows:
        return
    try:
        connection.execute(insert(table), rows)
    except IntegrityError as error:
        raise InvalidExport(f"before line {number}: a row of {table.name} cannot be: {error.orig}") from error


def _parsed(line: str | bytes, number: int) -> dict[str, Any]:
    try:
        record = json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise InvalidExport(f"line {number} is not JSON: {error}") from error
    if not isinstance(record, dict):
        raise InvalidExport(f"line {number} is not an object")
    return record


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _check_header(record: Mapping[str, Any]) -> None:
    if record.get("format") != FORMAT:
        raise InvalidExport(
            f"line 1 is not the header of an export: it must say {_dumps({'format': FORMAT})}"
        )
    if record.get("version") != VERSION:
        raise InvalidExport(
            f"the export has version {record.get('version')!r}, this release reads {VERSION}; update pagesift-store"
        )
    if record.get("schema") != schema.HEAD:
        raise InvalidExport(
            f"the export is of schema {record.get('schema')!r}, this release works with {schema.HEAD}; import it with "
            "the release that wrote it, and migrate that store"
        )


def _row(record: dict[str, Any], number: int) -> tuple[Table, dict[str, Any]]:
    name = record.pop("table", None)
    table = _TABLES.get(name) if isinstance(name, str) else None
    if table is None:
        raise InvalidExport(f"line {number}: there is no table {name!r}")
    columns = _COLUMNS[table.name]
    if record.keys() != columns.keys():
        odd = sorted(record.keys() ^ columns.keys())
        raise InvalidExport(f"line {number}: columns of {name} that are missing or unknown: {', '.join(odd)}")
    row = {key: _value(columns[key], value, number) for key, value in record.items()}
    if table is tables.link:
        row |= {"owner_id": None, "lease_expires": _LEASED_UNTIL if row["state"] == "leased" else None}
    return table, row


def _value(column: Column[Any], value: Any, number: int) -> Any:
    """A value in the type of its column."""
    if value is None:
        if column.nullable:
            return None
        raise InvalidExport(f"line {number}: {column} is null")
    kind = column.type
    good: Any = None
    if isinstance(kind, Boolean):
        good = value if isinstance(value, bool) else None
    elif isinstance(kind, BigInteger | Integer):
        good = value if _is_whole(value) else None
    elif isinstance(kind, Float):
        good = float(value) if _is_number(value) else None
    elif isinstance(kind, LargeBinary):
        good = _unhexed(value, kind.length)
    elif isinstance(value, str) and _encodable(value):
        good = value
    if good is None:
        raise InvalidExport(f"line {number}: {column} cannot be {str(value)[:60]!r}")
    return good


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= 1.7e308


def _unhexed(value: Any, length: int | None) -> bytes | None:
    try:
        data = bytes.fromhex(value)
    except (TypeError, ValueError):
        return None
    return data if len(data) == length else None


def _encodable(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
