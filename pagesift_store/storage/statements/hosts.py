"""Statements about hosts: resting, blocking, giving up."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import Float, Select, Update, bindparam, case, func, literal_column, select, update

from pagesift_store.storage.tables import host, lane, link

if TYPE_CHECKING:
    from pagesift_store.records import LinkState

SETTABLE = (
    "delay",
    "max_in_flight",
    "blocked_until",
    "robots_status",
    "robots_until",
    "robots_failures",
    "crawl_delay",
    "note",
)
"""Columns that an operator or a robots.txt may set."""


@cache
def rest() -> Update:
    """No lease of a host before a time, unless it rests for longer already; parameters `the_host`, `until`."""
    until = bindparam("until", type_=Float)
    return (
        update(host)
        .where(host.c.id == bindparam("the_host"))
        .values(ready_at=case((host.c.ready_at >= until, host.c.ready_at), else_=until))
    )


@cache
def note() -> Update:
    """What was clamped or ignored last; parameters `the_host`, `note`."""
    return update(host).where(host.c.id == bindparam("the_host")).values(note=bindparam("note"))


@cache
def count_failure() -> Update:
    """One more host-wide failure in a row; parameter `the_host`. Returns how many."""
    return (
        update(host)
        .where(host.c.id == bindparam("the_host"))
        .values(failures=host.c.failures + 1)
        .returning(host.c.failures)
    )


@cache
def count_robots_failure() -> Update:
    """Once more robots.txt could not be had; parameter `the_host`. Returns how often in a row."""
    return (
        update(host)
        .where(host.c.id == bindparam("the_host"))
        .values(robots_failures=host.c.robots_failures + 1)
        .returning(host.c.robots_failures)
    )


@cache
def robots_of() -> Select[Any]:
    """What a host's robots.txt came to, and how many others share the row; parameter `name`."""
    member = host.alias()
    members = select(func.count()).select_from(member).where(member.c.group_id == host.c.id).scalar_subquery()
    return select(host, members.label("members")).where(host.c.name == bindparam("name"))


@cache
def forgive() -> Update:
    """The host answered: its row of failures ends; parameter `the_host`."""
    return (
        update(host)
        .where(host.c.id == bindparam("the_host"), host.c.failures != literal_column("0"))
        .values(failures=literal_column("0"))
    )


@cache
def set_columns(names: tuple[str, ...]) -> Update:
    """Set some of `SETTABLE`; parameters `the_host` and the names."""
    return (
        update(host)
        .where(host.c.id == bindparam("the_host"))
        .values({name: bindparam(name) for name in names})
    )


@cache
def kill_links(state: LinkState) -> Update:
    """Links of a host in one state, never fetched, are dead: one UPDATE; parameters `the_host`, `reason`."""
    lanes = select(lane.c.id).where(lane.c.host_id == bindparam("the_host"))
    return (
        update(link)
        .where(
            link.c.state == literal_column(f"'{state.value}'"),
            link.c.visits == literal_column("0"),
            link.c.lane_id.in_(lanes),
        )
        .values(state=literal_column("'dead'"), reason=bindparam("reason"), due_at=None)
    )


@cache
def empty_lanes() -> Update:
    """A host has nothing queued; parameter `the_host`."""
    return (
        update(lane)
        .where(lane.c.host_id == bindparam("the_host"))
        .values(head_id=None, head_score=None, head_rank=None, head_demoted=None)
    )
