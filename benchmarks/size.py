"""Bytes a URL on disk, and memory of a process that crawls, by the size of the store.

    python -m benchmarks.size
    python -m benchmarks.size --sizes 10k,100k,1M

The bytes are those of the closed file of a crawl after its first pages, over the URLs that it knows; what takes most
of them is named. Memory is what Linux says is resident, at most, while some pages are leased and observed.
"""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # "python benchmarks/size.py" works, too

from benchmarks.harness import Figure, at_most, named, number, parser, report, sizes
from benchmarks.open import fresh
from benchmarks.stores import copied, crawl_store, floor_store, scratch, sql

ASKED_FROM = 1_000_000
"""Queued URLs from which on the bytes of one are asked for: what a file holds besides weighs little then."""


def on_disk(queued: int) -> Figure:
    """Bytes a URL of a store and of a floor that knows the same URLs."""
    base = crawl_store(queued)
    with sql(base) as connection:
        links, length = connection.execute("SELECT count(*), avg(length(url)) FROM link").fetchone()
        parts = largest(connection, links)
    least = floor_store(queued).stat().st_size / links
    value = base.stat().st_size / links
    return Figure(
        name=f"disk, {named(queued)} queued URLs of {length:.0f} characters",
        value=value,
        unit="bytes/URL",
        floor=least,
        ratio=value / least,
        note=parts,
        **(at_most(value, 300, "bytes") if queued >= ASKED_FROM else {}),
    )


def largest(connection: sqlite3.Connection, links: int) -> str:
    """The four tables or indexes with the most bytes; nothing where SQLite cannot tell."""
    try:
        rows = connection.execute(
            "SELECT name, sum(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC LIMIT 4"
        ).fetchall()
    except sqlite3.OperationalError:
        return ""
    return ", ".join(f"{name} {size / links:.0f}" for name, size in rows)


def in_memory(queued: int, pages: int) -> Figure:
    """Peak resident memory of a process that crawls some pages."""
    with scratch("size") as path:
        found = fresh("memory", copied(crawl_store(queued), path), str(queued), str(pages))
    return Figure(
        name=f"memory, {named(queued)} queued, {pages} pages crawled",
        value=found["peak"],
        unit="MiB",
        note=f"{number(found['imported'])} MiB after the imports; the page cache may take 64",
        **at_most(found["peak"], 200, "MiB"),
    )


def main() -> None:
    """Measure and print."""
    options = parser("Bytes a URL on disk, and memory.")
    options.add_argument("--sizes", type=sizes, default=[10_000, 100_000], help="links queued (10k,100k)")
    options.add_argument("--pages", type=int, default=200, help="pages crawled while memory is watched (200)")
    chosen = options.parse_args()
    found = [on_disk(queued) for queued in chosen.sizes]
    report(found + [in_memory(queued, chosen.pages) for queued in chosen.sizes], chosen.json)


if __name__ == "__main__":
    main()
