"""Many processes that do a random mix of all calls on one store, for so many seconds."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import killing
import mixed_calls

from pagesift_store import upkeep

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Crowd:
    """What a crowd came to.

    Attributes:
        calls: done by all of them together.
        seconds: how long they worked.
        lost: what was acknowledged and was gone.
        doubled: what was there, or was given out, twice.
        unsound: findings of `check`.
    """

    calls: int
    seconds: float
    lost: list[str]
    doubled: list[str]
    unsound: list[str]


def crowd(folder: Path, processes: int, seconds: float, seed: int) -> Crowd:
    """Let them work.

    Raises:
        RuntimeError: one of them met an error (printed).
    """
    store = folder / "crowd.db"
    journals = [folder / f"journal-{number}" for number in range(processes)]
    counts = [folder / f"calls-{number}" for number in range(processes)]
    mixed_calls.Worker(store, folder / "first", seed).frontier.close()
    start = time.monotonic()

    def work(number: int) -> None:
        worker = mixed_calls.Worker(store, journals[number], seed * 1_000 + number)
        while time.monotonic() < start + seconds:
            worker.step()
        worker.frontier.close()
        counts[number].write_text(str(worker.calls))

    children = [killing.Child(lambda number=number: work(number)) for number in range(processes)]
    for child in children:
        child.wait()
    lost, doubled = mixed_calls.disagreements(store, journals)
    found = upkeep.check(store, all_keys=True).findings
    return Crowd(
        calls=sum(int(count.read_text()) for count in counts),
        seconds=seconds,
        lost=lost,
        doubled=doubled,
        unsound=[f"{one.where}: {one.message}" for one in found],
    )
