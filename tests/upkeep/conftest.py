"""A store with something of everything in it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from pagesift_store import FailKind, FoundLink, Frontier, Page, Settings

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "The student visa and its fees are paid at the embassy, and room {} is where that is done by card or in cash. "


NOW = 1_000_000.0


def fill(opened: Frontier) -> None:
    """Fetched, repeated, failed, waiting, dead, leased and queued links on two hosts."""
    opened.add([f"https://a.example/{name}" for name in ("", "b", "c", "d", "e")])
    opened.add(["https://b.example/"])
    for number, lease in enumerate(opened.lease(6)):
        links = [
            FoundLink(f"/visa/{number}-{i}", "student visa fees", "what the visa of a student costs")
            for i in range(6)
        ]
        match number:
            case 4:
                opened.fail(lease, FailKind.TIMEOUT, "nothing came")
            case 5:
                opened.fail(lease, FailKind.CONTENT, "no text", permanent=True)
            case _:
                text = TEXT.format(number % 3) * 4
                opened.observe(lease, Page(url=lease.url, text=text, links=[*links, FoundLink("/plain")]))
    opened.lease(2)


@pytest.fixture(scope="session")
def filled_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Such a store, which nobody has open; what was leased is leased by a worker with a name."""
    path = tmp_path_factory.mktemp("filled") / "filled.db"
    settings = Settings(default_delay=0.0, max_in_flight=100, durability="normal")
    with Frontier.open(
        path, query="student visa fees", settings=settings, worker="w", clock=lambda: NOW
    ) as opened:
        fill(opened)
    return path


@pytest.fixture
def filled(filled_once: Path, store: Path) -> Path:
    """A copy of it."""
    shutil.copyfile(filled_once, store)
    return store
