"""Where a link queues: its host, its parts, its lane; made when they are first met."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pagesift_store.storage.statements import lanes as sql
from pagesift_store.transactions import limits
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
    """The row that a host's links queue with and all its lanes, made when it is new."""
    known = work.memory.hosts.get(name)
    if known is None:
        row = work.first(sql.find_host(), name=name)
        if row is None:
            known = HostInfo(work.insert(sql.add_host(), name=name), 0)
        elif row.group_id is not None:
            known = host_of(work, work.first(sql.host_by_id(), the_host=row.group_id).name)
        else:
            known = HostInfo.stored(row)
            _read_lanes(work, known)
        work.memory.hosts[name] = known
    return known


def host_of_url(work: Work, web: WebUrl) -> HostInfo:
    """The row that links of this URL's host queue with."""
    hosts = work.memory.hosts_by_url_host
    known = hosts.get(web.host)
    if known is None:
        known = hosts[web.host] = host_of(work, work.memory.politeness_of(web))
    return known


def own_row(work: Work, name: str) -> Any:
    """A host's own row, whatever it queues with; made when it is new."""
    row = work.first(sql.find_host(), name=name)
    if row is None:
        work.insert(sql.add_host(), name=name)
        row = work.first(sql.find_host(), name=name)
    return row


def _read_lanes(work: Work, host: HostInfo) -> None:
    """All lanes of a host at once: they are few, and looking each up would cost a statement per link."""
    for row in work.rows(sql.lanes_of_host(), the_host=host.id):
        host.lane_ids[row.subtree, row.cluster] = row.id
        host.part_ids["subtree", row.subtree] = row.subtree_id
        host.part_ids["cluster", row.cluster] = row.cluster_id
        work.memory.lanes += 1


def note_language(work: Work, host: HostInfo, segment: str, declared: str | None = None) -> None:
    """Take in a leading path segment that may name a language, and the language that a page below it declares."""
    news = host.shows(segment, declared)
    if news is not None:
        work.run(sql.set_languages(), the_host=host.id, languages=news)


def place_of(work: Work, web: WebUrl, host: HostInfo) -> tuple[int, int | None]:
    """The id of the lane that a link of this URL queues in, and the hash of its template (None: it has none)."""
    parts = place(web, work.memory.seed_hosts, host.languages)
    keys = parts.subtree, parts.cluster
    lane = host.lane_ids.get(keys)
    if lane is None:
        if host.lanes >= MOST_LANES - 1:
            keys = (web.host + OVERFLOW,) * 2
            lane = host.lane_ids.get(keys)
        if lane is None:
            lane = _new_lane(work, host, *keys)
    return lane, None if parts.template is None else signed_hash(parts.template)


def _new_lane(work: Work, host: HostInfo, subtree_key: str, cluster_key: str) -> int:
    lane_id = work.insert(
        sql.add_lane(),
        host_id=host.id,
        subtree_id=_part_of(work, host, "subtree", subtree_key),
        cluster_id=_part_of(work, host, "cluster", cluster_key),
    )
    work.run(sql.count_lane(), the_id=host.id)
    host.lanes += 1
    limits.shut_new(work, lane_id)
    host.lane_ids[subtree_key, cluster_key] = lane_id
    work.memory.lanes += 1
    return lane_id


def _part_of(work: Work, host: HostInfo, kind: str, key: str) -> int:
    known = host.part_ids.get((kind, key))
    if known is None:
        row = work.first(sql.find_part(), kind=kind, key=key)
        known = row.id if row is not None else work.insert(sql.add_part(), kind=kind, key=key)
        host.part_ids[kind, key] = known
    return known
