"""Moving a store to other key rules: what is one page now becomes one link (RULES 1.2)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pagesift_store.records import LinkState, Rekeyed
from pagesift_store.storage.statements import lanes as lanes_sql
from pagesift_store.storage.statements import links as links_sql
from pagesift_store.storage.statements import rekeys as sql
from pagesift_store.transactions import moves
from pagesift_store.urls.keys import key_rules
from pagesift_store.urls.pipeline import key_hash
from pagesift_store.urls.reading import read

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pagesift_store.transactions.work import Work

BATCH = 5_000
"""Links whose keys are made at a time."""

EXAMPLES = 10
"""Merges that are shown."""

_UNFINISHED = (LinkState.QUEUED, LinkState.LEASED, LinkState.WAITING)


def rekey(work: Work, preset: str, *, dry_run: bool) -> Rekeyed:
    """The body of `Frontier.rekey`."""
    keys = key_rules(preset)
    work.memory.rules.keys = keys
    sql.fresh.create(work.connection)
    try:
        links = _fill(work)
        merged = 0
        examples: list[tuple[str, ...]] = []
        for group in _groups(work):
            winner = max(group, key=_standing)
            if len(examples) < EXAMPLES:
                examples.append(
                    tuple(row.url for row in (winner, *(row for row in group if row is not winner)))
                )
            merged += len(group) - 1
            if not dry_run:
                _merge(work, winner, [row for row in group if row is not winner])
        if not dry_run:
            _switch(work, keys.name, keys.version)
    finally:
        sql.fresh.drop(work.connection)
    return Rekeyed(
        preset=keys.name, version=keys.version, links=links, merged=merged, examples=tuple(examples)
    )


def _fill(work: Work) -> int:
    """Make every link's new key; returns how many links there are."""
    after = links = 0
    while rows := work.rows(sql.links_after(), after=after, most=BATCH):
        fresh = []
        for row in rows:
            web = read(row.url)
            plain = work.memory.rules.key(web)
            key = work.memory.rewritten(web, plain)
            fresh.append({"id": row.id, "key_hash": key_hash(key), "key": None if key == plain else key})
        work.run_many(sql.add_fresh(), fresh)
        after = rows[-1].id
        links += len(rows)
    return links


def _groups(work: Work) -> Iterator[list[Any]]:
    """Links that have one key, by key; two keys that merely share a hash stay apart."""
    for shared in work.rows(sql.shared()):
        by_key: dict[str, list[Any]] = {}
        for row in work.rows(sql.sharing(), the_hash=shared.key_hash):
            web = read(row.url)
            by_key.setdefault(work.memory.rewritten(web, work.memory.rules.key(web)), []).append(row)
        yield from (group for group in by_key.values() if len(group) > 1)


def _standing(row: Any) -> tuple[bool, bool, bool, int]:
    """Fetched stands over leased, leased over unfinished, that over given up; then the earliest discovery."""
    return (row.visits > 0, row.state == LinkState.LEASED, row.state in _UNFINISHED, -row.id)


def _merge(work: Work, winner: Any, losers: Sequence[Any]) -> None:
    """One link takes the others in: their pages, their children, and the best of their signals while unfinished."""
    for loser in losers:
        for statement in (sql.move_pages, sql.move_duplicates, sql.move_children, sql.move_aliases):
            work.run(statement(), loser=loser.id, winner=winner.id)
        _remove(work, loser)
    best = max((winner, *losers), key=lambda row: (row.given, row.score, -row.id))
    if winner.state in _UNFINISHED and not winner.visits:
        taken = {name: getattr(best, name) for name in links_sql.RAISED}
        taken["depth"] = min(row.depth for row in (winner, *losers))
        taken["seed"] = any(row.seed for row in (winner, *losers))
        work.run(links_sql.raise_link(), the_id=winner.id, **taken)
        moves.refresh_heads(work, [winner.lane_id])


def _remove(work: Work, loser: Any) -> None:
    if loser.state == LinkState.LEASED:
        held = work.first(links_sql.read_link(), the_id=loser.id)
        work.run(lanes_sql.vacate(), the_host=held.host_id, places=1, visited=0, keep=1)
    if loser.visits:
        work.crawl.fetched -= 1
        held = work.first(links_sql.read_link(), the_id=loser.id)
        work.run(lanes_sql.vacate(), the_host=held.host_id, places=0, visited=-1, keep=1)
    work.moved(LinkState(loser.state), None)
    work.run(sql.drop_link(), the_id=loser.id)
    moves.refresh_heads(work, [loser.lane_id])


def _switch(work: Work, preset: str, version: int) -> None:
    work.run(sql.set_aside_keys())
    work.run(sql.use_fresh())
    settings = replace(work.settings, key_rules=preset)
    work.run(sql.save_rules(), key_rules=preset, key_version=version, settings=settings.to_json())
    work.memory.settings = settings
    work.crawl.rules += 1
