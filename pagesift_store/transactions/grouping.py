"""Hosts that share one delay because the caller says so: many names, one machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pagesift_store.errors import InvalidValue
from pagesift_store.storage.statements import groups as sql
from pagesift_store.storage.statements import hosts as hosts_sql
from pagesift_store.transactions import limits
from pagesift_store.transactions.places import host_of, own_row
from pagesift_store.transactions.texts import clean

if TYPE_CHECKING:
    from pagesift_store.transactions.work import Work


def regroup(work: Work, name: str, group: str | None) -> int:
    """A host's links, those to come included, queue with a group's from now on, or by themselves again.

    Args:
        work: the transaction.
        name: of the host, as it stands in the store.
        group: any name; that of another host joins that one. None: by itself.

    Returns:
        Hosts changed.

    Raises:
        InvalidValue: an empty name, or the host's own.
    """
    if group is not None and (not isinstance(group, str) or not group.strip() or group == name):
        raise InvalidValue(f"group={group!r} must be a name other than the host's own, {name!r}")
    host = own_row(work, name)
    before = host.id if host.group_id is None else host.group_id
    after = host.id if group is None else host_of(work, clean(group)).id
    if before == after:
        return 0
    lanes = work.rows(sql.lanes_of(), the_host=before)
    if before != host.id:
        lanes = [lane for lane in lanes if _is_of(work, lane, name)]
    if group is not None:
        work.run(sql.join_members(), the_host=host.id, the_group=after)
    work.run(sql.join(), the_host=host.id, the_group=None if group is None else after)
    work.run_many(sql.move_lane(), [{"the_lane": lane.id, "the_host": after} for lane in lanes])
    _settle(work, before, after)
    return 1


def _is_of(work: Work, lane: Any, name: str) -> bool:
    """Whether the links of a lane are a host's: its cluster begins with their host."""
    return work.memory.politeness_name(lane.key.partition("/")[0]) == name


def _settle(work: Work, before: int, after: int) -> None:
    """Both rows count their own links, and the one that took lanes rests as long as the other had to."""
    rest = work.first(sql.ready_at(), the_host=before).ready_at
    work.run(hosts_sql.rest(), the_host=after, until=rest)
    for host in (before, after):
        work.run(sql.recount(), the_host=host)
    limits.settle(work)
    work.memory.outdate()
