"""Kill -9, a thousand times: what is lost, what is doubled, which dumps differ.

    python benchmarks/crash.py                      # 1,000 kills of a crawl, 200 of everything else; about half an hour
    python benchmarks/crash.py --only exact --kills 100 --seed 7

`exact`: one worker on fixed pages (DESIGN 5); every dump must equal that of a run that nobody disturbed, floats to
the bit. `workers`: several at once with batches and all calls; counts must equal rows, and whatever a call
acknowledged must be there, once. The rest: one operation, killed at a random statement or moment; the store is as
before or as after, and doing it again brings it there. `power-full`, `power-normal`: what a power cut leaves on a disk
(see `tests/support/power_cuts.py`). After every kill and cut the store is checked as `pagesift-store check --all-keys`
does.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

import kill_rounds
import power_cuts


def main() -> None:
    """Kill, count, print; the exit code is 1 when anything went wrong."""
    options = argparse.ArgumentParser(
        description="Kill processes that work on a store, and count what that costs."
    )
    kinds = ["exact", "workers", *kill_rounds.OPERATIONS, "power-full", "power-normal"]
    options.add_argument(
        "--kills", type=int, default=1_000, help="kills of the crawl, and of the workers (1000)"
    )
    options.add_argument("--rounds", type=int, default=200, help="rounds of each operation (200)")
    options.add_argument("--seed", type=int, default=20_261_130, help="of all that is random")
    options.add_argument("--only", nargs="+", choices=kinds, default=kinds, help="some of them")
    chosen = options.parse_args()
    tallies = []
    for kind in chosen.only:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            if kind == "exact":
                tally = kill_rounds.exact(folder, chosen.kills, chosen.seed)
            elif kind == "workers":
                tally = kill_rounds.workers(folder, chosen.kills, chosen.seed)
            elif kind.startswith("power-"):
                tally = power(folder, kind, chosen.rounds, chosen.seed)
            else:
                tally = kill_rounds.operation(folder, kind, chosen.rounds, chosen.seed)
        tallies.append(tally)
        print(
            f"{tally.name}: {tally.kills} kills, {'clean' if tally.clean else tally}",
            file=sys.stderr,
            flush=True,
        )
    Console().print(drawn(tallies, chosen.seed))
    sys.exit(0 if all(tally.clean for tally in tallies) else 1)


def power(folder: Path, kind: str, rounds: int, seed: int) -> kill_rounds.Tally:
    """Power cuts; what `normal` loses is told, and is no fault: it must be the last calls, and they alone."""
    tally = kill_rounds.Tally(kind)
    start = time.monotonic()
    found = power_cuts.cuts(folder, kind.removeprefix("power-"), rounds, seed)
    tally.kills, tally.seconds = len(found), time.monotonic() - start
    tally.unsound = [fault for one in found for fault in one.faults]
    lost = [one.acknowledged - one.kept for one in found if one.kept < one.acknowledged]
    if kind == "power-full":
        tally.lost = [f"{calls} calls" for calls in lost]
    elif lost:
        print(
            f"normal: {len(lost)} of {rounds} cuts took the last calls, {max(lost)} at most", file=sys.stderr
        )
    return tally


def drawn(tallies: list[kill_rounds.Tally], seed: int) -> Table:
    """The figures as a table."""
    names = ("kills", "too late", "lost", "doubled", "differing", "unsound", "seconds")
    table = Table("killed", *names, title=f"seed {seed}", title_justify="left")
    for one in tallies:
        counts = (len(one.lost), len(one.doubled), len(one.differing), len(one.unsound), round(one.seconds))
        table.add_row(one.name, *(str(number) for number in (one.kills, one.ended, *counts)))
    return table


if __name__ == "__main__":
    main()
