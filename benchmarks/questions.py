"""What looking after a store costs as it grows: every command that reads or copies it, in a process of its own.

    python -m benchmarks.questions
    python -m benchmarks.questions --sizes 10k,100k,1M --only status check

Processor seconds, the interpreter and the imports apart (they are those of `--version`), for other load moves them less
than the clock, whose seconds stand beside them; and the most memory that the process held. The output goes to a file,
as from cron. The store is in the system's page cache as far as it fits; one that does not is read from the disk.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # "python benchmarks/questions.py" works, too

from benchmarks import workload
from benchmarks.harness import Figure, at_most, named, number, parser, report, sizes
from benchmarks.stores import copied, crawl_store, scratch

RUN = """
import sys
from pagesift_store.cli import main
try:
    main()
finally:
    lines = open("/proc/self/status").read().splitlines()
    sys.stderr.write([line.split()[1] for line in lines if line.startswith("VmHWM")][0])
"""
"""Says its own peak of memory: what the parent is told has the parent's own in it."""
MOST_MEMORY = 200
"""MiB that a command may hold, whatever the size of the store."""

LISTINGS = (
    "queue", "parts", "terms", "model", "hosts", "blocks", "leases", "pages", "refusals", "templates", "traps"
)  # fmt: skip


PRINTS_ALL = ("inspect queue, all as JSON lines", "dump", "export", "check, all keys")
"""What takes a minute or more for each million of links: left out beyond `PRINTED`, unless it is asked for."""
PRINTED = 100_000


class Run(NamedTuple):
    """What one process took."""

    cpu: float
    wall: float
    mib: float
    printed: int
    """Bytes of output."""


def commands(store: Path, beside: Path) -> dict[str, list[str]]:
    """By name, the arguments of each command; `beside` is where a copy may be made."""
    path, copy = str(store), str(beside)
    url = workload.url(7)
    return {
        "status": ["status", path],
        "explain": ["inspect", "url", path, url],
        "inspect summary": ["inspect", "summary", path],
        **{f"inspect {name}": ["inspect", name, path] for name in LISTINGS},
        "inspect queue, all as JSON lines": ["inspect", "queue", path, "--format", "jsonl"],
        "inspect parts, all as JSON lines": ["inspect", "parts", path, "--format", "jsonl"],
        "dump": ["dump", path],
        "export": ["export", path],
        "check": ["check", path],
        "check, all keys": ["check", path, "--all-keys"],
        "backup": ["backup", path, copy, "--keep", "0"],
        "vacuum": ["vacuum", path],
        "vacuum, full": ["vacuum", path, "--full"],
    }


def run(arguments: list[str], output: Path) -> Run:
    """Run a command of ours; its time, memory and output."""
    start, before = time.perf_counter(), os.times()
    with output.open("wb") as file:
        done = subprocess.run(
            [sys.executable, "-c", RUN, *arguments], stdout=file, stderr=subprocess.PIPE, text=True
        )
    after, wall = os.times(), time.perf_counter() - start
    if done.returncode not in (0, 3):  # 3: what it says of a crawl that has ended
        raise SystemExit(f"{' '.join(arguments)}: exit code {done.returncode}: {done.stderr}")
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return Run(cpu, wall, int(done.stderr.split()[-1]) / 1024, output.stat().st_size)


def measure(queued: int, only: list[str] | None, quick: float = 2.0) -> list[Figure]:
    """Every command on a store of this size; those quicker than `quick` seconds five times."""
    found = []
    with (
        scratch("questions") as path,
        scratch("questions-copy") as beside,
        scratch("questions-out") as output,
    ):
        copied(crawl_store(queued), path)
        imports = median(run(["--version"], output).cpu for _ in range(5))
        for name, arguments in commands(path, beside).items():
            if name in only if only is not None else queued <= PRINTED or name not in PRINTS_ALL:
                found.append(figure(name, queued, _runs(arguments, output, quick), imports))
                print(f"{found[-1].name}: {found[-1].value:.3g} s", file=sys.stderr, flush=True)
    return found


def _runs(arguments: list[str], output: Path, quick: float) -> list[Run]:
    runs = [run(arguments, output)]
    while len(runs) < 5 and runs[0].wall < quick:
        runs.append(run(arguments, output))
    return runs


def figure(name: str, queued: int, runs: list[Run], imports: float) -> Figure:
    """One row."""
    memory = max(one.mib for one in runs)
    return Figure(
        name=f"{name}, {named(queued)} links",
        series=name,
        links=queued,
        value=max(median(one.cpu for one in runs) - imports, 0.0),
        unit="s",
        memory=memory,
        note=f"{number(memory)} MiB, {number(median(one.wall for one in runs))} s by the clock,"
        f" {runs[0].printed:,} bytes printed",
        **at_most(memory, MOST_MEMORY, "MiB"),
    )


def main() -> None:
    """Measure and print."""
    options = parser("What looking after a store costs as it grows.")
    options.add_argument("--sizes", type=sizes, default=[10_000, 100_000], help="links queued (10k,100k)")
    options.add_argument("--only", nargs="+", metavar="NAME", help="some of the commands, by the names shown")
    chosen = options.parse_args()
    report([row for queued in chosen.sizes for row in measure(queued, chosen.only)], chosen.json)


if __name__ == "__main__":
    main()
