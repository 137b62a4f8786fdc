"""What most tests need: a clock that stands still, a store in a temporary folder, and frontiers on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pagesift_store import FoundLink, Frontier, Lease, Page, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

QUERY = "student visa fees"


class Clock:
    """Time that moves only when a test says so."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def forward(self, seconds: float) -> float:
        self.now += seconds
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Where the store of a test is, or will be."""
    return tmp_path / "crawl.db"


@pytest.fixture
def frontier(store: Path, clock: Clock) -> Iterator[Callable[..., Frontier]]:
    """Opens frontiers on the store: made by the first call, opened again by others; settings are keywords."""
    opened: list[Frontier] = []

    def make(
        query: str = QUERY, *, path: Path = store, worker: str | None = None, **settings: Any
    ) -> Frontier:
        defaults = {"default_delay": 0.0, "max_in_flight": 100, "durability": "normal"}
        fresh = {} if path.exists() else {"query": query, "settings": Settings(**(defaults | settings))}
        opened.append(Frontier.open(path, worker=worker, clock=clock, **fresh))
        return opened[-1]

    yield make
    for frontier in opened:
        frontier.close()


@pytest.fixture
def page() -> Callable[..., Page]:
    """Makes the page of a lease: a text of its own, and links given as hrefs or `FoundLink`s."""

    def make(lease: Lease, *links: str | FoundLink, **fields: Any) -> Page:
        found = [FoundLink(link) if isinstance(link, str) else link for link in links]
        defaults = {"url": lease.url, "links": found, "text": f"Nothing but the page at {lease.url}. " * 3}
        return Page(**(defaults | fields))

    return make
