"""Fetches that failed: when to try again, and when to give up (RULES 4)."""

from __future__ import annotations

import math
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from pagesift_store.errors import InvalidValue, LeaseLost
from pagesift_store.focus.retry import backoff, jitter, retry_after
from pagesift_store.records import FailKind, Lease, LinkOutcome, LinkState
from pagesift_store.storage.statements import hosts as hosts_sql
from pagesift_store.storage.statements import links as links_sql
from pagesift_store.storage.statements import pages as pages_sql
from pagesift_store.transactions import history, moves, revisiting
from pagesift_store.transactions.leasing import accept
from pagesift_store.transactions.texts import clean

if TYPE_CHECKING:
    from pagesift_store.transactions.work import Work

HOST_FAILURES = 5
"""Host-wide failures in a row after which all its links are dead."""

MOST_MESSAGE = 500
"""Characters of an error message that are kept."""

_HOST_WIDE = frozenset({FailKind.DNS, FailKind.CONNECT})


def fail(
    work: Work,
    lease: Lease,
    kind: FailKind,
    message: str,
    *,
    retry_after: str | float | None,
    retry_in: float | None,
    permanent: bool,
) -> LinkOutcome:
    """The body of `Frontier.fail`."""
    if retry_in is not None and (
        not isinstance(retry_in, int | float) or not math.isfinite(retry_in) or retry_in < 0
    ):
        raise InvalidValue(f"retry_in={retry_in!r} must be a number of seconds, 0 or more")
    row = accept(work, lease)
    outcome = repr((kind.value, message, retry_after, retry_in, permanent))
    digest = blake2b(outcome.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    if reported(work, row, lease, digest) is not None:
        reason = row.reason if row.state == LinkState.DEAD else None
        return LinkOutcome(state=LinkState(row.state), due=row.due_at, failures=row.failures, reason=reason)
    return record(
        work,
        row,
        kind,
        message,
        digest=digest,
        asked=retry_after,
        retry_in=retry_in,
        permanent=permanent or kind is FailKind.HTTP_4XX,
    )


def check_kind(kind: FailKind | str) -> FailKind:
    """One of the kinds of failure.

    Raises:
        InvalidValue: anything else.
    """
    try:
        return FailKind(kind)
    except ValueError:
        raise InvalidValue(f"kind={kind!r} must be one of {', '.join(FailKind)}") from None


def reported(work: Work, row: Any, lease: Lease, digest: bytes) -> Any:
    """What was recorded under this lease before; None when nothing was.

    Raises:
        LeaseLost: another outcome was.
    """
    if row.state == LinkState.LEASED:
        return None
    before = work.first(pages_sql.last_outcome(), the_link=lease.link_id, the_attempt=lease.attempt)
    if before is not None and before.digest != digest:
        raise LeaseLost(
            f"another outcome of {lease.url!r} was recorded under this lease (it is {row.state} now); "
            "drop this one"
        )
    return before


def record(
    work: Work,
    row: Any,
    kind: FailKind,
    message: str,
    *,
    digest: bytes,
    status: int | None = None,
    asked: str | float | None = None,
    retry_in: float | None = None,
    permanent: bool = False,
) -> LinkOutcome:
    """Apply one failure to a link and its host."""
    pause, note = retry_after(asked, work.now)
    text = clean(f"{kind.value}: {message}" if message else kind.value)[:MOST_MESSAGE]
    history.add(work, row, digest, {"status": status, "error": text})
    moves.leave(work, row)
    if note is not None:
        work.run(hosts_sql.note(), the_host=row.host_id, note=note)
    if pause is not None:
        work.run(hosts_sql.rest(), the_host=row.host_id, until=work.now + pause)
    if kind in _HOST_WIDE and not permanent and retry_in is None:
        return _defer_host(work, row, text)
    failures = row.failures + 1
    if permanent or failures >= _most_failures(work, row):
        return settle(work, row, LinkState.DEAD, reason=text, failures=failures)
    if retry_in is None and failures >= work.settings.max_failures:
        retry_in = _next_visit(work, row)
    if retry_in is None:
        wait = backoff(failures, jitter(work.crawl.seed, row.id, failures))
        retry_in = wait if pause is None else max(pause, wait)
    return settle(work, row, LinkState.WAITING, reason=text, failures=failures, due=work.now + retry_in)


def _most_failures(work: Work, row: Any) -> int:
    """Failures in a row after which a link is dead.

    A page that is visited again and again is given twice as many, half of them at its usual intervals: an hour without
    an answer must not end what was watched for months.
    """
    return work.settings.max_failures * (2 if revisiting.is_watched(work, row) else 1)


def _next_visit(work: Work, row: Any) -> float | None:
    """Seconds to the next visit of a page that could not be had, as if it were unchanged."""
    before = work.first(pages_sql.last_page(), the_link=row.id)
    return revisiting.interval(work, row, before, changed=False)


def settle(
    work: Work,
    row: Any,
    state: LinkState,
    *,
    reason: str | None = None,
    failures: int = 0,
    due: float | None = None,
) -> LinkOutcome:
    """Write the state that a failure leaves a link in."""
    work.run(
        links_sql.finish(),
        the_id=row.id,
        state=state.value,
        reason=reason,
        due_at=due,
        visits=row.visits,
        failures=failures,
        failures_total=row.failures_total + 1,
    )
    work.moved(None, state)
    if LinkState.QUEUED in (row.state, state) or row.visits:
        moves.refresh_heads(work, [row.lane_id])
    return LinkOutcome(
        state=state, due=due, failures=failures, reason=reason if state is LinkState.DEAD else None
    )


def _defer_host(work: Work, row: Any, text: str) -> LinkOutcome:
    """The host is out of reach: it rests, the link keeps its place; after too often, all its links are dead."""
    failures = work.first(hosts_sql.count_failure(), the_host=row.host_id).failures
    given_up = failures >= HOST_FAILURES
    if given_up:
        reason = f"host given up after {failures} failures in a row; the last: {text}"
        _give_up_host(work, row.host_id, reason)
        if not revisiting.is_watched(work, row):
            return settle(work, row, LinkState.DEAD, reason=text, failures=row.failures + 1)
    until = work.now + backoff(failures, jitter(work.crawl.seed, row.host_id, failures))
    work.run(hosts_sql.rest(), the_host=row.host_id, until=until)
    if row.visits:
        return _defer_visit(work, row, text, until, row.failures + given_up)
    outcome = settle(work, row, LinkState.QUEUED, reason=text, failures=row.failures)
    return LinkOutcome(state=outcome.state, due=until, failures=failures)


def _defer_visit(work: Work, row: Any, text: str, until: float, failures: int) -> LinkOutcome:
    """A page that was fetched before waits for its host; out of reach for too long, it is dead, too."""
    if failures >= _most_failures(work, row):
        return settle(work, row, LinkState.DEAD, reason=text, failures=failures)
    return settle(work, row, LinkState.WAITING, reason=text, failures=failures, due=until)


def _give_up_host(work: Work, host_id: int, reason: str) -> None:
    """All its links are dead but those that were fetched: whether these go is decided one by one, as they fall due."""
    for state in (LinkState.QUEUED, LinkState.WAITING):
        gone = work.run(hosts_sql.kill_links(state), the_host=host_id, reason=reason[:MOST_MESSAGE])
        work.moved(state, LinkState.DEAD, gone)
    work.run(hosts_sql.empty_lanes(), the_host=host_id)
