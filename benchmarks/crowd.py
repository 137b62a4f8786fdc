"""Eight processes that do a random mix of all calls on one store for a minute: errors, doubled leases, lost work.

    python benchmarks/crowd.py
    python benchmarks/crowd.py --processes 8 --seconds 5

One process works first, for a quarter of the time, so that calls a second can be compared. An error in any of them ends
the measurement.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

import crowds


def main() -> None:
    """Let them work, count, print; the exit code is 1 when anything went wrong."""
    options = argparse.ArgumentParser(description="Many processes on one store.")
    options.add_argument("--processes", type=int, default=8)
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--seed", type=int, default=20_261_130)
    chosen = options.parse_args()
    rates, wrong = [], False
    for processes, seconds in ((1, chosen.seconds / 4), (chosen.processes, chosen.seconds)):
        with tempfile.TemporaryDirectory() as folder:
            done = crowds.crowd(Path(folder), processes, seconds, chosen.seed)
        rates.append(done.calls / done.seconds)
        wrong |= bool(done.lost or done.doubled or done.unsound)
        print(
            f"{processes} processes, {seconds:g} s: {done.calls} calls, {rates[-1]:.0f}/s; no error,"
            f" {len(done.lost)} lost, {len(done.doubled)} doubled, {len(done.unsound)} unsound",
            flush=True,
        )
    print(f"{chosen.processes} processes: {rates[1] / rates[0]:.2f} of one; seed {chosen.seed}")
    sys.exit(int(wrong))


if __name__ == "__main__":
    main()
