"""Bulk add: 100,000 canonical URLs, each looked up and stored once, durably; then all of them again.

    python -m benchmarks.add

A store and a floor take the same URLs in the same batches, in turns, each round into new files. The first row gives
every URL a score, as the floor has it; the second lets the store compute the scores from anchors and contexts.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # "python benchmarks/add.py" works, too

from benchmarks import workload
from benchmarks.floor import Floor
from benchmarks.harness import Figure, Spent, at_least, named, number, parser, ratios, report, settle, sizes
from benchmarks.stores import SETTINGS, scratch
from pagesift_store import FoundLink, Frontier

if TYPE_CHECKING:
    from collections.abc import Sequence

BATCH = 5_000


class Round(NamedTuple):
    """What one round of adding took: new URLs, then the same ones again."""

    new: Spent
    known: Spent


def add_to_store(links: Sequence[FoundLink], durability: str) -> Round:
    """A new store takes the links, twice."""
    made = Round(Spent(), Spent())
    settings = SETTINGS.changed({"durability": durability})
    with scratch("add") as path, Frontier.open(path, query=workload.QUERY, settings=settings) as frontier:
        for spent in made:
            for start in range(0, len(links), BATCH):
                with spent.timed():
                    frontier.add(links[start : start + BATCH], depth=1)
    return made


def add_to_floor(items: Sequence[tuple[str, float]], durability: str) -> Round:
    """A new floor takes the URLs, twice."""
    made = Round(Spent(), Spent())
    with scratch("add-floor") as path:
        floor = Floor(path, durability)
        for spent in made:
            for start in range(0, len(items), BATCH):
                with spent.timed():
                    floor.add(items[start : start + BATCH])
        floor.close()
    return made


def measure(urls: int, rounds: int, durability: str) -> list[Figure]:
    """The figures of one durability."""
    items = [(workload.url(i), workload.given_score(i)) for i in range(urls)]
    given = [FoundLink(url, score=score) for url, score in items]
    scored = [workload.found_link(i) for i in range(urls)]
    settle()
    floors: list[Round] = []
    ours: dict[str, list[Round]] = {"with scores": [], "scored by us": []}
    for _ in range(rounds):
        floors.append(add_to_floor(items, durability))
        ours["with scores"].append(add_to_store(given, durability))
        ours["scored by us"].append(add_to_store(scored, durability))
    found = []
    for name, runs in ours.items():
        what = f"add {named(urls)} URLs {name}, {durability}"
        found.append(figure(what, urls, [r.new for r in runs], [r.new for r in floors], barred=True))
    again = [r.known for r in ours["with scores"]]
    found.append(figure("… all of them known", urls, again, [r.known for r in floors], barred=False))
    return found


def figure(name: str, urls: int, ours: list[Spent], floors: list[Spent], *, barred: bool) -> Figure:
    """URLs a second, beside the floor's."""
    rates = [urls / spent.wall for spent in ours]
    floor_rates = [urls / spent.wall for spent in floors]
    ratio = ratios(rates, floor_rates)
    cpu = ratios([spent.cpu for spent in floors], [spent.cpu for spent in ours])
    return Figure(
        name=name,
        value=median(rates),
        unit="URLs/s",
        floor=median(floor_rates),
        ratio=ratio,
        cpu_ms=median(spent.cpu for spent in ours) / urls * 1e3,
        floor_cpu_ms=median(spent.cpu for spent in floors) / urls * 1e3,
        note=f"CPU ratio {number(cpu, 2)}",
        **(at_least(ratio, 0.15) if barred else {}),
    )


def main() -> None:
    """Measure and print."""
    options = parser("Bulk add beside a hand-tuned floor.")
    options.add_argument("--urls", type=sizes, default=[100_000], help="URLs added (100k)")
    options.add_argument("--rounds", type=int, default=5, help="rounds, in turns (5)")
    options.add_argument("--durability", choices=("full", "normal"), default="full")
    chosen = options.parse_args()
    found = [each for urls in chosen.urls for each in measure(urls, chosen.rounds, chosen.durability)]
    report(found, chosen.json)


if __name__ == "__main__":
    main()
