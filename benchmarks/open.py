"""Open a store in a fresh process and lease the first link: what a run from cron waits for.

    python -m benchmarks.open
    python -m benchmarks.open --sizes 10k,100k,1M

Imports are told apart: they cost the same whatever the store. The file is in the system's page cache.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # "python benchmarks/open.py" works, too

from benchmarks.harness import Figure, at_most, named, number, parser, ratios, report, sizes
from benchmarks.stores import copied, crawl_store, floor_store, scratch

FRESH = Path(__file__).with_name("fresh.py")


def fresh(task: str, store: Path, *more: str) -> dict[str, float]:
    """Run a task of `fresh.py` in a new process."""
    done = subprocess.run(
        [sys.executable, FRESH, task, store, *more], check=True, capture_output=True, text=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def measure(queued: int, rounds: int) -> Figure:
    """The median open + first lease of a store of this size, beside the floor's."""
    base = crawl_store(queued)
    with scratch("open") as path, scratch("open-floor") as floor_path:
        copied(base, path)
        copied(floor_store(queued), floor_path)
        ours, floors = [], []
        for turn in range(rounds + 1):
            store, hand = fresh("open", path), fresh("floor", floor_path)
            if turn:  # the first fills the page cache
                ours.append(store)
                floors.append(hand)
    both = [(run["open"] + run["lease"]) * 1e3 for run in ours]
    floor_both = [(run["open"] + run["lease"]) * 1e3 for run in floors]
    opened, leased, imports = (
        median(run[part] for run in ours) * 1e3 for part in ("open", "lease", "imports")
    )
    return Figure(
        name=f"open + first lease, {named(queued)} queued",
        value=median(both),
        unit="ms",
        floor=median(floor_both),
        ratio=ratios(both, floor_both),
        note=f"open {number(opened)}, lease {number(leased)}; before them imports {number(imports)}",
        **at_most(median(both), 100, "ms"),
    )


def main() -> None:
    """Measure and print."""
    options = parser("Open a store in a fresh process and lease the first link.")
    options.add_argument("--sizes", type=sizes, default=[10_000, 100_000], help="links queued (10k,100k)")
    options.add_argument("--rounds", type=int, default=7, help="processes of each, in turns (7)")
    chosen = options.parse_args()
    report([measure(queued, chosen.rounds) for queued in chosen.sizes], chosen.json)


if __name__ == "__main__":
    main()
