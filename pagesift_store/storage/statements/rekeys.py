"""Statements that move a store to other keys."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    BigInteger,
    Column,
    Insert,
    Integer,
    LargeBinary,
    MetaData,
    Select,
    Table,
    Text,
    Update,
    bindparam,
    delete,
    func,
    insert,
    literal_column,
    select,
    text,
    update,
)

from pagesift_store.storage.tables import crawl, lane, link, page, part

if TYPE_CHECKING:
    from sqlalchemy.sql import Delete

fresh = Table(
    "fresh_key",
    MetaData(),
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("key_hash", LargeBinary(16), nullable=False, index=True),
    Column("key", Text, nullable=True),
    Column("n", Integer, nullable=False, server_default=text("0")),
    prefixes=["TEMPORARY"],
)
"""The keys to be, while a rekey works; gone with its connection."""


@cache
def links_after() -> Select[Any]:
    """The next links in the order of their ids; parameters `after`, `most`."""
    return (
        select(link.c.id, link.c.url, link.c.state)
        .where(link.c.id > bindparam("after"))
        .order_by(link.c.id)
        .limit(bindparam("most"))
    )


@cache
def add_fresh() -> Insert:
    """A key to be; parameters `id`, `key_hash`, `key` (only where a learned rule makes it)."""
    return insert(fresh).values({name: bindparam(name) for name in ("id", "key_hash", "key")})


@cache
def shared() -> Select[Any]:
    """Hashes that several links would have, by the earliest of them."""
    return (
        select(fresh.c.key_hash, func.count().label("links"))
        .group_by(fresh.c.key_hash)
        .having(func.count() > 1)
        .order_by(func.min(fresh.c.id))
    )


@cache
def sharing() -> Select[Any]:
    """The links that would have one hash; parameter `the_hash`."""
    return (
        select(link)
        .join(fresh, fresh.c.id == link.c.id)
        .where(fresh.c.key_hash == bindparam("the_hash"))
        .order_by(link.c.id)
    )


@cache
def set_fresh_n() -> Update:
    """Tell apart two keys of one hash; parameters `the_id`, `n`."""
    return update(fresh).where(fresh.c.id == bindparam("the_id")).values(n=bindparam("n"))


@cache
def move_pages() -> Update:
    """The fetch history of one link joins another's; parameters `loser`, `winner`.

    No lease of the other brought it, so it must not look like the outcome of one.
    """
    return (
        update(page)
        .where(page.c.link_id == bindparam("loser"))
        .values(link_id=bindparam("winner"), attempt=literal_column("0"))
    )


@cache
def count_once() -> Update:
    """A link counts once: of its pages that count, all but the first no longer do; parameter `the_link`."""
    mine = page.alias()
    first = (
        select(func.min(mine.c.id))
        .where(mine.c.link_id == bindparam("the_link"), mine.c.counted == literal_column("true"))
        .scalar_subquery()
    )
    return (
        update(page)
        .where(
            page.c.link_id == bindparam("the_link"),
            page.c.counted == literal_column("true"),
            page.c.id > first,
        )
        .values(counted=False)
    )


@cache
def clear_own_duplicates() -> Update:
    """A page is no duplicate of its own link; parameter `the_link`."""
    return (
        update(page)
        .where(page.c.link_id == bindparam("the_link"), page.c.duplicate_of == page.c.link_id)
        .values(duplicate_of=None)
    )


@cache
def clear_own_alias() -> Update:
    """A link is no alias of itself; parameter `the_id`."""
    return (
        update(link)
        .where(link.c.id == bindparam("the_id"), link.c.alias_of == link.c.id)
        .values(alias_of=None)
    )


@cache
def set_parent() -> Update:
    """The page that a link was found on; parameters `the_id`, `parent_id`."""
    return update(link).where(link.c.id == bindparam("the_id")).values(parent_id=bindparam("parent_id"))


@cache
def counted_pages() -> Select[Any]:
    """Every page that counts, in the order in which they came, with its lane and parts."""
    return (
        select(page.c.relevance, page.c.hit, link.c.lane_id, lane.c.subtree_id, lane.c.cluster_id)
        .join(link, link.c.id == page.c.link_id)
        .join(lane, lane.c.id == link.c.lane_id)
        .where(page.c.counted == literal_column("true"))
        .order_by(page.c.id)
    )


@cache
def forget_harvest() -> Update:
    """No part has any."""
    return update(part).values(pages=0, hits=0)


@cache
def forget_yield() -> Update:
    """No lane has any."""
    return update(lane).values(pages=0, relevance=0.0, lift=0.0, head_rank=lane.c.head_score)


@cache
def set_harvest() -> Update:
    """What a part brought; parameters `the_part`, `pages`, `hits`."""
    return (
        update(part)
        .where(part.c.id == bindparam("the_part"))
        .values(pages=bindparam("pages"), hits=bindparam("hits"))
    )


@cache
def set_yield() -> Update:
    """What a lane's pages brought; parameters `the_lane`, `pages`, `relevance`, `lift`."""
    lifted: Any = bindparam("lift")
    return (
        update(lane)
        .where(lane.c.id == bindparam("the_lane"))
        .values(
            pages=bindparam("pages"),
            relevance=bindparam("relevance"),
            lift=lifted,
            head_rank=lane.c.head_score + lifted,
        )
    )


@cache
def move_duplicates() -> Update:
    """Pages that repeat one link's page repeat another's; parameters `loser`, `winner`."""
    return (
        update(page).where(page.c.duplicate_of == bindparam("loser")).values(duplicate_of=bindparam("winner"))
    )


@cache
def move_children() -> Update:
    """Links found on one link's page are found on another's; parameters `loser`, `winner`."""
    return update(link).where(link.c.parent_id == bindparam("loser")).values(parent_id=bindparam("winner"))


@cache
def move_aliases() -> Update:
    """Aliases of one link are another's; parameters `loser`, `winner`."""
    return update(link).where(link.c.alias_of == bindparam("loser")).values(alias_of=bindparam("winner"))


@cache
def drop_link() -> Delete:
    """Remove a link that another has taken in; parameter `the_id`."""
    return delete(link).where(link.c.id == bindparam("the_id"))


@cache
def set_aside_keys() -> Update:
    """Make room: between old and new keys no two rows may clash."""
    return update(link).values(n=-link.c.id)


@cache
def use_fresh() -> Update:
    """Every link has its new key: one UPDATE."""
    mine = fresh.c.id == link.c.id
    return update(link).values(
        key_hash=select(fresh.c.key_hash).where(mine).scalar_subquery(),
        key=select(fresh.c.key).where(mine).scalar_subquery(),
        n=select(fresh.c.n).where(mine).scalar_subquery(),
    )


@cache
def save_rules() -> Update:
    """Remember by which rules keys are made; parameters `key_rules`, `key_version`, `settings`."""
    return update(crawl).values({name: bindparam(name) for name in ("key_rules", "key_version", "settings")})
