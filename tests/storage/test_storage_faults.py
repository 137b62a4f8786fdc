"""What a disk, another program or a person may do to a store, and what people are told then."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from bisect import bisect
from contextlib import closing
from typing import TYPE_CHECKING

import power_cuts
import pytest
from store_invariants import violations

from pagesift_store import (
    Frontier,
    Inspector,
    LinkState,
    PagesiftError,
    Settings,
    StoreBusy,
    StoreFull,
    StoreMissing,
    StoreReplaced,
    StoreUnreachable,
    UnknownFileSystem,
    upkeep,
)
from pagesift_store.storage import filesystem
from pagesift_store.storage.engine import Database

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pagesift_store import Page

# -- no room -------------------------------------------------------------------------------------------------------


def fill_up(opened: Frontier) -> int:
    """Add until the disk is full; returns how many calls were acknowledged."""
    calls = 0
    with contextlib.suppress(StoreFull):
        while calls < 10_000:
            opened.add([f"https://a.example/{calls}/{'x' * 100}{j}" for j in range(50)])
            calls += 1
    assert calls < 10_000
    return calls


def test_c06_a_full_disk_takes_nothing_back(frontier: Callable[..., Frontier], store: Path) -> None:
    opened = frontier()
    driver = opened._write(lambda work: work._driver)
    driver.execute("PRAGMA max_page_count=300")
    calls = fill_up(opened)
    assert opened.status().counts[LinkState.QUEUED] == 50 * calls > 0
    assert len(opened.lease(1)) == 1
    driver.execute("PRAGMA max_page_count=1000000")
    assert opened.add(["https://a.example/more"])[0].link_id == 50 * calls + 1
    assert violations(store) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)]
    if (
        shutil.which("mount") is None
        or subprocess.run(command, capture_output=True, check=False).returncode != 0
    ):
        pytest.skip("no file system can be mounted here")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_c06_a_small_disk_fills_up_and_is_freed(small_disk: Path) -> None:
    store, ballast = small_disk / "crawl.db", small_disk / "ballast"
    ballast.write_bytes(bytes(1 << 20))
    with Frontier.open(store, query="fees", settings=Settings(default_delay=0.0)) as opened:
        calls = fill_up(opened)
        with Inspector.open(store) as inspector:
            assert inspector.status().counts[LinkState.QUEUED] == 50 * calls
        with pytest.raises(StoreFull):
            upkeep.backup(store, small_disk / "backup.db")
        assert set(os.listdir(small_disk)) == {"ballast", "crawl.db", "crawl.db-wal", "crawl.db-shm"}
        ballast.unlink()
        opened.add(["https://a.example/after"])
    with Frontier.open(store) as opened:
        assert opened.status().counts[LinkState.QUEUED] == 50 * calls + 1
    assert violations(store) == []


@pytest.mark.skipif(power_cuts.compiler() is None, reason="no C compiler")
def test_a_sync_that_fails_is_an_error(tmp_path: Path) -> None:
    """A commit whose sync failed was not acknowledged; the ones before it are there."""
    library = power_cuts.library(tmp_path)
    (tmp_path / "disk").mkdir()
    store = tmp_path / "disk" / "crawl.db"
    Frontier.open(store, query="fees").close()
    program = """
import pathlib, sys
from pagesift_store import Frontier, StoreUnreachable
store, sign = sys.argv[1], pathlib.Path(sys.argv[2])
frontier = Frontier.open(store)
frontier.add(["https://a.example/1"])
sign.touch()
try:
    frontier.add(["https://a.example/2"])
except StoreUnreachable as error:
    print(error)
else:
    print("acknowledged")
sign.unlink()
print(frontier.add(["https://a.example/3"])[0].verdict)
frontier.close()
"""
    sign = tmp_path / "failing"
    environment = os.environ | {
        "LD_PRELOAD": str(library),
        "POWER_CUT_FOLDER": str(tmp_path / "disk"),
        "POWER_CUT_FAIL": str(sign),
    }
    done = subprocess.run(
        [sys.executable, "-c", program, str(store), str(sign)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    first, second = done.stdout.splitlines()
    assert "the disk under" in first
    assert second == "new"
    assert violations(store) == []
    with Frontier.open(store) as frontier:
        assert frontier.explain("https://a.example/1").link_id == 1


# -- a log that is cut, missing, or another's --------------------------------------------------------------------------


def test_c14_a_log_cut_anywhere_opens_at_the_last_whole_commit(
    frontier: Callable[..., Frontier], store: Path, tmp_path: Path
) -> None:
    opened = frontier()
    committed = []  # how long the log was after each call
    for i in range(4):
        opened.add([f"https://a.example/{i}"])
        committed.append((tmp_path / "crawl.db-wal").stat().st_size)
    shutil.copyfile(store, tmp_path / "kept")
    log = (tmp_path / "crawl.db-wal").read_bytes()
    for size in (*range(0, len(log), 512), len(log)):
        copy = tmp_path / "cut.db"
        shutil.copyfile(tmp_path / "kept", copy)
        (tmp_path / "cut.db-wal").write_bytes(log[:size])
        with closing(sqlite3.connect(copy)) as connection:
            found = connection.execute("SELECT (SELECT count(*) FROM link), queued FROM crawl").fetchone()
        assert found == (bisect(committed, size),) * 2
        if size % 32_768 == 0:
            assert upkeep.check(copy).sound
    assert found == (4, 4)


def test_c03_a_copy_without_its_log_is_older_and_whole(
    frontier: Callable[..., Frontier], store: Path, tmp_path: Path
) -> None:
    opened = frontier()
    opened.add(["https://a.example/"])
    shutil.copyfile(store, tmp_path / "copy.db")
    with Frontier.open(tmp_path / "copy.db") as copy:
        assert sum(copy.status().counts.values()) == 0
        copy.add(["https://b.example/"])
    assert violations(tmp_path / "copy.db") == []


# -- another file under the name ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["deleted", "moved", "replaced"])
def test_a_file_that_went_away_takes_no_more_writes(
    frontier: Callable[..., Frontier], page: Callable[..., Page], store: Path, tmp_path: Path, what: str
) -> None:
    """SQLite goes on writing to a file without a name: all of it was acknowledged, and all of it lost."""
    opened = frontier()
    opened.add(["https://a.example/", "https://a.example/1"])
    lease = opened.lease(1)[0]
    if what == "replaced":
        Frontier.open(tmp_path / "other.db", query="another query").close()
        (tmp_path / "other.db").replace(store)
    elif what == "moved":
        store.rename(tmp_path / "moved.db")
    else:
        store.unlink()
    for act in (
        lambda: opened.add(["https://a.example/2"]),
        lambda: opened.observe(lease, page(lease)),
        lambda: opened.lease(1),
    ):
        with pytest.raises(StoreReplaced, match="deleted, moved or exchanged while it was open"):
            act()
    if what != "replaced":
        with pytest.raises(StoreMissing):
            opened.status()
        assert not store.exists()
    opened.close()


# -- no permission ---------------------------------------------------------------------------------------------------


def looked_at(store: Path) -> list[str]:
    """What comes of looking at a store, and of changing it; errors as text."""

    def inspect() -> tuple[int, bool]:
        with Inspector.open(store) as inspector:
            return sum(inspector.status().counts.values()), len(list(inspector.dump())) > 5

    def add() -> int:
        with Frontier.open(store) as frontier:
            return len(frontier.add(["https://a.example/new"]))

    acts: list[Callable[[], object]] = [
        inspect,
        add,
        lambda: upkeep.check(store).sound,
        lambda: len(list(upkeep.export_lines(store))) > 5,
    ]
    return [_tried(act) for act in acts]


def _tried(act: Callable[[], object]) -> str:
    try:
        return str(act())
    except PagesiftError as error:
        return f"{type(error).__name__}: {error}"


def as_nobody(store: Path) -> list[str]:
    """The same as another user, who may not write there."""
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else")
    looked_at(store)  # imports what nobody may not read, perhaps
    for folder in store.parents:
        if folder.stat().st_mode & 0o005 != 0o005:
            folder.chmod(folder.stat().st_mode | 0o005)
    store.chmod(0o644)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            os.write(writing, json.dumps(looked_at(store)).encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as answer:
        found: list[str] = json.loads(answer.read())
    return found


def test_c74_a_closed_store_can_be_read_without_writing(
    frontier: Callable[..., Frontier], store: Path
) -> None:
    with frontier() as opened:
        opened.add(["https://a.example/"])
    inspected, written, checked, exported = as_nobody(store)
    assert inspected == "(2, True)"  # looked at before by somebody who may write
    assert written.startswith("StoreReadOnly: ")
    assert (checked, exported) == ("True", "True")
    assert os.listdir(store.parent) == [store.name]


def test_c74_a_store_in_use_says_why_it_cannot_be_read(
    frontier: Callable[..., Frontier], store: Path
) -> None:
    frontier().add(["https://a.example/"])
    before = set(os.listdir(store.parent))
    for name in ("crawl.db-wal", "crawl.db-shm"):
        (store.parent / name).chmod(0o600)
    inspected, written, *_ = as_nobody(store)
    assert inspected.startswith("StoreReadOnly: ")
    assert "must be allowed to write beside it" in inspected
    assert written.startswith("StoreReadOnly: ")
    assert set(os.listdir(store.parent)) == before


# -- file systems of a network -----------------------------------------------------------------------------------------

MOUNTS = """\
20 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 20 0:40 / {folder} rw,relatime shared:2 - {kind} server:/export rw
31 20 0:41 / /somewhere\\040else rw - tmpfs tmpfs rw
"""


@pytest.fixture
def mounted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Has the folder of the store look like a file system of some type."""

    def mount(kind: str) -> None:
        table = tmp_path.parent / f"{tmp_path.name}-mounts"
        table.write_text(MOUNTS.format(folder=tmp_path, kind=kind))
        monkeypatch.setattr(filesystem, "MOUNTS", table)

    return mount


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "fuse.sshfs", "9p"])
def test_c04_a_network_file_system_is_refused(
    mounted: Callable[[str], None], store: Path, tables_only: Path, kind: str
) -> None:
    mounted(kind)
    with pytest.raises(StoreUnreachable, match=rf"on a network file system \({kind}\)"):
        Frontier.open(store, query="fees")
    assert os.listdir(store.parent) == []
    shutil.copyfile(tables_only, store)
    with pytest.raises(StoreUnreachable, match="put it on a local disk, or see"):
        Inspector.open(store)
    assert os.listdir(store.parent) == [store.name]


def test_c04_a_rollback_journal_needs_no_shared_memory(
    mounted: Callable[[str], None], frontier: Callable[..., Frontier], page: Callable[..., Page], store: Path
) -> None:
    with frontier() as opened:
        opened.add(["https://a.example/"])
    with closing(sqlite3.connect(store)) as connection:
        assert connection.execute("PRAGMA journal_mode=DELETE").fetchone() == ("delete",)
    mounted("nfs")
    with Frontier.open(store) as opened:
        lease = opened.lease(1)[0]
        opened.observe(lease, page(lease, "/1", "/2"))
        assert opened.status().counts[LinkState.QUEUED] == 2
    assert violations(store) == []


def test_c04_an_unknown_file_system_brings_a_warning(mounted: Callable[[str], None], store: Path) -> None:
    mounted("newfs")
    with pytest.warns(UnknownFileSystem, match="its file system is 'newfs'"):
        Frontier.open(store, query="fees").close()


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs", "tmpfs", "overlay", "zfs"])
def test_c04_a_local_one_brings_nothing(mounted: Callable[[str], None], store: Path, kind: str) -> None:
    mounted(kind)
    Frontier.open(store, query="fees").close()


# -- others write, or read for long ------------------------------------------------------------------------------------


def test_c02_c37_a_busy_store_takes_a_write_or_says_that_it_did_not(
    frontier: Callable[..., Frontier], store: Path, clock: Callable[[], float]
) -> None:
    """Eight threads, each with a store of its own and little patience, against a program that hogs the lock."""
    frontier().close()
    stop, took, wrong = threading.Event(), [], []

    def hog() -> None:
        with closing(sqlite3.connect(store, isolation_level=None, timeout=30)) as other:
            while not stop.is_set():
                other.execute("BEGIN IMMEDIATE")
                stop.wait(0.04)
                other.execute("COMMIT")

    def write(number: int) -> None:
        try:
            with Frontier(Database(store, timeout=0.2), worker="w", clock=clock) as opened:
                for i in range(15):
                    url = f"https://a.example/{number}-{i}"
                    with contextlib.suppress(StoreBusy):
                        opened.add([url])
                        took.append(url)
        except BaseException as error:
            wrong.append(error)

    holder = threading.Thread(target=hog)
    writers = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in (holder, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    stop.set()
    holder.join()
    assert wrong == []
    with closing(sqlite3.connect(store)) as connection:
        stored = {url for (url,) in connection.execute("SELECT url FROM link")}
    assert stored == set(took)
    assert violations(store) == []


def test_c38_a_slow_reader_does_not_keep_the_log_from_being_used_again(
    frontier: Callable[..., Frontier], store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pagesift_store.storage.engine.WAL_PAGES", 50)
    opened = frontier()
    opened.add([f"https://a.example/{i}" for i in range(2_500)])
    with Inspector.open(store) as inspector:
        reader = iter(inspector.dump())
        next(reader)
        log = []
        for i in range(120):
            opened.add([f"https://b.example/{i}/{j}" for j in range(20)])
            if i % 10 == 0:
                next(reader)
            log.append(opened.status().wal_bytes)
        assert max(log) < 4_000_000
        assert sum(1 for _ in reader) > 2_500
    assert opened.status().wal_bytes == (store.parent / "crawl.db-wal").stat().st_size


def test_c38_the_log_is_cut_back_after_a_large_transaction(
    frontier: Callable[..., Frontier], store: Path
) -> None:
    driver = frontier()._write(lambda work: work._driver)
    assert driver.execute("PRAGMA journal_size_limit").fetchone() == (16_000 * 4_096,)


def test_a_store_is_recognised_while_its_log_is_copied_into_it(
    frontier: Callable[..., Frontier], store: Path, tmp_path: Path
) -> None:
    """A process that opened in the middle of another's checkpoint took the store for no database."""
    opened = frontier()
    opened.add([f"https://a.example/{i}" for i in range(300)])
    half, log = tmp_path / "half.db", (tmp_path / "crawl.db-wal").read_bytes()
    pages = {  # page number → content, as the log has them
        int.from_bytes(log[at : at + 4], "big"): log[at + 24 : at + 24 + 4096]
        for at in range(32, len(log), 4120)
    }
    content = bytearray(store.read_bytes())
    content[:4096] = pages[1]  # the first page tells of a length that the file does not have yet
    half.write_bytes(content)
    (tmp_path / "half.db-wal").write_bytes(log)
    with Frontier.open(half) as other:
        assert other.status().counts[LinkState.QUEUED] == 300
    assert upkeep.check(half).sound
