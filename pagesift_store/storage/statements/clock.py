"""Statements that pull back times which lie further ahead than any rule can have set.

Parameters: `now`; `moment`, the clock at the last change of the store, after `now`; `cap`, seconds that a rule may set
at most. What lay beyond the cap already when the clock stood at `moment` was set by a caller or an operator and stays.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Float,
    Select,
    Update,
    and_,
    bindparam,
    case,
    literal_column,
    or_,
    select,
    update,
)

from pagesift_store.storage.tables import LEASED, WAITING, host, lane, link

_NOW: Any = bindparam("now", type_=Float)
_MOMENT: Any = bindparam("moment", type_=Float)
_CAP: Any = bindparam("cap", type_=Float)


def _too_far(time: Any) -> ColumnElement[bool]:
    return and_(time > _NOW + _CAP, time <= _MOMENT + _CAP)


def _pulled(time: Any) -> ColumnElement[float]:
    """As far from now as it was from the last moment; now, where that had passed it."""
    return case((time > _MOMENT, _NOW + (time - _MOMENT)), else_=_NOW)


@cache
def pull_hosts() -> Update:
    """Hosts that rest; parameter `note` besides."""
    return (
        update(host)
        .where(_too_far(host.c.ready_at))
        .values(ready_at=_pulled(host.c.ready_at), note=bindparam("note"))
    )


@cache
def pull_robots() -> Update:
    """Outcomes of robots.txt that would hold for too long do not hold any more; parameters `now`, `cap`."""
    return update(host).where(host.c.robots_until > _NOW + _CAP).values(robots_until=_NOW)


@cache
def pull_leases() -> Update:
    """Leases that had not run out keep what was left of them; parameters `now`, `moment`. Served by ix_link_lease."""
    return (
        update(link)
        .where(LEASED, link.c.lease_expires > _MOMENT)
        .values(lease_expires=_NOW + (link.c.lease_expires - _MOMENT))
    )


@cache
def pulled_links() -> Select[Any]:
    """Lanes and hosts of the waiting links that `pull_links` will move. Reads all links: it is rare."""
    return (
        select(link.c.lane_id, lane.c.host_id)
        .join(lane, lane.c.id == link.c.lane_id)
        .where(WAITING, _links_too_far())
        .distinct()
    )


@cache
def pull_links() -> Update:
    """Waiting links."""
    return update(link).where(WAITING, _links_too_far()).values(due_at=_pulled(link.c.due_at))


def _links_too_far() -> ColumnElement[bool]:
    """An interval that was set for the link itself may be longer than the store's rule allows."""
    own = and_(
        link.c.revisit > _CAP,
        link.c.due_at > _NOW + link.c.revisit,
        link.c.due_at <= _MOMENT + link.c.revisit,
    )
    by_rule = or_(link.c.revisit.is_(None), link.c.revisit <= literal_column("0"), link.c.revisit <= _CAP)
    return or_(own, and_(by_rule, _too_far(link.c.due_at)))
