"""What one page costs: lease it, observe it with 30 links and 600 words, beside the floor's two transactions.

    python -m benchmarks.observe
    python -m benchmarks.observe --pages 10000 --rounds 1 --durability normal
    python -m benchmarks.observe --full-queue --queued 10k,100k,1M

Store and floor take turns, on the same links, each on files that hold the same URLs. Only the calls are timed, not the
making of pages. Pages that rescored the queue are counted apart as well: their cost grows with the queue, that of a
page does not.

The known links of a page are drawn from all of the web, so that nine in ten are found for the first time since they
were added, and raised. On real sites 1 to 13 in a hundred are: most stand in menus. A row of its own shows that case.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # "python benchmarks/observe.py" works, too

from benchmarks import workload
from benchmarks.floor import Floor
from benchmarks.harness import (
    Figure,
    Spent,
    at_least,
    at_most,
    named,
    number,
    parser,
    ratios,
    report,
    settle,
    sizes,
)
from benchmarks.stores import WARM_PAGES, copied, crawl_store, floor_store, scratch
from pagesift_store import Frontier, LinkState

if TYPE_CHECKING:
    from collections.abc import Iterable

BARS = {"normal": 0.25, "full": 0.4}

GROUP = 10
"""Pages that a caller with several at hand reports together."""


class Round(NamedTuple):
    """What both spent on the same pages."""

    store: Spent
    floor: Spent
    rescores: list[float]
    """Seconds of the pages that rescored the queue."""
    rescored: int
    """Rows that they changed."""


def one_page(frontier: Frontier, page: int, seeds: int, spent: Spent, *, menus: bool = False) -> int:
    """Lease the best link and observe it as page number `page`; returns the rows that it rescored."""
    links = workload.links(page, seeds, menus=menus)
    with spent.timed():
        (lease,) = frontier.lease(1)
    content = workload.page(workload.number_of(lease.url), links)
    with spent.timed():
        outcome = frontier.observe(lease, content)
    for laps in (spent.laps, spent.cpu_laps):  # one page is one lap, as on the floor
        laps.append(laps.pop() + laps.pop())
    return outcome.rescored


class Race:
    """A store and a floor that crawl the same web in turns, one with menus if so said."""

    def __init__(self, frontier: Frontier, floor: Floor, seeds: int, *, menus: bool = False) -> None:
        self._frontier = frontier
        self._floor = floor
        self._seeds = seeds
        self._menus = menus
        self._page = WARM_PAGES

    def round(self, pages: int) -> Round:
        """Both crawl the next `pages` pages; the floor first, then the store."""
        floor, first = self._floor_round(pages)
        store, rescores, rescored = Spent(), list[float](), 0
        for page in range(first, self._page):
            rows = one_page(self._frontier, page, self._seeds, store, menus=self._menus)
            if rows:
                rescores.append(store.laps[-1])
                rescored += rows
        return Round(store, floor, rescores, rescored)

    def together(self, pages: int, group: int) -> Round:
        """The same with `group` pages in one transaction; the floor still takes them one by one."""
        floor, first = self._floor_round(pages)
        store = Spent()
        for start in range(first, self._page, group):
            with store.timed():
                leases = self._frontier.lease(group)
            fetched = [
                (lease, workload.page(workload.number_of(lease.url), workload.links(page, self._seeds)))
                for page, lease in enumerate(leases, start)
            ]
            with store.timed():
                self._frontier.observe_many(fetched)
        return Round(store, floor, [], 0)

    def _floor_round(self, pages: int) -> tuple[Spent, int]:
        """The floor crawls the next `pages` pages; what it spent, and the first of them."""
        first, self._page = self._page, self._page + pages
        return floor_round(self._floor, range(first, self._page), self._seeds, menus=self._menus), first


def floor_round(floor: Floor, pages: Iterable[int], seeds: int, *, menus: bool = False) -> Spent:
    """A floor crawls pages; what it spent."""
    spent = Spent()
    for page in pages:
        found = workload.linked_numbers(page, seeds, menus=menus)
        items = [(workload.url(number), workload.given_score(number)) for number in found]
        with spent.timed():
            taken = floor.lease()
            if taken is not None:
                floor.complete(taken[0], items)
    return spent


def measure(queued: int, pages: int, rounds: int, durability: str) -> list[Figure]:
    """The figures of one durability."""
    base = crawl_store(queued)
    with scratch("observe") as path, scratch("observe-floor") as floor_path:
        floor = Floor(copied(floor_store(queued), floor_path), durability)
        with Frontier.open(copied(base, path)) as frontier:
            frontier.configure(durability=durability)
            race = Race(frontier, floor, queued)
            settle()
            found = figures([race.round(pages) for _ in range(rounds)], pages, queued, durability)
            grouped = [race.together(pages, GROUP) for _ in range(rounds)]
    return [*found, with_menus(queued, pages, rounds, durability), together(grouped, pages, durability)]


def with_menus(queued: int, pages: int, rounds: int, durability: str) -> Figure:
    """The rate where most known links are those of menus, after a round in which each was found some times."""
    with scratch("menus") as path, scratch("menus-floor") as floor_path:
        floor = Floor(copied(floor_store(queued), floor_path), durability)
        with Frontier.open(copied(crawl_store(queued), path)) as frontier:
            frontier.configure(durability=durability)
            race = Race(frontier, floor, queued, menus=True)
            race.round(pages)
            settle()
            found = figures([race.round(pages) for _ in range(rounds)], pages, queued, durability)
    rate = found[0]
    return replace(rate, name=f"… known links as menus have them, {durability}", bar="", met=None)


def together(rounds: list[Round], pages: int, durability: str) -> Figure:
    """The rate of pages that are observed several at a time."""
    store = [pages / each.store.wall for each in rounds]
    floor = [pages / each.floor.wall for each in rounds]
    return Figure(
        name=f"… {GROUP} pages at a time, {durability}",
        value=median(store),
        unit="pages/s",
        floor=median(floor),
        ratio=ratios(store, floor),
        cpu_ms=median(each.store.cpu / pages * 1e3 for each in rounds),
        floor_cpu_ms=median(each.floor.cpu / pages * 1e3 for each in rounds),
        note="lease(10), observe_many",
    )


def figures(rounds: list[Round], pages: int, queued: int, durability: str) -> list[Figure]:
    """Rates and shares out of the rounds."""
    store = [pages / each.store.wall for each in rounds]
    floor = [pages / each.floor.wall for each in rounds]
    cpu = [each.store.cpu / pages * 1e3 for each in rounds]
    floor_cpu = [each.floor.cpu / pages * 1e3 for each in rounds]
    plain = [(pages - len(each.rescores)) / (each.store.wall - sum(each.rescores)) for each in rounds]
    ratio, rescores = ratios(store, floor), [lap for each in rounds for lap in each.rescores]
    laps = sorted(lap for each in rounds for lap in each.store.laps)
    share = (sum(rescores) - len(rescores) * median(laps)) / sum(each.store.wall for each in rounds)
    what = f"lease + observe, {durability}, {named(queued)} queued"
    return [
        Figure(
            name=what,
            value=median(store),
            unit="pages/s",
            floor=median(floor),
            ratio=ratio,
            cpu_ms=median(cpu),
            floor_cpu_ms=median(floor_cpu),
            **at_least(ratio, BARS[durability]),
            note=f"{number(median(store) * workload.LINKS)} links/s; CPU ratio "
            f"{number(ratios(floor_cpu, cpu), 2)}; ms a page: p50 {number(laps[len(laps) // 2] * 1e3)}, "
            f"p99 {number(laps[int(len(laps) * 0.99)] * 1e3)}",
        ),
        Figure(
            name="… pages that rescored nothing",
            value=median(plain),
            unit="pages/s",
            floor=median(floor),
            ratio=ratios(plain, floor),
        ),
        Figure(
            name="… share of the time in rescores",
            value=max(share, 0.0) * 100,
            unit="%",
            bar="≤ 15 % over 10,000 pages",
            met=share <= 0.15 if pages * len(rounds) >= 10_000 else None,
            note=f"{len(rescores)} in {pages * len(rounds):,} pages, {sum(r.rescored for r in rounds):,} rows",
        ),
    ]


def full_queue(queued: int, pages: int) -> Figure:
    """A page whose new links push others out of a full queue, and one of a queue without a bound, in turns."""
    base = crawl_store(queued)
    with (
        scratch("full") as path,
        scratch("unbounded") as other,
        Frontier.open(copied(base, path)) as bounded,
        Frontier.open(copied(base, other)) as free,
    ):
        bounded.configure(max_queue=queued)
        one_page(
            bounded, WARM_PAGES, queued, Spent()
        )  # what the crawl had beyond the bound goes with this one
        one_page(free, WARM_PAGES, queued, Spent())
        settle()
        full, plain = Spent(), Spent()
        for page in range(WARM_PAGES + 1, WARM_PAGES + 1 + pages):
            one_page(bounded, page, queued, full)
            one_page(free, page, queued, plain)
        if (left := bounded.status().counts[LinkState.QUEUED]) > queued:
            raise SystemExit(f"{left} links are queued, {queued} may be")
    times = ratios(full.cpu_laps, plain.cpu_laps)
    return Figure(
        name=f"lease + observe, normal, max_queue={named(queued)} reached",
        value=median(full.laps) * 1e3,
        unit="ms",
        cpu_ms=median(full.cpu_laps) * 1e3,
        note=f"{number(times)} × the processor time without a bound, {number(median(plain.laps) * 1e3)} ms",
        **at_most(times, 1.5, "× without a bound"),
    )


def main() -> None:
    """Measure and print."""
    options = parser("What one page costs, beside a hand-tuned floor.")
    options.add_argument("--queued", type=sizes, default=[100_000], help="links queued (100k)")
    options.add_argument("--pages", type=int, default=300, help="pages a round (300)")
    options.add_argument("--rounds", type=int, default=7, help="rounds, in turns (7)")
    options.add_argument("--durability", choices=("full", "normal"), help="one of them only")
    options.add_argument(
        "--full-queue", action="store_true", help="only pages whose links push others out of a full queue"
    )
    chosen = options.parse_args()
    if chosen.full_queue:
        report([full_queue(queued, chosen.pages) for queued in chosen.queued], chosen.json)
        return
    found: list[Figure] = []
    for queued in chosen.queued:
        for durability in (chosen.durability,) if chosen.durability else ("normal", "full"):
            found += measure(queued, chosen.pages, chosen.rounds, durability)
    report(found, chosen.json)


if __name__ == "__main__":
    main()
