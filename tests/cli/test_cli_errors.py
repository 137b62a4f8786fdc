"""Each error is one line and an exit code; what is no error of ours shows its traceback."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from pagesift_store import Frontier, StoreBusy
from pagesift_store.cli import main
from pagesift_store.storage.engine import Database

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    Run = Callable[..., Result]

READERS = ["status", "dump", "inspect summary", "inspect queue"]
WRITERS = ["lease", "observe", "recover", "rescore", "migrate"]


def _foreign(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE notes (text)")
    connection.close()


def _version(path: Path, revision: str) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE pagesift_schema SET version_num = ?", [revision])
    connection.close()


@pytest.mark.parametrize("command", READERS + WRITERS)
@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda path: None, "error: "),
        (lambda path: path.mkdir(), "is a directory"),
        (lambda path: path.touch(), "is empty"),
        (lambda path: path.write_text("https://a.example/\n" * 9), "is not a SQLite database"),
        (_foreign, "of another program"),
    ],
    ids=["missing", "folder", "empty", "text", "foreign"],
)
def test_what_is_no_store(
    run: Run, store: Path, command: str, make: Callable[[Path], None], named: str
) -> None:
    make(store)
    result = run(command, code=1)
    assert result.stdout == ""
    assert named in result.stderr
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("command", [*READERS, "lease", "migrate"])
def test_a_store_of_a_newer_release(crawl: Run, store: Path, command: str) -> None:
    _version(store, "9999")
    assert "update pagesift-store" in crawl(command, code=7).stderr


def test_a_locked_store(crawl: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(*_: object) -> int:
        raise StoreBusy("locked")

    monkeypatch.setattr(Frontier, "rescore", busy)
    assert crawl("rescore", code=6).stderr == "error: locked\n"


def test_a_lock_that_does_not_pass(crawl: Run, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(Database.__init__.__kwdefaults__, "timeout", 0.05)
    holder = sqlite3.connect(store, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        assert "locked by another process" in crawl("rescore", code=6).stderr
        crawl("status")  # readers wait for nobody
    finally:
        holder.close()


def test_an_error_is_one_line_whatever_it_quotes(crawl: Run) -> None:
    result = crawl("inspect url", "https://a.example/\x1b[2J\nx", code=1)
    assert result.stderr.count("\n") == 1
    assert "\x1b" not in result.stderr


def test_a_bug_shows_its_traceback(crawl: Run, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> int:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(Frontier, "rescore", broken)
    assert isinstance(CliRunner().invoke(main, ["rescore", str(store)]).exception, ZeroDivisionError)


def test_an_interrupt_is_no_error(crawl: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(Frontier, "rescore", interrupted)
    assert crawl("rescore", code=130).stderr == ""


def test_usage_errors_are_two(run: Run) -> None:
    assert "No such option" in run("lease", "--what", code=2).stderr
    assert "Missing option '--query'" in run("init", code=2).stderr
    assert "Missing argument 'STORE'" in CliRunner().invoke(main, ["lease"]).stderr
