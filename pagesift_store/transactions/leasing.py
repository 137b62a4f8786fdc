"""Handing out work: which links, to whom, until when."""

from __future__ import annotations

import math
from contextlib import closing
from typing import TYPE_CHECKING, Any

from pagesift_store.errors import InvalidValue, LeaseLost, WrongStore
from pagesift_store.focus.order import Head
from pagesift_store.focus.revisit import is_turn_of
from pagesift_store.records import Lease, LinkState
from pagesift_store.storage.statements import lanes as lanes_sql
from pagesift_store.storage.statements import leases as sql
from pagesift_store.storage.statements import links as links_sql
from pagesift_store.transactions import aside, ending, moves
from pagesift_store.transactions.again import Again, Due
from pagesift_store.transactions.heads import Fruitful, Walk, read_fruitful
from pagesift_store.transactions.keys import key_of
from pagesift_store.transactions.texts import restored

if TYPE_CHECKING:
    from pagesift_store.transactions.work import Work


def lease(work: Work, n: int, ttl: float, owner_id: int) -> list[Lease]:
    """The n best links that may be fetched now, best first; fewer when there are fewer."""
    moves.free_expired(work)
    moves.wake_due(work)
    leases: list[Lease] = []
    if (work.crawl.queued or work.crawl.waiting) and ending.obeyed(work.memory, work.now) is None:
        aside.review(work)
        with (
            closing(_walk(work)) as heads,
            closing(Again(work, work.settings, work.now, heads, waiting=bool(work.crawl.waiting))) as again,
        ):
            room = ending.places_left(work.memory)
            while len(leases) < n and (found := _next(work, heads, again, room)) is not None:
                leases.append(_take(work, found, heads, ttl, owner_id, more=len(leases) + 1 < n))
                room -= isinstance(found, Head)
        # Not before: a lane that is marked while it is walked over could be met twice.
        aside.mark_dry(work, heads.dry)
        aside.mark_spent(work, heads.spent)
    if not leases:
        _remember_end(work)
    return leases


def _walk(work: Work) -> Walk:
    def fruitful() -> Fruitful:
        if work.memory.fruitful is None:
            work.memory.fruitful = read_fruitful(work)
        return work.memory.fruitful

    return Walk(work, work.settings, work.total, work.now, fruitful=fruitful, reviewed=True)


def _next(work: Work, heads: Walk, again: Again, room: int) -> Head | Due | None:
    """A new link or a page due for another visit, by turns; when the one kind has none, the other.

    The number of leases so far tells whose turn it is, so that a resumed crawl goes on with the same one, and a time
    in which one kind had nothing leaves no debt.
    """
    due = again.next()
    if due is not None and (room <= 0 or is_turn_of(work.settings.revisit_share, work.crawl.leases)):
        return due
    head = heads.next() if room > 0 else None
    return due if head is None else head


def _remember_end(work: Work) -> None:
    """Nothing was leased: if that is because the crawl has ended, keep why."""
    state = ending.judge(work.connection, work.memory, work.now)
    if state.stop is not None:
        ending.remember(work, state.stop)


def _take(work: Work, found: Head | Due, walk: Walk, ttl: float, owner_id: int, *, more: bool) -> Lease:
    """Mark a link leased; only where more may be leased in this call do the walks take notice."""
    expires = work.now + ttl
    row = work.first(sql.take(), the_id=found.link_id, owner=owner_id, expires=expires)
    delay = walk.delay(found) if isinstance(found, Head) else found.delay
    work.run(lanes_sql.occupy(), the_host=found.host_id, ready_at=work.now + delay)
    if _spends(work, found, walk):
        walk.spent.add(found.cluster_id)
    work.crawl.leases += 1
    if isinstance(found, Head):
        work.moved(LinkState.QUEUED, LinkState.LEASED)
        behind = work.first(sql.behind(), the_lane=found.lane_id)
        _set_head(work, found.lane_id, behind)
        if more:
            walk.took(found, behind, work.now + delay)
    else:
        work.moved(LinkState.WAITING, LinkState.LEASED)
        moves.refresh_heads(work, [found.lane_id])
        if more:
            found.took(work.now + delay)
    return _lease(work, row, expires, delay)


def _spends(work: Work, found: Head | Due, walk: Walk) -> bool:
    """Count the lease in its cluster; of a head it is known what the cluster had."""
    if isinstance(found, Head):
        return aside.give(work, found.cluster_id, found.cluster.hits, walk.scheduled(found))
    return aside.schedule(work, found.cluster_id, 1)


def _set_head(work: Work, lane_id: int, behind: Any) -> None:
    """What stood behind a leased head is the head of its lane now, if anything did."""
    work.run(
        lanes_sql.set_head(),
        the_lane=lane_id,
        link_id=None if behind is None else behind.id,
        the_score=None if behind is None else behind.score,
        is_demoted=None if behind is None else behind.demoted,
    )


def _lease(work: Work, row: Any, expires: float, delay: float) -> Lease:
    etag = last_modified = parent_url = None
    if row.visits:
        work.crawl.revisits += 1
        known = work.first(sql.validators(), the_id=row.id)
        if known is not None:
            etag, last_modified = restored(known.etag), restored(known.last_modified)
    if row.parent_id is not None:
        parent_url = work.first(sql.url_of(), the_id=row.parent_id).url
    return Lease(
        store_id=work.crawl.store_id,
        link_id=row.id,
        url=row.url,
        key=key_of(work, row.key, row.url),
        attempt=row.attempt,
        expires=expires,
        score=row.score,
        depth=row.depth,
        parent_url=parent_url,
        etag=etag,
        last_modified=last_modified,
        host_delay=delay,
    )


def accept(work: Work, lease: Lease) -> Any:
    """The link of a lease that is still its own, with its lane's parts and host.

    Raises:
        WrongStore: the lease was taken from another store.
        LeaseLost: the link was leased again since, or is gone.
    """
    if lease.store_id != work.crawl.store_id:
        raise WrongStore(
            f"the lease of {lease.url!r} is of store {lease.store_id}, this one is {work.crawl.store_id}; "
            "report it to the store that it was taken from"
        )
    row = work.first(links_sql.read_link(), the_id=lease.link_id)
    if row is None:
        raise LeaseLost(f"link {lease.link_id} ({lease.url!r}) is no longer in the store; drop the lease")
    if row.attempt != lease.attempt:
        raise LeaseLost(
            f"{lease.url!r} was leased again (attempt {row.attempt}, this lease is attempt {lease.attempt}); "
            "drop what was fetched"
        )
    return row


def release(work: Work, lease: Lease) -> None:
    """Give a lease back unharmed; nothing happens when it is back already."""
    row = accept(work, lease)
    if row.state == LinkState.LEASED:
        moves.give_back(work, [row])


def renew(work: Work, lease: Lease, ttl: float) -> float:
    """Extend a lease; returns its new expiry.

    Raises:
        LeaseLost: it ran out and the link is back in the queue, or its outcome was reported.
    """
    row = accept(work, lease)
    expires = work.now + ttl
    if row.state != LinkState.LEASED or not work.run(
        sql.extend(), the_id=lease.link_id, the_attempt=lease.attempt, expires=expires
    ):
        raise LeaseLost(f"the lease of {lease.url!r} has ended ({row.state}); take a new one")
    return expires


def check_ttl(ttl: float) -> float:
    """A lease's length in seconds, above 0.

    Raises:
        InvalidValue: anything else.
    """
    if isinstance(ttl, bool) or not isinstance(ttl, int | float) or not math.isfinite(ttl) or ttl <= 0:
        raise InvalidValue(f"ttl={ttl!r} must be a number of seconds above 0")
    return float(ttl)
