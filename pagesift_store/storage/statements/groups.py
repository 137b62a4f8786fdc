"""Statements about hosts that share one delay."""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import Select, Update, bindparam, func, literal_column, select, update

from pagesift_store.storage.tables import LEASED, host, lane, link, part


@cache
def join() -> Update:
    """A host queues with another, or by itself; parameters `the_host`, `the_group` (None: by itself)."""
    return update(host).where(host.c.id == bindparam("the_host")).values(group_id=bindparam("the_group"))


@cache
def join_members() -> Update:
    """What queued with a host queues with another; parameters `the_host`, `the_group`."""
    return (
        update(host).where(host.c.group_id == bindparam("the_host")).values(group_id=bindparam("the_group"))
    )


@cache
def lanes_of() -> Select[Any]:
    """Lanes of a host with the keys of their clusters; parameter `the_host`."""
    return (
        select(lane.c.id, part.c.key)
        .join(part, part.c.id == lane.c.cluster_id)
        .where(lane.c.host_id == bindparam("the_host"))
        .order_by(lane.c.id)
    )


@cache
def move_lane() -> Update:
    """A lane is another host's; parameters `the_lane`, `the_host`."""
    return update(lane).where(lane.c.id == bindparam("the_lane")).values(host_id=bindparam("the_host"))


@cache
def ready_at() -> Select[Any]:
    """When a host is ready; parameter `the_host`."""
    return select(host.c.ready_at).where(host.c.id == bindparam("the_host"))


@cache
def recount() -> Update:
    """A host counts its lanes, pages and leases anew; parameter `the_host`. Reads all links: it is rare."""
    mine = lane.c.host_id == bindparam("the_host")
    links = select(func.count()).select_from(link).join(lane, lane.c.id == link.c.lane_id).where(mine)
    return (
        update(host)
        .where(host.c.id == bindparam("the_host"))
        .values(
            lanes=select(func.count()).select_from(lane).where(mine).scalar_subquery(),
            pages=links.where(link.c.visits > literal_column("0")).scalar_subquery(),
            in_flight=links.where(LEASED).scalar_subquery(),
        )
    )
