"""Power cuts: what a program wrote is recorded call by call, and a disk is made of it that lost what was not synced.

What was synced before the cut is there. Of what was written after the last sync of its file, nothing is there, or any
part: each write whole, not at all, or torn at a sector. That is what disks with a cache do; one that lies about syncs
is beyond any program.
"""

from __future__ import annotations

import os
import random
import shutil
import struct
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from pagesift_store import Frontier, Settings, upkeep
from pagesift_store.storage.engine import Database

SOURCE = Path(__file__).with_name("power_cut.c")
SECTOR = 512

PROGRAM = """
import os, sys
from pagesift_store import FoundLink, Frontier, Page
from pagesift_store.storage import engine
store, acknowledged, calls, pages = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
engine.WAL_PAGES = pages
journal = os.open(acknowledged, os.O_WRONLY | os.O_CREAT)
with Frontier.open(store) as frontier:
    for i in range(calls):
        frontier.add([f"https://a.example/{i}"])
        os.pwrite(journal, b"%08d" % (i + 1), 0)
        if i % 3 == 0:
            lease = frontier.lease(1)[0]
            frontier.observe(lease, Page(url=lease.url, text=f"student visa fees {i} " * 9))
"""
"""Adds one URL a call and says so once the call has returned."""


class Event(NamedTuple):
    """One call: `w`rite, `t`runcate, `s`ync, `u`nlink."""

    what: str
    path: str
    at: int
    data: bytes


def compiler() -> str | None:
    """A C compiler, where there is one."""
    return shutil.which("cc") or shutil.which("gcc")


def library(folder: Path) -> Path:
    """The recording library, made."""
    made = folder / "power_cut.so"
    command = [compiler() or "cc", "-shared", "-fPIC", "-O1", "-o", str(made), str(SOURCE), "-ldl"]
    subprocess.run(command, check=True)
    return made


def events(log: Path) -> list[Event]:
    """What was recorded."""
    data, place, found = log.read_bytes(), 0, []
    while place < len(data):
        what = chr(data[place])
        (length,) = struct.unpack_from("I", data, place + 1)
        path = data[place + 5 : place + 5 + length].decode()
        at, size = struct.unpack_from("qq", data, place + 5 + length)
        place += 5 + length + 16
        found.append(Event(what, path, at, data[place : place + size]))
        place += size
    return found


def record(
    folder: Path, durability: str, *, calls: int = 60, wal_pages: int = 40
) -> tuple[Path, bytes, list[Event]]:
    """Let a program work on a new store, until its end; returns the store, what it was before, and what was done."""
    preload, disk, log = library(folder), folder / "disk", folder / "log"
    disk.mkdir()
    store = disk / "crawl.db"
    settings = {"default_delay": 0.0, "max_in_flight": 100, "durability": durability}
    Frontier.open(store, query="student visa fees", settings=Settings(**settings)).close()
    before = store.read_bytes()
    environment = os.environ | {
        "LD_PRELOAD": str(preload), "POWER_CUT_FOLDER": str(disk), "POWER_CUT_LOG": str(log)
    }  # fmt: skip
    arguments = [str(store), str(disk / "acknowledged"), str(calls), str(wal_pages)]
    subprocess.run([sys.executable, "-c", PROGRAM, *arguments], env=environment, check=True)
    return store, before, events(log)


class Disk:
    """Files as they are, and as they would be after a cut."""

    def __init__(self, store: Path, content: bytes) -> None:
        self.durable: dict[str, bytearray] = {str(store): bytearray(content)}
        self.pending: dict[str, list[Event]] = {}

    def take(self, event: Event) -> None:
        """One more call has returned."""
        if event.what == "s":
            for one in self.pending.pop(event.path, ()):
                self._apply(self.durable.setdefault(event.path, bytearray()), one)
        else:
            self.pending.setdefault(event.path, []).append(event)

    def cut(self, rng: random.Random | None) -> dict[str, bytes]:
        """What is left; without `rng` nothing that was not synced."""
        left = {path: bytearray(content) for path, content in self.durable.items()}
        if rng is not None:
            for path, waiting in self.pending.items():
                for event in waiting:
                    if event.what == "u" and rng.random() < 0.5:
                        left.pop(path, None)
                    elif event.what != "u" and rng.random() < 0.6:
                        keep = len(event.data)
                        if rng.random() < 0.3:
                            keep = rng.randrange(keep // SECTOR + 1) * SECTOR
                        self._apply(
                            left.setdefault(path, bytearray()), event._replace(data=event.data[:keep])
                        )
        return {path: bytes(content) for path, content in left.items()}

    @staticmethod
    def _apply(content: bytearray, event: Event) -> None:
        if event.what == "t":
            del content[event.at :]
            content.extend(bytes(event.at - len(content)))
        elif event.what == "w":
            content.extend(bytes(max(0, event.at - len(content))))
            content[event.at : event.at + len(event.data)] = event.data


class Found(NamedTuple):
    """What a cut left.

    Attributes:
        acknowledged: URLs whose call had returned.
        kept: URLs in the store.
        faults: what `check` says; and anything but the first URLs, all of them.
    """

    acknowledged: int
    kept: int
    faults: list[str]


def cuts(folder: Path, durability: str, rounds: int, seed: int, **size: int) -> list[Found]:
    """Cut the power at random calls, and open what is left."""
    store, before, done = record(folder, durability, **size)
    rng = random.Random(seed)
    places = [rng.randrange(len(done) + 1) for _ in range(rounds)]
    return [_cut(folder, store, before, done[:place], rng) for place in places]


def _cut(folder: Path, store: Path, before: bytes, done: list[Event], rng: random.Random) -> Found:
    disk, acknowledged = Disk(store, before), 0
    for event in done:
        if event.path.endswith("acknowledged"):
            acknowledged = int(event.data)
        elif not event.path.endswith("-shm"):
            disk.take(event)
    left = disk.cut(None if rng.random() < 0.3 else rng)
    place = folder / "after"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    for path, content in left.items():
        (place / Path(path).name).write_bytes(content)
    copy = place / store.name
    faults = [f"{one.where}: {one.message}" for one in upkeep.check(copy, all_keys=True).findings]
    with closing(Database(copy)) as database, database.reading() as connection:
        urls = list(connection.exec_driver_sql("SELECT url FROM link ORDER BY id").scalars())
    if urls != [f"https://a.example/{i}" for i in range(len(urls))]:
        faults.append(f"not the first {len(urls)} URLs")
    return Found(acknowledged, len(urls), faults)
