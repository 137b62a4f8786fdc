"""What every measurement needs: spent time, figures beside their floor, a table, JSON, and where stores are kept."""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import sqlite3
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BENCH = Path(__file__).resolve().parents[1] / ".bench"
"""Where stores are built and kept; on a disk, for durability is part of what is measured."""


@dataclass(slots=True)
class Spent:
    """Time spent inside `timed` blocks.

    Attributes:
        wall: seconds.
        cpu: seconds of processor time of this process; other load on the machine moves it less.
        laps: wall seconds of each block.
        cpu_laps: processor seconds of each block.
    """

    wall: float = 0.0
    cpu: float = 0.0
    laps: list[float] = field(default_factory=list)
    cpu_laps: list[float] = field(default_factory=list)

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Count the time of this block."""
        cpu, wall = time.process_time(), time.perf_counter()
        yield
        lap, cpu_lap = time.perf_counter() - wall, time.process_time() - cpu
        self.wall += lap
        self.cpu += cpu_lap
        self.laps.append(lap)
        self.cpu_laps.append(cpu_lap)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measured number.

    Attributes:
        name: what was done.
        value: the median of the rounds.
        unit: of the value.
        floor: the same of the hand-written floor in the same run; None: there is none.
        ratio: the median of the rounds' own ratios to the floor, so that a change of load between rounds cancels.
        cpu_ms: processor time, milliseconds per step.
        floor_cpu_ms: the same of the floor.
        bar: what the figure must reach, for people; empty: nothing is asked.
        met: whether it does; None where nothing is asked.
        note: more of it, for people.
        series: what was done, whatever the size: figures of one series are points of one curve; empty: of none.
        links: links in the store, where that is what a series goes along.
        memory: MiB that the process held at most, where that was watched.
    """

    name: str
    value: float
    unit: str
    floor: float | None = None
    ratio: float | None = None
    cpu_ms: float | None = None
    floor_cpu_ms: float | None = None
    bar: str = ""
    met: bool | None = None
    note: str = ""
    series: str = ""
    links: int | None = None
    memory: float | None = None


def at_least(ratio: float, least: float, of: str = "of the floor") -> dict[str, Any]:
    """The bar of a rate: `ratio` must be `least` or more."""
    return {"bar": f"≥ {least:g} {of}", "met": ratio >= least}


def at_most(value: float, most: float, unit: str) -> dict[str, Any]:
    """The bar of a cost: `value` must be `most` or less."""
    return {"bar": f"≤ {most:g} {unit}", "met": value <= most}


def ratios(ours: Sequence[float], floors: Sequence[float]) -> float:
    """The median of the rounds' ratios."""
    return median(mine / floor for mine, floor in zip(ours, floors, strict=True))


def number(value: float | None, digits: int = 3) -> str:
    """A number for people: `digits` of it count; nothing for None."""
    if value is None:
        return ""
    if abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def table(figures: Sequence[Figure]) -> str:
    """Figures as a Markdown table."""
    rows = [["figure", "value", "floor", "ratio", "CPU ms", "floor's", "bar", "note"]]
    for figure in figures:
        verdict = "" if figure.met is None else " ✓" if figure.met else " ✗"
        rows.append(
            [
                figure.name,
                f"{number(figure.value)} {figure.unit}",
                number(figure.floor),
                number(figure.ratio),
                number(figure.cpu_ms),
                number(figure.floor_cpu_ms),
                figure.bar + verdict,
                figure.note,
            ]
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["| " + " | ".join(cell.ljust(w) for cell, w in zip(r, widths, strict=True)) + " |" for r in rows]
    lines.insert(1, "|" + "|".join(" " + "-" * width + " " for width in widths) + "|")
    return "\n".join(lines)


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    return {
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
    }


def report(figures: Sequence[Figure], file: Path | None) -> None:
    """Print the table; write the figures where `--json` asked for them."""
    print(table(figures), flush=True)
    if file is not None:
        write(figures, file)


def write(figures: Sequence[Figure], file: Path, *, keep: bool = False) -> None:
    """Write figures as JSON; `keep`: what the file says of others stays."""
    measured = [asdict(figure) for figure in figures]
    if keep and file.exists():
        names = {figure.name for figure in figures}
        before = json.loads(file.read_text())["figures"]
        measured = [figure for figure in before if figure["name"] not in names] + measured
    found = {"machine": machine(), "figures": measured}
    file.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n")


def parser(description: str) -> argparse.ArgumentParser:
    """A parser with what all benchmarks share."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--json", type=Path, metavar="FILE", help="also write the figures as JSON")
    return made


def sizes(text: str) -> list[int]:
    """`10000,100k,1M` as numbers."""
    units = {"k": 1_000, "m": 1_000_000}
    return [
        int(part[:-1]) * units[part[-1].lower()] if part[-1].lower() in units else int(part)
        for part in text.split(",")
    ]


def named(count: int) -> str:
    """A count for people: 10k, 1M."""
    if count % 1_000_000 == 0:
        return f"{count // 1_000_000}M"
    return f"{count // 1_000}k" if count % 1_000 == 0 else str(count)


def settle() -> None:
    """Leave what is alive now out of garbage collection: it belongs to the workload, not to what is measured."""
    gc.collect()
    gc.freeze()
