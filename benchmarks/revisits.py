"""What a month of watching sees: visits that follow the changes, beside the same number at one fixed interval.

    python -m benchmarks.revisits
    python -m benchmarks.revisits --pages 2000 --days 30

Each page changes by chance, at a rate of its own between once in 200 days and twice a day, as likely in one doubling as
in another. The clock is ours; every visit is a real lease and a real observation. A change is seen in time when a
visit follows within a day.
"""

from __future__ import annotations

import random
import sys
from bisect import bisect_left, bisect_right
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # "python benchmarks/revisits.py" works, too

from benchmarks.harness import Figure, number, parser, report
from benchmarks.stores import scratch
from pagesift_store import Frontier, Page, Settings

if TYPE_CHECKING:
    from collections.abc import Sequence

DAY = 86_400.0
SLOWEST, FASTEST = 1 / 200, 2.0
"""Changes a day."""

SEED = 20
START = 1_800_000_000.0
LEAST_HOURS = (1, 12, 24)
"""Shortest intervals that are tried; the first is the default."""

Times = list[list[float]]
"""Moments by page."""


def changes(pages: int, days: float) -> Times:
    """When each page changes: Poisson processes."""
    chance = random.Random(SEED)
    found = []
    for _ in range(pages):
        rate = SLOWEST * (FASTEST / SLOWEST) ** chance.random() / DAY
        moment, events = START, []
        while (moment := moment + chance.expovariate(rate)) < START + days * DAY:
            events.append(moment)
        found.append(events)
    return found


def watch(events: Times, days: float, least_hours: float) -> Times:
    """When a store visits each page."""
    settings = Settings(
        revisit=True,
        revisit_min=least_hours * 3_600.0,
        default_delay=0.0,
        max_in_flight=1_000,
        durability="normal",
    )
    now = [START]
    visits: Times = [[] for _ in events]
    with (
        scratch("revisits") as path,
        Frontier.open(path, query="", settings=settings, clock=lambda: now[0]) as frontier,
    ):
        frontier.add([f"https://news.site.org/page/{i}" for i in range(len(events))])
        while now[0] < START + days * DAY:
            for lease in frontier.lease(1_000):
                which = int(lease.url.rpartition("/")[2])
                visits[which].append(now[0])
                version = bisect_right(events[which], now[0])
                frontier.observe(
                    lease, Page(url=lease.url, text=f"This is version {version} of page {which}.")
                )
            due = frontier.status().next_due
            # Visits of the same quarter of an hour go together, as a cron job would have it.
            now[0] = max(now[0], due or 0.0) + 900.0
    return visits


def at_one_interval(pages: int, days: float, fetches: int) -> Times:
    """As many visits, the pages in turn."""
    every = pages * days * DAY / fetches
    times: Times = []
    for page in range(pages):
        first = START + every * page / pages
        times.append([first + k * every for k in range(1 + int((START + days * DAY - first) / every))])
    return times


def seen(events: Times, visits: Times) -> float:
    """The share of changes that a visit followed within a day."""
    found = sum(
        _follows(moment, times) for moments, times in zip(events, visits, strict=True) for moment in moments
    )
    return found / sum(map(len, events))


def _follows(moment: float, times: Sequence[float]) -> bool:
    at = bisect_left(times, moment)
    return at < len(times) and times[at] <= moment + DAY


def measure(pages: int, days: float, least_hours: float) -> Figure:
    """One shortest interval."""
    events = changes(pages, days)
    visits = watch(events, days, least_hours)
    fetches = sum(map(len, visits))
    ours = seen(events, visits)
    fixed = seen(events, at_one_interval(pages, days, fetches))
    return Figure(
        name=f"changes seen within a day, visits {least_hours:g} h apart or more",
        value=ours,
        unit="of all",
        floor=fixed,
        ratio=ours / fixed,
        bar="> 1 × one interval",
        met=ours > fixed,
        note=f"{number(sum(map(len, events)))} changes, {number(fetches)} fetches, {pages} pages, {days:g} days",
    )


def main() -> None:
    """Measure and print."""
    options = parser("What a month of watching sees, beside one fixed interval with as many fetches.")
    options.add_argument("--pages", type=int, default=2_000, help="pages that are watched (2000)")
    options.add_argument("--days", type=float, default=30.0, help="days that pass (30)")
    chosen = options.parse_args()
    report([measure(chosen.pages, chosen.days, hours) for hours in LEAST_HOURS], chosen.json)


if __name__ == "__main__":
    main()
