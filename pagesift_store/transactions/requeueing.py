"""Links that an operator gives another chance, or takes out: requeue, block, unblock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pagesift_store.errors import InvalidValue
from pagesift_store.records import LinkState
from pagesift_store.storage.statements import acts as sql
from pagesift_store.transactions import choosing, scoring, watching
from pagesift_store.transactions.choosing import Choice

if TYPE_CHECKING:
    import re

    from pagesift_store.transactions.work import Work

_UNFINISHED = frozenset({LinkState.QUEUED, LinkState.LEASED, LinkState.WAITING})


def requeue(
    work: Work, *, reason: str | None, host: str | None, pattern: str | None, state: LinkState | str
) -> int:
    """The body of `Frontier.requeue`."""
    if state not in (LinkState.DEAD, LinkState.SKIPPED):
        raise InvalidValue(f"state={state!r} must be dead or skipped; other links need no help")
    return _queue(
        work,
        Choice(
            host=choosing.host_named(host),
            pattern=choosing.compiled(pattern),
            states={LinkState(state)},
            reason=reason,
            unless=work.memory.rules.blocked,
        ),
    )


def _queue(work: Work, choice: Choice) -> int:
    """The chosen links are queued, or due for another visit, with no failure behind them or their hosts."""
    with choosing.chosen(work, choice) as found:
        lanes = work.rows(sql.chosen_by_lane())
        fetched = choosing.count_moved(work, None)
        for statement in (sql.forgive_hosts, sql.queue_chosen):
            work.run(statement())
        work.run(sql.visit_chosen(), now=work.now)
    work.moved(None, LinkState.WAITING, fetched)
    work.moved(None, LinkState.QUEUED, found - fetched)
    choosing.refresh(work, lanes)
    if found:
        scoring.rescore_revived(work)
    return found


def block(work: Work, pattern: str) -> int:
    """Refuse URLs from now on and skip the unfinished links that match; returns how many."""
    expression = choosing.compiled(pattern)
    work.run(sql.add_block(), pattern=pattern)
    work.memory.outdate()
    with choosing.chosen(work, Choice(pattern=expression, states=_UNFINISHED)) as found:
        lanes = work.rows(sql.chosen_by_lane())
        choosing.count_moved(work, LinkState.SKIPPED)
        choosing.free_hosts(work, lanes)
        work.run(sql.skip_chosen(), reason=_reason(pattern))
    choosing.refresh(work, lanes)
    return found


def unblock(work: Work, pattern: str) -> int:
    """Take a pattern back; what it skipped is queued again, unless another one holds it. Returns how many links.

    Pages that were fetched before wait for their next visit again, where it was laid down meanwhile that they have one.

    Raises:
        InvalidValue: no such pattern is blocked.
    """
    if not work.run(sql.drop_block(), pattern=pattern):
        known = ", ".join(row.pattern for row in work.rows(sql.read_blocks())) or "nothing"
        raise InvalidValue(f"pattern={pattern!r} is not blocked; blocked is {known}")
    work.memory.outdate()
    left: tuple[re.Pattern[str], ...] = tuple(
        blocked for blocked in work.memory.rules.blocked if blocked.pattern != pattern
    )
    # Any pattern's: what two patterns hold bears the name of the first, and waits for the second.
    skipped = _queue(work, Choice(states={LinkState.SKIPPED}, reason=_reason(""), unless=left))
    fetched = Choice(pattern=choosing.compiled(pattern), states={LinkState.DONE}, unless=left)
    return skipped + watching.follow(work, fetched)


def _reason(pattern: str) -> str:
    return f"blocked: {pattern}"
