"""What one link costs: the whole URL pipeline beside the bare parser and beside w3lib.

    pip install 'pagesift-store[bench]'
    python benchmarks/urls.py

Microseconds of processor time per link, median of interleaved rounds, so that a busy machine slows all rows
alike. The links are made up from a fixed seed: pages of 30 links as universities have them, most of them
relative or to the same host. w3lib gets them resolved, for `canonicalize_url` does not resolve; our
pipeline and the parser get them as found.
"""

from __future__ import annotations

import argparse
import gc
import random
import time
from itertools import accumulate
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

import ada_url
from rich.console import Console
from rich.table import Table
from w3lib.url import canonicalize_url

from pagesift_store.errors import InvalidUrl
from pagesift_store.urls.filters import refusal
from pagesift_store.urls.keys import key_rules
from pagesift_store.urls.parts import place
from pagesift_store.urls.pipeline import UrlRules, key_hash
from pagesift_store.urls.reading import WebUrl, read, resolve
from pagesift_store.urls.rewrite import RewriteRule, RewriteSet
from pagesift_store.urls.scope import Scope
from pagesift_store.urls.shapes import is_furniture, is_section, path_language
from pagesift_store.urls.words import url_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HOSTS = ("www.example.edu", "library.example.edu", "www.law.example.edu", "www.example.org")
WORDS = (
    "admissions", "visa", "fees", "student", "international", "research", "housing", "grants",
    "faculty", "course", "calendar", "guide", "support", "apply", "deadline", "scholarship",
    "language", "centre", "program", "policy", "form", "contact", "people", "project", "lab",
)  # fmt: skip
DIRECTORIES = 1_000
SEED_HOSTS = frozenset({"example.edu"})
REWRITES = RewriteSet([RewriteRule("drop_param_value", "print", "1"), RewriteRule("drop_param", "highlight")])


class Link(NamedTuple):
    """A link as found, with the page that carries it."""

    base: WebUrl
    href: str
    web: WebUrl


def make_links(count: int) -> list[Link]:
    """Links that the rules admit; the same ones for the same count."""
    rng = random.Random(20240229)
    rules = UrlRules(key_rules("standard"), Scope("any"))
    directories = [_directory(rng) for _ in range(DIRECTORIES)]
    # The n-th directory gets a share of 1/n: on real sites, too, a few get most of the links.
    shares = list(accumulate(1 / rank for rank in range(1, DIRECTORIES + 1)))
    links: list[Link] = []
    while len(links) < count:
        base = read(f"https://{rng.choice(HOSTS)}{rng.choices(directories, cum_weights=shares)[0]}")
        for _ in range(30):
            href = _href(rng, rng.choices(directories, cum_weights=shares)[0])
            try:
                links.append(Link(base, href, rules.admit(href, base)))
            except InvalidUrl:
                continue
    return links[:count]


def _directory(rng: random.Random) -> str:
    segments = [
        rng.choice(WORDS) + rng.choice(["", "", f"-{rng.choice(WORDS)}"]) for _ in range(rng.randint(0, 3))
    ]
    return rng.choice(["/", "/", "/en/", "/de/"]) + "".join(f"{segment}/" for segment in segments)


def _href(rng: random.Random, directory: str) -> str:
    number = rng.randint(1, 9999)
    page = f"{rng.choice(WORDS)}-{rng.choice(WORDS)}"
    leaf = rng.choice(["", page, f"{page}/", f"{page}.html", f"{page}.php", f"{page}-{number}", str(number)])
    queries = ("", f"?id={number}", f"?utm_source=mail&page={number}", "?b=2&a=1")
    target = directory + leaf + rng.choices(queries, (75, 15, 5, 5))[0]
    kind = rng.random()
    if kind < 0.5:
        return target
    if kind < 0.6:
        return f"../{target[1:]}"
    if kind < 0.65:
        return f"{target}#{rng.choice(WORDS)}"
    return f"https://{rng.choices(HOSTS, (12, 2, 2, 1))[0]}{target}"


def whole_pipeline(links: Sequence[Link], rules: UrlRules) -> None:
    """All that is asked about a link before it is stored, but for its score."""
    for base, href, _ in links:
        web = rules.admit(href, base)
        key_hash(rules.key(web, REWRITES))
        place(web, SEED_HOSTS)


def contenders(links: Sequence[Link]) -> dict[str, Callable[[], Any]]:
    """Name → one pass over all links."""
    rules = UrlRules(key_rules("standard"), Scope("site", [("example.edu", ""), ("example.org", "")]))
    keys = [rules.key(link.web) for link in links]

    def each(step: Callable[[WebUrl], Any]) -> Callable[[], None]:
        def run() -> None:
            for _, _, web in links:
                step(web)

        return run

    return {
        "whole pipeline": lambda: whole_pipeline(links, rules),
        "w3lib canonicalize_url": each(lambda web: canonicalize_url(web.url)),
        "parser alone (ada join)": lambda: [ada_url.join_url(base.url, href) for base, href, _ in links],
        "resolve, parse, take apart": lambda: [resolve(href, base) for base, href, _ in links],
        "filter": each(refusal),
        "scope": each(rules.scope.admits),
        "rewrite": each(REWRITES.apply),
        "key": each(rules.keys.key),
        "hash of the key": lambda: [key_hash(key) for key in keys],
        "subtree, cluster, template": each(lambda web: place(web, SEED_HOSTS)),
        "beside it: link shape": each(
            lambda web: (is_furniture(web, "Apply now"), is_section(web, "Apply now"), path_language(web))
        ),
        "beside it: words": each(url_text),
    }


def measure(passes: dict[str, Callable[[], Any]], links: int, rounds: int) -> dict[str, float]:
    """Median microseconds per link of each pass; the passes take turns."""
    # The corpus is ours, not the pipeline's: its objects shall not be walked again and again.
    gc.collect()
    gc.freeze()
    samples: dict[str, list[float]] = {name: [] for name in passes}
    for _ in range(rounds):
        for name, run in passes.items():
            start = time.process_time()
            run()
            samples[name].append((time.process_time() - start) / links * 1e6)
    return {name: median(values) for name, values in samples.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="What one link costs.")
    parser.add_argument("--links", type=int, default=20_000, help="links per pass (20,000)")
    parser.add_argument("--rounds", type=int, default=9, help="interleaved rounds (9)")
    options = parser.parse_args()
    links = make_links(options.links)
    figures = measure(contenders(links), len(links), options.rounds)
    table = Table(title=f"{len(links):,} links, median of {options.rounds} rounds")
    for title in ("", "µs a link", "of w3lib", "of the pipeline"):
        table.add_column(title, justify="right" if title else "left")
    whole, w3lib = figures["whole pipeline"], figures["w3lib canonicalize_url"]
    for name, cost in figures.items():
        table.add_row(name, f"{cost:.2f}", f"{cost / w3lib:.2f}", f"{cost / whole:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
