"""A focused crawl of a real site, killed at random moments: the pages come in the order of an undisturbed crawl.

    python benchmarks/focus_resume.py --bench ../shared/bench/web                 # python-1, 20 kills of 500 fetches
    python benchmarks/focus_resume.py --bench ../shared/bench/web --query java-7 --kills 50 --seed 3

Each kill is a SIGKILL of the crawling process after a random time; a new process goes on with the store. Compared are
the order of the fetches and the whole dump, floats to the bit.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # "python benchmarks/focus_resume.py" works, too

from benchmarks.focus import modules
from pagesift_store import FoundLink, Frontier, Page, Settings

NOW = 1e9
"""The clock stands still, so that no score of time differs between runs."""


def crawl(graph: Any, query: dict[str, Any], store: Path, budget: int) -> None:
    """Go on with a crawl until its budget is used up."""
    host = f"http://{graph.name}.example"
    settings = Settings(
        default_delay=0.0, durability="normal", language=query.get("lang", "en"), max_pages=budget
    )
    with Frontier.open(store, query=query["query"], settings=settings, clock=lambda: NOW) as frontier:
        frontier.add([host + graph.url[graph.start]])
        while leases := frontier.lease(1):
            i = graph.id[leases[0].url.removeprefix(host)]
            page = graph.page(i)
            found = [FoundLink(host + graph.url[link[0]], link[1], link[2]) for link in page.links]
            if graph.kind[i] == "redirect":
                found = [FoundLink(host + graph.url[graph.target[i]])]
            frontier.observe(
                leases[0],
                Page(
                    url=leases[0].url,
                    status=404 if graph.kind[i] == "missing" else 200,
                    title=page.title,
                    headings=[text for _, text in page.headings],
                    text=page.main,
                    links=found,
                ),
            )


def result(store: Path) -> tuple[list[int], list[dict[str, Any]]]:
    """Links in the order of their fetches, and the dump."""
    with Frontier.open(store, clock=lambda: NOW) as frontier:
        dump = [dict(row) for row in frontier.dump()]
    return [row["link_id"] for row in dump if row["table"] == "page"], dump


def killed(
    graph: Any, query: dict[str, Any], store: Path, budget: int, kills: int, rng: random.Random
) -> int:
    """Crawl and be killed; returns how many kills met a process that still ran."""
    fork = multiprocessing.get_context("fork")
    met = 0
    for _ in range(kills):
        process = fork.Process(target=crawl, args=(graph, query, store, budget))
        process.start()
        process.join(rng.uniform(0.0, 0.8))
        if process.is_alive() and process.pid is not None:
            os.kill(process.pid, signal.SIGKILL)
            met += 1
        process.join()
    return met


def main() -> None:
    """Crawl twice, compare; the exit code is 1 when they differ."""
    parser = argparse.ArgumentParser(
        description="A focused crawl killed at random moments goes on as if it was not."
    )
    parser.add_argument("--bench", required=True, help="folder of the bench web, with graph.py")
    parser.add_argument("--query", default="python-1", help="one of the bench's (python-1)")
    parser.add_argument("--budget", type=int, default=500, help="fetches (500)")
    parser.add_argument("--kills", type=int, default=20, help="processes to kill (20)")
    parser.add_argument("--seed", type=int, default=20_261_130, help="of the moments")
    chosen = parser.parse_args()
    judge, graphs = modules(str(Path(chosen.bench).resolve()), "judge", "graph")
    query = next(query for query in judge.load() if query["id"] == chosen.query)
    graph = graphs.Graph(query["site"])
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        whole, broken = Path(folder) / "whole.db", Path(folder) / "broken.db"
        met = killed(graph, query, broken, chosen.budget, chosen.kills, random.Random(chosen.seed))
        crawl(graph, query, broken, chosen.budget)
        crawl(graph, query, whole, chosen.budget)
        (order, dump), (expected, expected_dump) = result(broken), result(whole)
    same, equal = order == expected, dump == expected_dump
    print(
        f"{query['id']}: {len(order)} fetches, {met} kills of a running process, "
        f"order {'the same' if same else 'DIFFERS'}, dump {'the same' if equal else 'DIFFERS'}, "
        f"{time.monotonic() - start:.0f} s"
    )
    sys.exit(0 if same and equal else 1)


if __name__ == "__main__":
    main()
