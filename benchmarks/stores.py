"""Stores to measure on: built once below `.bench/`, then copied for each measurement.

A store's file is named by what is in it and by the schema, so a new schema makes new ones. `make clean`, or removing
the folder, makes all of them anew.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import sys
import time
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import workload
from benchmarks.floor import Floor
from benchmarks.harness import BENCH, named
from benchmarks.multiply import multiply
from pagesift_store import FoundLink, Frontier, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

CHUNK = 5_000
"""Links added in one transaction."""

WARM_PAGES = 300
"""Pages that a crawl store has behind it: by then the first, large changes of the weights are over."""

SETTINGS = Settings(scope="any", default_delay=0.0, max_in_flight=1_000_000, durability="normal")
"""No host makes a measurement wait. Durability is set on the copy."""


def crawl_store(queued: int, *, hitting: bool = False) -> Path:
    """A crawl after `WARM_PAGES` pages, with `queued` links added before the first of them.

    Args:
        queued: links added; beyond a million a number of whole millions, most of which are copies.
        hitting: every one of them holds a term of the query, and nothing was fetched.
    """
    if queued > workload.BASE:
        base = crawl_store(workload.BASE, hitting=hitting)
        return _multiplied(base, queued, workload.BASE, step=workload.COPY, families=workload.FAMILIES)

    def fill(frontier: Frontier) -> None:
        _add(frontier, (workload.found_link(number, hitting=hitting) for number in range(queued)))
        if not hitting:
            for page in range(WARM_PAGES):
                step(frontier, page, queued)

    return _built(f"{'hitting' if hitting else 'crawl'}-{named(queued)}", fill)


def step(frontier: Frontier, page: int, seeds: int) -> None:
    """Fetch and observe the best link as page number `page`."""
    (lease,) = frontier.lease(1)
    frontier.observe(lease, workload.page(workload.number_of(lease.url), workload.links(page, seeds)))


def spread_store(queued: int, *, hosts: int = 200, lanes: int = 1_000) -> Path:
    """`queued` links with scores of their own, spread evenly over hosts and lanes."""
    if queued > workload.SPREAD_BASE:
        base = spread_store(workload.SPREAD_BASE, hosts=hosts, lanes=lanes)
        return _multiplied(base, queued, workload.SPREAD_BASE, step=workload.SPREAD_COPY, families=1)

    def fill(frontier: Frontier) -> None:
        _add(
            frontier,
            (
                FoundLink(workload.spread_url(number, hosts, lanes), score=workload.given_score(number))
                for number in range(queued)
            ),
        )

    return _built(f"spread-{named(queued)}-{named(lanes)}-lanes", fill)


def floor_store(queued: int) -> Path:
    """A floor with the URLs that a crawl store knows, and as many finished pages."""
    known = queued + workload.NEW * WARM_PAGES

    def fill(path: Path) -> None:
        floor = Floor(path)
        for start in range(0, known, CHUNK):
            numbers = (workload.number_at(place, queued) for place in range(start, min(known, start + CHUNK)))
            floor.add((workload.url(number), workload.given_score(number)) for number in numbers)
        finish(floor)

    def take_over(path: Path) -> None:
        floor = Floor(path)
        floor.take_over(crawl_store(queued))
        finish(floor)

    def finish(floor: Floor) -> None:
        for _ in range(WARM_PAGES):
            taken = floor.lease()
            if taken is not None:
                floor.complete(taken[0], ())
        floor.close()

    return _made(f"floor-{named(queued)}", fill if queued <= workload.BASE else take_over)


def _multiplied(base: Path, queued: int, seeds: int, *, step: int, families: int) -> Path:
    def fill(path: Path) -> None:
        shutil.copyfile(base, path)
        multiply(path, queued // seeds, step=step, families=families)

    return _made(base.stem.rpartition("-")[0].replace(named(seeds), named(queued), 1), fill)


def derived(name: str, base: Path, change: Callable[[Path], None]) -> Path:
    """A kept copy of a kept store with one change made to it."""
    target = base.with_name(f"{name}-{base.name}")
    if not target.exists():
        draft = copied(base, target.with_suffix(f".{os.getpid()}.draft"))
        change(draft)
        draft.rename(target)
    return target


def copied(store: Path, target: Path) -> Path:
    """A copy of a closed store, in the place of what was there before."""
    removed(target)
    shutil.copyfile(store, target)
    return target


def removed(store: Path) -> None:
    """Remove a store and its log."""
    for suffix in ("", "-wal", "-shm"):
        store.with_name(store.name + suffix).unlink(missing_ok=True)


@contextlib.contextmanager
def scratch(name: str) -> Iterator[Path]:
    """A path for a store that is removed afterwards."""
    BENCH.mkdir(exist_ok=True)
    path = BENCH / f"{name}-{os.getpid()}.tmp"
    removed(path)
    try:
        yield path
    finally:
        removed(path)


@contextlib.contextmanager
def sql(store: Path) -> Iterator[sqlite3.Connection]:
    """The store as plain SQLite, for what no crawl does; one transaction."""
    connection = sqlite3.connect(store)
    try:
        with connection:
            yield connection
    finally:
        connection.close()


def _add(frontier: Frontier, links: Iterable[FoundLink]) -> None:
    chunk: list[FoundLink] = []
    for link in links:
        chunk.append(link)
        if len(chunk) == CHUNK:
            frontier.add(chunk, depth=1)
            chunk = []
    frontier.add(chunk, depth=1)


def _built(name: str, fill: Callable[[Frontier], None]) -> Path:
    def crawl(path: Path) -> None:
        with Frontier.open(path, query=workload.QUERY, settings=SETTINGS) as frontier:
            fill(frontier)

    return _made(name, crawl)


def _made(name: str, fill: Callable[[Path], None]) -> Path:
    """A file that is kept: made by `fill` when it is not there."""
    path = BENCH / f"{name}-{_schema()}.store"
    if path.exists():
        return path
    for stale in BENCH.glob(f"*{name}-????????.store"):  # of another schema
        removed(stale)
    print(f"building {path.name} …", end="", file=sys.stderr, flush=True)
    start, draft = time.perf_counter(), path.with_suffix(f".{os.getpid()}.draft")
    removed(draft)
    fill(draft)
    draft.rename(path)
    print(f" {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    return path


@cache
def _schema() -> str:
    """Eight characters that change with the tables, and with the web that the stores are made of."""
    with scratch("schema") as path:
        Frontier.open(path, query=workload.QUERY, settings=SETTINGS).close()
        with sql(path) as connection:
            made = "".join(
                str(row[0]) for row in connection.execute("SELECT sql FROM sqlite_master ORDER BY 1")
            )
    web = Path(workload.__file__).read_text()
    return blake2b((made + web).encode(), digest_size=4).hexdigest()
