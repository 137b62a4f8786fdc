"""Sites without shape: 100,000 posts in one directory, 50,000 directories of one page.

    python benchmarks/flat.py                        # a few minutes
    python benchmarks/flat.py --links 10000

Pages with 200 new links each are observed one after the other, until the queue holds them all. What must hold: lanes
stay within 1,000 a host, a page late in the crawl costs what an early one did, and the next 100 leases are the 100 best
by score and lane. Cost: lease and observation, processor time, median of 50 pages each; early is from page 50 on.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # "python benchmarks/flat.py" works, too

from benchmarks.harness import Figure, at_most, parser, report, sizes
from pagesift_store import FoundLink, Frontier, Page, Settings

if TYPE_CHECKING:
    from collections.abc import Callable

QUERY = "student visa fees application"
ORIGIN = "https://flat.example"
LINKS, WINDOW, CHECKED, MOST_LANES = 200, 50, 100, 1_000
WORDS = (
    "Fees",
    "Visa fees",
    "Student housing",
    "Sports",
    "How to apply",
    "Library",
    "Application for a visa",
)


def post(n: int) -> str:
    """A post of a site without directories."""
    return f"{ORIGIN}/post-{n}"


def directory(n: int) -> str:
    """The only page of its directory."""
    return f"{ORIGIN}/d{n}/page"


def page_of(number: int, url: str, target: Callable[[int], str]) -> Page:
    """A page with new links; none is a hit, some are worth more than others."""
    first = number * LINKS
    links = [FoundLink(target(n), WORDS[n * 7919 % len(WORDS)]) for n in range(first, first + LINKS)]
    return Page(url=url, text=f"Page {number} of the site. " * 20, links=links, relevance=0.02 * (number % 7))


def crawl(frontier: Frontier, target: Callable[[int], str], pages: int) -> list[float]:
    """Processor seconds of each page."""
    frontier.add([f"{ORIGIN}/"])
    spent = []
    for number in range(pages):
        start = time.process_time()
        (lease,) = frontier.lease(1)
        inner = time.process_time()
        page = page_of(number, lease.url, target)
        made = time.process_time() - inner
        frontier.observe(lease, page)
        spent.append(time.process_time() - start - made)
    return spent


def in_order(frontier: Frontier) -> bool:
    """Whether the next leases are the best of all queued links, by score and lift, then discovery."""
    rows = list(frontier.dump())
    lifts = {row["id"]: row["lift"] for row in rows if row["table"] == "lane"}
    queued = [row for row in rows if row["table"] == "link" and row["state"] == "queued"]
    best = sorted(
        queued, key=lambda row: (row["demoted"], -(row["score"] + lifts[row["lane_id"]]), row["id"])
    )
    return [lease.link_id for lease in frontier.lease(CHECKED)] == [row["id"] for row in best[:CHECKED]]


def measure(name: str, target: Callable[[int], str], links: int) -> list[Figure]:
    """Cost, lanes and order of one site."""
    settings = Settings(
        default_delay=0.0, durability="normal", max_in_flight=CHECKED + 1, cluster_cap=1_000_000
    )
    with (
        tempfile.TemporaryDirectory() as folder,
        Frontier.open(Path(folder) / "crawl.db", query=QUERY, settings=settings) as frontier,
    ):
        spent = crawl(frontier, target, links // LINKS)
        early, late = (1e3 * median(part) for part in (spent[WINDOW : 2 * WINDOW], spent[-WINDOW:]))
        lanes = sum(row["table"] == "lane" for row in frontier.dump())
        right = in_order(frontier)
    what = f"{links:,} {name}"
    ratio = late / early
    return [
        Figure(name=f"{what}: page, late", value=late, unit="ms", cpu_ms=late),
        Figure(name=f"{what}: page, early", value=early, unit="ms", cpu_ms=early),
        Figure(name=f"{what}: late/early", value=ratio, unit="×", **at_most(ratio, 1.5, "×")),
        Figure(name=f"{what}: lanes", value=lanes, unit="", **at_most(lanes, MOST_LANES, "a host")),
        Figure(
            name=f"{what}: order of the next {CHECKED}", value=float(right), unit="", bar="right", met=right
        ),
    ]


def main() -> None:
    """Measure both sites, print the table."""
    options = parser(
        "Sites without shape: what a page costs, how many lanes there are, whether the order is right."
    )
    options.add_argument(
        "--links", type=sizes, default=None, help="links of either site (100k posts, 50k directories)"
    )
    chosen = options.parse_args()
    posts, directories = (chosen.links[0],) * 2 if chosen.links else (100_000, 50_000)
    figures = measure("posts in one directory", post, posts)
    figures += measure("directories of one page", directory, directories)
    report(figures, chosen.json)


if __name__ == "__main__":
    main()
