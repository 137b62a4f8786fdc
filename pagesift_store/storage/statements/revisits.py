"""Statements about pages that are to be visited again."""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import Select, bindparam, func, literal_column, or_, select

from pagesift_store.storage.tables import LEASED, REVISIT, host, lane, link


@cache
def walk_again() -> Select[Any]:
    """The first due page of each lane whose host may be visited now, longest due first.

    Parameters `now`, `max_in_flight`, `default_delay`. Served by ix_lane_again: the cost is that of the lanes looked
    at, not of the pages behind them.
    """
    return (
        select(
            lane.c.id.label("lane_id"),
            lane.c.again_id,
            lane.c.again_due,
            lane.c.cluster_id,
            lane.c.subtree_id,
            lane.c.host_id,
            host.c.in_flight,
            func.coalesce(host.c.max_in_flight, bindparam("max_in_flight")).label("places"),
            func.coalesce(host.c.delay, host.c.crawl_delay, bindparam("default_delay")).label("delay"),
        )
        .join(host, host.c.id == lane.c.host_id)
        .where(
            lane.c.again_id.is_not(None),
            lane.c.again_due <= bindparam("now"),
            host.c.ready_at <= bindparam("now"),
            or_(host.c.blocked_until.is_(None), host.c.blocked_until <= bindparam("now")),
            host.c.in_flight < func.coalesce(host.c.max_in_flight, bindparam("max_in_flight")),
        )
        .order_by(lane.c.again_due, lane.c.again_id)
    )


@cache
def behind() -> Select[Any]:
    """The page of a lane that is to be visited first; parameter `the_lane`. Served by ix_link_again."""
    return (
        select(link.c.id, link.c.due_at)
        .where(REVISIT, link.c.lane_id == bindparam("the_lane"))
        .order_by(link.c.due_at, link.c.id)
        .limit(1)
    )


@cache
def next_again() -> Select[float]:
    """When the next page is to be visited again. Served by ix_lane_again."""
    return (
        select(lane.c.again_due)
        .where(lane.c.again_id.is_not(None))
        .order_by(lane.c.again_due, lane.c.again_id)
        .limit(1)
    )


@cache
def leased_by_subtree() -> Select[Any]:
    """Leases out for pages never fetched, by subtree. Served by ix_link_lease, which holds leased links only."""
    return (
        select(lane.c.subtree_id, func.count().label("links"))
        .select_from(link)
        .join(lane, lane.c.id == link.c.lane_id)
        .where(LEASED, link.c.lease_expires.is_not(None), link.c.visits == literal_column("0"))
        .group_by(lane.c.subtree_id)
    )
