"""Where a link queues: its host, its parts, its lane; made when they are first met."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pagesift_store.storage.statements import lanes as sql
from pagesift_store.transactions.keys import signed_hash
from pagesift_store.transactions.work import HostInfo, Work
from pagesift_store.urls.parts import place

if TYPE_CHECKING:
    from pagesift_store.urls.reading import WebUrl

MOST_LANES = 1_000
"""Lanes of a host; links beyond them share its overflow lane, so that the cost of a lease stays bounded."""

OVERFLOW = "/*"
"""Ends the key of the parts that an overflow lane counts for."""


def host_of(work: Work, name: str) -> HostInfo:
    """The row of a host, made when it is new."""
    known = work.memory.hosts.get(name)
    if known is None:
        row = work.first(sql.find_host(), name=name)
        known = (
            HostInfo.stored(row) if row is not None else HostInfo(work.insert(sql.add_host(), name=name), 0)
        )
        work.memory.hosts[name] = known
    return known


def note_language(work: Work, host: HostInfo, segment: str, declared: str | None = None) -> None:
    """Take in a leading path segment that may name a language, and the language that a page below it declares."""
    news = host.shows(segment, declared)
    if news is not None:
        work.run(sql.set_languages(), the_host=host.id, languages=news)


def place_of(work: Work, web: WebUrl, host: HostInfo) -> tuple[int, int | None]:
    """The id of the lane that a link of this URL queues in, and the hash of its template (None: it has none)."""
    parts = place(web, work.memory.seed_hosts, host.languages)
    keys = parts.subtree, parts.cluster
    lane = _find_lane(work, host, *keys)
    if lane is None:
        if host.lanes >= MOST_LANES - 1:
            overflow = web.host + OVERFLOW
            keys = overflow, overflow
            lane = _find_lane(work, host, *keys)
        if lane is None:
            lane = _new_lane(work, host, *keys)
    return lane, None if parts.template is None else signed_hash(parts.template)


def _find_lane(work: Work, host: HostInfo, subtree_key: str, cluster_key: str) -> int | None:
    memory = work.memory
    remembered = memory.lanes.get((host.id, subtree_key, cluster_key))
    if remembered is not None:
        return remembered
    subtree_id = _find_part(work, "subtree", subtree_key)
    cluster_id = _find_part(work, "cluster", cluster_key)
    if subtree_id is None or cluster_id is None:
        return None
    row = work.first(sql.find_lane(), host_id=host.id, subtree_id=subtree_id, cluster_id=cluster_id)
    if row is None:
        return None
    lane_id: int = row.id
    memory.lanes[host.id, subtree_key, cluster_key] = lane_id
    return lane_id


def _new_lane(work: Work, host: HostInfo, subtree_key: str, cluster_key: str) -> int:
    lane_id = work.insert(
        sql.add_lane(),
        host_id=host.id,
        subtree_id=_part_of(work, "subtree", subtree_key),
        cluster_id=_part_of(work, "cluster", cluster_key),
    )
    work.run(sql.count_lane(), the_id=host.id)
    host.lanes += 1
    work.memory.lanes[host.id, subtree_key, cluster_key] = lane_id
    return lane_id


def _find_part(work: Work, kind: str, key: str) -> int | None:
    remembered = work.memory.parts.get((kind, key))
    if remembered is not None:
        return remembered
    row = work.first(sql.find_part(), kind=kind, key=key)
    if row is None:
        return None
    part_id: int = row.id
    work.memory.parts[kind, key] = part_id
    return part_id


def _part_of(work: Work, kind: str, key: str) -> int:
    known = _find_part(work, kind, key)
    if known is None:
        known = work.memory.parts[kind, key] = work.insert(sql.add_part(), kind=kind, key=key)
    return known
