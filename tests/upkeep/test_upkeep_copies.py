"""Backups that were read back, restores that overwrite nothing by accident, files that shrink."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import threading
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from store_invariants import violations

from pagesift_store import (
    Frontier,
    InvalidValue,
    NotAStore,
    StoreDamaged,
    StoreExists,
    StoreFull,
    StoreMissing,
    StoreUnreachable,
    WrongStore,
    upkeep,
)
from pagesift_store.storage import copies, filesystem

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def dump(store: Path) -> list[dict[str, object]]:
    with Frontier.open(store) as frontier:
        return [dict(row) for row in frontier.dump()]


def test_c03_a_backup_holds_what_is_in_the_log_of_an_open_store(
    frontier: Callable[..., Frontier], store: Path, tmp_path: Path
) -> None:
    opened = frontier()
    opened.add([f"https://a.example/{i}" for i in range(1_000)])
    shutil.copyfile(store, tmp_path / "by-cp.db")
    made = upkeep.backup(store, tmp_path / "backup.db")
    assert (made.links, made.previous) == (1_000, None)
    assert dump(tmp_path / "backup.db") == [dict(row) for row in opened.dump()]
    with Frontier.open(tmp_path / "by-cp.db") as copy:
        assert sum(copy.status().counts.values()) == 0, "cp would have done: this test shows nothing"
    assert upkeep.history(store)[0].detail == {"links": 1_000, "target": str(tmp_path / "backup.db")}


def test_a_backup_while_others_write_is_one_moment(
    frontier: Callable[..., Frontier], store: Path, tmp_path: Path
) -> None:
    opened = frontier()
    stop = threading.Event()
    added = [0]

    def write() -> None:
        while not stop.is_set():
            opened.add([f"https://a.example/{added[0]}-{i}" for i in range(7)])
            added[0] += 1

    thread = threading.Thread(target=write)
    thread.start()
    for i in range(5):
        made = upkeep.backup(store, tmp_path / f"{i}.db")
        assert made.links % 7 == 0
        assert upkeep.check(tmp_path / f"{i}.db").sound
    stop.set()
    thread.join()
    assert added[0] > 1


def test_older_backups_move_on(filled: Path, tmp_path: Path) -> None:
    target = tmp_path / "backup.db"
    for links in range(4):
        with Frontier.open(filled) as frontier:
            frontier.add([f"https://a.example/new/{links}"])
        upkeep.backup(filled, target, keep=2)
    names = [target, tmp_path / "backup.db.1", tmp_path / "backup.db.2"]
    found = [upkeep.content(name)[0] for name in names]
    assert found == [found[0], found[0] - 1, found[0] - 2]
    assert set(os.listdir(tmp_path)) == {filled.name, *(name.name for name in names)}
    upkeep.backup(filled, target, keep=0)
    assert upkeep.content(names[1])[0] == found[1]


def test_a_backup_after_one_that_was_killed_while_names_moved_on_leaves_nothing(
    filled: Path, tmp_path: Path
) -> None:
    target = tmp_path / "backup.db"
    upkeep.backup(filled, target)
    os.link(target, tmp_path / "backup.db.1")
    upkeep.backup(filled, target)
    assert set(os.listdir(tmp_path)) == {filled.name, "backup.db", "backup.db.1"}
    assert not target.samefile(tmp_path / "backup.db.1")


def test_c15_a_bad_backup_is_named_and_so_is_the_one_before_it(filled: Path, tmp_path: Path) -> None:
    target, place = tmp_path / "backup.db", tmp_path / "restored.db"
    upkeep.backup(filled, target)
    upkeep.backup(filled, target)
    content = target.read_bytes()
    rng = random.Random(15)
    places = [*range(60, 64), *(rng.randrange(100, len(content)) for _ in range(60)), len(content) - 1]
    for at in places:
        damaged = bytearray(content)
        damaged[at] ^= 1 << rng.randrange(8)
        target.write_bytes(damaged)
        with pytest.raises(StoreDamaged, match=r"backup\.db.*the backup before it is good: .*backup\.db\.1"):
            upkeep.restore(target, place)
        assert not place.exists()
    upkeep.restore(tmp_path / "backup.db.1", place)
    assert dump(place) == dump(filled)


def test_c15_a_backup_that_fails_its_test_replaces_nothing(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "backup.db"
    upkeep.backup(filled, target)
    before = target.read_bytes()
    genuine = copies.copy

    def faulty(source: Path, draft: Path) -> None:
        genuine(source, draft)
        content = bytearray(draft.read_bytes())
        content[8 * 4096 : 10 * 4096] = bytes(2 * 4096)
        draft.write_bytes(content)

    monkeypatch.setattr(copies, "copy", faulty)
    with pytest.raises(StoreDamaged, match="older backups stay as they were"):
        upkeep.backup(filled, target)
    assert target.read_bytes() == before
    assert set(os.listdir(tmp_path)) == {filled.name, target.name}


def test_a_backup_that_was_cut_short_is_refused(filled: Path, tmp_path: Path) -> None:
    target = tmp_path / "backup.db"
    upkeep.backup(filled, target)
    content = target.read_bytes()
    for size in range(0, len(content), 16_384):
        target.write_bytes(content[:size])
        with pytest.raises((StoreDamaged, NotAStore, upkeep.StoreError)):
            upkeep.restore(target, tmp_path / "restored.db")


def test_c16_a_restore_overwrites_nothing_unasked(filled: Path, tmp_path: Path) -> None:
    upkeep.backup(filled, tmp_path / "backup.db")
    with Frontier.open(filled) as frontier:
        frontier.add(["https://a.example/later"])
    before = dump(filled)
    with pytest.raises(StoreExists, match=r"a store of \d+ links and \d+ fetches at .*crawl\.db"):
        upkeep.restore(tmp_path / "backup.db", filled)
    assert dump(filled) == before
    upkeep.restore(tmp_path / "backup.db", filled, force=True)
    assert len(dump(filled)) < len(before)
    assert violations(filled) == []


def test_leases_from_before_a_restore_are_of_another_store(filled: Path, tmp_path: Path) -> None:
    """Attempt numbers go back with a restore: a late report could pass for that of a lease given since."""
    with Frontier.open(filled, worker="w") as frontier:
        lease = frontier.lease(1)[0]
    upkeep.backup(filled, tmp_path / "backup.db")
    upkeep.restore(tmp_path / "backup.db", filled, force=True)
    with Frontier.open(filled) as frontier, pytest.raises(WrongStore):
        frontier.release(lease)


def test_who_had_leases_before_a_restore_is_another_owner_after_it(filled: Path, tmp_path: Path) -> None:
    backup = tmp_path / "copy.db"
    with Frontier.open(filled) as one:
        upkeep.backup(filled, backup)
        one.lease(1)
        upkeep.restore(backup, filled, force=True)
        with Frontier.open(filled) as other:
            (kept,) = other.lease(1)
            one.lease(1)
            one.close()
            assert other.renew(kept).link_id == kept.link_id


def test_whoever_has_a_store_open_goes_on_with_what_was_restored(
    frontier: Callable[..., Frontier], store: Path, tmp_path: Path
) -> None:
    opened = frontier()
    opened.add(["https://a.example/1"])
    upkeep.backup(store, tmp_path / "backup.db")
    opened.add(["https://a.example/2", "https://a.example/3"])
    upkeep.restore(tmp_path / "backup.db", store, force=True)
    assert sum(opened.status().counts.values()) == 1
    assert opened.add(["https://a.example/4"])[0].link_id == 2
    opened.close()
    assert violations(store) == []


def test_what_is_left_of_a_lost_store_is_moved_aside(filled: Path, tmp_path: Path) -> None:
    upkeep.backup(filled, tmp_path / "backup.db")
    before = dump(filled)
    filled.write_bytes(b"not a database any more" * 1_000)
    with pytest.raises(StoreExists, match="something that cannot be read as a store"):
        upkeep.restore(tmp_path / "backup.db", filled)
    upkeep.restore(tmp_path / "backup.db", filled, force=True)
    assert dump(filled) == before
    assert (tmp_path / "crawl.db.damaged-1").read_bytes().startswith(b"not a database")


def test_the_log_of_a_store_that_is_gone_is_not_taken_for_the_new_ones(
    frontier: Callable[..., Frontier], store: Path, tmp_path: Path
) -> None:
    """SQLite would replay it into whatever lies beside it under that name."""
    opened = frontier()
    upkeep.backup(store, tmp_path / "backup.db")
    opened.add([f"https://a.example/{i}" for i in range(100)])
    shutil.copyfile(tmp_path / "crawl.db-wal", tmp_path / "kept")
    opened.close()
    store.unlink()
    shutil.move(tmp_path / "kept", tmp_path / "crawl.db-wal")
    with pytest.raises(StoreUnreachable, match="put that store back, or move the file away"):
        upkeep.restore(tmp_path / "backup.db", store)
    with pytest.raises(StoreUnreachable, match="written last to a store that is gone"):
        Frontier.open(store, query="fees")
    assert not store.exists()
    (tmp_path / "crawl.db-wal").unlink()
    upkeep.restore(tmp_path / "backup.db", store)
    assert violations(store) == []


@pytest.mark.parametrize("keep", [-1, True, 1.5])
def test_a_number_of_backups_is_a_whole_number(filled: Path, tmp_path: Path, keep: int) -> None:
    with pytest.raises(InvalidValue, match="keep="):
        upkeep.backup(filled, tmp_path / "backup.db", keep=keep)


def test_a_store_is_no_backup_of_itself(filled: Path, tmp_path: Path) -> None:
    (tmp_path / "other-name.db").symlink_to(filled)
    for target in (filled, tmp_path / "other-name.db"):
        with pytest.raises(InvalidValue, match="is the store itself"):
            upkeep.backup(filled, target)


def test_where_no_backup_can_be(filled: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreUnreachable, match="there is no such folder"):
        upkeep.backup(filled, tmp_path / "no" / "backup.db")
    with pytest.raises(StoreMissing):
        upkeep.backup(tmp_path / "no.db", tmp_path / "backup.db")
    with pytest.raises(StoreMissing):
        upkeep.restore(tmp_path / "no.db", tmp_path / "restored.db")
    assert os.listdir(tmp_path) == [filled.name]


def free_pages(store: Path) -> int:
    with closing(sqlite3.connect(store)) as connection:
        return int(connection.execute("PRAGMA freelist_count").fetchone()[0])


@pytest.mark.parametrize("full", [False, True])
def test_c77_space_of_what_was_removed_comes_back(filled: Path, *, full: bool) -> None:
    with Frontier.open(filled) as frontier:
        frontier.add([f"https://a.example/{'long-' * 30}{i}" for i in range(5_000)])
    with closing(sqlite3.connect(filled)) as connection, connection:
        connection.execute("DELETE FROM link WHERE state = 'queued'")
    upkeep.check(filled, repair=True)
    with Frontier.open(filled) as frontier:
        assert frontier.status().free_bytes == free_pages(filled) * 4096 > 1_000_000
        done = upkeep.vacuum(filled, full=full)
    assert done.after < done.before / 4
    assert (done.after, done.free) == (filled.stat().st_size, 0)
    assert upkeep.check(filled).sound


def test_c77_a_vacuum_looks_for_room_first(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = filled.read_bytes()
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**9, 10**9 - 1, 1))
    with pytest.raises(StoreFull, match="has 1 bytes free"):
        upkeep.vacuum(filled, full=True)
    assert filled.read_bytes() == before


def test_c04_backups_may_be_on_a_network_share(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody works in a backup, so that it needs no shared memory."""
    share, mounts = tmp_path / "share", tmp_path / "mounts"
    share.mkdir()
    mounts.write_text(f"1 0 8:1 / / rw - ext4 /dev/sda rw\n2 1 0:40 / {share} rw - nfs4 server:/x rw\n")
    monkeypatch.setattr(filesystem, "MOUNTS", mounts)
    upkeep.backup(filled, share / "backup.db")
    assert os.listdir(share) == ["backup.db"]
    with pytest.raises(StoreUnreachable, match="network file system"):
        Frontier.open(share / "backup.db")
    upkeep.restore(share / "backup.db", tmp_path / "restored.db")
    assert dump(tmp_path / "restored.db") == dump(filled)
