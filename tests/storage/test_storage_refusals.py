"""What is no store of this release is refused, each kind with its own error and message, and left as it was."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from pagesift_store import (
    Frontier,
    Inspector,
    NotAStore,
    PagesiftError,
    SchemaTooNew,
    SchemaTooOld,
    StoreEmpty,
    StoreMissing,
    StoreUnreachable,
)
from pagesift_store.storage import schema
from pagesift_store.storage.engine import APPLICATION_ID

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def _directory(path: Path) -> None:
    path.mkdir()


def _empty(path: Path) -> None:
    path.touch()


def _text(path: Path) -> None:
    path.write_text("https://a.example/\n" * 100)


def _foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE link (id INTEGER PRIMARY KEY)")


def _marked(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        connection.execute("CREATE TABLE link (id INTEGER PRIMARY KEY)")


def _newer(path: Path) -> None:
    Frontier.open(path, query="fees").close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE {schema.VERSION_TABLE} SET version_num = 'ffffffffffff'")


REFUSED: list[tuple[Callable[[Path], None], type[PagesiftError], str]] = [
    (_directory, StoreUnreachable, "is a directory; name a file in it"),
    (_empty, StoreEmpty, "is empty; remove it to create a store there, or restore a backup"),
    (_text, NotAStore, "is not a SQLite database"),
    (_foreign, NotAStore, "is a SQLite database of another program"),
    (_marked, NotAStore, "has our mark but no tables of ours"),
    (_newer, SchemaTooNew, f"has schema ffffffffffff, newer than {schema.HEAD} of this release: update"),
]


@pytest.mark.parametrize("query", [None, "fees"], ids=["resume", "create"])
@pytest.mark.parametrize(("make", "error", "message"), REFUSED)
def test_a_frontier_refuses(
    store: Path, make: Callable[[Path], None], error: type[PagesiftError], message: str, query: str | None
) -> None:
    make(store)
    before = store.read_bytes() if store.is_file() else None
    with pytest.raises(error, match=message) as refusal:
        Frontier.open(store, query=query)
    assert refusal.type is error
    assert str(store) in str(refusal.value)
    assert before is None or store.read_bytes() == before
    assert [path.name for path in store.parent.iterdir()] == [store.name]


@pytest.mark.parametrize(("make", "error", "message"), REFUSED)
def test_an_inspector_refuses(
    store: Path, make: Callable[[Path], None], error: type[PagesiftError], message: str
) -> None:
    make(store)
    with pytest.raises(error, match=message):
        Inspector.open(store)


@pytest.mark.parametrize(("make", "error", "message"), REFUSED)
def test_a_migration_refuses(
    store: Path, make: Callable[[Path], None], error: type[PagesiftError], message: str
) -> None:
    make(store)
    with pytest.raises(error, match=message):
        schema.migrate(store)


def test_an_older_store_is_refused_with_the_command_to_run(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Frontier.open(store, query="fees").close()
    old = schema.HEAD
    monkeypatch.setattr(schema, "revisions", lambda: [old, "9999"])
    monkeypatch.setattr(schema, "HEAD", "9999")
    with pytest.raises(
        SchemaTooOld, match=rf"has schema {old}, this release needs 9999: run `pagesift-store migrate"
    ):
        Frontier.open(store)


def test_a_missing_store_is_not_made_by_accident(store: Path) -> None:
    with pytest.raises(StoreMissing, match="give a query to create one"):
        Frontier.open(store)
    assert list(store.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("no/such/folder/crawl.db", "there is no such folder; make it first"),
        ("postgresql://localhost/crawl", "give a path, or sqlite:///path"),
        ("sqlite://", "give a path, or sqlite:///path"),
        ("crawl\x00.db", "no path holds a NUL"),
        ("crawl\ud83d.db", "no file can have this name"),
    ],
)
def test_where_no_store_can_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreUnreachable, match=message):
        Frontier.open(path, query="fees")
    assert list(tmp_path.iterdir()) == []


def test_a_url_names_the_same_store_as_its_path(store: Path) -> None:
    with Frontier.open(f"sqlite:///{store}", query="fees") as frontier:
        frontier.add(["https://a.example/"])
    with Frontier.open(store) as frontier:
        assert sum(frontier.status().counts.values()) == 1
