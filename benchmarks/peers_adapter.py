"""This store, driven as a comparison of crawl frontiers drives each of them: open, add, next, complete, close.

To be put among the adapters of that comparison, as `adapters/pagesift_store.py`; it needs the installed package only,
and imports it when a store is opened: the comparison's driver reads this file without it, and imports are timed.
Every page that is completed has 600 words of text, so that relevance, learning and harvest have their full cost.
"""

from __future__ import annotations

import os
import random
import sqlite3
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pagesift_store import FoundLink, Lease

QUERY = "energy market policy"
WORDS = 600
TEXTS = 50


class PagesiftStore:
    """A store in the folder `path`.

    Args:
        path: folder of the store's file.
        durability: `normal`, as most of those compared, or `full`.
        scored: compute the scores from words around the links, in place of those that the workload gives.
    """

    dedup = "store"
    priority = "float"
    pop = "lease"
    durable = "call"
    lease_s = 0.0
    service = False
    bulk = 5_000

    def __init__(self, path: str, durability: str = "normal", scored: bool = False) -> None:
        self.path = path
        self.file = os.path.join(path, "crawl.db")
        self.durability = durability
        self.scored = scored
        self.power = "nothing committed" if durability == "full" else "commits since the last WAL sync"
        self.notes = "a page is observed whole: 600 words judged, link model, harvest and counters kept"
        if scored:
            self.notes += "; scores computed from anchors, not given"
        self._texts = _texts()
        self._pages = 0

    def open(self) -> None:
        """Open or create the store; leases of processes that died come back."""
        import pagesift_store

        self._library: Any = pagesift_store
        settings = pagesift_store.Settings(
            scope="any", default_delay=0.0, max_in_flight=1_000_000, durability=self.durability
        )
        self._frontier = pagesift_store.Frontier.open(self.file, query=QUERY, settings=settings)

    def close(self) -> None:
        """Give back what is leased, close the file."""
        self._frontier.close()

    def add(self, items: Sequence[tuple[str, float]]) -> None:
        """Add (url, score) pairs; those known are left as they are."""
        self._frontier.add(self._links(items), depth=1)

    def next(self) -> tuple[Lease, str] | None:
        """Lease the best link."""
        leases = self._frontier.lease(1)
        return (leases[0], leases[0].url) if leases else None

    def complete(self, lease: Lease, items: Sequence[tuple[str, float]]) -> None:
        """Observe the page with its links."""
        self._pages += 1
        text = f"{self._texts[self._pages % TEXTS]}\nPage {self._pages} of process {os.getpid()}"
        self._frontier.observe(
            lease,
            self._library.Page(
                url=lease.url, title="A page of the market", text=text, links=self._links(items)
            ),
        )

    def queued(self) -> int:
        """Links that wait."""
        return self._frontier.status().counts[self._library.LinkState.QUEUED]

    def check(self) -> dict[str, str]:
        """SQLite's own check of the file."""
        connection = sqlite3.connect(self.file)
        try:
            return {"integrity": connection.execute("PRAGMA integrity_check").fetchone()[0]}
        finally:
            connection.close()

    def _links(self, items: Sequence[tuple[str, float]]) -> list[FoundLink]:
        link = self._library.FoundLink
        if not self.scored:
            return [link(url, score=score) for url, score in items]
        return [link(url, anchor := url.rpartition("/")[2], f"see {anchor} for more") for url, _ in items]


def _texts() -> list[str]:
    """Some texts of 600 words in lines of 40, a word of the query in some of them."""
    rng = random.Random(7)
    words = ["".join(rng.choices("bdfglmnprst", k=3)) + rng.choice("aeiou") * 2 for _ in range(5_000)]
    for word in QUERY.split() * 7:
        words[rng.randrange(len(words))] = word
    made = []
    for _ in range(TEXTS):
        text = rng.choices(words, k=WORDS)
        made.append("\n".join(" ".join(text[start : start + 40]) for start in range(0, WORDS, 40)))
    return made
