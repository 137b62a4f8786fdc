"""Rounds of kills, each followed by a look at what is left: lost, doubled, differing."""

from __future__ import annotations

import importlib.util
import json
import random
import shutil
import sqlite3
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import killing
import mixed_calls
from sqlalchemy import inspect

from pagesift_store import Frontier, PagesiftError, upkeep
from pagesift_store.storage import schema
from pagesift_store.storage.engine import Database

if TYPE_CHECKING:
    from collections.abc import Callable

_SITE = Path(__file__).parents[1] / "crash" / "crawler.py"
_spec = importlib.util.spec_from_file_location("crawler", _SITE)
crawler: Any = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(crawler)

FIRST_KILL = 130
"""A first kill comes at one of so many statements, so that many fall into the creation of the store."""

LATER_KILL = 3_000
FINISHED_LINKS = 80
"""Links of the store that operations are tried on which are fetched."""


@dataclass(slots=True)
class Tally:
    """What some rounds came to.

    Attributes:
        name: of what was killed.
        kills: processes killed.
        ended: rounds whose kill came too late.
        lost: what was acknowledged and was gone.
        doubled: what was there, or was given out, twice.
        differing: dumps that are neither what they were nor what they should be.
        unsound: findings of `check`.
        seconds: how long it took.
    """

    name: str
    kills: int = 0
    ended: int = 0
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    differing: list[str] = field(default_factory=list)
    unsound: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def clean(self) -> bool:
        """Nothing went wrong."""
        return not (self.lost or self.doubled or self.differing or self.unsound)

    def look(self, store: Path) -> None:
        """Check a store."""
        if store.exists():
            self.unsound += [
                f"{store.name}: {one.where}: {one.message}"
                for one in upkeep.check(store, all_keys=True).findings
            ]


def dump_of(store: Path) -> list[dict[str, Any]]:
    """Everything that a resume must restore."""
    with Frontier.open(store) as frontier:
        return [dict(row) for row in frontier.dump()]


def exact(folder: Path, kills: int, seed: int) -> Tally:
    """A crawl by one worker on fixed pages, killed and resumed: every dump must be the undisturbed one."""
    rng, tally, start = random.Random(seed), Tally("exact resume"), time.monotonic()
    calm = folder / "calm.db"
    killing.run(lambda: crawler.crawl(str(calm)))
    expected = dump_of(calm)
    stores = 0
    while tally.kills < kills:
        store = folder / f"exact-{stores}.db"
        stores += 1
        at = rng.randint(1, FIRST_KILL)
        while True:
            outside = rng.random() < 0.2
            place = {"kill_after": rng.uniform(0, 0.4)} if outside else {"kill_at": at}
            end = killing.run(lambda: crawler.crawl(str(store)), **place)  # noqa: B023
            tally.kills += end.killed
            if not end.killed:
                break
            tally.look(store)
            at = rng.randint(1, LATER_KILL)
        _compare(tally, store, dump_of(store), expected)
        store.unlink()
    tally.seconds = time.monotonic() - start
    return tally


def _compare(tally: Tally, store: Path, dump: list[dict[str, Any]], expected: list[dict[str, Any]]) -> None:
    fetched = [row["link_id"] for row in dump if row["table"] == "page"]
    wanted = [row["link_id"] for row in expected if row["table"] == "page"]
    tally.lost += [f"{store.name}: page of link {link}" for link in set(wanted) - set(fetched)]
    tally.doubled += [f"{store.name}: link {link}" for link, times in Counter(fetched).items() if times > 1]
    if dump != expected:
        tally.differing.append(store.name)


def workers(folder: Path, kills: int, seed: int, *, crowd: int = 3) -> Tally:
    """Several workers with batches and a mix of all calls, one after another killed and replaced.

    Counts and rows must agree, and what was acknowledged must be there, once.
    """
    rng, tally, start = random.Random(seed), Tally(f"{crowd} workers, all calls"), time.monotonic()
    store, journals, living = folder / "workers.db", [], []
    started = 0

    def hire() -> None:
        nonlocal started
        journal, number = folder / f"journal-{started}", seed * 1_000_000 + started
        journal.touch()
        journals.append(journal)
        started += 1
        living.append(killing.Child(lambda: _work(store, journal, number)))

    while tally.kills < kills:
        while len(living) < crowd:
            hire()
        time.sleep(rng.uniform(0.02, 0.25))
        victims = living if rng.random() < 0.2 else [living[rng.randrange(crowd)]]
        for child in victims:
            child.kill()
        for child in victims:
            tally.kills += child.wait().killed
        living = [child for child in living if child not in victims]
        if not living:
            _settle(tally, store, journals)
    for child in living:
        child.kill()
        child.wait()
    _settle(tally, store, journals)
    tally.seconds = time.monotonic() - start
    return tally


def _work(store: Path, journal: Path, seed: int) -> None:
    worker = mixed_calls.Worker(store, journal, seed)
    while True:
        worker.step()


def _settle(tally: Tally, store: Path, journals: list[Path]) -> None:
    if store.exists():
        tally.look(store)
        lost, doubled = mixed_calls.disagreements(store, journals)
        tally.lost += lost
        tally.doubled += doubled


# -- one operation at a time -----------------------------------------------------------------------------------------


def base_of(folder: Path) -> Path:
    """A store in the middle of a crawl, with something that every operation changes."""
    store = folder / "base.db"

    def begin() -> None:
        observed = [0]
        settings = crawler.Settings(default_delay=0.0, durability="normal", rescore_drift=1.0)
        clock = lambda: crawler.START + observed[0]  # noqa: E731
        with Frontier.open(store, query=crawler.QUERY, settings=settings, clock=clock) as frontier:
            frontier.add(
                [crawler.SEED, *(f"{crawler.SEED}twin?utm_source={i}&id={i % 7}" for i in range(40))]
            )
            frontier.add([f"{crawler.SEED}a/{i}/index.html" for i in range(20)])
            frontier.add([f"{crawler.SEED}a/{i}/" for i in range(20)])
            while observed[0] < FINISHED_LINKS and (leases := frontier.lease(1)):
                lease = leases[0]
                if lease.url in crawler.NUMBERS:
                    frontier.observe(lease, crawler.page_of(lease.url))
                else:
                    frontier.fail(lease, "dns", permanent=True)
                observed[0] += 1

    killing.run(begin)
    return store


def older(store: Path) -> None:
    """Make a store one of the first schema: the tables of that one, with what theirs is of each row."""
    newer = store.rename(store.with_name(f"{store.name}.newer"))
    schema._prepare(store)
    with closing(Database(store, upgrading=True)) as database:
        database.write(lambda connection: schema.upgrade(connection, "0001"))
        with database.reading() as connection:
            names = set(inspect(connection).get_table_names()) - {schema.VERSION_TABLE}
            columns = {
                name: [str(row["name"]) for row in inspect(connection).get_columns(name)] for name in names
            }
    with closing(sqlite3.connect(store)) as plain:
        plain.execute("ATTACH ? AS newer", (str(newer),))
        for name, own in columns.items():
            listed = ", ".join(own)
            plain.execute(f"INSERT INTO main.{name} ({listed}) SELECT {listed} FROM newer.{name}")
        plain.commit()
    newer.unlink()


def damage(store: Path) -> None:
    """Make some counters wrong."""
    with closing(sqlite3.connect(store)) as connection, connection:
        for change in (
            "host SET in_flight = 3",
            "part SET pages = pages + 1",
            "lane SET head_id = NULL",
            "crawl SET done = 0",
        ):
            connection.execute(f"UPDATE {change}")


def _frontier(act: Callable[[Frontier], object]) -> Callable[[Path], None]:
    def operation(store: Path) -> None:
        with Frontier.open(store, clock=lambda: crawler.START) as frontier:
            act(frontier)

    return operation


def _import(store: Path) -> None:
    store.unlink()
    upkeep.import_lines(json.loads(store.with_suffix(".json").read_text()), store)


OPERATIONS: dict[str, tuple[Callable[[Path], object], Callable[[Path], object] | None]] = {
    "migrate": (schema.migrate, older),
    "rekey": (_frontier(lambda frontier: frontier.rekey("strict")), None),
    "rescore": (_frontier(lambda frontier: frontier.rescore()), None),
    "backup": (lambda store: upkeep.backup(store, store.with_suffix(".backup")), None),
    "restore": (lambda store: upkeep.restore(store.with_suffix(".backup"), store, force=True), None),
    "vacuum": (lambda store: upkeep.vacuum(store, full=True), None),
    "repair": (lambda store: upkeep.check(store, repair=True), damage),
    "import": (_import, None),
    "requeue": (_frontier(lambda frontier: frontier.requeue(state="dead")), None),
    "forget": (_frontier(lambda frontier: frontier.forget(pattern="/visa/")), None),
    "block": (_frontier(lambda frontier: frontier.block(pattern="/library/")), None),
}
"""Name → (what is killed, what is done to the store before)."""


def operation(folder: Path, name: str, rounds: int, seed: int) -> Tally:
    """One operation, killed somewhere in every round, then run to its end: the store is as before or as after."""
    act, prepare = OPERATIONS[name]
    rng, tally, start = random.Random(seed), Tally(name), time.monotonic()
    base, store = base_of(folder), folder / f"{name}.db"
    upkeep.backup(base, store.with_suffix(".backup"))
    store.with_suffix(".json").write_text(json.dumps(list(upkeep.export_lines(base))))

    def fresh() -> None:
        for entry in folder.glob(f"*{store.name}*"):
            entry.unlink()
        shutil.copyfile(base, store)
        if prepare is not None:
            prepare(store)

    fresh()
    began = time.monotonic()
    statements = killing.run(lambda: act(store)).statements
    lasted, after = time.monotonic() - began, dump_of(store)
    fresh()
    before = None if name in ("migrate", "repair") else dump_of(store)
    for _ in range(rounds):
        fresh()
        outside = statements < 10 or rng.random() < 0.3
        place = {"kill_after": rng.uniform(0, lasted)} if outside else {"kill_at": rng.randint(1, statements)}
        end = killing.run(lambda: act(store), **place)
        tally.kills += end.killed
        tally.ended += not end.killed
        _look_after(tally, store, name, (before, after))
    tally.seconds = time.monotonic() - start
    return tally


def _look_after(tally: Tally, store: Path, name: str, known: tuple[Any, Any]) -> None:
    """As it was or as it should be; and doing it again brings it there."""
    act, _ = OPERATIONS[name]
    before, after = known
    if name == "import":
        if store.exists():
            if dump_of(store) != after:
                tally.differing.append("import: neither nothing nor all")
            store.unlink()
        store.touch()
    elif before is not None:
        state = dump_of(store)
        tally.look(store)
        if state not in known:
            tally.differing.append(f"{name}: neither before nor after")
        if state == after != before:
            return  # it is done; some operations count how often they were asked for
    target = store.with_suffix(".backup")
    try:
        upkeep.copies.verify(target)
        act(store)
    except PagesiftError as error:
        tally.lost.append(f"{name} again: {error}")
        return
    tally.look(store)
    if dump_of(store) != after:
        tally.differing.append(f"{name}, done again")
    drafts = [entry.name for entry in store.parent.iterdir() if entry.name.startswith(".")]
    tally.doubled += [f"{name}: {draft} was left" for draft in drafts]
