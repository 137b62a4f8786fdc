"""A new store is there whole or not at all, whoever is killed and however many make it."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest
from racing import race, run
from store_invariants import violations

from pagesift_store import Frontier
from pagesift_store.storage import schema
from pagesift_store.storage.process import Process

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sqlalchemy import Connection

KILLED = """
import os, signal, sys
from pagesift_store import Frontier
from pagesift_store.storage import schema

place, name, when, path = sys.argv[1:]
module = schema if place == "schema" else os
genuine = getattr(module, name)

def fatal(*arguments):
    if when == "after":
        genuine(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)

setattr(module, name, fatal)
Frontier.open(path, query="student visa fees")
"""


@pytest.mark.parametrize(
    ("place", "name", "when", "there"),
    [
        ("schema", "_prepare", "before", False),
        ("schema", "_prepare", "after", False),
        ("schema", "upgrade", "after", False),
        ("os", "link", "before", False),
        ("os", "link", "after", True),
        ("schema", "remove", "before", True),
        ("schema", "sync_folder", "before", True),
    ],
)
def test_a_killed_maker_leaves_nothing_in_the_way(
    store: Path, place: str, name: str, when: str, *, there: bool
) -> None:
    assert run(KILLED, place, name, when, store) == -signal.SIGKILL
    assert store.exists() is there
    with Frontier.open(store, query="student visa fees") as frontier:
        frontier.add(["https://a.example/"])
    assert violations(store) == []
    assert os.listdir(store.parent) == [store.name]


def test_drafts_of_the_dead_are_swept_and_those_of_the_living_stay(store: Path) -> None:
    me = Process.own()
    living = f".{store.name}.{me.pid}-{me.started}-00000000.new"
    dead = f".{store.name}.{me.pid}-{me.started + 1}-00000000.new"
    others = f".other.db.{me.pid}-{me.started + 1}-00000000.new"
    for name in (living, dead, f"{dead}-wal", others):
        store.with_name(name).touch()
    Frontier.open(store, query="fees").close()
    assert set(os.listdir(store.parent)) == {store.name, living, others}


def test_of_two_makers_one_finds_the_others_store(store: Path) -> None:
    def fill(connection: Connection) -> None:
        connection.exec_driver_sql("CREATE TABLE made_by_the_first (id)")

    assert schema.create(store, fill) is True
    before = store.read_bytes()
    assert schema.create(store, lambda _: None) is False
    assert store.read_bytes() == before
    assert os.listdir(store.parent) == [store.name]


def test_a_maker_that_fails_leaves_nothing(store: Path) -> None:
    def fill(connection: Connection) -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        schema.create(store, fill)
    assert os.listdir(store.parent) == []


def test_eight_processes_open_one_fresh_path(store: Path) -> None:
    ids = race(
        """
with Frontier.open(arguments["store"], query="fees") as frontier:
    print(json.dumps(frontier.add([arguments["url"]])[0].link_id))
""",
        [{"store": store, "url": f"https://a.example/{i}"} for i in range(8)],
    )
    assert sorted(ids) == list(range(1, 9))
    assert violations(store) == []
    assert os.listdir(store.parent) == [store.name]


@pytest.mark.parametrize("name", ["a?b.db", "100%25.db", "a b#c.db", "ü.db", ":memory:", "'quoted'.db"])
def test_a_store_is_where_its_name_says(
    tmp_path: Path, frontier: Callable[..., Frontier], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with Frontier.open(name, query="fees") as made:
        made.add(["https://a.example/"])
    assert os.listdir(tmp_path) == [name]
    assert violations(tmp_path / name) == []


def test_a_relative_path_is_kept_when_the_process_changes_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with Frontier.open("crawl.db", query="fees") as frontier:
        monkeypatch.chdir(tmp_path / "elsewhere")
        frontier.add(["https://a.example/"])
        assert sum(frontier.status().counts.values()) == 1
    assert os.listdir(tmp_path / "elsewhere") == []
