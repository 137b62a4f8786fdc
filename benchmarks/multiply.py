"""Make a store of many millions of links out of one of a million: minutes, where a crawl would take hours.

Copies of the queued links are inserted by SQL, in the order in which a crawl would have found them and with all indexes
in place, so that the file is filled as a crawl fills it. A copy has a URL of its own, the key and the hash that the
rules make of it, and the signal and score of what it copies; three copies in four have hosts, parts and lanes of their
own. The heads of lanes are found by the store's own statement. What comes out is what `check` finds sound.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
import sys
import time
from typing import TYPE_CHECKING, Any

from benchmarks import workload
from pagesift_store import Frontier, upkeep
from pagesift_store.storage.engine import Database
from pagesift_store.storage.statements import lanes as lanes_sql
from pagesift_store.transactions.keys import template_hash
from pagesift_store.urls.keys import key_rules
from pagesift_store.urls.pipeline import key_hash
from pagesift_store.urls.reading import read

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    Row = tuple[Any, ...]

_HOST = re.compile(r"^((?:https://)?(?:www\.)?[a-z]+-[a-z]+\d+)\.")
_NUMBER = re.compile(r"n(\d{8})")
_BUILDER_CACHE = "-4000000"
"""KiB of page cache while a store is made: its indexes are filled in random order."""
_LOOKED_AT = 997
"""One copy in so many has its key made by the rules, and its URL by the web."""


def multiply(store: Path, copies: int, *, step: int, families: int) -> None:
    """Let a closed store hold its seeds `copies` times.

    Args:
        store: what a crawl has made; it is changed.
        copies: 2 or more, the original among them.
        step: between the numbers of a URL and of its copy.
        families: as the web has it; 1: all copies queue in the lanes of the original.
    """
    start = time.perf_counter()
    connection = sqlite3.connect(store, isolation_level=None)
    with contextlib.closing(connection):
        for pragma in (
            "journal_mode=OFF",
            "synchronous=OFF",
            f"cache_size={_BUILDER_CACHE}",
            "foreign_keys=OFF",
        ):
            connection.execute(f"PRAGMA {pragma}")
        connection.execute("BEGIN")
        lanes = _places(connection, min(families, copies))
        seeds = connection.execute(
            "SELECT max(id) FROM link WHERE parent_id IS NULL AND depth = 1"
        ).fetchone()[0]
        for copy in range(1, copies):
            _links(connection, copy * step, copy % families, lanes, seeds)
        _count(connection)
        connection.execute("UPDATE lane SET head_id = 0")  # the statement looks where there is a head
        connection.execute("COMMIT")
        connection.execute("PRAGMA journal_mode=WAL")
    refresh_heads(store)
    _settle(store)
    print(f" {time.perf_counter() - start:.0f} s", end="", file=sys.stderr, flush=True)
    require_sound(store)


def refresh_heads(store: Path) -> None:
    """Find the heads of all lanes that have, or had, one, as the store itself does after a rescore."""
    with contextlib.closing(Database(store)) as database:
        database.write(lambda connection: connection.execute(lanes_sql.refresh_all_heads()))


def require_sound(store: Path) -> None:
    """Refuse to measure on a store that no crawl could have left."""
    findings = upkeep.check(store).findings
    if findings:
        raise SystemExit(f"{store}: {findings[0].where}: {findings[0].message} ({len(findings)} findings)")


def _places(connection: sqlite3.Connection, families: int) -> int:
    """Copy hosts, parts and lanes for each family but the first; returns what lies between the ids of two families."""
    connection.create_function("moved", 2, _moved, deterministic=True)
    last = {name: _last(connection, name) for name in ("host", "part", "lane")}
    for family in range(1, families):
        host, part, lane = (family * last[name] for name in ("host", "part", "lane"))
        for statement in (
            f"INSERT INTO host (id, name, lanes) SELECT id + {host}, moved(name, {family}), lanes FROM host"
            f" WHERE id <= {last['host']}",
            f"INSERT INTO part (id, kind, key) SELECT id + {part}, kind, moved(key, {family}) FROM part"
            f" WHERE id <= {last['part']}",
            f"INSERT INTO lane (id, host_id, subtree_id, cluster_id) SELECT id + {lane}, host_id + {host},"
            f" subtree_id + {part}, cluster_id + {part} FROM lane WHERE id <= {last['lane']}",
        ):
            connection.execute(statement)
    return last["lane"]


def _last(connection: sqlite3.Connection, table: str) -> int:
    found: int = connection.execute(f"SELECT max(id) FROM {table}").fetchone()[0]
    return found


def _moved(text: str, family: int) -> str:
    """A URL, host name or key on the hosts of another family, as `workload` names them."""
    return _HOST.sub(rf"\1x{family}.", text, count=1) if family else text


def _links(connection: sqlite3.Connection, ahead: int, family: int, lanes: int, seeds: int) -> None:
    columns = [row[1] for row in connection.execute("PRAGMA table_info(link)")]
    rows = connection.execute(
        "SELECT * FROM link WHERE id <= ? AND state = 'queued' AND key IS NULL AND n = 0 ORDER BY id",
        (seeds,),
    )
    connection.executemany(
        f"INSERT INTO link VALUES ({', '.join('?' * len(columns))})",
        _copied(rows, columns, ahead, family, lanes, _last(connection, "link")),
    )


def _copied(
    rows: sqlite3.Cursor, columns: list[str], ahead: int, family: int, lanes: int, last: int
) -> Iterator[Row]:
    at = {name: place for place, name in enumerate(columns)}
    for link_id, row in enumerate(rows, last + 1):
        made = list(row)
        url = _moved(_NUMBER.sub(lambda found: f"n{int(found[1]) + ahead:08d}", row[at["url"]]), family)
        if not link_id % _LOOKED_AT:
            _require_true(url)
        made[at["id"]] = link_id
        made[at["url"]] = url
        made[at["key_hash"]] = key_hash(_key(url))
        made[at["lane_id"]] = row[at["lane_id"]] + family * lanes
        if family:  # its digits are blanked, its host is not
            made[at["template"]] = template_hash(read(url))
        if row[at["given"]]:
            made[at["score"]] = workload.given_score(workload.number_of(url))
        yield tuple(made)


def _key(url: str) -> str:
    """The key of a URL of this web, whose parameters are sorted and name no session."""
    return url.replace("://www.", "://", 1)


def _require_true(url: str) -> None:
    number = workload.number_of(url)
    if key_rules("standard").apply(read(url)).url != _key(url):
        raise SystemExit(f"{url}: its key is another by the rules")
    if "/area" not in url and workload.url(number) != url:
        raise SystemExit(f"{url}: the web has {workload.url(number)}")


def _count(connection: sqlite3.Connection) -> None:
    connection.execute(
        "UPDATE crawl SET links = (SELECT max(id) FROM link),"
        " queued = (SELECT count(*) FROM link WHERE state = 'queued')"
    )


def _settle(store: Path) -> None:
    """Open and close the store as any process does: what a crash would leave to do is done."""
    Frontier.open(store).close()
