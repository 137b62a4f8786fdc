"""Answers as people and machines read them: `table`, `json`, `jsonl`, `csv`.

The machine formats hold every field and every character. The table is for eyes: it picks columns, rounds numbers,
writes times as dates, shortens long text in the middle and lets nothing through that a terminal would obey.
"""

from __future__ import annotations

import csv
import io
import shutil
import sys
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from .text import encodable, inert, one_line, shorten, takes_utf8
from .wire import dumps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    Row = Mapping[str, Any]

__all__ = ["FORMATS", "show_record", "show_rows"]

FORMATS = ("table", "json", "jsonl", "csv")

_TIMES = frozenset(
    {
        "at",
        "blocked_until",
        "created_at",
        "due",
        "due_at",
        "expires",
        "fetched_at",
        "found_at",
        "lease_expires",
        "next_due",
        "ready_at",
        "robots_until",
    }
)
_FOREVER = 1e299
"""Times from here on mean for ever."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""First characters by which a spreadsheet takes a text for a formula."""

_NARROWEST = 12
_WIDTH = 120
"""Columns where the output is not a terminal and `COLUMNS` says nothing."""


def show_rows(
    ask: Callable[[int | None], Iterable[Row]],
    columns: Sequence[str],
    form: str,
    most: int | None,
    usual: int,
) -> None:
    """Print a listing.

    Args:
        ask: the rows, so many at most; None: all.
        columns: those of the table, in order; the machine formats have all.
        form: one of `FORMATS`.
        most: rows at most; 0: all. None: all for machines, `usual` in a table.
        usual: rows of a table when nothing else is asked for.
    """
    if form == "table":
        limit = usual if most is None else most
        found = list(ask(limit + 1 if limit else None))
        shown = found[:limit] if limit else found
        _draw(shown, columns)
        if len(shown) < len(found):
            click.echo(f"the first {limit}; there are more: --limit 0 shows all")
        return
    # One by one: a listing may be longer than the memory.
    rows = iter(ask(most or None))
    if form == "json":
        _array(rows)
    elif form == "jsonl":
        for row in rows:
            click.echo(dumps(dict(row)))
    else:
        first = next(rows, None)
        _csv(list(columns if first is None else first))
        for row in () if first is None else chain([first], rows):
            _csv(row.values())


def _array(rows: Iterator[Row]) -> None:
    """Rows as one array, each on a line of its own; what comes before a row closes the one before it."""
    before = "[\n  "
    for row in rows:
        click.echo(f"{before}{dumps(dict(row))}", nl=False)
        before = ",\n  "
    click.echo("[\n]" if before[0] == "[" else "\n]")


def show_record(record: Row, form: str) -> None:
    """Print one object: as JSON, as rows of name and value, or as tables, one for each part of it."""
    if form == "json":
        click.echo(dumps(record, indent=2))
    elif form == "jsonl":
        click.echo(dumps(record))
    elif form == "csv":
        for pair in [("name", "value"), *_flat(record)]:
            _csv(pair)
    else:
        _draw_record(record)


def _flat(value: Any, path: str = "") -> list[tuple[str, Any]]:
    """The leaves of a nested value by their dotted paths."""
    if isinstance(value, dict):
        entries = [(str(name), entry) for name, entry in value.items()]
    elif isinstance(value, list | tuple):
        entries = [(str(place), entry) for place, entry in enumerate(value)]
    else:
        return [(path, value)]
    return [leaf for name, entry in entries for leaf in _flat(entry, f"{path}.{name}" if path else name)]


# -- csv ---------------------------------------------------------------------------------------------------------


def _csv(values: Iterable[Any]) -> None:
    """One line."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow([_csv_value(value) for value in values])
    click.echo(encodable(buffer.getvalue()), nl=False)


def _csv_value(value: Any) -> Any:
    """A value as a spreadsheet may read it: text that looks like a formula gets an apostrophe before it."""
    if isinstance(value, str):
        return inert(f"'{value}" if value.startswith(_FORMULA) else value)
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    return dumps(value)


# -- tables ------------------------------------------------------------------------------------------------------


def _draw_record(record: Row) -> None:
    """Single values first, then each list of rows and each table of named rows under its name."""
    plain: list[Row] = []
    parts: list[tuple[str, list[Row]]] = []
    for name, value in record.items():
        if isinstance(value, list | tuple):
            parts.append((name, [row if isinstance(row, dict) else {name: row} for row in value]))
        elif isinstance(value, dict) and value and all(isinstance(entry, dict) for entry in value.values()):
            parts.append((name, [{"": key} | entry for key, entry in value.items()]))
        else:
            plain += [{"": path, "value": _cell(path, leaf)} for path, leaf in _flat(value, name)]
    _draw(plain, ("", "value"), header=False)
    for name, rows in parts:
        if rows:
            click.echo(f"\n{name}")
            _draw(rows, list(rows[0]))


def _draw(rows: Sequence[Row], columns: Sequence[str], *, header: bool = True) -> None:
    # Slow to import, and of use to eyes alone.
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    if not rows:
        click.echo("nothing")
        return
    width = max(shutil.get_terminal_size((_WIDTH, 24)).columns, 40)
    cells = [[encodable(_cell(name, row.get(name))) for name in columns] for row in rows]
    numeric = [all(isinstance(row.get(name), int | float | None) for row in rows) for name in columns]
    widths = _fitted([[name, *(row[at] for row in cells)] for at, name in enumerate(columns)], width)
    frame = box.SIMPLE_HEAD if takes_utf8() else box.ASCII
    table = Table(box=frame, pad_edge=False, show_edge=False, show_header=header)
    for name, right in zip(columns, numeric, strict=True):
        table.add_column(Text(name), justify="right" if right else "left", no_wrap=True)
    for cell_row in cells:
        short = (shorten(text, most) for text, most in zip(cell_row, widths, strict=True))
        table.add_row(*map(Text, short))  # Text, not str: rich reads no markup in it
    # Drawn beside standard output, whose encoding may lack what rich draws with.
    canvas = io.StringIO()
    Console(file=canvas, width=width, force_terminal=sys.stdout.isatty(), highlight=False).print(table)
    # Line by line: of one long text that a pipe takes in part, an unbuffered stream loses the rest in silence.
    for line in encodable(canvas.getvalue()).splitlines():
        click.echo(line.rstrip(), color=True)


def _fitted(columns: Sequence[Sequence[str]], width: int) -> list[int]:
    """How wide each column may be, the widest giving way first until all fit."""
    widths = [max(map(len, column)) for column in columns]
    spare = width - 3 * len(columns)
    while sum(widths) > spare and max(widths) > _NARROWEST:
        widths[widths.index(max(widths))] -= 1
    return widths


def _cell(name: str, value: Any) -> str:
    """A value as a table shows it."""
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return "yes" if value else ""
    if name.rpartition(".")[2] in _TIMES and isinstance(value, int | float):
        return _date(value)
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e6 else f"{value:.0f}"
    if isinstance(value, dict | list | tuple):
        return one_line(dumps(value))
    return one_line(str(value))


def _date(moment: float) -> str:
    """A time in UTC to the second; the end of time is `forever`, its beginning says nothing."""
    if moment >= _FOREVER:
        return "forever"
    try:
        return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M:%SZ}" if moment else ""
    except (OverflowError, ValueError, OSError):
        return f"{moment:g}"
