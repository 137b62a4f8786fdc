"""Statements of an operator's acts on many links at once: chosen first, then changed or deleted as one set."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    BigInteger,
    Column,
    Insert,
    Integer,
    MetaData,
    Select,
    Table,
    Update,
    bindparam,
    case,
    delete,
    func,
    insert,
    literal_column,
    select,
    update,
)
from sqlalchemy.dialects.sqlite import insert as upsert

from pagesift_store.storage.tables import LEASED, block, host, lane, link, page, part, rewrite_rule, template

if TYPE_CHECKING:
    from sqlalchemy.sql import Delete

chosen = Table(
    "chosen_link",
    MetaData(),
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    prefixes=["TEMPORARY"],
)
"""The links that an act is about; gone with its transaction."""

_CHOSEN = select(chosen.c.id)
_ZERO: Any = literal_column("0")
_ONE: Any = literal_column("1")


@cache
def links_after() -> Select[Any]:
    """The next links in the order of their ids; parameters `after`, `most`."""
    return (
        select(link.c.id, link.c.url, link.c.state, link.c.reason)
        .where(link.c.id > bindparam("after"))
        .order_by(link.c.id)
        .limit(bindparam("most"))
    )


@cache
def add_chosen() -> Insert:
    """One link is chosen; parameter `id`."""
    return insert(chosen).values(id=bindparam("id"))


@cache
def add_aliases() -> Insert:
    """What leads to a chosen link is chosen, too; found by ix_link_alias."""
    found = select(link.c.id).where(link.c.alias_of.in_(_CHOSEN))
    return upsert(chosen).from_select(["id"], found.where(link.c.id.not_in(_CHOSEN)))


@cache
def chosen_by_state() -> Select[Any]:
    """How many links are chosen, by state, and how many of these were fetched."""
    return (
        select(
            link.c.state,
            func.count().label("links"),
            func.sum(_one_if(link.c.visits > _ZERO)).label("fetched"),
        )
        .join(chosen, chosen.c.id == link.c.id)
        .group_by(link.c.state)
    )


@cache
def chosen_by_lane() -> Select[Any]:
    """The lanes of the chosen links, how many of these were fetched, and how many are leased."""
    return (
        select(
            lane.c.id,
            lane.c.host_id,
            lane.c.subtree_id,
            func.sum(_one_if(link.c.visits > _ZERO)).label("fetched"),
            func.sum(_one_if(LEASED)).label("leased"),
        )
        .select_from(chosen)
        .join(link, link.c.id == chosen.c.id)
        .join(lane, lane.c.id == link.c.lane_id)
        .group_by(lane.c.id)
        .order_by(lane.c.id)
    )


def _one_if(condition: Any) -> Any:
    return case((condition, _ONE), else_=_ZERO)


@cache
def queue_chosen() -> Update:
    """Those that were never fetched are queued, with no failure behind them."""
    return (
        update(link)
        .where(link.c.id.in_(_CHOSEN), link.c.visits == _ZERO)
        .values(state=literal_column("'queued'"), reason=None, failures=_ZERO, due_at=None)
    )


@cache
def visit_chosen() -> Update:
    """Those that were fetched are due for another visit; parameter `now`."""
    return (
        update(link)
        .where(link.c.id.in_(_CHOSEN), link.c.visits > _ZERO)
        .values(state=literal_column("'waiting'"), reason=None, failures=_ZERO, due_at=bindparam("now"))
    )


@cache
def skip_chosen() -> Update:
    """They are skipped, and leases of them are lost; parameter `reason`."""
    return (
        update(link)
        .where(link.c.id.in_(_CHOSEN))
        .values(
            state=literal_column("'skipped'"),
            reason=bindparam("reason"),
            attempt=link.c.attempt + _one_if(LEASED),
            due_at=None,
            owner_id=None,
            lease_expires=None,
        )
    )


@cache
def forgive_hosts() -> Update:
    """The hosts of the chosen links have no failure behind them."""
    lanes = select(link.c.lane_id).where(link.c.id.in_(_CHOSEN))
    hosts = select(lane.c.host_id).where(lane.c.id.in_(lanes))
    return update(host).where(host.c.id.in_(hosts), host.c.failures != _ZERO).values(failures=_ZERO)


@cache
def delete_chosen() -> Delete:
    """They are gone, with their pages; what they led to stays, without a parent."""
    return delete(link).where(link.c.id.in_(_CHOSEN))


@cache
def clear_duplicates() -> Update:
    """Pages that repeat a chosen link's page repeat nothing that is known."""
    return update(page).where(page.c.duplicate_of.in_(_CHOSEN)).values(duplicate_of=None)


@cache
def empty_lanes() -> Select[Any]:
    """Lanes that no link is in. Reads all links: it is rare."""
    return select(lane.c.id, lane.c.host_id).where(lane.c.id.not_in(select(link.c.lane_id)))


@cache
def delete_lane() -> Delete:
    """A lane is gone; parameter `the_lane`."""
    return delete(lane).where(lane.c.id == bindparam("the_lane"))


@cache
def empty_parts() -> Select[Any]:
    """Parts that no lane counts for, with the leases that were given of them."""
    used = select(lane.c.subtree_id).union_all(select(lane.c.cluster_id))
    return select(part.c.id, part.c.scheduled).where(part.c.id.not_in(used))


@cache
def delete_part() -> Delete:
    """A part is gone; parameter `the_part`."""
    return delete(part).where(part.c.id == bindparam("the_part"))


@cache
def lower_host() -> Update:
    """A host has fewer pages, leases and lanes; parameters `the_host`, `fetched`, `leased`, `lanes`."""
    return (
        update(host)
        .where(host.c.id == bindparam("the_host"))
        .values(
            pages=host.c.pages - bindparam("fetched"),
            in_flight=host.c.in_flight - bindparam("leased"),
            lanes=host.c.lanes - bindparam("lanes"),
        )
    )


@cache
def forget_host() -> Update:
    """What a host showed is forgotten, not how it is to be treated; parameter `the_host`."""
    return update(host).where(host.c.id == bindparam("the_host")).values(languages="", failures=_ZERO)


@cache
def forget_rules() -> Delete:
    """Rewrite rules of a host; parameter `name`."""
    return delete(rewrite_rule).where(rewrite_rule.c.host == bindparam("name"))


@cache
def forget_templates() -> Delete:
    """Templates of a host, whose text begins with its name and a slash; parameters `first`, `beyond`."""
    return delete(template).where(
        template.c.text >= bindparam("first"), template.c.text < bindparam("beyond")
    )


@cache
def read_blocks() -> Select[str]:
    """The patterns of URLs that are refused, oldest first."""
    return select(block.c.pattern).order_by(block.c.id)


@cache
def add_block() -> Insert:
    """A pattern, unless it is there; parameter `pattern`."""
    new = upsert(block).values(pattern=bindparam("pattern"))
    return new.on_conflict_do_nothing(index_elements=["pattern"])


@cache
def drop_block() -> Delete:
    """A pattern is gone; parameter `pattern`."""
    return delete(block).where(block.c.pattern == bindparam("pattern"))
