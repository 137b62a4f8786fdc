"""All measurements, one table, one JSON file.

    python -m benchmarks            # up to a million links; about an hour, most of it building the stores once
    python -m benchmarks --quick    # ten thousand links, fewer rounds; about two minutes
    python -m benchmarks --only observe rescore

`python benchmarks/urls.py` measures the URL pipeline by itself. Each module here runs alone, with options of its own.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # "python benchmarks" works, too

from benchmarks import add, lease, observe, open, processes, rescore, size, statements  # noqa: A004
from benchmarks.harness import BENCH, Figure, machine, parser, report, table

if TYPE_CHECKING:
    from collections.abc import Callable

SIZES = [10_000, 100_000, 1_000_000]
QUICK = [10_000]


def adds(quick: bool) -> list[Figure]:
    """Bulk add."""
    return add.measure(*(10_000, 3) if quick else (100_000, 5), "full")


def observations(quick: bool) -> list[Figure]:
    """Lease + observe, both durabilities, and with a full queue."""
    queued, pages, rounds = (10_000, 60, 5) if quick else (100_000, 500, 9)
    found = [
        figure
        for durability in ("normal", "full")
        for figure in (
            *observe.measure(queued, pages, rounds, durability),
            statements.measure(queued, pages, rounds, durability),
        )
    ]
    return found + [observe.full_queue(size, pages) for size in (QUICK if quick else SIZES)]


def leases(quick: bool) -> list[Figure]:
    """Lease alone."""
    queues, lanes, calls = (QUICK, [1_000], 50) if quick else (SIZES, [1_000, 20_000], 100)
    return [
        *lease.by_size(queues, lanes, calls),
        lease.behind_done(queues[-1], calls),
        lease.behind_dry(queues[-1], 20_000, calls),
        lease.behind_resting(queues[-1], 20_000, calls),
        lease.behind_resting_host(queues[-1], 20_000 if quick else 200_000, calls),
    ]


def rescores(quick: bool) -> list[Figure]:
    """Rescore, both cases."""
    return [
        rescore.measure(case, queued, 5, "full")
        for case in rescore.CASES
        for queued in (QUICK if quick else SIZES)
    ]


def openings(quick: bool) -> list[Figure]:
    """Open and first lease."""
    return [open.measure(queued, 5 if quick else 9) for queued in (QUICK if quick else SIZES)]


def sizes(quick: bool) -> list[Figure]:
    """Disk and memory."""
    queues = QUICK if quick else SIZES
    return [
        *(size.on_disk(queued) for queued in queues),
        *(size.in_memory(queued, 50 if quick else 300) for queued in queues),
    ]


def crowds(quick: bool) -> list[Figure]:
    """Eight processes."""
    return [processes.measure(*(10_000, 160, 1) if quick else (100_000, 1_600, 5), processes=8)]


ALL: dict[str, Callable[[bool], list[Figure]]] = {
    "add": adds,
    "observe": observations,
    "rescore": rescores,
    "lease": leases,
    "open": openings,
    "size": sizes,
    "processes": crowds,
}


def main() -> None:
    """Measure, print each table as it is done and the whole one last, write JSON."""
    options = parser("All measurements beside a hand-tuned floor.")
    options.add_argument("--quick", action="store_true", help="small stores, few rounds: about two minutes")
    options.add_argument("--only", nargs="+", choices=ALL, default=list(ALL), help="some of them")
    chosen = options.parse_args()
    BENCH.mkdir(exist_ok=True)
    about = machine()
    found: list[Figure] = []
    for name in chosen.only:
        start = time.perf_counter()
        figures = ALL[name](chosen.quick)
        found += figures
        print(f"{name}: {time.perf_counter() - start:.0f} s\n{table(figures)}\n", file=sys.stderr, flush=True)
    print(", ".join(f"{name} {value}" for name, value in about.items()), end="\n\n")
    report(found, chosen.json or BENCH / "figures.json")


if __name__ == "__main__":
    main()
