"""Why a link has the score it has, and why it is not being fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pagesift_store.focus.harvest import is_dry, is_proven
from pagesift_store.focus.model import FEATURES
from pagesift_store.records import Explanation, LinkState
from pagesift_store.storage.statements import leases as leases_sql
from pagesift_store.storage.statements import links as links_sql
from pagesift_store.storage.statements import questions as sql
from pagesift_store.urls.pipeline import key_hash

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from pagesift_store.transactions.memory import Memory

_FACTS = (
    "depth",
    "given",
    "seed",
    "demoted",
    "attempt",
    "visits",
    "failures",
    "failures_total",
    "due_at",
    "revisit",
    "lease_expires",
    "reason",
    "found_at",
)
_HISTORY = ("fetched_at", "status", "relevance", "hit", "duplicate_of", "templated", "title", "error")


def explain(connection: Connection, memory: Memory, url: str, now: float) -> Explanation | None:
    """Everything known about a URL; None when the store has never seen it."""
    web = memory.rules.read(url)
    plain = memory.rules.key(web)
    # What a learned rule skipped still has its own key, and is what was asked for.
    for key in dict.fromkeys((plain, memory.rewritten(web, plain))):
        for found in connection.execute(links_sql.find_by_hash(1), {links_sql.HASHES[0]: key_hash(key)}):
            stored = found.key if found.key is not None else memory.rules.key(memory.rules.read(found.url))
            if stored == key:
                row = connection.execute(sql.whole_link(), {"the_id": found.id}).one()
                return _explanation(connection, memory, row, key, now)
    return None


def _explanation(connection: Connection, memory: Memory, row: Any, key: str, now: float) -> Explanation:
    place = connection.execute(sql.lane_of_link(), {"the_lane": row.lane_id}).one()
    facts = {name: getattr(row, name) for name in _FACTS}
    for name, link_id in (("parent", row.parent_id), ("alias_of", row.alias_of)):
        if link_id is not None:
            facts[name] = connection.execute(leases_sql.url_of(), {"the_id": link_id}).scalar()
    return Explanation(
        url=row.url,
        key=key,
        link_id=row.id,
        state=LinkState(row.state),
        why=_why(memory, row, place, now),
        score=row.score,
        terms={} if row.given else _terms(memory, row),
        signal={name: getattr(row, name) for name in (*links_sql.SIGNAL, "decay")},
        lane=_lane(memory, place),
        history=[
            {name: getattr(fetch, name) for name in _HISTORY}
            for fetch in connection.execute(sql.history(), {"the_link": row.id})
        ],
        facts=facts,
    )


def _terms(memory: Memory, row: Any) -> dict[str, tuple[float, float, float]]:
    values = (
        memory.covers[row.anchor_hits],
        memory.covers[row.url_hits],
        memory.covers[row.context_hits],
        row.parent_relevance,
        float(row.phrase),
    )
    return {
        name: (value, weight, value * weight)
        for name, value, weight in zip(FEATURES, values, memory.weights.features, strict=True)
    }


def _lane(memory: Memory, place: Any) -> dict[str, Any]:
    crawl, delta = memory.crawl, memory.settings.delta
    subtree = (place.subtree_pages, place.subtree_hits, crawl.pages, crawl.hits, delta)
    cluster = (place.cluster_pages, place.cluster_hits, crawl.pages, crawl.hits, delta)
    return dict(place._mapping) | {"dry": is_dry(*subtree), "proven": is_proven(*cluster)}


def _why(memory: Memory, row: Any, place: Any, now: float) -> str:
    """One sentence: what the link is waiting for, or what became of it."""
    if row.state == LinkState.QUEUED:
        return _why_queued(memory, row, place, now)
    if row.state == LinkState.LEASED:
        return f"leased (attempt {row.attempt}) until {row.lease_expires:.0f}; then it is free again"
    if row.state == LinkState.WAITING:
        cause = f": {row.reason}" if row.reason else ", the next visit"
        return f"waits until {row.due_at:.0f}{cause}"
    if row.state == LinkState.DONE:
        return (
            "done: it leads to the page of another link"
            if row.alias_of is not None
            else "done: it was fetched"
        )
    return f"{row.state}: {row.reason or 'no reason was kept'}"


def _why_queued(memory: Memory, row: Any, place: Any, now: float) -> str:
    places = place.max_in_flight or memory.settings.max_in_flight
    lane = _lane(memory, place)
    if place.shut:
        return "queued; its host or its subtree has all the pages that a limit allows"
    if place.blocked_until is not None and place.blocked_until > now:
        return f"queued; its host {place.host} is blocked"
    if place.ready_at > now:
        return f"queued; its host {place.host} rests for {place.ready_at - now:.1f} s"
    if place.in_flight >= places:
        return f"queued; its host {place.host} has {place.in_flight} of {places} leases out"
    if row.demoted:
        why = "only pages that repeat others carry it" if row.on_repeats else "its template repeats itself"
        return f"queued; {why}, so it comes when nothing else is left"
    if lane["dry"]:
        return f"queued; the subtree {place.subtree} is dry, so it comes when nothing else is left"
    if place.head_id != row.id:
        return "queued; better links of its lane come first"
    return "queued; it competes with the heads of the other lanes by its score"
