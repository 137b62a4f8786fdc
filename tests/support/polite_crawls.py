"""Random crawls whose hosts mostly rest, are full or are blocked, with all that decides which link is next."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from pagesift_store import FoundLink, Frontier, Lease, Page

if TYPE_CHECKING:
    from collections.abc import Iterator

ACTS = {
    "lease": 5,
    "observe": 7,
    "wait": 3,
    "add": 2,
    "fail": 0.6,
    "release": 0.6,
    "host": 0.5,
    "block": 0.3,
    "configure": 0.3,
}


class Crawl:
    """One crawl, the same for the same seed whatever the frontier does inside, as long as it leases the same.

    Args:
        frontier: opened with `settings_of(seed)`, scope "any".
        clock: its clock, with an attribute `now`.
        seed: of all that is random.
    """

    def __init__(self, frontier: Frontier, clock: Any, seed: int) -> None:
        self._frontier = frontier
        self._clock = clock
        self._random = random.Random(seed)
        self._hosts = [f"h{i}.example" for i in range(self._random.choice((3, 8, 25)))]
        self._held: list[Lease] = []
        self._new = 0

    def run(self, steps: int) -> Iterator[Any]:
        """All that a caller can see, act by act."""
        self._add(400)
        for host in self._hosts:
            if self._random.random() < 0.5:
                self._frontier.set_host(host, delay=self._random.choice((0.0, 0.0, 1.0, 5.0, 100.0)))
        for _ in range(steps):
            (act,) = self._random.choices(list(ACTS), list(ACTS.values()))
            yield act, getattr(self, f"_{act}")()

    def _add(self, most: int = 12) -> Any:
        found = []
        for _ in range(self._random.randrange(most // 2, most)):
            self._new += 1
            host, area = self._random.choice(self._hosts), self._random.randrange(6)
            score = self._random.choice((0.3, 0.6, 1.0, None)) or round(self._random.uniform(-1, 4), 2)
            found.append(FoundLink(f"https://{host}/a{area}/b{self._new % 3}/{self._new}", score=score))
        return [(one.verdict, one.link_id) for one in self._frontier.add(found, depth=1)]

    def _lease(self) -> Any:
        state = self._frontier.status()
        leases = self._frontier.lease(
            self._random.choice((1, 1, 1, 2, 5, 20, 50)), ttl=self._random.choice((20.0, 500.0))
        )
        self._held += leases
        return state.state, state.next_due, [(one.link_id, one.attempt, one.score) for one in leases]

    def _wait(self) -> Any:
        self._clock.now += self._random.choice((0.0, 0.5, 1.0, 1.0, 4.0, 70.0))

    def _taken(self) -> Lease | None:
        return self._held.pop(self._random.randrange(len(self._held))) if self._held else None

    def _observe(self) -> Any:
        lease = self._taken()
        if lease is None:
            return None
        number = int(lease.url.split("//h")[1].split(".")[0])
        hit = self._random.random() < (0.8 if number % 4 == 0 else 0.03)
        # Pages of one area are the same but for a number: its template is demoted.
        words = f"list {lease.link_id} " + "of all that there is and more of it " * 10
        text = words if "/a5/" in lease.url else f"page {lease.link_id} "
        self._new += 1
        link = FoundLink(f"/a{self._new % 7}/{self._new}", score=round(self._random.uniform(0, 4), 1))
        page = Page(url=lease.url, text=text, links=[link], relevance=float(hit), new=hit)
        try:
            seen = self._frontier.observe(lease, page)
        except Exception as error:
            return type(error).__name__
        return seen.relevance, seen.hit, seen.rescored

    def _fail(self) -> Any:
        return self._told(
            lambda lease: self._frontier.fail(lease, self._random.choice(("timeout", "http_4xx", "dns")))
        )

    def _release(self) -> Any:
        return self._told(self._frontier.release)

    def _told(self, act: Any) -> Any:
        lease = self._taken()
        try:
            return None if lease is None else str(act(lease))
        except Exception as error:
            return type(error).__name__

    def _host(self) -> Any:
        change = self._random.choice(
            ({"max_in_flight": 1}, {"max_in_flight": 3}, {"delay": 0.0}, {"delay": 2.0}, {"delay": 70.0})
        )
        return self._frontier.set_host(self._random.choice(self._hosts), **change)

    def _block(self) -> Any:
        until = self._random.choice((0, self._clock.now + 3, self._clock.now + 1_000))
        return self._frontier.set_host(self._random.choice(self._hosts), blocked_until=until)

    def _configure(self) -> Any:
        change = self._random.choice(
            (
                {"cluster_cap": self._random.choice((1, 2, 4))},
                {"max_pages_per_host": self._random.choice((None, None, 15, 40))},
                {"max_pages_per_part": self._random.choice((None, None, 9, 30))},
                {"max_in_flight": self._random.choice((1, 2, 50))},
                {"default_delay": self._random.choice((0.0, 1.0, 3.0))},
            )
        )
        self._frontier.configure(**change)
        return change


def settings_of(seed: int) -> dict[str, Any]:
    """Settings for such a crawl."""
    one = random.Random(seed)
    return {
        "scope": "any",
        "durability": "normal",
        "focus": one.choice(("full", "reference")),
        "delta": 0.4,
        "cluster_cap": one.choice((1, 2, 4, 20)),
        "max_in_flight": one.choice((1, 2, 50)),
        "default_delay": one.choice((0.0, 1.0, 3.0)),
        "revisit": one.random() < 0.4,
        "revisit_min": 5.0,
        "revisit_max": 200.0,
        "rescore_drift": 0.01,
    }
