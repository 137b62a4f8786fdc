"""Seconds per rescore, beside an UPDATE by hand over the same columns, indexes and cache.

    python -m benchmarks.rescore
    python -m benchmarks.rescore --sizes 10k,100k,1M --rounds 7

Two cases. *Every score changes*: all links hold a term of the query in their anchors, and the anchor's weight moves.
*One term of three drifts*: links as a crawl finds them, of which most hold no term and must not be touched. The weights
are moved by hand, to and fro, in the tables that hold them; then `Frontier.rescore` and the floor's UPDATE take turns.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # "python benchmarks/rescore.py" works, too

from benchmarks.floor import RescoreFloor
from benchmarks.harness import Figure, Spent, at_most, named, parser, ratios, report, sizes
from benchmarks.stores import copied, crawl_store, scratch, sql
from pagesift_store import Frontier

if TYPE_CHECKING:
    import sqlite3

UNFINISHED = "state IN ('queued', 'leased', 'waiting') AND NOT given"
MOVABLE = f"{UNFINISHED} AND (anchor_hits | url_hits | context_hits <> 0 OR parent_relevance > 0)"


class Case(NamedTuple):
    """One way of moving the weights, to be done and undone in turns."""

    name: str
    hitting: bool
    moves: tuple[str, str]


CASES = (
    Case(
        "every score changes",
        True,
        (
            "UPDATE posterior SET weight = 1.75 WHERE feature = 'anchor'",
            "UPDATE posterior SET weight = 2.0 WHERE feature = 'anchor'",
        ),
    ),
    Case(
        "one term of three drifts",
        False,
        (
            "UPDATE term SET df = (SELECT texts / 10 FROM crawl) WHERE bit = 1",
            "UPDATE term SET df = (SELECT texts / 100 FROM crawl) WHERE bit = 1",
        ),
    ),
)


def measure(case: Case, queued: int, rounds: int, durability: str) -> Figure:
    """The median rescore of a store of this size, beside the floor's."""
    base = crawl_store(queued, hitting=case.hitting)
    store, hand = Spent(), Spent()
    with scratch("rescore") as path, scratch("rescore-floor") as floor_path:
        copied(base, path)
        floor = RescoreFloor(floor_path, path, durability)
        with Frontier.open(path) as frontier:
            frontier.configure(durability=durability)
            frontier.rescore()  # whatever the crawl left to do, and a warm cache, as the floor's copy has
            for turn in range(rounds):
                with sql(path) as connection:
                    connection.execute(case.moves[turn % 2])
                with store.timed():
                    rows = frontier.rescore()
                with sql(path) as connection:
                    features, terms = weights(connection)
                with hand.timed():
                    floor.rescore(features, terms, all_rows=case.hitting)
            check(path, floor, rows, queued, case)
        floor.close()
    ratio = ratios(store.laps, hand.laps)
    return Figure(
        name=f"rescore, {case.name}, {named(queued)} queued",
        value=median(store.laps),
        unit="s",
        floor=median(hand.laps),
        ratio=ratio,
        cpu_ms=store.cpu / rounds * 1e3,
        floor_cpu_ms=hand.cpu / rounds * 1e3,
        note=f"{rows:,} rows",
        **at_most(ratio, 1.5, "× the floor"),
    )


def weights(connection: sqlite3.Connection) -> tuple[list[float], list[float]]:
    """The weights in use: of the features, of the terms."""
    features = connection.execute("SELECT weight FROM posterior WHERE weight IS NOT NULL ORDER BY position")
    terms = connection.execute("SELECT weight FROM term ORDER BY bit")
    return [row[0] for row in features], [row[0] for row in terms]


def check(path: Path, floor: RescoreFloor, rows: int, queued: int, case: Case) -> None:
    """Both did the work: the same scores, and no row touched that no weight can move."""
    with sql(path) as connection:
        ours = connection.execute("SELECT sum(score) FROM link").fetchone()[0]
        movable = connection.execute(f"SELECT count(*) FROM link WHERE {MOVABLE}").fetchone()[0]
    if not math.isclose(ours, floor.scores(), rel_tol=1e-9):
        raise SystemExit(f"store and floor differ: {ours!r} and {floor.scores()!r}")
    if not 0 < rows <= movable or (case.hitting and rows != queued):
        raise SystemExit(f"{rows} rows changed, of {movable} that weights can move and {queued} queued")


def main() -> None:
    """Measure and print."""
    options = parser("Seconds per rescore, beside an UPDATE by hand.")
    options.add_argument("--sizes", type=sizes, default=[10_000, 100_000], help="links queued (10k,100k)")
    options.add_argument("--rounds", type=int, default=5, help="rescores of each, in turns (5)")
    options.add_argument("--durability", choices=("full", "normal"), default="full")
    chosen = options.parse_args()
    found = [
        measure(case, queued, chosen.rounds, chosen.durability) for case in CASES for queued in chosen.sizes
    ]
    report(found, chosen.json)


if __name__ == "__main__":
    main()
