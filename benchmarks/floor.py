"""The floor: hand-tuned sqlite3 of the standard library, doing the same writes with nothing around them.

`Floor` is what the least store of a crawl would be: one table with a hash of the URL, the URL, a score, a state. The
rows are appended; a separate unique index holds 64 bits of hash; a partial index keeps the queued rows in score order.
It parses no URL, scores nothing, counts nothing and knows no host. Page cache, log and durability are those of
a store of ours, so that what lies between the two is ours.

`RescoreFloor` is our own link table, columns, indexes and constraints alike, alone in a file, and an UPDATE by hand.
"""

from __future__ import annotations

import os
import sqlite3
from hashlib import blake2b
from typing import TYPE_CHECKING

from pagesift_store.storage.engine import CACHE_KIB, WAL_PAGES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

TABLE = """
    CREATE TABLE u (id INTEGER PRIMARY KEY, key INTEGER NOT NULL UNIQUE, url TEXT NOT NULL, score REAL NOT NULL,
                    state INTEGER NOT NULL DEFAULT 0, owner INTEGER);
    CREATE INDEX queued ON u (score) WHERE state = 0;
    CREATE INDEX leased ON u (owner) WHERE state = 1;
"""


def connected(path: Path, durability: str = "normal") -> sqlite3.Connection:
    """A connection with the settings of a store's writer."""
    connection = sqlite3.connect(path, timeout=30, isolation_level=None)
    for pragma in (
        "journal_mode=WAL",
        f"synchronous={durability.upper()}",
        f"cache_size=-{CACHE_KIB}",
        "temp_store=FILE",
        f"wal_autocheckpoint={WAL_PAGES}",
    ):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def key_of(url: str) -> int:
    """64 bits of hash, signed."""
    return int.from_bytes(blake2b(url.encode(), digest_size=8).digest(), "big", signed=True)


class Floor:
    """A crawl's store in one table. A lease is a transaction, what a page brings is another."""

    def __init__(self, path: Path, durability: str = "normal") -> None:
        new = not path.exists()
        self._connection = connected(path, durability)
        self._owner = os.getpid()
        if new:
            self._connection.executescript(TABLE)

    def add(self, items: Iterable[tuple[str, float]]) -> None:
        """Add URLs with their scores; those known are left as they are."""
        rows = [(key_of(url), url, score) for url, score in items]
        self._connection.execute("BEGIN IMMEDIATE")
        self._insert(rows)
        self._connection.execute("COMMIT")

    def take_over(self, store: Path) -> None:
        """Add the URLs of a store of ours, with scores that are drawn from their keys: quicker than to make them."""
        run = self._connection.execute
        self._connection.create_function("key_of", 1, key_of, deterministic=True)
        for pragma in ("cache_size=-2000000", "synchronous=OFF", "journal_mode=OFF"):
            run(f"PRAGMA {pragma}")
        run("ATTACH ? AS store", (str(store),))
        run("BEGIN")
        run(
            "INSERT INTO u (key, url, score) SELECT key, url, (key & 0xffffffff) / 4294967296.0"
            " FROM (SELECT key_of(url) AS key, url FROM store.link ORDER BY id LIMIT -1)"
        )
        run("COMMIT")
        run("DETACH store")
        run("PRAGMA journal_mode=WAL")
        run("PRAGMA synchronous=NORMAL")
        run(f"PRAGMA cache_size=-{CACHE_KIB}")

    def lease(self) -> tuple[int, str] | None:
        """Claim the best queued URL: its row and itself."""
        found: tuple[int, str] | None = self._connection.execute(
            "UPDATE u SET state = 1, owner = ?"
            " WHERE id = (SELECT id FROM u WHERE state = 0 ORDER BY score DESC LIMIT 1) RETURNING id, url",
            (self._owner,),
        ).fetchone()
        return found

    def complete(self, row: int, items: Iterable[tuple[str, float]]) -> None:
        """Mark a URL done and add what its page links to."""
        rows = [(key_of(url), url, score) for url, score in items]
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute("UPDATE u SET state = 2, owner = NULL WHERE id = ?", (row,))
        self._insert(rows)
        self._connection.execute("COMMIT")

    def close(self) -> None:
        """Close the file; the log is folded into it."""
        self._connection.close()

    def _insert(self, rows: Sequence[tuple[int, str, float]]) -> None:
        self._connection.executemany("INSERT OR IGNORE INTO u (key, url, score) VALUES (?, ?, ?)", rows)


class RescoreFloor:
    """The link table of a store, alone in a file: `CREATE` statements as the store has them, rows in their order."""

    def __init__(self, path: Path, store: Path, durability: str = "normal") -> None:
        self._connection = connected(path, durability)
        run = self._connection.execute
        run("ATTACH ? AS store", (str(store),))
        made = run(
            "SELECT sql FROM store.sqlite_master WHERE tbl_name = 'link' AND sql IS NOT NULL ORDER BY type DESC"
        ).fetchall()
        run("PRAGMA foreign_keys=OFF")
        run("BEGIN")
        for (statement,) in made:
            run(statement)
        run("INSERT INTO link SELECT * FROM store.link ORDER BY id")
        run("COMMIT")
        run("DETACH store")
        run("PRAGMA wal_checkpoint(TRUNCATE)")

    def rescore(self, features: Sequence[float], terms: Sequence[float], *, all_rows: bool) -> int:
        """Give the rows their scores under other weights; returns the rows written.

        Args:
            features: weights of anchor, url, context, parent and phrase.
            terms: weight of each term.
            all_rows: False: only those with a hit bit or a parent's relevance.
        """
        total = sum(terms)

        def covered(mask: str) -> str:
            return "(" + " + ".join(f"{w / total!r} * ({mask} >> {i} & 1)" for i, w in enumerate(terms)) + ")"

        anchor, url, context, parent, phrase = features
        value = (
            f"factor * ({anchor!r} * {covered('anchor_hits')} + {url!r} * {covered('url_hits')}"
            f" + {context!r} * {covered('context_hits')} + {parent!r} * parent_relevance + {phrase!r} * phrase)"
        )
        moved = (
            "" if all_rows else " AND (anchor_hits | url_hits | context_hits <> 0 OR parent_relevance > 0)"
        )
        run = self._connection.execute
        run("BEGIN IMMEDIATE")
        changed = run(
            f"UPDATE link SET score = max(floor, {value}) * decay"
            f" WHERE state IN ('queued', 'leased', 'waiting') AND NOT given{moved}"
        ).rowcount
        run("COMMIT")
        return changed

    def scores(self) -> float:
        """The sum of all scores: a store that did the same has the same, but for rounding."""
        total: float = self._connection.execute("SELECT sum(score) FROM link").fetchone()[0]
        return total

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
