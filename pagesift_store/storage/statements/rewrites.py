"""Statements about learned rewrite rules: their evidence, and the links that they reach."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import Insert, Select, Update, bindparam, delete, insert, literal_column, or_, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from pagesift_store.storage.tables import (
    LEASED,
    QUEUED,
    WAITING,
    lane,
    link,
    page,
    rewrite_pair,
    rewrite_rule,
)

if TYPE_CHECKING:
    from sqlalchemy.sql import Delete

SKIPPED = link.c.state == literal_column("'skipped'")


@cache
def rules_of_host() -> Select[Any]:
    """Every rule ever met on a host, oldest first; parameter `the_host`."""
    return (
        select(rewrite_rule).where(rewrite_rule.c.host == bindparam("the_host")).order_by(rewrite_rule.c.id)
    )


@cache
def add_rule() -> Insert:
    """A candidate; parameters `host`, `rule`."""
    return insert(rewrite_rule).values(host=bindparam("host"), rule=bindparam("rule"))


@cache
def save_rule() -> Update:
    """Write back a rule; parameters `the_id`, `confirmed`, `refuted`, `in_force`, `applied`."""
    names = ("confirmed", "refuted", "in_force", "applied")
    return (
        update(rewrite_rule)
        .where(rewrite_rule.c.id == bindparam("the_id"))
        .values({name: bindparam(name) for name in names})
    )


@cache
def drop_rule() -> Delete:
    """Forget a rule and its pairs; parameter `the_id`."""
    return delete(rewrite_rule).where(rewrite_rule.c.id == bindparam("the_id"))


@cache
def pairs_of() -> Select[int]:
    """Hashes of the texts that confirmed a rule; parameter `the_rule`."""
    return select(rewrite_pair.c.pair).where(rewrite_pair.c.rule_id == bindparam("the_rule"))


@cache
def add_pair() -> Insert:
    """A pair that confirms a rule, unless it is known; parameters `rule_id`, `pair`."""
    new = upsert(rewrite_pair).values(rule_id=bindparam("rule_id"), pair=bindparam("pair"))
    return new.on_conflict_do_nothing(index_elements=["rule_id", "pair"])


@cache
def same_texts() -> Select[Any]:
    """Fetch URLs of other links whose pages had a text; parameters `the_hash`, `the_link`, `most`.

    Served by ix_page_text.
    """
    return (
        select(link.c.id, link.c.url)
        .join(page, page.c.link_id == link.c.id)
        .where(page.c.text_hash == bindparam("the_hash"), page.c.link_id != bindparam("the_link"))
        .order_by(page.c.id)
        .limit(bindparam("most"))
    )


@cache
def template_mates() -> Select[Any]:
    """Fetch URLs and text hashes of the latest pages of a template.

    Parameters `the_template`, `the_link`, `most`. Served by ix_page_blank.
    """
    return (
        select(link.c.id, link.c.url, page.c.text_hash)
        .join(page, page.c.link_id == link.c.id)
        .where(
            page.c.template == bindparam("the_template"),
            page.c.blank_hash.is_not(None),
            page.c.link_id != bindparam("the_link"),
        )
        .order_by(page.c.id.desc())
        .limit(bindparam("most"))
    )


@cache
def text_of() -> Select[Any]:
    """Text hash of a link's last page; parameter `the_link`. Served by ix_page_link."""
    return (
        select(page.c.text_hash)
        .where(page.c.link_id == bindparam("the_link"), page.c.text_hash.is_not(None))
        .order_by(page.c.id.desc())
        .limit(1)
    )


@cache
def reached_links() -> Select[Any]:
    """Links of a host whose URL matches, neither skipped nor dead.

    Parameters `the_host` (id), `needle` (a LIKE pattern with backslash as its escape). Reads the host's lanes.
    """
    columns = ("id", "url", "key", "key_hash", "n", "state", "visits", "lane_id")
    return (
        select(*(link.c[name] for name in columns))
        .join(lane, lane.c.id == link.c.lane_id)
        .where(
            lane.c.host_id == bindparam("the_host"),
            or_(QUEUED, LEASED, WAITING, link.c.state == literal_column("'done'")),
            link.c.url.like(bindparam("needle"), escape="\\"),
        )
        .order_by(link.c.id)
    )


@cache
def skipped_links() -> Select[Any]:
    """Links of a host that a rule skipped; parameters `the_host` (id), `mine` (a LIKE pattern for their reason)."""
    return (
        select(link.c.id, link.c.lane_id)
        .join(lane, lane.c.id == link.c.lane_id)
        .where(
            lane.c.host_id == bindparam("the_host"),
            SKIPPED,
            link.c.reason.like(bindparam("mine"), escape="\\"),
        )
        .order_by(link.c.id)
    )


@cache
def set_key() -> Update:
    """Give a link another key; parameters `the_id`, `key`, `key_hash`, `n`."""
    return (
        update(link)
        .where(link.c.id == bindparam("the_id"))
        .values({name: bindparam(name) for name in ("key", "key_hash", "n")})
    )


@cache
def skip() -> Update:
    """A rule that was learned refuses a link; parameters `the_id`, `reason`."""
    return (
        update(link)
        .where(link.c.id == bindparam("the_id"))
        .values(state=literal_column("'skipped'"), reason=bindparam("reason"), due_at=None)
    )
