"""With durability `normal` the log is on its way to disk before a checkpoint has to wait for it."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pagesift_store import Frontier, Settings
from pagesift_store.storage import writeout

if TYPE_CHECKING:
    from pathlib import Path

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux can be asked")

OTHER = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('SELECT count(*) FROM link').fetchone()"


class Asked(list[str]):
    """Files whose writing out was asked for, at the seconds that a test says."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.now = 1_000.0
        patch.setattr(writeout, "begin", self.append)
        patch.setattr(writeout.time, "monotonic", lambda: self.now)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    return Asked(monkeypatch)


def crawl(path: Path, durability: str) -> Frontier:
    return Frontier.open(path, query="visa", settings=Settings(durability=durability))


@needs_linux
def test_the_system_is_asked_for_what_is_there(tmp_path: Path) -> None:
    log = tmp_path / "crawl.db-wal"
    assert not writeout.begin(str(log))
    log.write_bytes(b"x" * 100_000)
    assert writeout.begin(str(log))
    assert log.read_bytes() == b"x" * 100_000


@needs_linux
def test_to_ask_drops_no_lock(tmp_path: Path) -> None:
    """Were the locks dropped, another program would take itself for the last one and remove the log in use."""
    path = tmp_path / "crawl.db"
    with crawl(path, "normal") as frontier:
        frontier.add(["https://a.example/"])
        assert writeout.begin(f"{path}-wal")
        subprocess.run([sys.executable, "-c", OTHER, str(path)], check=True)
        assert path.with_name("crawl.db-wal").exists()
        frontier.add(["https://b.example/"])
    with Frontier.open(path) as again:
        assert again.status().counts["queued"] == 2


def test_the_log_is_asked_for_once_in_a_while(tmp_path: Path, asked: Asked) -> None:
    path = tmp_path / "crawl.db"
    with crawl(path, "normal") as frontier:
        frontier.add(["https://a.example/"])
        assert asked == [f"{path}-wal"]
        asked.now += writeout.EVERY * 0.9
        frontier.add(["https://b.example/"])
        assert len(asked) == 1
        asked.now += writeout.EVERY * 0.2
        frontier.add(["https://c.example/"])
        assert len(asked) == 2


def test_the_log_of_a_store_behind_a_link_is_found(tmp_path: Path, asked: Asked) -> None:
    with crawl(tmp_path / "crawl.db", "normal"):
        pass
    asked.clear()
    asked.now += writeout.EVERY
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "crawl.db"
    link.symlink_to(tmp_path / "crawl.db")
    with Frontier.open(link) as frontier:
        frontier.add(["https://a.example/"])
        assert asked == [str(tmp_path.resolve() / "crawl.db-wal")]
        assert (tmp_path / "crawl.db-wal").exists()


def test_what_is_synced_at_every_commit_is_not_asked_for(tmp_path: Path, asked: Asked) -> None:
    with crawl(tmp_path / "crawl.db", "full") as frontier:
        frontier.add(["https://a.example/"])
        assert not asked
        frontier.configure(durability="normal")
        frontier.add(["https://b.example/"])
        assert asked


def test_a_system_that_cannot_be_asked_does_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writeout, "_sync_file_range", lambda: None)
    with crawl(tmp_path / "crawl.db", "normal") as frontier:
        frontier.add(["https://a.example/"])
        assert frontier.status().counts["queued"] == 1
