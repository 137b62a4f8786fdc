"""Questions about a store, answered without writing to it: what `inspect` and dashboards use."""

from __future__ import annotations

import contextlib
import json
import time
from array import array
from collections import Counter
from typing import TYPE_CHECKING, Any, Self

from sqlalchemy import select

from pagesift_store.errors import InvalidValue, Refusal, UnknownUrl
from pagesift_store.focus.harvest import is_dry, is_proven
from pagesift_store.focus.stats import wilson
from pagesift_store.records import Explanation, LinkState, Robots, Status, Stop, StopReason
from pagesift_store.settings import Settings
from pagesift_store.storage import schema, tables
from pagesift_store.storage.engine import Database, identify, path_of
from pagesift_store.storage.statements import crawl as crawl_sql
from pagesift_store.storage.statements import questions as sql
from pagesift_store.transactions import ending, explaining, robots
from pagesift_store.transactions.keys import REPEATS
from pagesift_store.transactions.memory import Memory, recall

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping

    from sqlalchemy import Column, Connection, Select, Table

__all__ = ["Inspector"]

_LEFT_OUT = {
    tables.crawl: {"store_id", "created_at", "stop_at", "moment"},
    tables.link: {"attempt", "owner_id", "lease_expires", "found_at"},
    tables.page: {"attempt", "fetched_at"},
}
_PAGE = 1_000
_TRAPS = frozenset({
    Refusal.TOO_DEEP, Refusal.REPEATED_SEGMENT, Refusal.SEGMENT_CYCLE, Refusal.NESTED_ESCAPES, Refusal.AMP_CHAIN,
})  # fmt: skip


class Inspector:
    """Read-only answers, each from one moment of the store; listings of all rows are read piece by piece.

    Every question looks at the schema first: it raises `SchemaTooOld` or `SchemaTooNew` while an older backup, or a
    store of another release, has taken the place of the one that was opened.

    Attributes:
        database: the store's connections.
    """

    def __init__(self, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        self.database = database
        self._clock = clock

    @classmethod
    def open(cls, store: str | os.PathLike[str], *, clock: Callable[[], float] = time.time) -> Inspector:
        """Open a store to ask questions.

        Args:
            store: a path or a `sqlite:///` URL.
            clock: gives UTC epoch seconds.

        Raises:
            StoreUnreachable, StoreEmpty, NotAStore, SchemaTooOld, SchemaTooNew: see `pagesift_store.errors`.
        """
        path = path_of(store)
        identify(path)
        inspector = cls(Database(path, read_only=True), clock=clock)
        with inspector._reading():
            return inspector

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self.database.close()

    @contextlib.contextmanager
    def _reading(self) -> Iterator[Connection]:
        """One moment of the store, whose schema may be another one since it was opened."""
        with self.database.reading() as connection:
            schema.require_unchanged(connection, self.database.path)
            yield connection

    def status(self) -> Status:
        """See `Frontier.status`."""
        now = float(self._clock())
        with self._reading() as connection:
            memory = recall(connection)
            crawl = memory.crawl
            judged = ending.judge(connection, memory, now)
            rejected = {
                Refusal(row.reason): row.refused for row in connection.execute(crawl_sql.read_refusals())
            }
            hosts = connection.execute(sql.count_hosts()).scalar_one()
            free = self.database.free_bytes(connection)
        wal = self.database.path.with_name(self.database.path.name + "-wal")
        return Status(
            counts={state: getattr(crawl, state.value) for state in LinkState},
            state=judged.state,
            next_due=judged.next_due,
            pages=crawl.fetched,
            hits=crawl.hits,
            relevant=crawl.relevant,
            stop=judged.stop,
            hosts=hosts,
            rejected=rejected,
            query=crawl.query,
            wal_bytes=wal.stat().st_size if wal.exists() else 0,
            store_bytes=self.database.path.stat().st_size,
            free_bytes=free,
        )

    def last_stop(self) -> Stop | None:
        """Why the crawl ended last, as it was kept; None when it never has."""
        with self._reading() as connection:
            row = connection.execute(crawl_sql.read_crawl()).one()
        if row.stop_reason is None:
            return None
        return Stop(reason=StopReason(row.stop_reason), detail=json.loads(row.stop_detail), at=row.stop_at)

    def explain(self, url: str) -> Explanation:
        """See `Frontier.explain`."""
        now = float(self._clock())
        with self._reading() as connection:
            memory = recall(connection)
            found = explaining.explain(connection, memory, url, now)
        if found is None:
            raise UnknownUrl(f"the store has never seen {url!r}; add it first")
        return found

    def robots(self, host: str) -> Robots:
        """See `Frontier.robots`."""
        with self._reading() as connection:
            return robots.robots(connection, host, float(self._clock()))

    def dump(self) -> Iterator[Mapping[str, Any]]:
        """See `Frontier.dump`. Reads in short transactions, so that a slow reader holds nothing up."""
        for table in tables.LASTING:
            keep = [column for column in table.c if column.name not in _LEFT_OUT.get(table, set())]
            for row in self._paged(table, keep):
                yield {"table": table.name} | row

    def _paged(self, table: Table, columns: list[Any]) -> Iterator[dict[str, Any]]:
        """All rows of a table in the order of its primary key, a page at a time."""
        key = list(table.primary_key.columns)
        after: tuple[Any, ...] | None = None
        while True:
            statement = sql.page_of(table, columns, key, after, _PAGE)
            with self._reading() as connection:
                rows = [dict(row) for row in connection.execute(statement).mappings()]
            yield from rows
            if len(rows) < _PAGE:
                return
            after = tuple(rows[-1][column.name] for column in key)

    def settings(self) -> Settings:
        """The settings that the store works with."""
        with self._reading() as connection:
            return Settings.from_json(connection.execute(crawl_sql.read_crawl()).one().settings)

    def totals(self) -> dict[str, Any]:
        """What was counted since the store was made: links, leases, revisits, rescores, rescored, words."""
        with self._reading() as connection:
            row = connection.execute(crawl_sql.read_crawl()).one()
        names = ("created_at", "links", "leases", "revisits", "rescores", "rescored", "words")
        return {name: getattr(row, name) for name in names}

    # -- tables of answers, so many rows at most, or all (None) --------------------------------------------------------

    def each(self, listing: str) -> Iterator[dict[str, Any]]:
        """All rows of a listing one by one, however many there are.

        Their order is that of the moment when the first is asked for, which takes 8 bytes of memory a row; each is
        shown as it is when it is read, or not at all once it is gone. Transactions are short: a slow reader holds
        nothing up.

        Args:
            listing: the name of a method below with a parameter `most`.

        Raises:
            InvalidValue: there is no such listing.
        """
        if listing not in _LISTINGS:
            raise InvalidValue(f"listing={listing!r} must be one of {', '.join(sorted(_LISTINGS))}")
        rows, key, order = _LISTINGS[listing]
        with self._reading() as connection:
            ids = connection.execute(order().execution_options(yield_per=_PAGE)).scalars()
            keys = array("q", ids)
        for start in range(0, len(keys), _PAGE):
            batch = keys[start : start + _PAGE].tolist()
            with self._reading() as connection:
                statement = sql.of_keys(rows(None), key, batch)
                found = {row.pop(sql.KEY): row for row in _rows(connection, statement)}
                memory = recall(connection) if listing == "parts" else None
            for row in (found[one] for one in batch if one in found):
                yield row if memory is None else row | _harvest(row, memory)

    def queue(self, most: int | None = 20) -> list[dict[str, Any]]:
        """The best queued links, best first: id, score, url, host, subtree, depth, demoted, ready_at."""
        if most is None:
            return list(self.each("queue"))
        with self._reading() as connection:
            return _rows(connection, sql.best_queued(), most=most)

    def parts(self, most: int | None = 50) -> list[dict[str, Any]]:
        """Parts by pages fetched: kind, key, pages, hits, lower and upper bound, verdict, scheduled."""
        with self._reading() as connection:
            memory = recall(connection)
            return [row | _harvest(row, memory) for row in _rows(connection, sql.parts(most))]

    def terms(self) -> list[dict[str, Any]]:
        """The query's terms: bit, word, stem, df, occurrences, passages, evidence_pages, weight."""
        with self._reading() as connection:
            return _rows(connection, select(tables.term).order_by(tables.term.c.bit))

    def model(self) -> list[dict[str, Any]]:
        """The link model: feature, mean, standard deviation, weight in use."""
        with self._reading() as connection:
            rows = _rows(connection, crawl_sql.read_posterior())
        return [
            {
                "feature": row["feature"],
                "mean": row["mean"],
                "deviation": row["precision"] ** -0.5,
                "weight": row["weight"],
            }
            for row in rows
        ]

    def hosts(self, most: int | None = 50) -> list[dict[str, Any]]:
        """Hosts by pages fetched, with their politeness."""
        with self._reading() as connection:
            return _rows(connection, sql.hosts(most))

    def blocks(self, most: int | None = None) -> list[dict[str, Any]]:
        """Patterns of URLs that an operator blocked."""
        with self._reading() as connection:
            return _rows(connection, sql.blocks(most))

    def leases(self, most: int | None = None) -> list[dict[str, Any]]:
        """What is leased, first to expire first: id, url, attempt, owner, pid, expires."""
        with self._reading() as connection:
            return _rows(connection, sql.leased(most))

    def pages(self, most: int | None = 20) -> list[dict[str, Any]]:
        """The latest fetches, latest first."""
        with self._reading() as connection:
            return _rows(connection, sql.latest_pages(most))

    def refusals(self) -> list[dict[str, Any]]:
        """Refused URLs: reason, count, an example."""
        with self._reading() as connection:
            return _rows(connection, crawl_sql.read_refusals())

    def templates(self, most: int | None = 50) -> list[dict[str, Any]]:
        """Templates by repeated pages: text, fetched, repeated, demoted."""
        with self._reading() as connection:
            return _rows(connection, sql.templates(most))

    def traps(self) -> list[dict[str, Any]]:
        """What kept the crawl out of traps: kind, what, count, evidence.

        `refused`: URLs refused as marks of a trap, with an example. `demoted`: queued links of a template that come
        last. `rewritten`: keys that a learned rule changed. `entity`: links with an `&amp;` that nobody decoded, with
        an example. The worst of a kind come first.
        """
        with self._reading() as connection:
            refused = [row for row in _rows(connection, crawl_sql.read_refusals()) if row["reason"] in _TRAPS]
            demoted = _demoted(connection)
            rewritten = _rows(connection, sql.rules_in_force())
            entities = _rows(connection, sql.undecoded_entities())
        found = [("refused", row["reason"], row["refused"], row["example"]) for row in refused]
        for row in demoted:
            repeated = f"{row['repeated']} of {row['fetched']} pages repeat others"
            found.append(("demoted", row["text"], row["links"], repeated))
        for row in rewritten:
            rule, pairs = f"{row['host']}: {row['rule']}", f"{row['confirmed']} pairs of pages"
            found.append(("rewritten", rule, row["applied"], pairs))
        found += [("entity", "&amp;", row["links"], row["example"]) for row in entities if row["links"]]
        order = ("refused", "demoted", "rewritten", "entity")
        found.sort(key=lambda trap: (order.index(trap[0]), -trap[2], trap[1]))
        return [dict(zip(("kind", "what", "count", "evidence"), trap, strict=True)) for trap in found]


def _keys_of(rows: Callable[[int | None], Select[Any]], key: Column[int]) -> Callable[[], Select[Any]]:
    """The keys of a listing, in its order."""
    return lambda: rows(None).with_only_columns(key, maintain_column_froms=True)


_LISTINGS: dict[str, tuple[Callable[[int | None], Select[Any]], Column[int], Callable[[], Select[Any]]]] = {
    name: (rows, key, _keys_of(rows, key))
    for name, rows, key in (
        ("parts", sql.parts, tables.part.c.id),
        ("hosts", sql.hosts, tables.host.c.id),
        ("blocks", sql.blocks, tables.block.c.id),
        ("leases", sql.leased, tables.link.c.id),
        ("pages", sql.latest_pages, tables.page.c.id),
        ("templates", sql.templates, tables.template.c.hash),
    )
} | {"queue": (lambda _: sql.queued(), tables.link.c.id, sql.queue_order)}
"""For each listing that may be long: its rows, their key, and all keys in its order."""


def _demoted(connection: Connection) -> list[dict[str, Any]]:
    """Demoted templates with the queued links that come last for each."""
    templates, hosts = Counter[int](), Counter[str]()
    for row in connection.execute(sql.demoted_links()):
        templates[row.template] += row.links
        if row.repeats_of is not None:
            hosts[REPEATS.format(row.repeats_of)] += row.links
    return [
        row | {"links": templates[row["hash"]] + hosts[row["text"]]}
        for row in _rows(connection, sql.demoted_templates())
    ]


def _rows(connection: Connection, statement: Any, **parameters: Any) -> list[dict[str, Any]]:
    return [dict(row) for row in connection.execute(statement, parameters).mappings()]


def _harvest(row: Mapping[str, Any], memory: Memory) -> dict[str, Any]:
    """The interval of a part, and what it means for the order."""
    delta, crawl = memory.settings.delta, memory.crawl
    lower, upper = wilson(row["hits"], row["pages"], delta)
    totals = (row["pages"], row["hits"], crawl.pages, crawl.hits, delta)
    verdict = "dry" if is_dry(*totals) else "proven" if is_proven(*totals) else ""
    return {"lower": lower, "upper": upper, "verdict": verdict}
