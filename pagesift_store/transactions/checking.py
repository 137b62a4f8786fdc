"""Holding a store against itself: every part of a check finds what is wrong, and where that can be recomputed mends it.

The parts are in the order in which they are mended: what counts comes after what is counted.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import inspect
from sqlalchemy.exc import InvalidRequestError

from pagesift_store.errors import InvalidUrl, PagesiftError, StoreDamaged
from pagesift_store.focus.model import FEATURES
from pagesift_store.focus.score import coverage_by_bits, score
from pagesift_store.records import LinkState
from pagesift_store.reports import Checked, Fault, Finding
from pagesift_store.storage import schema, tables
from pagesift_store.storage.statements import checks as sql
from pagesift_store.storage.statements import lanes as lanes_sql
from pagesift_store.storage.statements import links as links_sql
from pagesift_store.transactions import aside, counting, limits, moves
from pagesift_store.transactions.keys import key_of
from pagesift_store.transactions.memory import Memory, recall
from pagesift_store.transactions.merging import UNFINISHED
from pagesift_store.urls.pipeline import key_hash
from pagesift_store.urls.reading import read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy import Connection

    from pagesift_store.transactions.work import Work

MOST_FINDINGS = 100
"""Findings of one part that are told; all are mended."""

SAMPLE = 20_000
"""Links whose keys are made anew, unless all are asked for."""

_BATCH = 5_000


class Part(NamedTuple):
    """One part of a check.

    Attributes:
        find: what is wrong; reads only.
        mend: puts right what `find` finds; None: that cannot be recomputed.
    """

    find: Callable[[Work], Iterator[Finding]]
    mend: Callable[[Work], None] | None = None


def believed(connection: Connection, path: object, version: tuple[int, int] = (0, 0)) -> Memory:
    """The small tables of a store that may be damaged.

    Raises:
        StoreDamaged: they cannot be read.
    """
    try:
        return recall(connection, version)
    except PagesiftError:
        raise
    except (
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        ArithmeticError,
        InvalidRequestError,
    ) as error:
        raise StoreDamaged(f"{path} holds what cannot be read ({error!r}); restore a backup") from error


def check(work: Work, *, repair: bool = False, all_keys: bool = False) -> Checked:
    """Hold a store against itself.

    Args:
        work: the transaction; a reading one will do without repair.
        repair: mend what can be recomputed.
        all_keys: make the key of every link anew, not only of a sample.
    """
    keys = _Keys(work, all_keys)
    findings: list[Finding] = []
    for part in (*_PARTS, Part(keys.find)):
        if any(finding.fault is Fault.CONTENT for finding in findings):
            break  # what follows is computed with what cannot be read
        found = list(islice(part.find(work), MOST_FINDINGS))
        if found and repair and part.mend is not None:
            part.mend(work)
            left = set(islice(part.find(work), MOST_FINDINGS))
            found = [replace(finding, mended=finding not in left) for finding in found]
        findings += found
    findings.sort(key=lambda finding: list(Fault).index(finding.fault))
    return Checked(
        findings=tuple(findings),
        links=keys.links,
        keys=keys.examined,
        sound=all(finding.mended or finding.fault is Fault.REFUSED for finding in findings),
    )


# -- the file ----------------------------------------------------------------------------------------------------


def _damage(work: Work) -> Iterator[Finding]:
    for (message,) in work.connection.exec_driver_sql(f"PRAGMA integrity_check({MOST_FINDINGS})"):
        if message != "ok":
            yield Finding(fault=Fault.DAMAGE, where="file", message=message)


def _rebuild_indexes(work: Work) -> None:
    """Nothing but an index can be made anew from what is there."""
    work.connection.exec_driver_sql("REINDEX")


def _structure(work: Work) -> Iterator[Finding]:
    found = inspect(work.connection)
    present = set(found.get_table_names())
    bounded = work.settings.max_queue is not None
    for name in schema.leftovers(work.connection):
        yield _missing(name, "left over from an upgrade that broke")
    for table in tables.metadata.sorted_tables:
        if table.name not in present:
            yield _missing(table.name, "the table is missing")
            continue
        indexes = {index["name"] for index in found.get_indexes(table.name)}
        for index in table.indexes:
            if index.name not in indexes:
                yield _missing(str(index.name), "the index is missing")
        if table is tables.link and bounded != (tables.WORST.name in indexes):
            wrong = "the index is missing" if bounded else "the queue has no bound that would need the index"
            yield _missing(str(tables.WORST.name), wrong)
    for view in sorted(tables.VIEWS.keys() - set(found.get_view_names())):
        yield _missing(view, "the view is missing")


def _missing(name: str, message: str) -> Finding:
    return Finding(fault=Fault.STRUCTURE, where=name, message=message)


def _restructure(work: Work) -> None:
    schema.drop_leftovers(work.connection)
    missing = {finding.where for finding in _structure(work)}
    for table in tables.metadata.sorted_tables:
        for index in table.indexes:
            if index.name in missing and table.name not in missing:
                index.create(work.connection)
    if tables.link.name not in missing:
        schema.follow_bound(work.connection, bounded=work.settings.max_queue is not None)
    for view, body in tables.VIEWS.items():
        if view in missing:
            work.connection.exec_driver_sql(f"CREATE VIEW {view} AS {body}")


def _references(work: Work) -> Iterator[Finding]:
    for table, row, parent, _ in work.connection.exec_driver_sql("PRAGMA foreign_key_check"):
        yield Finding(
            fault=Fault.REFERENCE,
            where=f"{table} {row}",
            message=f"it refers to a row of {parent} that is not there",
        )


def _dereference(work: Work) -> None:
    """What may be unknown becomes so; history of a link that is gone goes, as it would have gone with it."""
    for name, row, parent, _ in list(work.connection.exec_driver_sql("PRAGMA foreign_key_check")):
        table = tables.metadata.tables[name]
        broken = [key for key in table.foreign_keys if key.column.table.name == parent]
        if any(key.ondelete == "CASCADE" for key in broken):
            work.connection.exec_driver_sql(f"DELETE FROM {name} WHERE rowid = ?", (row,))  # noqa: S608
            continue
        for key in broken:
            column, gone = key.parent.name, f"NOT IN (SELECT {key.column.name} FROM {parent})"  # noqa: S608
            if key.parent.nullable:
                work.connection.exec_driver_sql(
                    f"UPDATE {name} SET {column} = NULL WHERE rowid = ? AND {column} {gone}",  # noqa: S608
                    (row,),
                )


# -- rows --------------------------------------------------------------------------------------------------------


def _states(work: Work) -> Iterator[Finding]:
    for row in work.rows(sql.unowned()):
        yield Finding(
            fault=Fault.STATE, where=f"link {row.id}", message="leased by an owner that does not exist"
        )
    for state in sql.impossible():
        for row in work.rows(state.rows):
            yield Finding(fault=Fault.STATE, where=f"{state.table} {row.id}", message=state.message)
    last = work.first(sql.last_link()).id or 0
    if last > work.crawl.links:
        message = f"the next link would be given id {work.crawl.links + 1}, and {last} are taken"
        yield Finding(fault=Fault.STATE, where="crawl", message=message)


def _leave_states(work: Work) -> None:
    moves.give_back(work, work.rows(sql.unowned()))
    for state in sql.impossible():
        work.connection.execute(state.mend)
    work.crawl.links = max(work.crawl.links, work.first(sql.last_link()).id or 0)


def _heads(work: Work) -> Iterator[Finding]:
    for row in work.rows(sql.wrong_heads()):
        stored, found = f"{row.head_id}, {row.again_id}", f"{row.best}, {row.again}"
        message = f"best link and next visit are {found}; it has {stored}, or has them with other numbers"
        yield Finding(fault=Fault.HEAD, where=f"lane {row.id}", message=message)
    for row in limits.unsettled(work):
        is_shut, limit = ("shut", "no limit is") if row.shut else ("open", "a limit is")
        yield Finding(
            fault=Fault.HEAD, where=f"lane {row.id}", message=f"it is {is_shut}, where {limit} reached"
        )

    for row in aside.unsettled(work):
        message = "it is marked dry or spent where its parts are not, or not where they are"
        yield Finding(fault=Fault.HEAD, where=f"lane {row.id}", message=message)


def _find_heads(work: Work) -> None:
    work.run_many(lanes_sql.refresh_head(), [{"the_lane": row.id} for row in work.rows(sql.wrong_heads())])
    limits.settle(work)
    aside.settle(work)


def _scores(work: Work) -> Iterator[Finding]:
    for row in work.connection.execute(links_sql.misscored(score, coverage_by_bits, work.memory.weights)):
        yield Finding(
            fault=Fault.SCORE,
            where=f"link {row.id}",
            message=f"its score is {row.score!r}, not {row.fresh!r}",
        )


def _score_again(work: Work) -> None:
    work.connection.execute(links_sql.set_right(score, coverage_by_bits, work.memory.weights))


def _contents(work: Work) -> Iterator[Finding]:
    memory, words = work.memory, len(work.memory.terms.words)
    expected = (("term", memory.term_rows, words), ("pair", memory.pair_rows, max(words - 1, 0)))
    for name, rows, count in expected:
        if len(rows) != count:
            yield _content(name, f"{len(rows)} rows, where the query makes {count}")
    if (len(memory.posterior.mean), len(memory.posterior.used)) != (len(FEATURES) + 1, len(FEATURES)):
        yield _content(
            "posterior", f"{len(memory.posterior.mean)} rows, where the model has {len(FEATURES) + 1}"
        )
    elif min(memory.posterior.precision) <= 0 or None in memory.posterior.used:
        yield _content("posterior", "a precision that is not above 0, or a feature without a weight")
    if memory.crawl.key_rules != memory.settings.key_rules:
        yield _content("crawl", f"keys by {memory.crawl.key_rules!r}, settings {memory.settings.key_rules!r}")
    yield from (_content("crawl", message) for message in counting.unreadable(work))


def _content(where: str, message: str) -> Finding:
    return Finding(fault=Fault.CONTENT, where=where, message=message)


class _Keys:
    """The URLs of links by today's rules.

    Attributes:
        links: links in the store.
        examined: links that were looked at.
    """

    def __init__(self, work: Work, everything: bool) -> None:
        self.links = sum(getattr(work.crawl, state.value) for state in LinkState)
        self.examined = 0
        self._step = 1 if everything else max(1, self.links // SAMPLE)

    def find(self, work: Work) -> Iterator[Finding]:
        """Keys that the rules do not make, links that they would refuse, and two links of one key."""
        rules = work.memory.rules.keys
        if work.crawl.key_version != rules.version:
            yield Finding(
                fault=Fault.KEY,
                where="crawl",
                message=f"keys are of version {work.crawl.key_version} of the rules {rules.name!r}, this release makes "
                f"{rules.version}: run `pagesift-store rekey STORE {rules.name}`",
            )
            return
        after = 0
        while rows := work.rows(sql.sampled_links(), after=after, step=self._step, most=_BATCH):
            for row in rows:
                yield from self._look(work, row)
            after = rows[-1].id
        yield from _twins(work)

    def _look(self, work: Work, row: Any) -> Iterator[Finding]:
        self.examined += 1
        where = f"link {row.id}"
        try:
            web = read(row.url)
            key = key_of(work, row.key, row.url)
        except InvalidUrl as error:
            yield Finding(fault=Fault.CONTENT, where=where, message=str(error))
            return
        if key_hash(key) != row.key_hash:
            message = f"the hash of its key is not that of {key!r}: run `pagesift-store rekey STORE PRESET`"
            yield Finding(fault=Fault.KEY, where=where, message=message)
        if row.state in UNFINISHED:
            try:
                (work.memory.rules.parse if row.seed else work.memory.rules.admit)(web.url)
            except InvalidUrl as error:
                yield Finding(fault=Fault.REFUSED, where=where, message=str(error))


def _twins(work: Work) -> Iterator[Finding]:
    seen: dict[tuple[bytes, str], int] = {}
    for row in work.rows(sql.same_hash()):
        try:
            key = key_of(work, row.key, row.url)
        except InvalidUrl:
            continue
        first = seen.setdefault((row.key_hash, key), row.id)
        if first != row.id:
            message = f"it has the key of link {first}: run `pagesift-store rekey STORE PRESET`"
            yield Finding(fault=Fault.KEY, where=f"link {row.id}", message=message)


_PARTS = (
    Part(_damage, _rebuild_indexes),
    Part(_structure, _restructure),
    Part(_references, _dereference),
    Part(_contents),
    Part(_states, _leave_states),
    Part(_scores, _score_again),
    Part(counting.wrong, counting.count_again),
    Part(_heads, _find_heads),
)
