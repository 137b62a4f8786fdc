"""Where a link queues: its host, its parts, its lane; made when they are first met."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from pagesift_store.storage.statements import lanes as sql
from pagesift_store.transactions import limits
from pagesift_store.transactions.keys import signed_hash
from pagesift_store.transactions.memory import HostInfo
from pagesift_store.transactions.work import NewLane, Work
from pagesift_store.urls.parts import place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pagesift_store.urls.reading import WebUrl

MOST_LANES = 1_000
"""Lanes of a host; links beyond them share its overflow lane, so that the cost of a lease stays bounded."""

MOST_AT_ONCE = 500
"""Keys that one question asks for."""

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
    rows = work.rows(sql.lanes_of_host(), the_host=host.id)
    for lane, _, subtree_id, cluster_id, subtree, cluster in rows:
        host.lane_ids[subtree, cluster] = lane
        host.part_ids["subtree", subtree] = subtree_id
        host.part_ids["cluster", cluster] = cluster_id
    work.memory.lanes += len(rows)


def note_language(work: Work, host: HostInfo, segment: str, declared: str | None = None) -> None:
    """Take in a leading path segment that may name a language, and the language that a page below it declares."""
    news = host.shows(segment, declared)
    if news is not None:
        work.run(sql.set_languages(), the_host=host.id, languages=news)
        work.crawl.rules += 1


def place_of(work: Work, web: WebUrl, host: HostInfo) -> tuple[int, int | None]:
    """The id of the lane that a link of this URL queues in, and the hash of its template (None: it has none).

    A lane that is new is written by `write_lanes`.
    """
    subtree, cluster, template = place(web, work.memory.seed_hosts, host.languages)
    lane = host.lane_ids.get((subtree, cluster))
    if lane is None:
        if host.lanes >= MOST_LANES - 1:
            subtree = cluster = web.host + OVERFLOW
            lane = host.lane_ids.get((subtree, cluster))
        if lane is None:
            lane = _new_lane(work, host, subtree, cluster)
    return lane, None if template is None else signed_hash(template)


def _new_lane(work: Work, host: HostInfo, subtree: str, cluster: str) -> int:
    memory = work.memory
    memory.last_lane += 1
    work.new_lanes.append(NewLane(memory.last_lane, host, subtree, cluster))
    host.lanes += 1
    host.lane_ids[subtree, cluster] = memory.last_lane
    memory.lanes += 1
    return memory.last_lane


def write_lanes(work: Work) -> None:
    """Write the lanes that `place_of` has made, and their parts: all at once, before the first link in one of them.

    Each has the best link that is queued in it so far as its head: it need not be offered any more.
    """
    lanes = work.new_lanes
    if not lanes:
        return
    _write_parts(work, lanes)
    work.run_many(
        sql.add_lane(),
        [
            {
                "id": lane.id,
                "host_id": lane.host.id,
                "subtree_id": lane.host.part_ids["subtree", lane.subtree],
                "cluster_id": lane.host.part_ids["cluster", lane.cluster],
                "cluster_cap": work.settings.cluster_cap,
                **_head(work.heads.pop(lane.id, None)),
            }
            for lane in lanes
        ],
    )
    counts = Counter(lane.host.id for lane in lanes)
    work.run_many(sql.count_lanes(), [{"the_id": host, "lanes": count} for host, count in counts.items()])
    limits.shut_new(work, [lane.id for lane in lanes])
    work.new_lanes = []


def _head(best: tuple[int, float, int] | None) -> dict[str, Any]:
    """The best link of a lane, as statements name it."""
    if best is None:
        return {"link_id": None, "the_score": None, "is_demoted": None}
    demoted, minus_score, link_id = best
    return {"link_id": link_id, "the_score": -minus_score, "is_demoted": demoted}


def _write_parts(work: Work, lanes: Sequence[NewLane]) -> None:
    """Find the parts of new lanes, and make those that are new."""
    wanted = {
        (kind, key): None
        for lane in lanes
        for kind, key in (("subtree", lane.subtree), ("cluster", lane.cluster))
        if (kind, key) not in lane.host.part_ids
    }
    ids: dict[tuple[str, str], int] = {}
    for kind, statement in (("subtree", sql.find_subtrees), ("cluster", sql.find_clusters)):
        keys = [key for each, key in wanted if each == kind]
        for start in range(0, len(keys), MOST_AT_ONCE):
            for row in work.rows_in(statement, sql.KEYS, keys[start : start + MOST_AT_ONCE]):
                ids[kind, row.key] = row.id
    last = work.first(sql.last_part()).id or 0
    new = [part for part in wanted if part not in ids]
    ids |= {part: last + i for i, part in enumerate(new, 1)}
    work.run_many(sql.add_part(), [{"id": ids[kind, key], "kind": kind, "key": key} for kind, key in new])
    for lane in lanes:
        for part in (("subtree", lane.subtree), ("cluster", lane.cluster)):
            if part in ids:
                lane.host.part_ids[part] = ids[part]
