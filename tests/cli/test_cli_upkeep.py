"""The commands that look after a store."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from pagesift_store.cli import main

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "crawl.db"
    ran("init", path, "--query", "student visa fees")
    ran("add", path, *(f"https://a.example/{i}" for i in range(7)))
    return path


def ran(*arguments: object, code: int = 0, **options: Any) -> str:
    done = CliRunner().invoke(main, [str(argument) for argument in arguments], **options)
    assert done.exit_code == code, done.output
    return done.output


def test_check_and_repair(store: Path) -> None:
    assert ran("check", store).startswith("sound: 7 links")
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("UPDATE crawl SET queued = 99")
    (finding,) = json.loads(ran("check", store, "--format", "json", code=9))
    assert finding == {
        "fault": "count", "where": "crawl", "message": "queued is 99, its rows say 7", "mended": False
    }  # fmt: skip
    assert "queued is 99" in ran("check", store, code=9)
    assert json.loads(ran("check", store, "--repair", "--format", "jsonl"))["mended"] is True
    assert ran("check", store, "--all-keys").startswith("sound")
    assert json.loads(ran("check", store, "--format", "json")) == []


def test_backup_and_restore(store: Path, tmp_path: Path) -> None:
    target = tmp_path / "backup.db"
    assert json.loads(ran("backup", store, target))["links"] == 7
    assert json.loads(ran("backup", store, target, "--keep", 2))["previous"] == f"{target}.1"
    assert json.loads(ran("restore", target, tmp_path / "new.db"))["links"] == 7
    assert "backup" in json.loads(ran("inspect", "summary", store, "--format", "json"))["upkeep"]


def test_c16_a_restore_over_a_store_says_what_is_lost_and_asks(store: Path, tmp_path: Path) -> None:
    target = tmp_path / "backup.db"
    ran("backup", store, target)
    ran("add", store, "https://a.example/later")
    asked = ran("restore", target, store, input="n\n", code=1)
    assert "holds 8 links and 0 fetches. Overwrite it?" in asked
    assert ran("check", store).startswith("sound: 8 links")
    ran("restore", target, store, input="y\n")
    assert ran("check", store).startswith("sound: 7 links")
    ran("add", store, "https://a.example/later")
    ran("restore", target, store, "--yes")
    assert ran("check", store).startswith("sound: 7 links")


def test_a_damaged_backup_is_an_error_in_one_line(store: Path, tmp_path: Path) -> None:
    target = tmp_path / "backup.db"
    for _ in range(2):
        ran("backup", store, target)
    content = bytearray(target.read_bytes())
    content[-1] ^= 1
    target.write_bytes(content)
    told = ran("restore", target, tmp_path / "new.db", code=1)
    assert told.count("\n") == 1
    assert f"the backup before it is good: {target}.1" in told


def test_vacuum(store: Path) -> None:
    for options in ([], ["--full"]):
        assert json.loads(ran("vacuum", store, *options))["free"] == 0
    assert json.loads(ran("status", store, "--format", "json"))["free_bytes"] == 0


def test_export_and_import(store: Path, tmp_path: Path) -> None:
    lines = ran("export", store)
    other = tmp_path / "other.db"
    assert json.loads(ran("import", other, input=lines))["rows"] == len(lines.splitlines()) - 2
    assert ran("dump", other) == ran("dump", store)
    assert "is no" not in ran("import", other, input=lines, code=1)
    cut = "\n".join(lines.splitlines()[:-1])
    assert "the last line is missing" in ran("import", tmp_path / "cut.db", input=cut, code=1)
    assert not (tmp_path / "cut.db").exists()
