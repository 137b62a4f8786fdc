"""Listings of a store: the same rows asked for in part, all at once, or one by one, whatever lanes they stand in."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from pagesift_store import FoundLink, Frontier, Inspector, Page, upkeep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def inspector(frontier: Callable[..., Frontier], store: Path) -> Iterator[Inspector]:
    """A store with many lanes, some of one link and one of many, equal scores, and one lane that a limit shuts."""
    opened = frontier(scope="any", max_pages_per_part=1)
    links = [FoundLink(f"https://a.example/part{i % 7}/page{i}", score=float(i % 5)) for i in range(60)]
    links += [FoundLink(f"https://b.example/deep/page{i}", score=4.5) for i in range(40)]
    opened.add(links, depth=1)
    for lease in opened.lease(3):
        opened.observe(lease, Page(url=lease.url, text="Student visa fees are paid here. " * 10))
    with Inspector.open(str(store)) as made:
        yield made


def in_order(store: Path) -> list[int]:
    """The ids of the queue in its order, by the plainest statement."""
    with closing(sqlite3.connect(store)) as connection:
        rows = connection.execute(
            "SELECT id FROM link WHERE state = 'queued' ORDER BY demoted, score DESC, id"
        ).fetchall()
    return [row[0] for row in rows]


@pytest.mark.parametrize("demoted", ["0", "id % 3 = 0", "lane_id % 2", "1"])
def test_the_best_of_the_queue_are_the_first_of_all_of_it(
    inspector: Inspector, store: Path, demoted: str
) -> None:
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute(f"UPDATE link SET demoted = ({demoted}) WHERE state = 'queued'")
    assert upkeep.check(store, repair=True).sound
    whole = in_order(store)
    assert len(whole) == 98
    for most in (0, 1, 2, 5, 50, 98, 200):
        assert [row["id"] for row in inspector.queue(most)] == whole[:most]
    assert [row["id"] for row in inspector.queue(None)] == whole


@pytest.mark.parametrize("name", ["queue", "parts", "hosts", "blocks", "leases", "pages", "templates"])
def test_one_by_one_are_the_same_rows(inspector: Inspector, name: str) -> None:
    assert list(inspector.each(name)) == getattr(inspector, name)(1_000)


def test_a_slow_reader_holds_nothing_up_and_shows_what_is_left(
    inspector: Inspector, frontier: Callable[..., Frontier], store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pagesift_store.inspector._PAGE", 10)
    rows = inspector.each("queue")
    seen = [next(rows)["id"]]
    opened = frontier()
    leased = {lease.link_id for lease in opened.lease(40)}
    opened.add(["https://c.example/"])
    checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)"
    with closing(sqlite3.connect(store)) as connection:
        assert connection.execute(checkpoint).fetchone() == (0, 0, 0)  # nobody reads an older moment
    seen += [row["id"] for row in rows]
    assert not leased & set(seen[10:])
    assert len(seen) == len(set(seen)) >= 98 - len(leased)
    assert next(inspector.each("queue"))["score"] == 5.5
