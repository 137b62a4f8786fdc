"""The bounded part of `benchmarks/crash.py`: kills of everything, and power cuts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import kill_rounds
import power_cuts
import pytest

if TYPE_CHECKING:
    from pathlib import Path

SEED = 6


def test_c01_c11_c13_workers_are_killed_in_any_call(tmp_path: Path) -> None:
    """What was acknowledged is there, once; every count equals its rows; no lease was given twice."""
    tally = kill_rounds.workers(tmp_path, 20, SEED)
    assert tally.kills >= 20
    assert (tally.lost, tally.doubled, tally.unsound) == ([], [], [])


def test_c19_c49_a_crawl_is_killed_from_outside_and_inside(tmp_path: Path) -> None:
    tally = kill_rounds.exact(tmp_path, 6, SEED)
    assert tally.kills >= 6
    assert tally.clean, tally


@pytest.mark.parametrize("name", kill_rounds.OPERATIONS)
def test_an_operation_is_killed(tmp_path: Path, name: str) -> None:
    """The store is as before or as after, nothing is left over, and doing it again brings it there."""
    tally = kill_rounds.operation(tmp_path, name, 3, SEED)
    assert tally.kills + tally.ended == 3
    assert tally.clean, tally


@pytest.mark.skipif(power_cuts.compiler() is None, reason="no C compiler to record writes with")
@pytest.mark.parametrize("durability", ["full", "normal"])
def test_c14_the_power_is_cut(tmp_path: Path, durability: str) -> None:
    """With `full` nothing acknowledged is lost; with `normal` the last calls may be; both leave a whole store."""
    found = power_cuts.cuts(tmp_path, durability, 25, SEED, calls=40, wal_pages=25)
    assert [fault for one in found for fault in one.faults] == []
    lost = sum(one.kept < one.acknowledged for one in found)
    assert (lost > 0) is (durability == "normal")
