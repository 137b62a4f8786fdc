"""What crawler traps cost: fetches on sites of 200 real pages and one trap each, budget 500.

    python benchmarks/traps.py

The sites are those of the tests. A focused crawl, one without a query, and plain breadth-first that knows no more than
which URLs it has seen; each ends with the last real page, or with its budget. Cost: fetches that showed no real page,
or one seen before.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

import trap_runs
import trap_sites


def main() -> None:
    table = Table(
        title=f"{trap_sites.REAL_PAGES} real pages, {trap_runs.BUDGET} fetches", title_justify="left"
    )
    table.add_column("trap")
    for name in ("focused", "without a query", "breadth-first"):
        table.add_column(f"{name}: real", justify="right")
        table.add_column("cost", justify="right")
    for kind in (trap_sites.Site, *trap_sites.GALLERY):
        with tempfile.TemporaryDirectory() as folder:
            runs = [
                trap_runs.crawl(kind(), Path(folder) / "focused.db"),
                trap_runs.crawl(kind(), Path(folder) / "plain.db", query=""),
                trap_runs.breadth_first(kind()),
            ]
        table.add_row(kind.name, *(str(number) for run in runs for number in (run.real, run.cost)))
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
