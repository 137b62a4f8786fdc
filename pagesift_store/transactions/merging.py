"""Several links that turned out to be one page become one link (RULES 1.2)."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from pagesift_store.focus.features import decay
from pagesift_store.focus.order import LANE_WEIGHT, Yield, lift
from pagesift_store.focus.relevance import EVIDENCE_FROM
from pagesift_store.records import LinkState
from pagesift_store.storage.statements import lanes as lanes_sql
from pagesift_store.storage.statements import links as links_sql
from pagesift_store.storage.statements import rekeys as sql
from pagesift_store.transactions import aside, limits, moves
from pagesift_store.transactions.signals import Signal, scored

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pagesift_store.transactions.work import Work

UNFINISHED = frozenset({LinkState.QUEUED, LinkState.LEASED, LinkState.WAITING})


def merge(work: Work, winner: Any, losers: Sequence[Any]) -> bool:
    """One link takes the others in: their pages, their children, and the best of their signals while unfinished.

    Args:
        work: the transaction.
        winner: the link that stays, a whole row.
        losers: those that go.

    Returns:
        Whether pages count for another link now, or no longer: `recount` must follow.
    """
    counted = 0
    for loser in losers:
        counted += work.run(sql.move_pages(), loser=loser.id, winner=winner.id)
        for statement in (sql.move_duplicates, sql.move_children, sql.move_aliases):
            work.run(statement(), loser=loser.id, winner=winner.id)
        _remove(work, loser)
    if counted:
        work.run(sql.count_once(), the_link=winner.id)
    work.run(sql.clear_own_duplicates(), the_link=winner.id)
    work.run(sql.clear_own_alias(), the_id=winner.id)
    work.run(sql.set_parent(), the_id=winner.id, parent_id=_parent(winner, losers))
    if winner.state in UNFINISHED and not winner.visits:
        work.run(links_sql.raise_link(), the_id=winner.id, **best_of(work, winner, losers))
        moves.refresh_heads(work, [winner.lane_id])
    return bool(counted)


def _parent(row: Any, others: Sequence[Any]) -> int | None:
    """The page that a link was found on, unless that is the link itself now: then where that was found."""
    merged = {one.id: one.parent_id for one in (row, *others)}
    parent: int | None = row.parent_id
    while parent in merged:
        parent = merged.pop(parent)
    return parent


def best_of(work: Work, winner: Any, losers: Sequence[Any]) -> dict[str, Any]:
    """What a link takes from others that are its page: the highest score with its signal, and the smallest depth."""
    group = (winner, *losers)
    best = max(group, key=lambda row: (row.given, row.score, -row.id))
    taken = {name: getattr(best, name) for name in links_sql.RAISED}
    taken["depth"] = min(row.depth for row in group)
    taken["decay"] = decay(taken["depth"])
    taken["seed"] = any(row.seed for row in group)
    taken["demoted"] = all(row.demoted for row in group)
    taken["on_repeats"] = all(row.on_repeats for row in group)
    taken["parent_id"] = _parent(best, [row for row in group if row is not best])
    if not best.given:
        if work.settings.focus == "full":
            taken["parent_relevance"] = max(row.parent_relevance for row in group)
        signal = Signal(**{name: taken[name] for name in Signal._fields})
        taken["score"] = scored(work.memory, signal)
    return taken


def _remove(work: Work, loser: Any) -> None:
    leased, visited = loser.state == LinkState.LEASED, loser.visits > 0
    if leased or visited:
        held = work.first(links_sql.read_link(), the_id=loser.id)
        work.run(lanes_sql.vacate(), the_host=held.host_id, places=int(leased), visited=-int(visited), keep=1)
    if visited:
        work.run(lanes_sql.count_fetched(), the_part=held.subtree_id, step=-1)
        limits.settle(work)
    work.crawl.fetched -= visited
    work.moved(LinkState(loser.state), None)
    work.run(sql.drop_link(), the_id=loser.id)
    moves.refresh_heads(work, [loser.lane_id])


def recount(work: Work) -> None:
    """Harvest and yield from the pages that count, in the order in which they came: sums keep their bits."""
    crawl = work.crawl
    crawl.pages, crawl.hits, crawl.relevant, crawl.relevance = 0, 0, 0, 0.0
    lanes: defaultdict[int, Yield] = defaultdict(lambda: Yield(0, 0.0))
    parts: defaultdict[int, list[int]] = defaultdict(lambda: [0, 0])
    for page in work.rows(sql.counted_pages()):
        crawl.pages += 1
        crawl.hits += page.hit
        crawl.relevant += page.relevance >= EVIDENCE_FROM
        crawl.relevance += page.relevance
        lane = lanes[page.lane_id]
        lanes[page.lane_id] = Yield(lane.pages + 1, lane.relevance + page.relevance)
        for part in (page.subtree_id, page.cluster_id):
            parts[part][0] += 1
            parts[part][1] += page.hit
    site = Yield(crawl.pages, crawl.relevance)
    weight = LANE_WEIGHT if work.settings.focus == "full" else 0.0
    work.run(sql.forget_harvest())
    work.run(sql.forget_yield())
    work.run_many(
        sql.set_harvest(),
        [{"the_part": part, "pages": pages, "hits": hits} for part, (pages, hits) in sorted(parts.items())],
    )
    work.run_many(
        sql.set_yield(),
        [
            {"the_lane": lane_id, **lane._asdict(), "lift": lift(lane, site, weight=weight)}
            for lane_id, lane in sorted(lanes.items())
        ],
    )
    aside.settle(work)
