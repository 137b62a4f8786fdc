"""What the statements of a page cost by themselves: recorded, and run again by the driver with nothing around them.

    python -m benchmarks.statements

A store crawls pages while its connection writes down every statement, its values, and how many rows were read. A copy
of the store as it was before then takes the same statements in the same transactions, in turns with the floor: that is
the rate of a store whose own work costs nothing, and the most that this one can reach with these tables. At the end
both files must hold the same.
"""

from __future__ import annotations

import sqlite3
import sys
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # "python benchmarks/statements.py" works, too

from benchmarks.floor import Floor, connected
from benchmarks.harness import Figure, Spent, number, parser, ratios, report, settle, sizes
from benchmarks.observe import floor_round, one_page
from benchmarks.stores import WARM_PAGES, copied, crawl_store, floor_store, scratch
from pagesift_store import Frontier, Inspector

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


@dataclass(slots=True)
class Statement:
    """One execution.

    Attributes:
        sql: its text.
        values: its parameters, or a list of them for a statement that is run for each.
        many: whether it is.
        read: rows that were read of it.
        all: whether the rest was read, too.
    """

    sql: str
    values: Any
    many: bool = False
    read: int = 0
    all: bool = False

    def run(self, connection: sqlite3.Connection) -> None:
        """Execute it and read as much as was read."""
        cursor = connection.cursor()
        if self.many:
            cursor.executemany(self.sql, self.values)
        else:
            cursor.execute(self.sql, self.values)
            if self.all:
                cursor.fetchall()
            elif self.read:
                list(islice(cursor, self.read))
        cursor.close()


class RecordingCursor(sqlite3.Cursor):
    """Writes down what it executes, among the statements of its connection."""

    _last: Statement

    def _record(self, sql: str, values: Any, *, many: bool = False) -> None:
        self._last = Statement(sql, values, many)
        recorded: Any = self.connection
        recorded.statements.append(self._last)

    def execute(self, sql: str, parameters: Any = (), /) -> RecordingCursor:
        self._record(sql, parameters)
        super().execute(sql, parameters)
        return self

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> RecordingCursor:
        values = list(parameters)
        self._record(sql, values, many=True)
        super().executemany(sql, values)
        return self

    def fetchall(self) -> list[Any]:
        self._last.all = True
        return super().fetchall()

    def fetchone(self) -> Any:
        row = super().fetchone()
        self._last.read += row is not None
        return row

    def __next__(self) -> Any:
        try:
            row = super().__next__()
        except StopIteration:
            self._last.all = True
            raise
        self._last.read += 1
        return row


class RecordingConnection(sqlite3.Connection):
    """A connection whose cursors record."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.statements: list[Statement] = []
        _connections.append(self)

    def cursor(self, factory: Any = RecordingCursor) -> Any:
        return super().cursor(factory)


_connections: list[RecordingConnection] = []


def recorded(store: Path, seeds: int, pages: int, durability: str) -> Iterator[list[Statement]]:
    """Crawl pages on a store; the statements of each."""
    with (
        patch.object(sqlite3, "connect", partial(sqlite3.connect, factory=RecordingConnection)),
        Frontier.open(store) as frontier,
    ):
        frontier.configure(durability=durability)
        frontier.status()
        for page in range(WARM_PAGES, WARM_PAGES + pages):
            for connection in _connections:
                connection.statements.clear()
            one_page(frontier, page, seeds, Spent())
            (statements,) = filter(None, (connection.statements for connection in _connections))
            yield list(statements)
        _connections.clear()


def measure(queued: int, pages: int, rounds: int, durability: str) -> Figure:
    """Pages a second of the statements alone, beside the floor."""
    base = crawl_store(queued)
    with (
        scratch("recorded") as path,
        scratch("repeated") as again,
        scratch("repeated-floor") as floor_path,
    ):
        recordings = list(recorded(copied(base, path), queued, pages * rounds, durability))
        with Frontier.open(copied(base, again)) as frontier:
            frontier.configure(durability=durability)
        connection = connected(again, durability)
        connection.execute("PRAGMA foreign_keys=ON")
        floor = Floor(copied(floor_store(queued), floor_path), durability)
        settle()
        spent, floors = [], []
        for first in range(0, pages * rounds, pages):
            floors.append(floor_round(floor, range(WARM_PAGES + first, WARM_PAGES + first + pages), queued))
            spent.append(Spent())
            for statements in recordings[first : first + pages]:
                with spent[-1].timed():
                    for statement in statements:
                        statement.run(connection)
        connection.close()
        floor.close()
        _require_same(path, again)
    each = sum(len(statements) for statements in recordings) / len(recordings)
    return figure(spent, floors, pages, each, f"… its statements alone, {durability}")


def _require_same(one: Path, other: Path) -> None:
    with Inspector.open(one) as first, Inspector.open(other) as second:
        for mine, theirs in zip(first.dump(), second.dump(), strict=True):
            if mine != theirs:
                raise SystemExit(f"the statements made {theirs}, the crawl {mine}")


def figure(
    spent: Sequence[Spent], floors: Sequence[Spent], pages: int, statements: float, name: str
) -> Figure:
    """One row."""
    rates, floor_rates = [pages / each.wall for each in spent], [pages / each.wall for each in floors]
    laps = sorted(lap for each in spent for lap in each.laps)
    return Figure(
        name=name,
        value=median(rates),
        unit="pages/s",
        floor=median(floor_rates),
        ratio=ratios(rates, floor_rates),
        cpu_ms=median(each.cpu / pages * 1e3 for each in spent),
        floor_cpu_ms=median(each.cpu / pages * 1e3 for each in floors),
        note=f"{number(statements)} a page, run by the driver with nothing around them; ms a page: p50 "
        f"{number(laps[len(laps) // 2] * 1e3)}",
    )


def main() -> None:
    """Measure and print."""
    options = parser("What the statements of a page cost by themselves, beside a hand-tuned floor.")
    options.add_argument("--queued", type=sizes, default=[100_000], help="links queued (100k)")
    options.add_argument("--pages", type=int, default=300, help="pages a round (300)")
    options.add_argument("--rounds", type=int, default=7, help="rounds, in turns (7)")
    options.add_argument("--durability", choices=("full", "normal"), help="one of them only")
    chosen = options.parse_args()
    report(
        [
            measure(queued, chosen.pages, chosen.rounds, durability)
            for queued in chosen.queued
            for durability in ((chosen.durability,) if chosen.durability else ("normal", "full"))
        ],
        chosen.json,
    )


if __name__ == "__main__":
    main()
