"""When a page that was fetched comes up again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pagesift_store.focus.revisit import next_interval
from pagesift_store.records import LinkState
from pagesift_store.storage.statements import links as links_sql
from pagesift_store.transactions import moves

if TYPE_CHECKING:
    from pagesift_store.transactions.work import Work


def interval(work: Work, before: Any, *, changed: bool) -> float | None:
    """Seconds to the next visit; None when pages are fetched once.

    Args:
        work: the transaction.
        before: the page's last row of history; None on a first visit.
        changed: whether this visit found another text.
    """
    settings = work.settings
    if not settings.revisit:
        return None
    previous = None if before is None else before.interval
    return next_interval(previous, changed, settings.revisit_min, settings.revisit_max)


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
    if row.state == LinkState.QUEUED:
        moves.refresh_heads(work, [row.lane_id])
    return state, due
