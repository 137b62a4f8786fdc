"""Hosts that rest: whichever way a lease gets past their lanes, it takes the same links, and it gets past quickly."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polite_crawls import Crawl, settings_of

from pagesift_store import FoundLink, Frontier
from pagesift_store.storage.engine import Database
from pagesift_store.storage.prepared import Runner
from pagesift_store.transactions import lanes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

NEVER = 2**40
"""Of so many lanes one is seen, where all are to be passed."""

MARKS = [(False, False), (False, True), (True, False), (True, True)]
NOW = 1_000.0
VALUES: dict[str, Any] = {
    "now": NOW,
    "soon": NOW + 60,
    "max_in_flight": 2,
    "default_delay": 1.0,
    "most_of_host": 5,
    "most_of_part": 5,
}


def passing(monkeypatch: pytest.MonkeyPatch, one_in: int, of_hosts: float) -> None:
    monkeypatch.setattr(lanes, "ONE_IN", one_in)
    monkeypatch.setattr(lanes, "OF_HOSTS", of_hosts)


@pytest.mark.parametrize("seed", range(4))
def test_a_crawl_goes_the_same_way_however_many_lanes_are_passed(
    frontier: Callable[..., Frontier], tmp_path: Path, clock: Any, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    began, seen = clock.now, []
    for one_in, of_hosts in ((NEVER, 1.0), (1, 0.0), (2, 0.3), (lanes.ONE_IN, lanes.OF_HOSTS)):
        passing(monkeypatch, one_in, of_hosts)
        clock.now = began
        opened = frontier(path=tmp_path / f"{len(seen)}.db", **settings_of(seed))
        seen.append(list(Crawl(opened, clock, seed).run(120)))
    assert all(other == seen[0] for other in seen[1:])
    assert sum(len(what[2]) for act, what in seen[0] if act == "lease") > 10


def fill(store: Path, seed: int) -> None:
    """Lanes of all kinds, with heads of few ranks, on hosts of all kinds."""
    one = random.Random(seed)

    def host(number: int) -> tuple[Any, ...]:
        ready_at, blocked = NOW + one.choice((-9, -9, 0, 30, 90)), one.choice((None, None, NOW, NOW + 9))
        places, out, pages = one.choice((None, 1, 3)), one.choice((0, 0, 1, 2)), one.choice((0, 4, 5))
        return number, f"h{number}", ready_at, blocked, places, out, pages

    def lane(number: int, part: int) -> tuple[Any, ...]:
        head, rank = (
            one.choice((None, *[number * 100 + part] * 4)),
            one.choice((-1.5, 0.0, 0.3, one.random())),
        )
        demoted, shut = one.random() < 0.3, one.random() < 0.1
        return number, part, part, head, rank, demoted, shut, *one.choice((MARKS[0], *MARKS))

    hosts = range(1, one.choice((2, 6, 30)))
    parts = [(part, f"p{part}", one.choice((0, 0, 0, 5))) for part in range(1, 41)]
    queues = [lane(number, part) for number in hosts for part in range(1, one.choice((2, 5, 41)))]
    with closing(sqlite3.connect(store)) as connection:
        for table, columns, rows in (
            ("host", "id, name, ready_at, blocked_until, max_in_flight, in_flight, pages", map(host, hosts)),
            ("part", "id, key, fetched, kind", [(*part, "subtree") for part in parts]),
            (
                "lane",
                "host_id, subtree_id, cluster_id, head_id, head_rank, head_demoted, shut, dry, spent",
                queues,
            ),
        ):
            places = ", ".join("?" * (columns.count(",") + 1))
            connection.executemany(f"INSERT INTO {table} ({columns}) VALUES ({places})", rows)
        connection.commit()


def expected(store: Path, *, dry: bool, spent: bool, soon: bool) -> list[int]:
    """Ids of the lanes in order, sorted by hand."""
    with closing(sqlite3.connect(store)) as connection:
        rows = connection.execute(
            "SELECT lane.id, head_demoted, head_rank, head_id, ready_at, blocked_until, coalesce(max_in_flight, 2),"
            " in_flight, host.pages, fetched, lane.dry = ? AND spent = ? AND shut = 0 AND head_id IS NOT NULL"
            " FROM lane JOIN host ON host.id = host_id JOIN part ON part.id = subtree_id",
            (dry, spent),
        ).fetchall()
    found = []
    for lane, demoted, rank, head, ready, blocked, places, out, pages, fetched, queues in rows:
        until = NOW + 60 if soon else NOW
        rested = NOW < ready <= until and not demoted if soon else ready <= NOW and out < places
        if queues and rested and (blocked is None or blocked <= until) and pages + out < 5 and fetched < 5:
            found.append((demoted, -rank, head, lane))
    return [lane for *_, lane in sorted(found)]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([1, 2, 8, 64, NEVER]), st.sampled_from([0.0, 0.2, 1.0, 9.0]))
def test_lanes_come_in_order_however_many_are_passed(
    tables_only: Path, tmp_path_factory: pytest.TempPathFactory, seed: int, one_in: int, of_hosts: float
) -> None:
    store = tmp_path_factory.mktemp("lanes") / "crawl.db"
    store.write_bytes(tables_only.read_bytes())
    fill(store, seed)
    with (
        pytest.MonkeyPatch.context() as patched,
        closing(Database(store)) as database,
        database.reading() as connection,
    ):
        passing(patched, one_in, of_hosts)
        for (dry, spent), soon in product(MARKS, (False, True)):
            read = lanes.Lanes(Runner(connection), VALUES, dry, spent, soon=soon)
            assert [row.lane_id for row in read] == expected(store, dry=dry, spent=spent, soon=soon)


def steps_of(opened: Frontier, leases: int) -> int:
    """Steps of SQLite's machine that a call takes, in tens."""
    counted = [0]

    def count() -> int:
        counted[0] += 1
        return 0

    driver: Any = opened._database.write(lambda connection: connection.connection.dbapi_connection)
    driver.set_progress_handler(count, 10)
    try:
        assert len(opened.lease(leases)) == leases
    finally:
        driver.set_progress_handler(None, 10)
    return counted[0]


@pytest.mark.parametrize("times", [1, 30])
def test_what_a_lease_costs_does_not_grow_with_the_lanes_of_hosts_that_rest(
    frontier: Callable[..., Frontier], tmp_path: Path, clock: Any, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """Nor with those of hosts that the same call has leased from."""
    passing(monkeypatch, 8, lanes.OF_HOSTS)
    cost: dict[int, int] = {}
    for size in (100, 400):
        opened = frontier(path=tmp_path / f"{size}.db", scope="any", default_delay=10.0)
        for host in range(20):
            opened.add(
                [FoundLink(f"https://best{host}.example/{i}/", score=3 + i / 1000) for i in range(size)],
                depth=1,
            )
        if times == 1:
            assert len({lease.url.split("/")[2] for lease in opened.lease(20)}) == 20
            clock.forward(1.0)
        opened.add([FoundLink(f"https://h{i}.example/{i}", score=1.0) for i in range(30)], depth=1)
        cost[size] = steps_of(opened, times)
    assert cost[400] < cost[100] * 1.1


def test_hosts_with_equal_heads_are_read_one_by_one(
    frontier: Callable[..., Frontier], store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As without a query: all links of a depth have one score, and the first found goes first."""
    passing(monkeypatch, 1, 0.0)
    opened = frontier(scope="any", default_delay=10.0)
    opened.add([FoundLink(f"https://best.example/{i}/", score=3.0) for i in range(20)], depth=1)
    opened.lease(1)
    opened.add([FoundLink(f"https://h{i}.example/", score=1.0) for i in range(200)], depth=1)
    read: list[int] = []
    original = lanes.Lanes._of_host

    def reading(self: lanes.Lanes, host_id: int, place: Any) -> Iterator[Any]:
        read.append(host_id)
        return original(self, host_id, place)

    monkeypatch.setattr(lanes.Lanes, "_of_host", reading)
    assert [lease.url for lease in opened.lease(3)] == [f"https://h{i}.example/" for i in range(3)]
    assert len(read) <= 5
