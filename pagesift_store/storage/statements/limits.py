"""Statements that take lanes out of the walk while a limit on pages holds, and bring them back."""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import Select, Update, bindparam, exists, or_, select, update

from pagesift_store.storage.tables import host, lane, part


@cache
def shut_host() -> Update:
    """Shut the lanes of a host that has `most` pages or more; parameters `the_host`, `most`."""
    is_full = exists().where(host.c.id == bindparam("the_host"), host.c.pages >= bindparam("most"))
    return update(lane).where(lane.c.host_id == bindparam("the_host"), is_full).values(shut=True)


@cache
def shut_part() -> Update:
    """Shut the lanes of a subtree that has `most` pages or more; parameters `the_part`, `most`.

    Served by ix_lane_subtree_id.
    """
    is_full = exists().where(part.c.id == bindparam("the_part"), part.c.fetched >= bindparam("most"))
    return update(lane).where(lane.c.subtree_id == bindparam("the_part"), is_full).values(shut=True)


def _is_full() -> Any:
    return or_(
        exists().where(host.c.id == lane.c.host_id, host.c.pages >= bindparam("most_of_host")),
        exists().where(part.c.id == lane.c.subtree_id, part.c.fetched >= bindparam("most_of_part")),
    )


@cache
def settle_lane() -> Update:
    """Shut or open one lane; parameters `the_lane`, `most_of_host`, `most_of_part`."""
    return update(lane).where(lane.c.id == bindparam("the_lane")).values(shut=_is_full())


@cache
def settle_lanes() -> Update:
    """Shut or open every lane, where that is news; parameters `most_of_host`, `most_of_part`."""
    full = _is_full()
    return update(lane).where(lane.c.shut != full).values(shut=full)


@cache
def unsettled_lanes() -> Select[Any]:
    """The lanes that `settle_lanes` would change; the same parameters."""
    return select(lane.c.id, lane.c.shut).where(lane.c.shut != _is_full()).order_by(lane.c.id)
