"""After any call, in any order, every stored count equals its rows."""

from __future__ import annotations

import contextlib
import random
from typing import TYPE_CHECKING, Any

import pytest
from store_invariants import violations

from pagesift_store import FailKind, FoundLink, Frontier, InvalidValue, Lease, LeaseLost, Page

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HOSTS = ("a.example", "www.a.example", "b.example", "docs.b.example")
FOLDERS = ("", "visa/", "fees/2024/", "en/study/", "news/")
WORDS = ["student", "visa", "fees", "apply", "pay", "embassy", "deadline", "campus", "garden", "river"]
STATUSES = (200,) * 12 + (304, 404, 429, 500)
MANY_STEPS = 150


class Wanderer:
    """Does one random thing to a store after another; holds on to every lease, lost ones included."""

    def __init__(self, open_store: Callable[..., Frontier], clock: Any, seed: int) -> None:
        self.random = random.Random(seed)
        self.clock = clock
        self.open_store = open_store
        self.frontier = open_store()
        self.leases: list[Lease] = []
        self.frontier.add([f"https://{host}/" for host in HOSTS])

    def step(self) -> str:
        """Do something; returns what."""
        acts = [self.add, self.lease, self.lease, self.observe, self.observe, self.observe, self.fail]
        acts += [self.release, self.renew, self.wait, self.rescore, self.reopen, self.recover]
        acts += [
            self.random.choice([self.block, self.forget, self.requeue, self.watch, self.group, self.limit])
        ]
        act = self.random.choice(acts)
        try:
            act()
        except LeaseLost:
            return f"{act.__name__}, too late"
        return act.__name__

    def add(self) -> None:
        self.frontier.add([self.link() for _ in range(self.random.randrange(8))])

    def lease(self) -> None:
        self.leases += self.frontier.lease(self.random.randrange(1, 5), ttl=self.random.choice((1, 300)))

    def observe(self) -> None:
        if self.leases:
            lease = self.any_lease()
            self.frontier.observe(lease, self.page(lease))

    def fail(self) -> None:
        if self.leases:
            kind = self.random.choice(list(FailKind))
            self.frontier.fail(self.any_lease(), kind, retry_after=self.random.choice((None, 5)))

    def release(self) -> None:
        if self.leases:
            self.frontier.release(self.any_lease())

    def renew(self) -> None:
        if self.leases:
            self.frontier.renew(self.any_lease())

    def wait(self) -> None:
        self.clock.forward(self.random.choice((0.5, 2, 100, 4_000, -100_000)))

    def rescore(self) -> None:
        self.frontier.rescore()

    def reopen(self) -> None:
        if self.random.random() < 0.5:
            self.frontier.close()
        self.frontier = self.open_store()

    def recover(self) -> None:
        self.frontier.recover()

    def block(self) -> None:
        pattern = self.random.choice(("/news/", r"\?id=[12]"))
        if self.random.random() < 0.6:
            self.frontier.block(pattern=pattern)
        else:
            with contextlib.suppress(InvalidValue):  # it may not be blocked
                self.frontier.unblock(pattern=pattern)

    def forget(self) -> None:
        if self.random.random() < 0.5:
            self.frontier.forget(self.random.choice(HOSTS))
        else:
            self.frontier.forget(pattern=self.random.choice(("garden", "/visa/", "river")))

    def requeue(self) -> None:
        self.frontier.requeue(
            host=self.random.choice((None, *HOSTS)), state=self.random.choice(("dead", "skipped"))
        )

    def watch(self) -> None:
        self.frontier.set_revisit(self.random.choice((None, 0, 70)), host=self.random.choice((None, *HOSTS)))

    def group(self) -> None:
        host = self.random.choice(HOSTS)
        if self.random.random() < 0.5:
            self.frontier.set_host(host, reset=["group"])
        else:
            self.frontier.set_host(host, group=self.random.choice(("192.0.2.1", "c.example", "shared")))

    def limit(self) -> None:
        name = self.random.choice(("max_pages_per_host", "max_pages_per_part", "revisit"))
        value = self.random.random() < 0.5 if name == "revisit" else self.random.choice((None, 3, 12))
        self.frontier.configure(**{name: value})

    def any_lease(self) -> Lease:
        """One that was taken at some time; now and then it is kept, to be reported again."""
        lease = self.random.choice(self.leases)
        if self.random.random() < 0.8:
            self.leases.remove(lease)
        return lease

    def url(self) -> str:
        query = self.random.choice(("", "", "", "?print=1", f"?id={self.random.randrange(4)}"))
        name = self.random.choice(("", "index.html", *WORDS))
        return f"https://{self.random.choice(HOSTS)}/{self.random.choice(FOLDERS)}{name}{query}"

    def link(self) -> FoundLink:
        score = self.random.choice((None,) * 8 + (-1.0, 0.0, 2.5))
        anchor, context = (" ".join(self.random.choices(WORDS, k=n)) for n in (3, 8))
        return FoundLink(self.url(), anchor, context, score=score)

    def page(self, lease: Lease) -> Page:
        hops = self.random.choice((0,) * 8 + (1, 2))
        final = self.url() if hops else lease.url
        text = "\n".join(" ".join(self.random.choices(WORDS, k=9)) for _ in range(6))
        return Page(
            url=final,
            redirects=[lease.url, *(self.url() for _ in range(hops))][: hops + 1] if hops else (),
            status=self.random.choice(STATUSES),
            text=self.random.choice((text, "All the same, whatever the address says. " * 6)),
            links=[self.link() for _ in range(self.random.randrange(6))],
            language=self.random.choice((None, "en", "de")),
            canonical=self.random.choice((None,) * 5 + (self.url(),)),
            noindex=self.random.random() < 0.05,
        )


SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "polite": {"default_delay": 1.0, "max_in_flight": 2},
    "revisits": {"revisit": True, "revisit_min": 50.0},
    "bounded": {"max_queue": 12, "max_pages": 40},
    "limited": {"max_pages_per_host": 9, "max_pages_per_part": 4, "revisit": True},
    "every drift": {"rescore_drift": 0.0, "max_failures": 2},
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("seed", [1, 2])
def test_every_count_equals_its_rows(
    frontier: Callable[..., Frontier], store: Path, clock: Any, seed: int, settings: dict[str, Any]
) -> None:
    frontier(**settings)
    wanderer = Wanderer(frontier, clock, seed)
    trail: list[str] = []
    for _ in range(MANY_STEPS):
        trail.append(wanderer.step())
        assert violations(store) == [], trail
