"""A worker that does a random mix of all public calls, and writes down what was acknowledged to it."""

from __future__ import annotations

import json
import os
import random
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

from pagesift_store import FailKind, FoundLink, Frontier, InvalidValue, Lease, LeaseLost, Page, Settings

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

QUERY = "student visa fees"
SETTINGS = Settings(default_delay=0.0, max_in_flight=1_000, durability="normal", rescore_drift=0.01)
WORDS = ["student", "visa", "fees", "apply", "pay", "embassy", "deadline", "campus", "garden", "river"]
HOSTS = ("a.example", "www.a.example", "b.example", "docs.b.example")
SPACE = 20_000
"""Different pages that links lead to."""


class Worker:
    """Works on a store; what a call acknowledged is in the journal before the next call begins.

    Args:
        store: its path; made when it is not there.
        journal: a file to append to.
        seed: of all that is random.
    """

    def __init__(self, store: Path, journal: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.frontier = Frontier.open(store, query=QUERY, settings=SETTINGS)
        self.journal = os.open(journal, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.leases: list[Lease] = []
        self.calls = 0
        self._acts = [
            *[self.add] * 4, *[self.lease] * 8, *[self.observe] * 16, *[self.fail] * 2, *[self.release] * 2,
            *[self.renew] * 2, self.rescore, self.recover, *[self.ask] * 2, self.set_host, self.configure, self.reopen,
            self.set_robots, self.requeue, self.block, self.set_revisit, self.resume,
        ]  # fmt: skip

    def step(self) -> None:
        """One call."""
        self.calls += 1
        try:
            self.random.choice(self._acts)()
        except LeaseLost:
            self.note("lost")

    def note(self, kind: str, *facts: Any) -> None:
        """Write down what was acknowledged."""
        os.write(self.journal, (json.dumps([kind, *facts]) + "\n").encode())

    def add(self) -> None:
        """Add some URLs, seeds among them."""
        urls: list[str | FoundLink] = [self.url() for _ in range(self.random.randrange(1, 6))]
        urls.append(FoundLink(self.url(), self.words()))
        added = self.frontier.add(urls)
        self.note("add", [one.link_id for one in added if one.link_id is not None])

    def lease(self) -> None:
        """Lease some links; sometimes for a moment only."""
        ttl = self.random.choice((0.01, 300.0, 300.0))
        found = self.frontier.lease(self.random.randrange(1, 6), ttl=ttl)
        for lease in found:
            self.note("lease", lease.link_id, lease.attempt)
        self.leases = (self.leases + found)[-40:]

    def observe(self) -> None:
        """Report a page, and sometimes report it again."""
        if lease := self.any_lease():
            page = self.page(lease)
            self.frontier.observe(lease, page)
            self.note("report", lease.link_id, lease.attempt)
            if self.random.random() < 0.1:
                assert self.frontier.observe(lease, page).repeated

    def fail(self) -> None:
        """Report a failure."""
        if lease := self.any_lease():
            self.frontier.fail(lease, self.random.choice(list(FailKind)), "it did not work")
            self.note("report", lease.link_id, lease.attempt)

    def release(self) -> None:
        """Give a lease back."""
        if lease := self.any_lease():
            self.frontier.release(lease)

    def renew(self) -> None:
        """Extend a lease."""
        if lease := self.any_lease():
            self.leases.append(self.frontier.renew(lease, 60.0))

    def rescore(self) -> None:
        """Rescore the queue."""
        self.frontier.rescore()

    def recover(self) -> None:
        """Take back what the dead held."""
        self.frontier.recover()

    def ask(self) -> None:
        """Ask questions."""
        self.frontier.status()
        next(iter(self.frontier.dump()))

    def set_host(self) -> None:
        """Block a host that is over already, or change its places."""
        self.frontier.set_host(
            self.random.choice(HOSTS), blocked_until=0, max_in_flight=self.random.randrange(50, 99)
        )

    def set_robots(self) -> None:
        """Say that robots.txt was there."""
        self.frontier.set_robots(self.random.choice(HOSTS), 200)

    def configure(self) -> None:
        """Change an operational setting, one that the store is not opened with."""
        self.frontier.configure(rescore_drift=self.random.choice((0.01, 0.01)))

    def requeue(self) -> None:
        """Give what was given up another chance."""
        self.frontier.requeue(host=self.random.choice(HOSTS))

    def block(self) -> None:
        """Refuse some URLs, and take that back."""
        word = self.random.choice(WORDS)
        self.frontier.block(pattern=f"/{word}/")
        try:
            self.frontier.unblock(pattern=f"/{word}/")
        except InvalidValue:  # another worker took it back
            self.note("unblocked")

    def set_revisit(self) -> None:
        """Have some pages visited again, or no more."""
        every = self.random.choice((0, 3_600, None))
        self.frontier.set_revisit(every, pattern=f"/{self.random.choice(WORDS)}/")

    def resume(self) -> None:
        """Go on whatever a stop rule says."""
        self.frontier.resume()

    def reopen(self) -> None:
        """Close, and open again; leases of this process come back."""
        path = self.frontier._database.path
        self.frontier.close()
        self.leases.clear()
        self.frontier = Frontier.open(path)

    def any_lease(self) -> Lease | None:
        """One of the leases that were taken, given back, lost and reported ones included."""
        return self.random.choice(self.leases) if self.leases else None

    def url(self) -> str:
        """A URL of the site."""
        return (
            f"https://{self.random.choice(HOSTS)}/{self.random.choice(WORDS)}/{self.random.randrange(SPACE)}"
        )

    def words(self) -> str:
        """An anchor."""
        return " ".join(self.random.choices(WORDS, k=3))

    def page(self, lease: Lease) -> Page:
        """What a fetch brought."""
        links = [FoundLink(self.url(), self.words()) for _ in range(self.random.randrange(12))]
        text = " ".join(self.random.choices(WORDS, k=60))
        status = self.random.choice((*(200,) * 12, 304, 404, 503))
        return Page(url=lease.url, status=status, text=text, title=self.words(), links=links)


def disagreements(store: Path, journals: Iterable[Path]) -> tuple[list[str], list[str]]:
    """What was acknowledged and is not in the store (lost), and what is there, or was given out, twice (doubled)."""
    with closing(sqlite3.connect(store)) as connection:
        links = {row[0] for row in connection.execute("SELECT id FROM link")}
        pages = connection.execute("SELECT link_id, attempt FROM page").fetchall()
    lost, doubled = [], [f"page {page} is there twice" for page in _repeated(pages)]
    known, given = set(pages), []
    for journal in journals:
        for line in journal.read_text().splitlines():
            kind, *facts = json.loads(line)
            if kind == "add":
                lost += [f"link {link}" for link in facts[0] if link not in links]
            elif kind == "report" and tuple(facts) not in known:
                lost.append(f"report of {facts}")
            elif kind == "lease":
                given.append(tuple(facts))
    return lost, doubled + [f"lease {lease} was given twice" for lease in _repeated(given)]


def _repeated(items: list[Any]) -> list[Any]:
    seen: set[Any] = set()
    return [item for item in items if item in seen or seen.add(item)]
