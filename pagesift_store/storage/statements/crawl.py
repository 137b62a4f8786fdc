"""Statements about the crawl as a whole: its one row, its terms, its model."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import Insert, Select, Update, bindparam, delete, func, insert, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from pagesift_store.storage.tables import crawl, owner, pair, posterior, refusal, scope, term

if TYPE_CHECKING:
    from sqlalchemy.sql import Delete

COUNTERS = (
    "links",
    "queued",
    "leased",
    "waiting",
    "done",
    "dead",
    "skipped",
    "fetched",
    "pages",
    "hits",
    "relevant",
    "relevance",
    "texts",
    "words",
    "leases",
    "revisits",
    "rescores",
    "rescored",
    "rules",
    "stop_state",
    "stop_reason",
    "stop_detail",
    "stop_at",
    "moment",
)
"""The columns of the crawl's row that change while it goes on."""


@cache
def read_crawl() -> Select[Any]:
    """The crawl's row, whole."""
    return select(crawl)


@cache
def save_counters() -> Update:
    """Write back the counters; parameters: `COUNTERS`."""
    return update(crawl).values({name: bindparam(name) for name in COUNTERS})


@cache
def save_settings() -> Update:
    """Replace the stored settings; parameter `settings`: JSON."""
    return update(crawl).values(settings=bindparam("settings"))


@cache
def read_terms() -> Select[Any]:
    """The query's terms with their statistics, in bit order."""
    return select(term).order_by(term.c.bit)


@cache
def save_terms() -> Update:
    """Write back a term's statistics; parameters `the_bit` and the columns that change."""
    names = ("df", "occurrences", "passages", "evidence_pages", "weight")
    return (
        update(term)
        .where(term.c.bit == bindparam("the_bit"))
        .values({name: bindparam(name) for name in names})
    )


@cache
def read_pairs() -> Select[Any]:
    """Counts of neighbouring terms, in bit order."""
    return select(pair).order_by(pair.c.bit)


@cache
def save_pairs() -> Update:
    """Write back a pair's counts; parameters `the_bit`, `df`, `occurrences`."""
    return (
        update(pair)
        .where(pair.c.bit == bindparam("the_bit"))
        .values(df=bindparam("df"), occurrences=bindparam("occurrences"))
    )


@cache
def read_posterior() -> Select[Any]:
    """The link model, features in their order, the intercept last."""
    return select(posterior).order_by(posterior.c.position)


@cache
def save_posterior() -> Update:
    """Write back one coordinate; parameters `the_position`, `mean`, `precision`, `weight`."""
    names = ("mean", "precision", "weight")
    return (
        update(posterior)
        .where(posterior.c.position == bindparam("the_position"))
        .values({name: bindparam(name) for name in names})
    )


@cache
def read_scope() -> Select[str, str]:
    """Host and prefix of every entry of the scope, oldest first."""
    return select(scope.c.host, scope.c.prefix).order_by(scope.c.id)


@cache
def add_scope() -> Insert:
    """Add an entry unless it is there; parameters `host`, `prefix`."""
    new = upsert(scope).values(host=bindparam("host"), prefix=bindparam("prefix"))
    return new.on_conflict_do_nothing(index_elements=["host", "prefix"])


@cache
def count_refusal() -> Insert:
    """Count refused URLs; parameters `reason`, `refused`, `example` (the first one is kept)."""
    new = upsert(refusal).values({name: bindparam(name) for name in ("reason", "refused", "example")})
    return new.on_conflict_do_update(
        index_elements=["reason"], set_={"refused": refusal.c.refused + new.excluded.refused}
    )


@cache
def read_refusals() -> Select[Any]:
    """Refused URLs by reason."""
    return select(refusal).order_by(refusal.c.reason)


@cache
def add_owner() -> Insert:
    """A new owner of leases; parameters are the columns of `owner` but its id."""
    return insert(owner).values(
        {column.name: bindparam(column.name) for column in owner.c if column.name != "id"}
    )


@cache
def find_owner() -> Select[int]:
    """The id of a named owner; parameter `name`."""
    return select(func.min(owner.c.id)).where(owner.c.name == bindparam("name"))


@cache
def read_owners() -> Select[Any]:
    """All owners of leases."""
    return select(owner).order_by(owner.c.id)


@cache
def drop_owner() -> Delete:
    """Forget an owner that is a process; parameter `the_id`."""
    return delete(owner).where(owner.c.id == bindparam("the_id"), owner.c.name.is_(None))
