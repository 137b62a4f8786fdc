"""How relevance separates judged pages from others: the area under the ROC curve over all pages of a site.

    python benchmarks/relevance.py --bench ../shared/bench/web

Pages come in the order of a breadth-first crawl, each judged by the statistics of those before it, as in an
observation. A value of 1 puts every judged page above every other one; 0.5 is chance.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from bisect import bisect_left, bisect_right
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # "python benchmarks/relevance.py" works, too

from benchmarks.focus import modules
from pagesift_store.focus.analysis import analyse, read_main
from pagesift_store.focus.relevance import SiteStatistics, relevance
from pagesift_store.focus.text import QueryTerms
from pagesift_store.urls.reading import read
from pagesift_store.urls.shapes import is_furniture
from pagesift_store.urls.words import url_text


def auc(judged: list[float], others: list[float]) -> float:
    """Share of pairs in which the judged page is the more relevant; ties count half."""
    ordered = sorted(others)
    below = sum((bisect_left(ordered, value) + bisect_right(ordered, value)) / 2 for value in judged)
    return below / (len(judged) * len(ordered))


def site_figures(job: tuple[str, str]) -> list[tuple[str, float, int, int]]:
    """Query, area, judged pages, other pages of one site."""
    site, bench = job
    judge, graphs = modules(bench, "judge", "graph")
    graph = graphs.Graph(site)
    queries = [query for query in judge.load() if query["site"] == site and query["relevant"]]
    terms = [QueryTerms.parse(query["query"], query.get("lang", "en")) for query in queries]
    stats = [SiteStatistics.empty(len(one)) for one in terms]
    found: list[tuple[list[float], list[float]]] = [([], []) for _ in queries]
    wanted = [judge.relevant_ids(graph, query) for query in queries]
    for i in graph.html_ids():
        if graph.dup[i] != i:
            continue
        page, web = graph.page(i), read(f"http://{site}.example{graph.url[i]}")
        for n, one in enumerate(terms):
            evidence = _evidence(one, page, web)
            found[n][i not in wanted[n]].append(relevance(evidence, stats[n]))
            stats[n] = stats[n].including(evidence)
    return [
        (query["id"], auc(*pair), len(pair[0]), len(pair[1]))
        for query, pair in zip(queries, found, strict=True)
    ]


def _evidence(terms: QueryTerms, page: Any, web: Any) -> Any:
    return analyse(
        terms,
        read_main(terms, page.main, [link[1] for link in page.links]),
        title=page.title,
        url_text=url_text(web),
        headings=[text for _, text in page.headings],
        furniture=is_furniture(web),
    ).evidence


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bench", required=True, help="folder of the bench web, with judge.py")
    parser.add_argument("--sites", default="", help="comma-separated; all by default")
    parser.add_argument("--jobs", type=int, default=1, help="processes, each with a site of its own (1)")
    arguments = parser.parse_args()
    bench = str(Path(arguments.bench).resolve())
    (judge,) = modules(bench, "judge")
    sites = list(dict.fromkeys(query["site"] for query in judge.load() if query["relevant"]))
    sites = [site for site in sites if not arguments.sites or site in arguments.sites.split(",")]
    with multiprocessing.Pool(arguments.jobs) as pool:
        rows = [
            row for part in pool.imap_unordered(site_figures, [(s, bench) for s in sites]) for row in part
        ]
    print("| query | AUC | judged | others |\n|---|---|---|---|")
    for query, area, judged, others in sorted(rows):
        print(f"| {query} | {area:.3f} | {judged} | {others:,} |")
    print(f"| mean | {sum(row[1] for row in rows) / len(rows):.3f} | | |")


if __name__ == "__main__":
    main()
