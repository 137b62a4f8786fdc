"""Whether a crawl goes on: limits, stop rules, and what a worker should do now."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from pagesift_store.focus.order import Harvest
from pagesift_store.focus.stop import StopState, verdict
from pagesift_store.records import CrawlState, Stop, StopReason
from pagesift_store.storage.statements import leases as leases_sql
from pagesift_store.storage.statements import links as links_sql
from pagesift_store.transactions.heads import Walk

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

    from pagesift_store.transactions.work import Memory, Work

MOST_LEASES = 10_000
"""Links that one call hands out at most."""


class Judgement(NamedTuple):
    """What a worker should do now, until when, and why the crawl has ended if it has."""

    state: CrawlState
    next_due: float | None = None
    stop: Stop | None = None


def places_left(memory: Memory) -> int:
    """How many more leases the limit on pages allows; leased links count as if they were fetched."""
    limit = memory.settings.max_pages
    return MOST_LEASES if limit is None else limit - memory.crawl.fetched - memory.crawl.leased


def stop_state(memory: Memory) -> StopState:
    """The counters of the stop rules."""
    stored: str = memory.crawl.stop_state
    return StopState.from_json(stored) if stored else StopState()


def held(memory: Memory, now: float) -> Stop | None:
    """The stop rule that holds, whether or not it is obeyed."""
    settings = memory.settings
    found = verdict(
        stop_state(memory),
        [(row.passages, row.evidence_pages) for row in memory.term_rows],
        patience=settings.patience,
        coverage_threshold=settings.coverage_threshold,
        evidence_per_term=settings.evidence_per_term,
    )
    return None if found is None else Stop(reason=StopReason(found[0]), detail=found[1], at=now)


def obeyed(memory: Memory, now: float) -> Stop | None:
    """The stop rule that holds, where the setting `adaptive` is on."""
    return held(memory, now) if memory.settings.adaptive else None


def judge(connection: Connection, memory: Memory, now: float) -> Judgement:
    """What a worker should do now: the first state that holds, in the order of `CrawlState`."""
    crawl, settings = memory.crawl, memory.settings
    expiry = connection.execute(links_sql.next_expiry()).scalar() if crawl.leased else None
    stop = obeyed(memory, now)
    if stop is None and places_left(memory) <= 0:
        detail = {"max_pages": settings.max_pages, "fetched": crawl.fetched, "leased": crawl.leased}
        stop = Stop(reason=StopReason.LIMIT_REACHED, detail=detail, at=now)
    if stop is not None:
        if crawl.leased:  # a lease that comes back may be leased again; until then the end is not certain
            return Judgement(CrawlState.LEASED_OUT, expiry)
        return Judgement(CrawlState.FINISHED, None, stop)
    return _by_queue(connection, memory, now, expiry)


def _by_queue(connection: Connection, memory: Memory, now: float, expiry: float | None) -> Judgement:
    crawl, settings = memory.crawl, memory.settings
    if expiry is not None and expiry <= now:
        return Judgement(CrawlState.READY, now)
    due = connection.execute(links_sql.next_due()).scalar() if crawl.waiting else None
    if due is not None and due <= now:
        return Judgement(CrawlState.READY, now)
    rests = blocked = None
    if crawl.queued:
        with closing(Walk(connection, settings, Harvest(crawl.pages, crawl.hits), now)) as heads:
            if heads.next() is not None:
                return Judgement(CrawlState.READY, now)
        row = connection.execute(
            leases_sql.next_ready(), {"now": now, "max_in_flight": settings.max_in_flight}
        ).one()
        rests, blocked = row.rests_until, row.blocked_until
    soonest = _earliest((rests if rests is not None and rests > now else None, expiry, due, blocked))
    if rests is not None and rests > now:
        return Judgement(CrawlState.COOLING, soonest)
    if crawl.leased:
        return Judgement(CrawlState.LEASED_OUT, soonest)
    if due is not None:
        return Judgement(CrawlState.WAITING, soonest)
    if blocked is not None:
        return Judgement(CrawlState.BLOCKED, blocked if blocked < 1e299 else None)
    detail = {state: getattr(crawl, state) for state in ("done", "dead", "skipped")}
    return Judgement(CrawlState.FINISHED, None, Stop(reason=StopReason.EXHAUSTED, detail=detail, at=now))


def _earliest(times: Iterable[float | None]) -> float | None:
    return min((time for time in times if time is not None and time < 1e299), default=None)


def remember(work: Work, stop: Stop) -> None:
    """Keep why the crawl ended, with its numbers; a reason that stands already is not written again."""
    detail = json.dumps(dict(stop.detail), sort_keys=True)
    if (work.crawl.stop_reason, work.crawl.stop_detail) != (stop.reason.value, detail):
        work.crawl.stop_reason = stop.reason.value
        work.crawl.stop_detail = detail
        work.crawl.stop_at = stop.at
