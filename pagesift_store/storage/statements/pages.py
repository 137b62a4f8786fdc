"""Statements about fetched pages: history, repeats, templates, passages."""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import Insert, Select, bindparam, insert, literal_column, select
from sqlalchemy.dialects.sqlite import insert as upsert

from pagesift_store.storage.tables import page, passage, rewrite_rule, template


@cache
def add_page(names: tuple[str, ...]) -> Insert:
    """One more outcome, of which only some columns are told; parameters `names`."""
    return insert(page).values({name: bindparam(name) for name in names})


@cache
def last_outcome() -> Select[Any]:
    """What was reported of a link under one attempt; parameters `the_link`, `the_attempt`. Served by ix_page_link."""
    return (
        select(page)
        .where(page.c.link_id == bindparam("the_link"), page.c.attempt == bindparam("the_attempt"))
        .order_by(page.c.id.desc())
        .limit(1)
    )


@cache
def last_page() -> Select[Any]:
    """The last page of a link, failures left out; parameter `the_link`. Served by ix_page_link."""
    return (
        select(page)
        .where(page.c.link_id == bindparam("the_link"), page.c.error.is_(None))
        .order_by(page.c.id.desc())
        .limit(1)
    )


@cache
def same_text() -> Select[int]:
    """Another link whose page had this text first; parameters `the_hash`, `the_link`. Served by ix_page_text."""
    return (
        select(page.c.link_id)
        .where(page.c.text_hash == bindparam("the_hash"), page.c.link_id != bindparam("the_link"))
        .order_by(page.c.id)
        .limit(1)
    )


@cache
def same_blank() -> Select[int]:
    """Another link of a template whose page had this text but for digits.

    Parameters `the_template`, `the_hash`, `the_link`. Served by ix_page_blank.
    """
    return (
        select(page.c.link_id)
        .where(
            page.c.template == bindparam("the_template"),
            page.c.blank_hash == bindparam("the_hash"),
            page.c.link_id != bindparam("the_link"),
        )
        .limit(1)
    )


@cache
def count_template() -> Insert:
    """One more page of a template; parameters `hash`, `text`, `fetched`, `repeated`."""
    new = upsert(template).values({name: bindparam(name) for name in ("hash", "text", "fetched", "repeated")})
    return new.on_conflict_do_update(
        index_elements=["hash"],
        set_={
            "fetched": template.c.fetched + new.excluded.fetched,
            "repeated": template.c.repeated + new.excluded.repeated,
        },
    )


@cache
def counted_template() -> Insert:
    """As `count_template`; returns its counts, for which SQLite makes a table of its own."""
    return count_template().returning(template.c.fetched, template.c.repeated)


@cache
def set_demoted() -> Any:
    """Mark a template; parameters `the_template`, `is_demoted`."""
    return (
        template.update()
        .where(template.c.hash == bindparam("the_template"))
        .values(demoted=bindparam("is_demoted"))
    )


@cache
def demoted_templates() -> Select[int]:
    """Hashes of the templates whose links come last."""
    return select(template.c.hash).where(template.c.demoted == literal_column("true"))


HASHES = tuple(f"hash_{i}" for i in range(64))
"""Names of the parameters of `known_passages`."""


@cache
def known_passages(size: int) -> Select[int]:
    """Which of `size` passages were seen before; parameters `HASHES`."""
    return select(passage.c.hash).where(passage.c.hash.in_([bindparam(name) for name in HASHES[:size]]))


@cache
def add_passages() -> Insert:
    """Passages seen now; parameter `hash`."""
    return upsert(passage).values(hash=bindparam("hash")).on_conflict_do_nothing(index_elements=["hash"])


@cache
def rules_in_force() -> Select[str, str]:
    """Host and text of every rewrite rule in force, oldest first."""
    return (
        select(rewrite_rule.c.host, rewrite_rule.c.rule)
        .where(rewrite_rule.c.in_force == literal_column("true"))
        .order_by(rewrite_rule.c.id)
    )
