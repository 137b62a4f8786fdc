"""Whether a crawl goes on: limits, stop rules, and what a worker should do now."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

from pagesift_store.focus.order import Harvest
from pagesift_store.focus.stop import StopState, verdict
from pagesift_store.records import CrawlState, Stop, StopReason
from pagesift_store.storage.prepared import Runner
from pagesift_store.storage.statements import leases as leases_sql
from pagesift_store.storage.statements import links as links_sql
from pagesift_store.storage.statements import revisits as revisits_sql
from pagesift_store.transactions.again import Again
from pagesift_store.transactions.heads import Walk
from pagesift_store.transactions.limits import NOTHING_NEW, Caps

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

    from pagesift_store.transactions.memory import Memory
    from pagesift_store.transactions.work import Work

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
    crawl = memory.crawl
    expiry = connection.execute(links_sql.next_expiry()).scalar() if crawl.leased else None
    stop = obeyed(memory, now)
    if stop is not None:
        if crawl.leased:  # a lease that comes back may be leased again; until then the end is not certain
            return Judgement(CrawlState.LEASED_OUT, expiry)
        return Judgement(CrawlState.FINISHED, None, stop)
    return _by_queue(connection, memory, now, expiry)


def _by_queue(connection: Connection, memory: Memory, now: float, expiry: float | None) -> Judgement:
    crawl = memory.crawl
    if expiry is not None and expiry <= now:
        return Judgement(CrawlState.READY, now)
    caps = Caps.of(memory.settings) if places_left(memory) > 0 else NOTHING_NEW
    due = _next_due(connection, memory, caps)
    if due is not None and due <= now and caps is not NOTHING_NEW and _retry_due(connection, now):
        return Judgement(CrawlState.READY, now)
    rests = blocked = None
    if crawl.queued or due is not None:
        if _is_ready(connection, memory, caps, now):
            return Judgement(CrawlState.READY, now)
        row = connection.execute(leases_sql.next_ready(), _limits(memory, caps) | {"now": now}).one()
        rests, blocked = row.rests_until, row.blocked_until
    rests = None if rests is None or rests <= now else rests
    later = due if due is not None and due > now else None
    soonest = _earliest((rests, expiry, later, blocked))
    if rests is not None:
        return Judgement(CrawlState.COOLING, soonest)
    if crawl.leased:
        return Judgement(CrawlState.LEASED_OUT, soonest)
    if later is not None:
        return Judgement(CrawlState.WAITING, soonest)
    if blocked is not None:
        return Judgement(CrawlState.BLOCKED, blocked if blocked < 1e299 else None)
    return Judgement(CrawlState.FINISHED, None, _end(memory, now))


def _next_due(connection: Connection, memory: Memory, caps: Caps) -> float | None:
    """When the next link is due: another try, where anything new may be fetched, or another visit."""
    if not memory.crawl.waiting:
        return None
    retry = None if caps is NOTHING_NEW else connection.execute(links_sql.next_due()).scalar()
    return _earliest((retry, connection.execute(revisits_sql.next_again()).scalar()))


def _retry_due(connection: Connection, now: float) -> bool:
    retry = connection.execute(links_sql.next_due()).scalar()
    return retry is not None and retry <= now


def _is_ready(connection: Connection, memory: Memory, caps: Caps, now: float) -> bool:
    """Whether a lease would give anything now."""
    total, runner = Harvest(memory.crawl.pages, memory.crawl.hits), Runner(connection)
    with (
        closing(Walk(runner, memory.settings, total, now, caps)) as heads,
        closing(Again(runner, memory.settings, now, heads)) as again,
    ):
        return again.next() is not None or (caps is not NOTHING_NEW and heads.next() is not None)


def _limits(memory: Memory, caps: Caps) -> dict[str, Any]:
    return {
        "max_in_flight": memory.settings.max_in_flight,
        "most_of_host": caps.host,
        "most_of_part": caps.part,
    }


def _end(memory: Memory, now: float) -> Stop:
    """Why there is nothing to fetch, now or later."""
    crawl, settings = memory.crawl, memory.settings
    if places_left(memory) <= 0:
        limit = {"max_pages": settings.max_pages, "fetched": crawl.fetched, "leased": crawl.leased}
        return Stop(reason=StopReason.LIMIT_REACHED, detail=limit, at=now)
    if crawl.queued:  # nothing rests and nothing is blocked: it is shut by the limit of its host or its part
        names = ("max_pages_per_host", "max_pages_per_part")
        limits = {name: getattr(settings, name) for name in names if getattr(settings, name) is not None}
        limit = limits | {"queued": crawl.queued, "fetched": crawl.fetched}
        return Stop(reason=StopReason.LIMIT_REACHED, detail=limit, at=now)
    detail = {state: getattr(crawl, state) for state in ("done", "dead", "skipped")}
    return Stop(reason=StopReason.EXHAUSTED, detail=detail, at=now)


def _earliest(times: Iterable[float | None]) -> float | None:
    return min((time for time in times if time is not None and time < 1e299), default=None)


def remember(work: Work, stop: Stop) -> None:
    """Keep why the crawl ended, with its numbers; a reason that stands already is not written again."""
    detail = json.dumps(dict(stop.detail), sort_keys=True)
    if (work.crawl.stop_reason, work.crawl.stop_detail) != (stop.reason.value, detail):
        work.crawl.stop_reason = stop.reason.value
        work.crawl.stop_detail = detail
        work.crawl.stop_at = stop.at
