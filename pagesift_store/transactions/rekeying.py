"""Moving a store to other key rules: what is one page now becomes one link (RULES 1.2)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pagesift_store.records import LinkState, Rekeyed
from pagesift_store.storage.statements import rekeys as sql
from pagesift_store.transactions import merging
from pagesift_store.transactions.merging import UNFINISHED
from pagesift_store.urls.keys import key_rules
from pagesift_store.urls.pipeline import key_hash

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pagesift_store.transactions.work import Work

BATCH = 5_000
"""Links whose keys are made at a time."""

EXAMPLES = 10
"""Merges that are shown."""


def rekey(work: Work, preset: str, *, dry_run: bool) -> Rekeyed:
    """The body of `Frontier.rekey`."""
    keys = key_rules(preset)
    work.memory.rules.keys = keys
    sql.fresh.create(work.connection)
    try:
        links = _fill(work)
        merged = 0
        examples: list[tuple[str, ...]] = []
        recount = False
        for group in _groups(work):
            group.sort(key=_standing, reverse=True)
            merged += len(group) - 1
            if len(examples) < EXAMPLES:
                examples.append(tuple(row.url for row in group))
            if not dry_run:
                recount |= merging.merge(work, group[0], group[1:])
        if not dry_run:
            if recount:
                merging.recount(work)
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
            plain, key = _keys(work, row)
            fresh.append({"id": row.id, "key_hash": key_hash(key), "key": None if key == plain else key})
        work.run_many(sql.add_fresh(), fresh)
        after = rows[-1].id
        links += len(rows)
    return links


def _keys(work: Work, row: Any) -> tuple[str, str]:
    """The key of a link by the new rules alone, and with the learned ones.

    A link that a learned rule skipped keeps its own, so that it can come back when the rule is refuted.
    """
    web = work.memory.rules.read(row.url)
    plain = work.memory.rules.key(web)
    return plain, plain if row.state == LinkState.SKIPPED else work.memory.rewritten(web, plain)


def _groups(work: Work) -> Iterator[list[Any]]:
    """Links that have one key, by key; two keys that merely share a hash are told apart by `n`."""
    for shared in work.rows(sql.shared()):
        by_key: dict[str, list[Any]] = {}
        for row in work.rows(sql.sharing(), the_hash=shared.key_hash):
            by_key.setdefault(_keys(work, row)[1], []).append(row)
        for n, group in enumerate(by_key.values()):
            work.run_many(sql.set_fresh_n(), [{"the_id": row.id, "n": n} for row in group])
            if len(group) > 1:
                yield group


def _standing(row: Any) -> tuple[bool, bool, bool, bool, int]:
    """Fetched stands over fetched under another URL, then leased, other unfinished, given up; then the earliest."""
    return (
        row.visits > 0,
        row.state == LinkState.DONE,
        row.state == LinkState.LEASED,
        row.state in UNFINISHED,
        -row.id,
    )


def _switch(work: Work, preset: str, version: int) -> None:
    work.run(sql.set_aside_keys())
    work.run(sql.use_fresh())
    settings = replace(work.settings, key_rules=preset)
    work.run(sql.save_rules(), key_rules=preset, key_version=version, settings=settings.to_json())
    work.settings = work.memory.settings = settings
    work.memory.outdate()
