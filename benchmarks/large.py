"""How everything grows: the same measurements on stores of ten thousand to ten million links.

    python -m benchmarks.large                      # up to a million
    python -m benchmarks.large --links 10M          # an hour and a half on two cores, 15 GB of disk
    python -m benchmarks.large --links 10M --only size questions

Stores of more than a million links are made of one that a crawl made, see `multiply.py`. Figures that are points of one
curve have one `series`; `docs/make_performance.py` draws them.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # "python benchmarks/large.py" works, too

from benchmarks import lease, observe, open, questions, size  # noqa: A004
from benchmarks.harness import BENCH, Figure, named, parser, sizes, table, write

if TYPE_CHECKING:
    from collections.abc import Callable

STEPS = [10_000, 100_000, 1_000_000, 10_000_000]


def point(figure: Figure, series: str, links: int) -> Figure:
    """A figure as a point of a curve."""
    return replace(figure, series=series, links=links)


def bytes_and_memory(queues: list[int]) -> list[Figure]:
    """Disk and memory of the process."""
    return [
        *(point(size.on_disk(queued), "disk", queued) for queued in queues),
        *(point(size.in_memory(queued, 100), "memory", queued) for queued in queues),
    ]


def openings(queues: list[int]) -> list[Figure]:
    """Open and first lease."""
    return [point(open.measure(queued, 5), "open + first lease", queued) for queued in queues]


def leases(queues: list[int]) -> list[Figure]:
    """Lease: lanes as a crawl makes them, then two counts of them."""
    crawls = zip(lease.on_crawls(queues, 200), queues, strict=True)
    found = [point(figure, "lease(10) of a crawl", queued) for figure, queued in crawls]
    for lanes in (1_000, 20_000):
        there = [queued for queued in queues if queued >= lanes]
        found += [
            point(figure, f"lease(10), {named(lanes)} lanes", queued)
            for figure, queued in zip(lease.by_size(there, [lanes], 50), there, strict=True)
        ]
    return found


def observations(queues: list[int]) -> list[Figure]:
    """Lease and observe. Rescores are apart: their cost is that of the queue, and so is how often they come."""
    found = []
    for queued in queues:
        whole, plain, share = observe.measure(queued, 40, 5, "normal")
        found += [
            point(whole, "lease + observe", queued),
            point(replace(plain, name=f"{plain.name}, {named(queued)} queued"), "… nothing rescored", queued),
            replace(share, name=f"{share.name}, {named(queued)} queued", met=None),
        ]
    return found


def commands(queues: list[int]) -> list[Figure]:
    """Every command that reads or copies a store."""
    return [figure for queued in queues for figure in questions.measure(queued, None)]


ALL: dict[str, Callable[[list[int]], list[Figure]]] = {
    "size": bytes_and_memory,
    "open": openings,
    "lease": leases,
    "observe": observations,
    "questions": commands,
}


def main() -> None:
    """Measure, print each table as it is done and the whole one last; write JSON, where other figures stay."""
    options = parser("How everything grows with the number of links.")
    options.add_argument("--links", type=sizes, default=[1_000_000], help="links of the largest store (1M)")
    options.add_argument("--only", nargs="+", choices=ALL, default=list(ALL), help="some of the measurements")
    chosen = options.parse_args()
    BENCH.mkdir(exist_ok=True)
    queues = [step for step in STEPS if step <= chosen.links[0]]
    found: list[Figure] = []
    for name in chosen.only:
        start = time.perf_counter()
        figures = ALL[name](queues)
        found += figures
        print(f"{name}: {time.perf_counter() - start:.0f} s\n{table(figures)}\n", file=sys.stderr, flush=True)
        write(found, chosen.json or BENCH / "large.json", keep=True)
    print(table(found))


if __name__ == "__main__":
    main()
