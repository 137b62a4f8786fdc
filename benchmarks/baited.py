"""What traps cost a focused crawl of real sites: a share of the pages carries bait, of all kinds but those of time.

    python benchmarks/baited.py --bench ../shared/bench/web               # at a rate of 0.25, all visible queries
    python benchmarks/baited.py --bench ../shared/bench/web --every 9          # one query a site

Calendars without end, sessions, facets, printable copies, false 404s, redirects in chains and loops, errors, wrong
charsets, one endless page. A fetch is lost when its URL is of a trap's making and it shows no page of the site, or one
that was shown before. Answers come at once and nothing is tried twice, so slowness and retries cost nothing here.
Needs lxml, which the bench reads its pages with.
"""

from __future__ import annotations

import argparse
import html
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # "python benchmarks/baited.py" works, too

from benchmarks.focus import Store, mean, modules
from pagesift_store import Settings

KINDS = "calendar,session,facets,duplicates,soft404,redirects,slow,errors,charset,huge,changing"
DISGUISED = re.compile(r"/(?:(?:slow|changing|go)/[^/]+|(?:charset|flaky)/[^/]+/[^/]+)(/.*)")
BASELINES = {"breadth-first": "bfs", "shark-search": "shark"}


class Baited:
    """A `graph.Graph` with traps: what `simulate.crawl` and `judge.metrics` ask of one, grown as bait is taken."""

    def __init__(self, graph: Any, webtree: Any, parse: Any, rate: float) -> None:
        self._graph, self._webtree, self._parse = graph, webtree, parse
        self._site = webtree.SITES[graph.name]
        self._traps = webtree.Traps(KINDS, rate=rate)
        self.name, self.start, self.real = graph.name, graph.start, len(graph.url)
        self.url, self.kind, self.target = list(graph.url), list(graph.kind), list(graph.target)
        self.dup = list(graph.dup)
        self.id = dict(graph.id)
        self._pages: dict[int, Any] = {}

    def _number(self, url: str) -> int:
        """The id of a URL, made when it is new; what it answers shows when it is fetched."""
        known = self.id.get(url)
        if known is None:
            known = self.id[url] = len(self.url)
            for column, value in (
                (self.url, url),
                (self.kind, "html"),
                (self.target, None),
                (self.dup, None),
            ):
                column.append(value)
        return known

    def page(self, i: int) -> Any:
        """What a fetch brings; links as [id, anchor, context, heading, in a menu, nofollow]."""
        if i not in self._pages:
            shown = i if i < self.real else self.id.get(self.url[i].partition("?")[0], i)
            if shown < self.real:  # a query changes nothing of a real page
                self.kind[i], self.target[i] = self.kind[shown], self.target[shown]
                self.dup[i] = self._graph.canonical(shown)
                page = self._graph.page(shown)
                links = self._tainted(i, page) if self.kind[i] == "html" else []
                self._pages[i] = type(page)(**{**vars(page), "links": links})
            else:
                self._pages[i] = self._trap(i, self.url[i])
        return self._pages[i]

    def _trap(self, i: int, url: str) -> Any:
        answer = self._traps.resolve(self._site, url)
        if answer.location:
            self.kind[i], self.target[i] = "redirect", self._number(urljoin(url, answer.location))
        elif answer.status >= 400:
            self.kind[i] = "missing"
        if self.kind[i] != "html":
            return self._parse.Page(url)
        page = self._parse.parse(answer.body, answer.ctype, url)
        disguised = DISGUISED.fullmatch(url)
        of = self._graph.id.get(disguised[1]) if disguised else None
        self.dup[i] = None if of is None else self._graph.canonical(of)
        page.links = [[self._number(link[0]), *link[1:]] for link in page.links]
        return page

    def canonical(self, i: int) -> int:
        """The page that a URL shows: through redirects, then the first copy."""
        for _ in range(20):
            if self.kind[i] != "redirect" or self.target[i] is None:
                break
            i = self.target[i]
        copy = self.dup[i]
        return i if copy is None else copy

    def _tainted(self, i: int, page: Any) -> list[list[Any]]:
        """The page's own links, with a session where there is one, and the bait at its foot."""
        path, _, query = self.url[i].partition("?")
        own = "".join(f'<a href="{html.escape(self.url[link[0]])}">x</a>' for link in page.links)
        pairs = dict(pair.partition("=")[::2] for pair in query.split("&") if pair)
        body = self._traps._taint(self._site, path, pairs, f"<body>{own}</body>".encode())
        found = re.findall(r'<a href="([^"]*)">([^<]*)</a>', body.decode())
        links = []
        for link, (href, _) in zip(page.links, found, strict=False):
            links.append([self._number(html.unescape(href)), *link[1:]])
        for href, text in found[len(page.links) :]:
            anchor = html.unescape(text)
            links.append([self._number(urljoin(path, html.unescape(href))), anchor, anchor, 0, 1, False])
        return links

    def lost(self, order: list[int]) -> int:
        """Fetches of a trap's making that showed no page of the site, or one that was shown before."""
        seen: set[int] = set()
        lost = 0
        for i in order:
            shown = self.canonical(i)
            lost += i >= self.real and (shown >= self.real or shown in seen)
            seen.add(shown)
        return lost


def crawls(
    site: str, bench: str, rate: float, runs: dict[str, dict[str, Any]], every: int
) -> list[dict[str, Any]]:
    """All queries of one site, or every n-th, by the baselines and by every configuration."""
    judge, simulate, graphs, webtree, parse = modules(bench, "judge", "simulate", "graph", "webtree", "parse")
    graph = graphs.Graph(site)
    rows = []
    for query in [one for one in judge.load() if one["site"] == site and one["relevant"]][::every]:
        for name in (*BASELINES, *runs):
            baited = Baited(graph, webtree, parse, rate)
            with tempfile.TemporaryDirectory() as folder:
                if name in BASELINES:
                    strategy = simulate.STRATEGIES[BASELINES[name]](query["query"])
                else:
                    settings = Settings(
                        default_delay=0.0, durability="normal", language=query.get("lang", "en"), **runs[name]
                    )
                    strategy = Store(query["query"], graph=baited, settings=settings, folder=folder)
                order = simulate.crawl(baited, strategy)
                if name not in BASELINES:
                    strategy.close()
            figures = judge.metrics(baited, order, judge.relevant_ids(graph, query))
            rows.append(
                {"strategy": name, "site": site, "query": query["id"], "lost": baited.lost(order), **figures}
            )
        print(f"  {query['id']}", file=sys.stderr, flush=True)
    return rows


def main() -> None:
    """Crawl, print the table."""
    parser = argparse.ArgumentParser(description="What traps cost a focused crawl of real sites.")
    parser.add_argument(
        "--bench", required=True, help="folder of the bench web, with webtree.py and its trees"
    )
    parser.add_argument("--rate", type=float, default=0.25, help="share of the pages that carry bait (0.25)")
    parser.add_argument("--sites", default="", help="comma-separated; all by default")
    parser.add_argument(
        "--every", type=int, default=1, metavar="N", help="every N-th query of a site (1: all)"
    )
    parser.add_argument("--set", action="append", default=[], metavar="NAME=JSON", help="a setting to change")
    arguments = parser.parse_args()
    bench = str(Path(arguments.bench).resolve())
    (judge,) = modules(bench, "judge")
    sites = list(dict.fromkeys(query["site"] for query in judge.load() if query["relevant"]))
    sites = [site for site in sites if not arguments.sites or site in arguments.sites.split(",")]
    changes = {name: json.loads(value) for name, _, value in (text.partition("=") for text in arguments.set)}
    runs = {"pagesift-store": changes}
    rows = [row for site in sites for row in crawls(site, bench, arguments.rate, runs, arguments.every)]
    print(
        "| | fetches | lost to traps | share | harvest@100 | recall@500 | AUC |\n|---|---|---|---|---|---|---|"
    )
    for name in (*BASELINES, *runs):
        own = [row for row in rows if row["strategy"] == name]
        fetched, lost = sum(row["fetched"] for row in own), sum(row["lost"] for row in own)
        figures = " | ".join(f"{mean(own, key):.3f}" for key in ("harvest@100", "recall@500", "auc"))
        print(f"| {name} | {fetched:,} | {lost:,} | {lost / fetched:.1%} | {figures} |")


if __name__ == "__main__":
    main()
