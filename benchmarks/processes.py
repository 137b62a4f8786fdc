"""Eight processes on one store against one: pages a second together, errors, pages observed twice.

    python -m benchmarks.processes

Every process leases and observes pages that were made before the clock starts; writers wait for each other, as SQLite
has one at a time. One and many take turns; the floor does the same. Rounds are long enough to show what lasts: the
first ten pages of a process take two to three times as long as later ones, because statements are compiled and caches
filled by them, and of rounds of fifty pages each that is a fifth.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # "python benchmarks/processes.py" works, too

from benchmarks import workload
from benchmarks.floor import Floor
from benchmarks.harness import Figure, at_least, named, number, parser, ratios, report, sizes
from benchmarks.stores import WARM_PAGES, copied, crawl_store, floor_store, scratch, sql
from pagesift_store import Frontier

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Crawl = tuple[Path, int, "Sequence[int]"]
"""A file, the URLs known before the first page, the numbers of the pages to crawl."""


class Done(NamedTuple):
    """What one process reports."""

    start: float
    end: float
    pages: int
    errors: list[str]


def crawl_store_pages(work: Crawl, ready: Any) -> Done:
    """Lease and observe pages on a store."""
    path, seeds, numbers = work
    made = [workload.page(page, workload.links(page, seeds)) for page in numbers]
    with Frontier.open(path) as frontier:
        ready.wait()
        start, done, errors = time.monotonic(), 0, list[str]()
        for page in made:
            try:
                (lease,) = frontier.lease(1)
                frontier.observe(lease, replace(page, url=lease.url))
                done += 1
            except Exception as error:  # counted and shown: none is expected
                errors.append(repr(error))
        return Done(start, time.monotonic(), done, errors)


def crawl_floor_pages(work: Crawl, ready: Any) -> Done:
    """The same on a floor."""
    path, seeds, numbers = work
    made = [
        [(workload.url(n), workload.given_score(n)) for n in workload.linked_numbers(page, seeds)]
        for page in numbers
    ]
    floor = Floor(path)
    ready.wait()
    start, done = time.monotonic(), 0
    for items in made:
        taken = floor.lease()
        if taken is not None:
            floor.complete(taken[0], items)
            done += 1
    end = time.monotonic()
    floor.close()
    return Done(start, end, done, [])


def _run(crawl: Callable[[Crawl, Any], Done], work: Crawl, ready: Any, results: Any) -> None:
    results.put(crawl(work, ready))


def together(
    crawl: Callable[[Crawl, Any], Done], path: Path, seeds: int, first: int, pages: int, n: int
) -> Done:
    """`n` processes crawl `pages` pages between them, from page number `first` on."""
    context = multiprocessing.get_context("spawn")
    ready, results = context.Barrier(n), context.SimpleQueue()
    workers = [
        context.Process(
            target=_run, args=(crawl, (path, seeds, range(first + i, first + pages, n)), ready, results)
        )
        for i in range(n)
    ]
    for worker in workers:
        worker.start()
    found: list[Done] = [results.get() for _ in workers]
    for worker in workers:
        worker.join()
    return Done(
        min(each.start for each in found),
        max(each.end for each in found),
        sum(each.pages for each in found),
        [error for each in found for error in each.errors],
    )


def measure(queued: int, pages: int, rounds: int, processes: int) -> Figure:
    """Pages a second of many processes, beside one, of store and floor."""
    rates: dict[tuple[str, int], list[float]] = {}
    errors: list[str] = []
    base = crawl_store(queued)
    with scratch("processes") as path, scratch("processes-floor") as floor_path:
        copied(base, path)
        copied(floor_store(queued), floor_path)
        first, expected = WARM_PAGES, WARM_PAGES
        for _ in range(rounds):
            for n in (1, processes):
                for kind, crawl, file in (
                    ("store", crawl_store_pages, path),
                    ("floor", crawl_floor_pages, floor_path),
                ):
                    done = together(crawl, file, queued, first, pages, n)
                    rates.setdefault((kind, n), []).append(done.pages / (done.end - done.start))
                    errors += done.errors
                    expected += done.pages if kind == "store" else 0
                first += pages
        with sql(path) as connection:
            (fetched,) = connection.execute("SELECT fetched FROM crawl").fetchone()
    if fetched != expected:
        errors.append(f"{expected} pages observed, {fetched} counted")
    return figure(rates, errors, queued, processes)


def figure(
    rates: dict[tuple[str, int], list[float]], errors: list[str], queued: int, processes: int
) -> Figure:
    """One row: the many, and in the note how they compare with one."""
    many, one = rates["store", processes], rates["store", 1]
    share = ratios(many, one)
    floor_share = ratios(rates["floor", processes], rates["floor", 1])
    verdict = at_least(share, 0.8, "of one process, no errors")
    return Figure(
        name=f"{processes} processes, {named(queued)} queued, normal",
        value=median(many),
        unit="pages/s",
        floor=median(rates["floor", processes]),
        ratio=ratios(many, rates["floor", processes]),
        bar=verdict["bar"],
        met=verdict["met"] and not errors,
        note=f"{number(share, 2)} of one process ({number(median(one))} pages/s; floor {number(floor_share, 2)});"
        f" {len(errors)} errors{': ' + errors[0] if errors else ''}",
    )


def main() -> None:
    """Measure and print."""
    options = parser("Eight processes on one store against one.")
    options.add_argument("--queued", type=sizes, default=[100_000], help="links queued (100k)")
    options.add_argument(
        "--pages", type=int, default=1_600, help="pages a round, by all processes together (1,600)"
    )
    options.add_argument("--rounds", type=int, default=3, help="rounds, in turns (3)")
    options.add_argument("--processes", type=int, default=8, help="processes (8)")
    chosen = options.parse_args()
    found = [measure(queued, chosen.pages, chosen.rounds, chosen.processes) for queued in chosen.queued]
    report(found, chosen.json)


if __name__ == "__main__":
    main()
