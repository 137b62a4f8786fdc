"""Statements that begin, move and end the visits of pages that were fetched, among the chosen links of an act."""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import Float, Update, bindparam, case, func, literal_column, select, update

from pagesift_store.storage.statements.acts import chosen
from pagesift_store.storage.tables import REVISIT, link, page

_CHOSEN = link.c.id.in_(select(chosen.c.id))
_ZERO: Any = literal_column("0")


def _watched() -> Any:
    """Whether a link is to be visited again; parameter `watched`: what the store's rule says, 1 or 0."""
    return func.coalesce(link.c.revisit, bindparam("watched")) > _ZERO


def _last_visit() -> Any:
    """When a link was fetched last. Served by ix_page_link."""
    return (
        select(func.max(page.c.fetched_at))
        .where(page.c.link_id == link.c.id, page.c.error.is_(None))
        .correlate(link)
        .scalar_subquery()
    )


def _not_before(moment: Any) -> Any:
    now = bindparam("now", type_=Float)
    return case((moment > now, moment), else_=now)


@cache
def set_revisit() -> Update:
    """Chosen links have an interval of their own; parameter `revisit` (seconds, 0: never, None: the store's rule)."""
    return update(link).where(_CHOSEN).values(revisit=bindparam("revisit"))


@cache
def end() -> Update:
    """Pages that are no longer watched are done; parameter `watched`."""
    return (
        update(link)
        .where(_CHOSEN, REVISIT, ~_watched())
        .values(state=literal_column("'done'"), reason=None, due_at=None)
    )


@cache
def begin() -> Update:
    """Pages that were done for good wait for their next visit; parameters `watched`, `now`, `first` (seconds).

    Those that other URLs lead to alone: an alias is visited through its link.
    """
    due = _last_visit() + func.coalesce(link.c.revisit, bindparam("first", type_=Float))
    return (
        update(link)
        .where(
            _CHOSEN,
            link.c.state == literal_column("'done'"),
            link.c.visits > _ZERO,
            link.c.alias_of.is_(None),
            _watched(),
        )
        .values(state=literal_column("'waiting'"), due_at=_not_before(due))
    )


@cache
def move_due() -> Update:
    """Pages that wait and have an interval of their own are due by it; parameter `now`."""
    return (
        update(link)
        .where(_CHOSEN, REVISIT, link.c.failures == _ZERO, link.c.revisit > _ZERO)
        .values(due_at=_not_before(_last_visit() + link.c.revisit))
    )
