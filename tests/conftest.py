"""What most tests need: a clock that stands still, a store in a temporary folder, and frontiers on it."""

from __future__ import annotations

import shutil
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from pagesift_store import FoundLink, Frontier, Lease, Page, Settings
from pagesift_store.storage import schema
from pagesift_store.storage.engine import Database
from pagesift_store.transactions import creation

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


@pytest.fixture(scope="session")
def tables_only(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with no row: making the tables takes longer than most tests, so it is done once."""
    path = tmp_path_factory.mktemp("tables") / "tables.db"
    schema.create(path, lambda _: None)
    return path


@pytest.fixture
def frontier(store: Path, tables_only: Path, clock: Clock) -> Iterator[Callable[..., Frontier]]:
    """Opens frontiers on the store: made by the first call, opened again by others; settings are keywords."""
    opened: list[Frontier] = []

    def make(
        query: str = QUERY, *, path: Path = store, worker: str | None = None, **settings: Any
    ) -> Frontier:
        if not path.exists():
            defaults = {"default_delay": 0.0, "max_in_flight": 100, "durability": "normal"}
            fill = creation.filler(query, Settings(**(defaults | settings)), clock())
            shutil.copyfile(tables_only, path)
            with closing(Database(path)) as database:
                database.write(fill)
        opened.append(Frontier.open(path, worker=worker, clock=clock))
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
