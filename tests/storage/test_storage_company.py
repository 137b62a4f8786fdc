"""Processes, threads and forks that share stores, inside programs with an Alembic and a logging of their own."""

from __future__ import annotations

import logging
import os
import threading
from typing import TYPE_CHECKING

import crowds
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from sqlalchemy import create_engine, inspect
from store_invariants import violations

from pagesift_store import Frontier, LinkState, Settings, upkeep
from pagesift_store.storage import schema

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

    from pagesift_store import Page


def test_c08_c37_eight_processes_do_all_kinds_of_calls(tmp_path: Path) -> None:
    """No error in any of them, no link leased to two at once, nothing acknowledged and lost."""
    done = crowds.crowd(tmp_path, 8, 5.0, seed=8)
    assert (done.lost, done.doubled, done.unsound) == ([], [], [])
    assert done.calls > 100


def test_c05_children_come_and_go_while_the_parent_works(
    frontier: Callable[..., Frontier], page: Callable[..., Page], store: Path
) -> None:
    """SQLite's locks belong to a process: a child that closed what it inherited would drop its parent's."""
    opened = frontier()
    opened.add([f"https://a.example/{i}" for i in range(60)])
    for i in range(50):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                leases = opened.lease(1)
                opened.observe(leases[0], page(leases[0], f"/child/{i}"))
                opened.close()
                code = 0
            finally:
                os._exit(code)
        opened.add([f"https://a.example/parent/{i}"])
        assert os.waitpid(child, 0)[1] == 0
    counts = opened.status().counts
    assert (counts[LinkState.DONE], sum(counts.values())) == (50, 160)
    opened.close()
    assert violations(store) == []


def test_c82_twenty_stores_are_used_in_twenty_threads(tmp_path: Path) -> None:
    wrong: list[BaseException] = []
    line = threading.Barrier(20)

    def work(i: int) -> None:
        try:
            line.wait()
            settings = Settings(default_delay=0.0, durability="normal")
            with Frontier.open(tmp_path / f"{i}.db", query="fees", settings=settings) as opened:
                opened.add([f"https://a.example/{j}" for j in range(i + 1)])
                assert len(opened.lease(1)) == 1
            upkeep.backup(tmp_path / f"{i}.db", tmp_path / f"{i}.backup")
            assert schema.migrate(tmp_path / f"{i}.db") == []
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert [upkeep.content(tmp_path / f"{i}.backup")[0] for i in range(20)] == list(range(1, 21))


def test_c82_a_program_with_its_own_alembic_and_logging(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """In the middle of a migration of its own it opens a store: neither notices the other."""
    engine = create_engine(f"sqlite:///{tmp_path / 'its-own.db'}")
    mine = logging.getLogger("its.own")
    mine.setLevel(logging.INFO)
    with engine.begin() as connection, caplog.at_level(logging.INFO, logger="its.own"):
        context = MigrationContext.configure(connection)
        with Operations.context(context) as op:
            op.execute("CREATE TABLE before (id INTEGER)")
            Frontier.open(tmp_path / "crawl.db", query="fees").close()
            op.execute("CREATE TABLE after (id INTEGER)")
            mine.info("done")
    assert set(inspect(engine).get_table_names()) == {"before", "after"}
    engine.dispose()
    assert [record.name for record in caplog.records] == ["its.own"]
    assert upkeep.check(tmp_path / "crawl.db").sound
