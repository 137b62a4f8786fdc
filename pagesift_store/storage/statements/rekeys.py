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
    select,
    update,
)

from pagesift_store.storage.tables import crawl, link, page

if TYPE_CHECKING:
    from sqlalchemy.sql import Delete

fresh = Table(
    "fresh_key",
    MetaData(),
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("key_hash", LargeBinary(16), nullable=False, index=True),
    Column("key", Text, nullable=True),
    prefixes=["TEMPORARY"],
)
"""The keys to be, while a rekey works; gone with its connection."""


@cache
def links_after() -> Select[Any]:
    """The next links in the order of their ids; parameters `after`, `most`."""
    return (
        select(link.c.id, link.c.url)
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
def move_pages() -> Update:
    """The fetch history of one link joins another's; parameters `loser`, `winner`."""
    return update(page).where(page.c.link_id == bindparam("loser")).values(link_id=bindparam("winner"))


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
        n=0,
    )


@cache
def set_n() -> Update:
    """Tell apart two keys of one hash; parameters `the_id`, `n`."""
    return update(link).where(link.c.id == bindparam("the_id")).values(n=bindparam("n"))


@cache
def save_rules() -> Update:
    """Remember by which rules keys are made; parameters `key_rules`, `key_version`, `settings`."""
    return update(crawl).values({name: bindparam(name) for name in ("key_rules", "key_version", "settings")})
