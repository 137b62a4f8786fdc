"""How soon a crawl finds the relevant pages of real sites: our frontier beside the baselines.

    python benchmarks/focus.py --bench ../shared/bench/web                # all visible queries
    python benchmarks/focus.py --bench ../shared/bench/web --set learn=false --set cluster_cap=5
    python benchmarks/focus.py --bench ../shared/bench/web --sites python,debian

The sites, queries and judgements are not part of this project: `--bench` names their folder (with `simulate.py`), and
`WEB_DATA` the data that its README builds. Every crawl goes through the public API on a real store; nothing is taken
from the graph but what a fetch would bring.
"""

from __future__ import annotations

import argparse
import importlib
import json
import multiprocessing
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pagesift_store import FoundLink, Frontier, Lease, Page, Settings

KEYS = ("harvest@50", "harvest@100", "harvest@200", "recall@100", "recall@500", "auc")
BASELINES = ("bfs", "kw-anchor", "shark", "oracle")


@dataclass
class Fetched:
    """A page that was fetched and is not observed yet."""

    page: Any
    links: list[FoundLink]
    redirect: bool


class Store:
    """A `simulate.Strategy` around a frontier on a store of its own.

    Attributes:
        stopped: pages after which a stop rule held first, and which; None while none did. It is not obeyed.
    """

    def __init__(self, query: str, *, graph: Any, settings: Settings, folder: str) -> None:
        self._graph = graph
        self._host = f"http://{graph.name}.example"
        self._ids: dict[str, int] = {}
        self._anchors: dict[int, tuple[str, str]] = {}
        self._lease: Lease | None = None
        self._missing = False
        self._pages = 0
        self.stopped: tuple[int, str] | None = None
        self._fetched: Fetched | None = None
        self._frontier = Frontier.open(Path(folder) / "crawl.db", query=query, settings=settings)

    def seed(self, i: int, url: str) -> None:
        """The start page."""
        self._ids[self._host + url] = i
        self._frontier.add([self._host + url])

    def fetched(self, i: int, page: Any) -> None:
        """A page came in; its links follow."""
        self._fetched = Fetched(page, [], self._graph.kind[i] == "redirect")
        self._missing = self._graph.kind[i] == "missing"
        for (
            target,
            anchor,
            context,
            *_,
        ) in page.links:  # those to pages fetched before, too: a page brings them all
            if target != i:
                self._found(target, self._graph.url[target], anchor, context)

    def link(self, i: int, link: Any, parent: Any) -> None:
        """A mention of a page that is not fetched yet; those of pages are known, that of a redirect is new."""
        assert self._fetched is not None
        if self._fetched.redirect and self._lease is not None:
            # A client follows a redirect at once; where it costs a fetch of its own, its link says what the first said.
            self._found(i, link.url, *self._anchors.get(self._ids.get(self._lease.url, -1), ("", "")))

    def _found(self, i: int, path: str, anchor: str, context: str) -> None:
        assert self._fetched is not None
        url = self._host + path
        self._ids.setdefault(url, i)
        self._anchors.setdefault(i, (anchor, context))
        self._fetched.links.append(FoundLink(url, anchor, context))

    def next(self) -> int | None:
        """Observe what was fetched, then take the best link."""
        if self._fetched is not None and self._lease is not None:
            page, links = self._fetched.page, self._fetched.links
            observation = self._frontier.observe(
                self._lease,
                Page(
                    url=self._lease.url,
                    title=page.title,
                    headings=[text for _, text in page.headings],
                    text=page.main,
                    links=links,
                    status=404 if self._missing else 200,
                    language=getattr(page, "lang", None) or None,
                ),
            )
            self._fetched = None
            self._pages += 1
            if observation.stop is not None and self.stopped is None:
                self.stopped = self._pages, observation.stop.reason.value
        leases = self._frontier.lease(1)
        if not leases:
            return None
        self._lease = leases[0]
        return self._ids[self._lease.url]

    def close(self) -> None:
        """The crawl is over."""
        self._frontier.close()


def modules(bench: str, *names: str) -> list[Any]:
    """Modules of the bench's folder."""
    if bench not in sys.path:
        sys.path.insert(0, bench)
    return [importlib.import_module(name) for name in names]


def crawl_one(job: tuple[str, str, dict[str, Any], int]) -> list[dict[str, Any]]:
    """All queries of one site, or every n-th, by one configuration."""
    site, bench, changes, every = job
    judge, simulate, graphs = modules(bench, "judge", "simulate", "graph")
    graph = graphs.Graph(site)
    rows = []
    for query in [one for one in judge.load() if one["site"] == site and one["relevant"]][::every]:
        settings = Settings(
            default_delay=0.0, durability="normal", language=query.get("lang", "en"), **changes
        )
        with tempfile.TemporaryDirectory() as folder:
            strategy = Store(query["query"], graph=graph, settings=settings, folder=folder)
            order = simulate.crawl(graph, strategy)
            strategy.close()
        relevant = judge.relevant_ids(graph, query)
        pages, reason = strategy.stopped or (len(order), "")
        rows.append(
            {
                "query": query["id"],
                "site": site,
                **judge.metrics(graph, order, relevant),
                "stopped_after": pages,
                "stopped_by": reason,
                "found_by_then": judge.metrics(graph, order[:pages], relevant)["found"],
            }
        )
        print(f"  {query['id']:14} auc {rows[-1]['auc']:.3f}", file=sys.stderr, flush=True)
    return rows


def baselines(bench: str, sites: list[str]) -> dict[str, list[dict[str, Any]]]:
    """The baselines' rows, run once and kept beside the data."""
    simulate, webtree = modules(bench, "simulate", "webtree")
    kept = Path(webtree.DATA) / "baselines-few.json"
    if not kept.exists():
        simulate.run_all(list(BASELINES), [], str(kept))
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in json.loads(kept.read_text()):
        if row["query"].rsplit("-", 1)[0] in sites:
            found[row["strategy"]].append({**row, "site": row["query"].rsplit("-", 1)[0]})
    return found


def mean(rows: list[dict[str, Any]], key: str) -> float:
    """Mean of a figure over queries."""
    return sum(row[key] for row in rows) / len(rows) if rows else 0.0


def print_tables(results: dict[str, list[dict[str, Any]]], sites: list[str]) -> None:
    """The means, and AUC by site."""
    print("\n| strategy | " + " | ".join(KEYS) + " |")
    print("|---" * (len(KEYS) + 1) + "|")
    for name, rows in results.items():
        print(f"| {name} | " + " | ".join(f"{mean(rows, key):.3f}" for key in KEYS) + " |")
    print("\n| AUC by site | " + " | ".join(results) + " |")
    print("|---" * (len(results) + 1) + "|")
    for site in sites:
        cells = (mean([row for row in rows if row["site"] == site], "auc") for rows in results.values())
        print(f"| {site} | " + " | ".join(f"{cell:.3f}" for cell in cells) + " |")


def print_stop(rows: list[dict[str, Any]]) -> None:
    """What adaptive stopping would have saved and lost."""
    fetched, stopped = (sum(row[key] for row in rows) for key in ("fetched", "stopped_after"))
    found, by_then = (sum(row[key] for row in rows) for key in ("found", "found_by_then"))
    print(
        f"\nadaptive stop: {stopped:,} of {fetched:,} fetches ({1 - stopped / fetched:.0%} saved), "
        f"{by_then:,} of {found:,} relevant pages ({1 - by_then / max(found, 1):.1%} lost)"
    )


def main() -> None:
    """Crawl, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--bench", required=True, help="folder of the bench web, with simulate.py")
    parser.add_argument("--sites", default="", help="comma-separated; all by default")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=JSON", help="a setting to change")
    parser.add_argument("--name", default="pagesift-store")
    parser.add_argument("--json", type=Path, help="write the rows here")
    parser.add_argument("--no-baselines", action="store_true")
    parser.add_argument("--jobs", type=int, default=1, help="processes, each with a site of its own (1)")
    arguments = parser.parse_args()
    bench = str(Path(arguments.bench).resolve())
    (judge,) = modules(bench, "judge")
    sites = list(dict.fromkeys(query["site"] for query in judge.load() if query["relevant"]))
    if arguments.sites:
        sites = [site for site in sites if site in arguments.sites.split(",")]
    changes = {name: json.loads(value) for name, _, value in (text.partition("=") for text in arguments.set)}
    with multiprocessing.Pool(arguments.jobs) as pool:
        rows = [
            row
            for part in pool.imap_unordered(crawl_one, [(s, bench, changes, 1) for s in sites])
            for row in part
        ]
    results = {} if arguments.no_baselines else dict(baselines(bench, sites))
    results[arguments.name] = rows
    print_tables(results, sites)
    print_stop(rows)
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
