"""When a page that was fetched comes up again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pagesift_store.focus.revisit import next_interval
from pagesift_store.records import LinkState
from pagesift_store.storage.statements import links as links_sql
from pagesift_store.transactions import moves

if TYPE_CHECKING:
    from pagesift_store.transactions.work import Work


def interval(work: Work, row: Any, before: Any, *, changed: bool) -> float | None:
    """Seconds to the next visit; None when there shall be none.

    Args:
        work: the transaction.
        row: the link. What the caller set for it stands before the store's rule.
        before: the page's last row of history; None on a first visit.
        changed: whether this visit found another text.
    """
    if row.revisit is not None:
        return row.revisit or None
    settings = work.settings
    if not settings.revisit:
        return None
    previous = None if before is None else before.interval
    return next_interval(previous, changed, settings.revisit_min, settings.revisit_max)


def is_watched(work: Work, row: Any) -> bool:
    """Whether a link is one that was fetched before and is to be visited again."""
    return row.visits > 0 and (work.settings.revisit if row.revisit is None else row.revisit > 0)


def settle(work: Work, row: Any, after: float | None) -> tuple[LinkState, float | None]:
    """Write the state of a link whose page was observed: done, or waiting for its next visit."""
    state = LinkState.DONE if after is None else LinkState.WAITING
    due = None if after is None else work.now + after
    work.run(
        links_sql.finish(),
        the_id=row.id,
        state=state.value,
        reason=None,
        due_at=due,
        visits=row.visits + 1,
        failures=0,
        failures_total=row.failures_total,
    )
    work.moved(None, state)
    if LinkState.WAITING in (row.state, state) or row.state == LinkState.QUEUED:
        moves.refresh_heads(work, [row.lane_id])
    return state, due
