"""What is measured in a process of its own, with nothing imported before: started by `open.py` and `size.py`.

    python benchmarks/fresh.py open STORE
    python benchmarks/fresh.py floor STORE
    python benchmarks/fresh.py memory STORE SEEDS PAGES

Prints one JSON object. The library is imported inside the functions, because importing it is part of what is measured.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def open_store(path: str) -> dict[str, float]:
    """Seconds to import, to open and to lease the first link."""
    start = time.perf_counter()
    from pagesift_store import Frontier

    imported = time.perf_counter()
    with Frontier.open(path) as frontier:
        opened = time.perf_counter()
        if not frontier.lease(1):
            raise SystemExit(f"{path}: nothing to lease")
        leased = time.perf_counter()
    return {"imports": imported - start, "open": opened - imported, "lease": leased - opened}


def open_floor(path: str) -> dict[str, float]:
    """The same of the floor."""
    start = time.perf_counter()
    sys.path.insert(0, str(ROOT))
    from benchmarks.floor import Floor

    imported = time.perf_counter()
    floor = Floor(Path(path))
    opened = time.perf_counter()
    floor.lease()
    leased = time.perf_counter()
    floor.close()
    return {"imports": imported - start, "open": opened - imported, "lease": leased - opened}


def memory(path: str, seeds: int, pages: int) -> dict[str, float]:
    """MiB of resident memory: after the imports, and at most while some pages are crawled."""
    sys.path.insert(0, str(ROOT))
    from benchmarks.stores import WARM_PAGES, step
    from pagesift_store import Frontier

    imported = resident("VmRSS")
    with Frontier.open(path) as frontier:
        frontier.lease(10)
        frontier.status()
        for page in range(WARM_PAGES, WARM_PAGES + pages):
            step(frontier, page, seeds)
    return {"imported": imported, "peak": resident("VmHWM")}


def resident(field: str) -> float:
    """A line of what Linux says of this process, in MiB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1024
    raise SystemExit(f"no {field} in /proc/self/status")


if __name__ == "__main__":
    task, store, *more = sys.argv[1:]
    if task == "open":
        found = open_store(store)
    elif task == "floor":
        found = open_floor(store)
    else:
        found = memory(store, int(more[0]), int(more[1]))
    print(json.dumps(found))
