"""Every counter of a store, counted anew from its rows."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from pagesift_store.focus.relevance import EVIDENCE_FROM
from pagesift_store.records import LinkState
from pagesift_store.reports import Fault, Finding
from pagesift_store.storage import tables
from pagesift_store.storage.statements import checks as sql
from pagesift_store.storage.statements import rekeys as pages_sql
from pagesift_store.transactions import ending

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Executable, Table

    from pagesift_store.transactions.work import Work

_NOTHING: Counter[str] = Counter()
"""What most parts have; looked up in it, nothing is added."""

_LINKS_AT_ONCE = 100_000
"""Links that are grouped in one go: what is held does not grow with the store."""


class Wrong(NamedTuple):
    """A counter that differs from its rows.

    Attributes:
        table: whose.
        row: id; of `crawl` 1.
        name: what people call the row.
        column: the counter.
        stored: what it says.
        counted: what it should.
    """

    table: Table
    row: int
    name: str
    column: str
    stored: Any
    counted: Any


@dataclass(slots=True)
class Tally:
    """What the rows say. Sums of relevance are added up in the order of the fetches, as they were: to the bit."""

    crawl: Counter[str] = field(default_factory=Counter)
    relevance: float = 0.0
    hosts: defaultdict[int, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    parts: defaultdict[int, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    lanes: defaultdict[int, list[float]] = field(default_factory=lambda: defaultdict(lambda: [0, 0.0]))
    leased: Counter[int] = field(default_factory=Counter)


def tally(work: Work) -> Tally:
    """Read all links, grouped, and all pages that count."""
    found = Tally()
    lanes = {lane.id: lane for lane in _streamed(work, sql.all_lanes())}
    for lane in lanes.values():
        found.hosts[lane.host_id]["lanes"] += 1
    for group in _groups(work):
        found.crawl[group.state] += group.links
        found.crawl["fetched"] += group.fetched
        lane = lanes.get(group.lane_id)
        if lane is None:  # a broken reference, found by that part of the check
            continue
        if group.fetched:
            found.hosts[lane.host_id]["pages"] += group.fetched
            found.parts[lane.subtree_id]["fetched"] += group.fetched
        if group.state == LinkState.LEASED:
            found.hosts[lane.host_id]["in_flight"] += group.links
            found.leased[lane.cluster_id] += group.links
    for page in _streamed(work, pages_sql.counted_pages()):
        found.crawl["pages"] += 1
        found.crawl["hits"] += page.hit
        found.crawl["relevant"] += page.relevance >= EVIDENCE_FROM
        found.relevance += page.relevance
        found.lanes[page.lane_id][0] += 1
        found.lanes[page.lane_id][1] += page.relevance
        for part in (page.subtree_id, page.cluster_id):
            found.parts[part].update(pages=1, hits=int(page.hit))
    return found


def _groups(work: Work) -> Iterator[Any]:
    """Links by lane and state; a lane comes as often as its links lie apart."""
    last = work.first(sql.last_link()).id or 0
    for after in range(0, last, _LINKS_AT_ONCE):
        yield from work.rows(sql.links_by_lane(), after=after, upto=after + _LINKS_AT_ONCE)


def _streamed(work: Work, statement: Executable) -> Iterator[Any]:
    """Rows as they are read, for there may be many."""
    with closing(work.stream(statement)) as rows:
        yield from rows


def differences(work: Work) -> Iterator[Wrong]:
    """Every counter that differs from its rows."""
    found = tally(work)
    counted = {name: found.crawl[name] for name in (*LinkState, "fetched", "pages", "hits", "relevant")}
    for name, value in {**counted, "relevance": found.relevance}.items():
        yield Wrong(tables.crawl, 1, "crawl", str(name), getattr(work.crawl, name), value)
    for host in _streamed(work, sql.all_rows(tables.host)):
        for name in ("in_flight", "pages", "lanes"):
            yield Wrong(
                tables.host,
                host.id,
                f"host {host.name}",
                name,
                getattr(host, name),
                found.hosts.get(host.id, _NOTHING)[name],
            )
    for lane in _streamed(work, sql.all_lanes()):
        for name, value in zip(("pages", "relevance"), found.lanes.get(lane.id, (0, 0.0)), strict=True):
            yield Wrong(tables.lane, lane.id, f"lane {lane.id}", name, getattr(lane, name), value)
    scheduled = 0
    for part in _streamed(work, sql.all_rows(tables.part)):
        label, counts = f"{part.kind} {part.key}", found.parts.get(part.id, _NOTHING)
        for name in ("pages", "hits", "fetched"):
            yield Wrong(tables.part, part.id, label, name, getattr(part, name), counts[name])
        # Leases that came to an end are not kept one by one; those that stand are the least there can be.
        least = max(part.scheduled, found.leased[part.id])
        scheduled += least
        yield Wrong(tables.part, part.id, label, "scheduled", part.scheduled, least)
    yield Wrong(tables.crawl, 1, "crawl", "leases", work.crawl.leases, scheduled)


def wrong(work: Work) -> Iterator[Finding]:
    """The same, as findings."""
    for one in differences(work):
        if one.stored != one.counted:
            message = f"{one.column} is {one.stored!r}, its rows say {one.counted!r}"
            yield Finding(fault=Fault.COUNT, where=one.name, message=message)


def count_again(work: Work) -> None:
    """Put every counter right, and have others read anew the one that they remember."""
    mended = [one for one in differences(work) if one.stored != one.counted]
    if any((one.table, one.column) == (tables.host, "lanes") for one in mended):
        work.memory.outdate()
    for one in mended:
        if one.table is tables.crawl:  # written once, at the end of the transaction
            setattr(work.crawl, one.column, one.counted)
        else:
            work.run(sql.set_counter(one.table, one.column), the_id=one.row, value=one.counted)


def unreadable(work: Work) -> Iterator[str]:
    """What is kept as JSON in the crawl's row and cannot be read."""
    try:
        ending.stop_state(work.memory)
    except (ValueError, TypeError, LookupError, AttributeError):
        yield "the counters of the stop rules cannot be read"
    try:
        json.loads(work.crawl.stop_detail or "{}")
    except ValueError:
        yield "the detail of the last end cannot be read"
