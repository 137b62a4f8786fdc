"""The crawl that is killed: a fixed site, a clock that is a function of what was observed, one link at a time.

Run as a program: `crawler.py STORE [--kill-at N]`. With `--kill-at` the process kills itself, as hard as the system
can, right before its N-th SQL statement (begin and commit are statements too).
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
from typing import TYPE_CHECKING, Any

from sqlalchemy import Engine, event

from pagesift_store import FoundLink, Frontier, Page, Settings

if TYPE_CHECKING:
    from collections.abc import Callable

SEED = "https://www.university.example/"
QUERY = "student visa fees"
PAGES = 320
SECTIONS = ("visa", "housing", "library", "sport", "news", "research", "fees", "admission")
TOPIC = [
    "student",
    "visa",
    "fees",
    "permit",
    "embassy",
    "payment",
    "residence",
    "deadline",
    "tuition",
    "application",
]
OTHER = [
    "garden",
    "river",
    "concert",
    "library",
    "football",
    "laboratory",
    "seminar",
    "canteen",
    "poster",
    "museum",
    "travel",
    "engine",
]
START = 1_700_000_000.0
DRIFT = 0.0  # every change of a term weight rescores the queue


def path_of(number: int) -> str:
    """The path of a page; page 0 is the seed."""
    if number == 0:
        return "/"
    section = SECTIONS[number % len(SECTIONS)]
    if number % 7 == 0:
        return f"/{section}/archive?page={number}"
    return f"/{section}/{'topic' if number % 3 else 'note'}-{number}/"


def page_of(url: str) -> Page:
    """What the site answers; a pure function of the URL."""
    number = NUMBERS[url]
    rng = random.Random(number)
    on_topic = SECTIONS[number % len(SECTIONS)] in ("visa", "fees") or rng.random() < 0.1
    vocabulary = (TOPIC * 3 + OTHER) if on_topic else OTHER
    # Some pages repeat each other.
    rng_text = random.Random(number % 3) if number % 11 == 5 else rng
    blocks = [" ".join(rng_text.choices(vocabulary, k=14)) for _ in range(6)]
    targets = {(number * 2 + 1) % PAGES, (number * 2 + 2) % PAGES, *rng.sample(range(PAGES), 6)}
    links = []
    for target in sorted(targets):
        words = TOPIC if SECTIONS[target % len(SECTIONS)] in ("visa", "fees") else OTHER
        anchor = " ".join(rng.sample(words, 2))
        links.append(
            FoundLink(path_of(target), anchor, f"{' '.join(rng.sample(words, 4))} {anchor} and more")
        )
    links.append(FoundLink("mailto:office@university.example", "Mail"))
    return Page(
        url=url,
        status=404 if number % 37 == 20 else 200,
        title=" ".join(rng.sample(vocabulary, 3)),
        headings=[" ".join(rng.sample(vocabulary, 2))],
        text="\n".join(blocks),
        links=links,
        language="en",
    )


NUMBERS = {SEED.rstrip("/") + path_of(number): number for number in range(PAGES)}


def crawl(store: str) -> None:
    """Crawl the site to its end, from wherever the store stands."""
    observed = [0]
    settings = Settings(default_delay=0.0, rescore_drift=DRIFT, durability="normal")
    with Frontier.open(store, query=QUERY, settings=settings, clock=lambda: START + observed[0]) as frontier:
        observed[0] = sum(1 for row in frontier.dump() if row["table"] == "page")
        frontier.add([SEED])
        while leases := frontier.lease(1):
            frontier.observe(leases[0], page_of(leases[0].url))
            observed[0] += 1


def kill_at(statement: int) -> Callable[..., None]:
    """Count statements and commits; at the given one, the process is gone."""
    left = [statement]

    def count(*_: Any) -> None:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    return count


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("store")
    parser.add_argument("--kill-at", type=int)
    arguments = parser.parse_args()
    if arguments.kill_at is not None:
        count = kill_at(arguments.kill_at)
        # SQLite itself reports each statement before it runs, whoever hands it over.
        event.listen(Engine, "connect", lambda connection, _: connection.set_trace_callback(count))
    crawl(arguments.store)
    sys.stdout.write("finished\n")


if __name__ == "__main__":
    main()
