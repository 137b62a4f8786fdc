"""Statements use the index that their docstring names, and what grows with the crawl is neither scanned nor sorted."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import pkgutil
import re
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from pagesift_store.focus.score import Weights, coverage_by_bits, score
from pagesift_store.storage import statements
from pagesift_store.storage.engine import Database
from pagesift_store.storage.prepared import prepared
from pagesift_store.storage.statements import lanes, leases, links

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pagesift_store import Frontier

UNIQUE = "the unique index on (key_hash, n)"
"""SQLite names it itself."""


def _promises() -> list[Any]:
    """Every public statement whose docstring names its index, with that index."""
    found = []
    for module in pkgutil.iter_modules(statements.__path__, f"{statements.__name__}."):
        for name, function in inspect.getmembers(importlib.import_module(module.name), inspect.isroutine):
            served = re.search(r"Served by (ix_\w+|the unique index on \(.*?\))", function.__doc__ or "")
            if served and not name.startswith("_"):
                index = "sqlite_autoindex_link_1" if served[1] == UNIQUE else served[1]
                found.append(pytest.param(function, index, id=f"{module.name.rpartition('.')[2]}.{name}"))
    return found


def explained(store: Path, command: str, function: Callable[..., Any]) -> list[Any]:
    """What SQLite says about a statement; those about a list are taken with four values."""
    takes_size = bool(inspect.signature(function).parameters)
    ready = prepared(function(4) if takes_size else function())
    values = dict.fromkeys(ready.names, 1)
    with contextlib.closing(Database(store)) as database, database.reading() as connection:
        cursor = connection.connection.cursor()
        rows = cursor.execute(f"{command} {ready.sql}", ready.bound(values)).fetchall()
        cursor.close()
    return rows


def plan_in(store: Path, function: Callable[..., Any]) -> list[str]:
    """The steps in which SQLite would run a statement."""
    return [row[3] for row in explained(store, "EXPLAIN QUERY PLAN", function)]


@pytest.fixture
def plan(frontier: Callable[..., Frontier], store: Path) -> Callable[[Any], list[str]]:
    """Asks SQLite how it would run a statement, in a store with every index that there is."""
    frontier(max_queue=1_000)
    return partial(plan_in, store)


def test_docstrings_name_indexes() -> None:
    assert len(_promises()) >= 15


@pytest.mark.parametrize(("function", "index"), _promises())
def test_a_statement_is_served_by_the_index_it_names(
    plan: Callable[[Any], list[str]], function: Callable[..., Any], index: str
) -> None:
    steps = plan(function)
    assert any(re.search(rf"\b{index}\b", step) for step in steps), steps


def test_a_bound_of_the_queue_changes_how_its_worst_links_are_found_and_nothing_else(
    frontier: Callable[..., Frontier], store: Path, tmp_path: Path
) -> None:
    """Its index begins with the score, which others look for too."""
    frontier(max_queue=1_000)
    frontier(path=(unbounded := tmp_path / "unbounded.db"))
    every = {promise.id: promise.values[0] for promise in _promises()}
    plans = {name: (plan_in(store, one), plan_in(unbounded, one)) for name, one in every.items()}
    assert {name for name, (one, other) in plans.items() if one != other} == {"links.worst_queued"}


@pytest.mark.parametrize("revisits", [False, True])
def test_the_worst_links_of_a_queue_are_found_without_a_sort(
    plan: Callable[[Any], list[str]], revisits: bool
) -> None:
    assert plan(lambda: links.worst_queued(revisits)) == ["SCAN link USING INDEX ix_link_worst"]


def test_forgetting_a_link_walks_through_no_table(frontier: Callable[..., Frontier], store: Path) -> None:
    """What refers to it (children, aliases, pages) is sought in programs of its own, which a plan does not show."""
    frontier(max_queue=1_000)
    program = explained(store, "EXPLAIN", links.evict)
    assert (
        sum(step[1] == "Init" for step in program) == 4
    )  # its own, and one for each of the three references
    on_disk, walked = set[int](), set[int]()
    for _, name, cursor, *_ in program:
        if name == "Init":
            on_disk = set()
        elif name in {"OpenRead", "OpenWrite"}:
            on_disk.add(cursor)
        elif name in {"Rewind", "Last", "Sort"}:
            walked |= {cursor} & on_disk
    assert walked == set()


@pytest.mark.parametrize("table", ["link", "page", "part", "host"])
def test_no_promised_statement_scans_a_table_that_grows(plan: Callable[[Any], list[str]], table: str) -> None:
    for promise in _promises():
        steps = plan(promise.values[0])
        scans = [step for step in steps if re.match(rf"SCAN {table}\b", step)]
        assert all("USING" in step for step in scans), (promise.id, steps)


@pytest.mark.parametrize("soon", [False, True])
def test_the_walk_over_the_heads_follows_its_index_and_looks_at_no_link(
    plan: Callable[[Any], list[str]], soon: bool
) -> None:
    steps = plan(lambda: leases.walk_heads(False, True, soon))
    demoted = " AND head_demoted=?" if soon else ""
    assert steps[0] == f"SEARCH lane USING INDEX ix_lane_order (dry=? AND spent=?{demoted})"
    assert not [step for step in steps if "TEMP B-TREE" in step or re.search(r"\blink\b", step)]


@pytest.mark.parametrize("soon", [False, True])
def test_the_best_lane_of_each_host_is_sought_and_only_the_hosts_are_sorted(
    plan: Callable[[Any], list[str]], soon: bool
) -> None:
    assert plan(lambda: leases.best_of_hosts(False, True, soon)) == [
        "SCAN host",
        "SEARCH best USING INTEGER PRIMARY KEY (rowid=?)",
        "CORRELATED SCALAR SUBQUERY 1",
        "SEARCH lane USING INDEX ix_lane_host (host_id=? AND dry=? AND spent=? AND head_demoted=?)",
        "USE TEMP B-TREE FOR ORDER BY",
    ]


@pytest.mark.parametrize("soon", [False, True])
def test_the_lanes_of_a_host_are_found_in_order(plan: Callable[[Any], list[str]], soon: bool) -> None:
    steps = plan(lambda: leases.heads_of_host(False, True, soon))
    assert (
        "SEARCH lane USING INDEX ix_lane_host (host_id=? AND dry=? AND spent=? AND head_demoted=?)" in steps
    )
    assert not [step for step in steps if "TEMP B-TREE" in step or step.startswith("SCAN")]


@pytest.mark.parametrize(
    "function", [leases.behind, lanes.refresh_head, links.due_links, links.next_due, links.next_expiry]
)
def test_the_first_of_an_order_is_found_without_a_sort(
    plan: Callable[[Any], list[str]], function: Callable[..., Any]
) -> None:
    assert not [step for step in plan(function) if "TEMP B-TREE" in step]


@pytest.mark.parametrize("function", [leases.take, links.read_link, links.finish, links.raise_link])
def test_one_link_is_found_by_its_id(plan: Callable[[Any], list[str]], function: Callable[..., Any]) -> None:
    assert plan(function)[0] == "SEARCH link USING INTEGER PRIMARY KEY (rowid=?)"


def test_a_rescore_keeps_no_page_for_taking_back_half_of_itself(
    frontier: Callable[..., Frontier], store: Any
) -> None:
    """A statement that may abort (2) has SQLite keep each page as it was; one that may fail (3) leaves that to its
    transaction."""
    frontier()
    statement = links.rescore(score, coverage_by_bits, Weights.of([1.0] * 5, [1.0, 1.0, 1.0]))
    with Database(store).reading() as connection:
        compiled = statement.compile(connection, compile_kwargs={"literal_binds": True})
        program = connection.exec_driver_sql(f"EXPLAIN {compiled}").all()
    halts = [step.p2 for step in program if step.opcode in {"Halt", "HaltIfNull"} and step.p1]
    assert halts
    assert set(halts) == {3}
