"""An upgrade happens whole or not at all, and does nothing to the program that asked for it."""

from __future__ import annotations

import logging
import signal
import sqlite3
import threading
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from racing import run
from store_invariants import violations

from pagesift_store import Frontier
from pagesift_store.storage import schema
from pagesift_store.storage.engine import Database

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MADE = "op.execute('CREATE TABLE made_half_way (id INTEGER)')"

KILLED = """
import sys
from importlib.resources import files
from pathlib import Path
from alembic.script import ScriptDirectory
from pagesift_store.storage import schema

migrations = files("pagesift_store.migrations")
script = ScriptDirectory(migrations, version_locations=[migrations / "versions", Path(sys.argv[2])])
schema._script = lambda: script
schema.HEAD = "9999"
schema.migrate(Path(sys.argv[1]))
"""


def names(store: Path) -> set[str]:
    with closing(sqlite3.connect(store)) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}


@pytest.fixture
def old(frontier: Callable[..., Frontier], store: Path) -> Path:
    """A store of today with something in it, which a later revision makes an older one."""
    with frontier() as opened:
        opened.add([f"https://a.example/{i}" for i in range(3)])
    return store


def test_a_store_that_is_up_to_date_is_left_alone(old: Path) -> None:
    before = old.read_bytes()
    assert schema.migrate(old) == []
    assert old.read_bytes() == before


def test_a_step_is_applied_once(old: Path, next_revision: Callable[[str], Path]) -> None:
    next_revision(MADE)
    assert schema.migrate(old) == ["9999"]
    assert schema.migrate(old) == []
    assert "made_half_way" in names(old)
    with Frontier.open(old) as frontier:
        assert len(frontier.lease(5)) == 3


def test_the_older_store_is_kept_beside_the_new_one(old: Path, next_revision: Callable[[str], Path]) -> None:
    before = names(old)
    revision = schema.HEAD
    next_revision(MADE)
    schema.migrate(old)
    copy = old.with_name(f"{old.name}.{revision}")
    assert names(copy) == before
    assert violations(copy) == []


def test_a_step_that_fails_leaves_an_older_store_as_it_was(
    old: Path, next_revision: Callable[[str], Path]
) -> None:
    before = names(old)
    next_revision(f"{MADE}; raise RuntimeError('half way')")
    with pytest.raises(RuntimeError, match="half way"):
        schema.migrate(old)
    assert names(old) == before
    with Database(old).reading() as connection:
        assert schema.current(connection) == schema._script().get_revision("9999").down_revision
    assert violations(old) == []


def test_a_step_that_fails_on_the_way_from_empty_leaves_nothing(
    store: Path, next_revision: Callable[[str], Path]
) -> None:
    """With the driver's own transactions the first step would stay, without its version, for good."""
    next_revision(f"{MADE}; raise RuntimeError('half way')")
    store.touch()
    database = Database(store, upgrading=True)
    with pytest.raises(RuntimeError, match="half way"):
        database.write(lambda connection: schema.upgrade(connection, "9999"))
    database.close()
    assert names(store) == set()


def test_a_killed_step_leaves_an_older_store_as_it_was(
    old: Path, next_revision: Callable[[str], Path]
) -> None:
    before = names(old)
    folder = next_revision(f"{MADE}; os.kill(os.getpid(), signal.SIGKILL)")
    assert run(KILLED, old, folder) == -signal.SIGKILL
    assert names(old) == before
    assert violations(old) == []


def test_twenty_stores_are_made_in_twenty_threads(tmp_path: Path) -> None:
    """Alembic's context belongs to the process: upgrades in two threads would get into each other's."""
    wrong: list[BaseException] = []
    line = threading.Barrier(20)

    def make(i: int) -> None:
        try:
            line.wait()
            with Frontier.open(tmp_path / f"{i}.db", query="fees") as frontier:
                frontier.add(["https://a.example/"])
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=make, args=(i,)) for i in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert [problem for i in range(20) for problem in violations(tmp_path / f"{i}.db")] == []


def test_a_programs_logging_is_left_alone(store: Path, caplog: pytest.LogCaptureFixture) -> None:
    root = logging.getLogger()
    of_the_program = logging.getLogger("a.program.of.its.own")
    of_the_program.setLevel(logging.ERROR)
    before = (root.level, list(root.handlers))
    with caplog.at_level(logging.INFO):
        Frontier.open(store, query="fees").close()
    assert (root.level, list(root.handlers)) == before
    assert (of_the_program.level, of_the_program.disabled) == (logging.ERROR, False)
