"""What each rule of the order buys: all visible queries with one rule at a time left out.

    python benchmarks/ablation.py --bench ../shared/bench/web                        # an hour and more
    python benchmarks/ablation.py --bench ../shared/bench/web --every 2              # every second query of a site
    python benchmarks/ablation.py --bench ../shared/bench/web --only all "no lift"

Rules that a setting turns off are turned off by it; the others by taking their function or constant out of the package
for the time of a run. Nothing else differs.
"""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # "python benchmarks/ablation.py" works, too

from benchmarks.focus import KEYS, crawl_one, mean, modules
from pagesift_store.focus import analysis, features, nearby, order, passages, relevance, text
from pagesift_store.transactions import heads, learning, repeats, signals

Patches = list[tuple[Any, str, Any]]


def _by_score_alone(own: Any, link: Any, web: Any, found: Any, carrier: Any) -> tuple[Any, float] | None:
    """The better find, its carrier with it."""
    signal, value = own.of(web, found, carrier, link.decay)
    return (signal, value) if value > link.score else None


def _demoted_alone(head: order.Head, _total: order.Harvest, _delta: float) -> bool:
    return head.demoted


RULES: dict[str, tuple[dict[str, Any], Patches]] = {
    "all": ({}, []),
    "reference features only": ({"focus": "reference"}, []),
    "no link model": ({"learn": False}, []),
    "no harvest rules": (
        {},
        [
            (order, "set_aside", _demoted_alone),
            (heads, "set_aside", _demoted_alone),
            (repeats, "is_demoted", lambda *_: False),
        ],
    ),
    "no diversity": ({"cluster_cap": 1_000_000_000}, []),
    "proof and cap as in the reference": (
        {},
        [(heads, "choose", lambda *heads, **rest: order.choose(*heads, **{**rest, "lenient": False}))],
    ),
    "no collocations": (
        {},
        [(relevance.SiteStatistics, "collocations", lambda own, _delta: [False] * len(own.pair_counts))],
    ),
    "no drift rescoring": ({"rescore_drift": 1.0}, []),
    "no lift": ({}, [(learning, "LANE_WEIGHT", 0.0)]),
    "carrier of the better find": ({}, [(signals.Signals, "better", _by_score_alone)]),
    "lists do not go on": ({}, [(features, "CONTINUATION_FLOOR", 0.0)]),
    "no languages": (
        {},
        [(features, "FOREIGN_FACTOR", 1.0), (features, "LANGUAGE_EDITION_FLOOR", 0.0)],
    ),
    "no camel case": (
        {},
        [(module, "spread", lambda text: text) for module in (analysis, nearby, passages, text)],
    ),
}


def run(bench: str, sites: list[str], name: str, every: int) -> list[dict[str, Any]]:
    """The rows of all queries without one rule."""
    changes, patches = RULES[name]
    with ExitStack() as stack:
        for where, what, instead in patches:
            stack.enter_context(patch.object(where, what, instead))
        return [row for site in sites for row in crawl_one((site, bench, changes, every))]


def main() -> None:
    """Leave out one rule after the other, print each line as it is done."""
    parser = argparse.ArgumentParser(description="What each rule of the order buys.")
    parser.add_argument("--bench", required=True, help="folder of the bench web, with simulate.py")
    parser.add_argument("--sites", default="", help="comma-separated; all by default")
    parser.add_argument(
        "--every", type=int, default=1, metavar="N", help="every N-th query of a site (1: all)"
    )
    parser.add_argument("--only", nargs="+", choices=RULES, default=list(RULES), help="some of the rules")
    parser.add_argument("--json", type=Path, help="write the rows here")
    arguments = parser.parse_args()
    bench = str(Path(arguments.bench).resolve())
    (judge,) = modules(bench, "judge")
    sites = list(dict.fromkeys(query["site"] for query in judge.load() if query["relevant"]))
    sites = [site for site in sites if not arguments.sites or site in arguments.sites.split(",")]
    print("| | " + " | ".join(KEYS) + " |\n|---" + "|---" * len(KEYS) + "|", flush=True)
    found: dict[str, list[dict[str, Any]]] = {}
    for name in arguments.only:
        found[name] = run(bench, sites, name, arguments.every)
        print(f"| {name} | " + " | ".join(f"{mean(found[name], key):.3f}" for key in KEYS) + " |", flush=True)
        if arguments.json is not None:
            arguments.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
