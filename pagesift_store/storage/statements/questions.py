"""Statements that people's questions run; none of them changes anything. `most`: rows, None for all."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import Select, Table, bindparam, case, func, literal_column, select, tuple_

from pagesift_store.storage.tables import (
    LEASED,
    QUEUED,
    block,
    host,
    lane,
    link,
    owner,
    page,
    part,
    rewrite_rule,
    template,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Column

_ENTITY = link.c.url.like("%&amp;%")


@cache
def count_hosts() -> Select[int]:
    """How many hosts are known."""
    return select(func.count()).select_from(host)


def page_of(
    table: Table, columns: Sequence[Any], key: Sequence[Any], after: tuple[Any, ...] | None, most: int
) -> Select[Any]:
    """The next rows of a table in the order of its primary key."""
    statement = select(*columns).order_by(*key).limit(most)
    if after is None:
        return statement
    return statement.where(key[0] > after[0] if len(key) == 1 else tuple_(*key) > after)


ORDER = (link.c.demoted, link.c.score.desc(), link.c.id)
"""Which queued link comes first, hosts' rest and the rules of DESIGN 6 left aside."""


def queued() -> Select[Any]:
    """Queued links, in no order."""
    subtree = part.alias("subtree")
    return (
        select(
            link.c.id,
            link.c.score,
            link.c.url,
            host.c.name.label("host"),
            subtree.c.key.label("subtree"),
            link.c.depth,
            link.c.demoted,
            host.c.ready_at,
        )
        .join(lane, lane.c.id == link.c.lane_id)
        .join(host, host.c.id == lane.c.host_id)
        .join(subtree, subtree.c.id == lane.c.subtree_id)
        .where(QUEUED)
    )


@cache
def best_queued() -> Select[Any]:
    """The best of the queue in its order; parameter `most`. Served by ix_link_queue.

    They stand among the first so many of the lanes with the best so many heads: other links are not looked at.
    """
    of_lane = link.alias("of_lane")
    lanes = (
        select(lane.c.id)
        .where(lane.c.head_id.is_not(None))
        .order_by(lane.c.head_demoted, lane.c.head_score.desc(), lane.c.head_id)
        .limit(bindparam("most"))
        .subquery("best_lanes")
    )
    first = (
        select(of_lane.c.id)
        .where(of_lane.c.state == literal_column("'queued'"), of_lane.c.lane_id == lanes.c.id)
        .order_by(of_lane.c.demoted, of_lane.c.score.desc(), of_lane.c.id)
        .limit(bindparam("most"))
        .correlate(lanes)
    )
    return queued().join(lanes, link.c.id.in_(first)).order_by(*ORDER).limit(bindparam("most"))


@cache
def queue_order() -> Select[Any]:
    """Ids of all queued links in the order of the queue: a scan and a sort."""
    # By its index SQLite would look up each row, for the state, in the order of the lanes; an expression hides that.
    return select(link.c.id).where(link.c.state.concat("") == "queued").order_by(*ORDER)


def of_keys(rows: Select[Any], key: Column[int], keys: Sequence[int]) -> Select[Any]:
    """The rows of a listing that have one of these keys, in no order; the key is the column `KEY`."""
    return rows.add_columns(key.label(KEY)).where(key.in_(keys)).order_by(None).limit(None)


KEY = "listed_key"
"""Column of `of_keys`."""


def parts(most: int | None) -> Select[Any]:
    """Parts by kind and pages."""
    return (
        select(part.c.kind, part.c.key, part.c.pages, part.c.hits, part.c.scheduled)
        .order_by(part.c.pages.desc(), part.c.id)
        .limit(most)
    )


def hosts(most: int | None) -> Select[Any]:
    """Hosts by pages."""
    return select(host).order_by(host.c.pages.desc(), host.c.id).limit(most)


def blocks(most: int | None) -> Select[Any]:
    """Patterns of URLs that are refused, oldest first."""
    return select(block.c.pattern).order_by(block.c.id).limit(most)


def leased(most: int | None) -> Select[Any]:
    """Leased links with their owners."""
    return (
        select(
            link.c.id,
            link.c.url,
            link.c.attempt,
            owner.c.name.label("owner"),
            owner.c.pid,
            link.c.lease_expires.label("expires"),
        )
        .join(owner, owner.c.id == link.c.owner_id, isouter=True)
        .where(LEASED)
        .order_by(link.c.lease_expires, link.c.id)
        .limit(most)
    )


def latest_pages(most: int | None) -> Select[Any]:
    """The fetch history, latest first."""
    return (
        select(
            page.c.link_id,
            link.c.url,
            page.c.fetched_at,
            page.c.status,
            page.c.relevance,
            page.c.hit,
            page.c.duplicate_of,
            page.c.templated,
            page.c.title,
            page.c.error,
        )
        .join(link, link.c.id == page.c.link_id)
        .order_by(page.c.id.desc())
        .limit(most)
    )


def templates(most: int | None) -> Select[Any]:
    """Templates by repeated pages."""
    return (
        select(template.c.text, template.c.fetched, template.c.repeated, template.c.demoted)
        .order_by(template.c.repeated.desc(), template.c.text)
        .limit(most)
    )


@cache
def demoted_templates() -> Select[Any]:
    """Templates whose links come last."""
    return select(template.c.hash, template.c.text, template.c.fetched, template.c.repeated).where(
        template.c.demoted == literal_column("true")
    )


@cache
def demoted_links() -> Select[Any]:
    """Queued links that come last, by template, and those found on repeats by host. Served by ix_link_queue.

    Lane by lane, so that no other link is looked at.
    """
    lanes = select(lane.c.id).where(lane.c.head_id.is_not(None))
    repeats_of = case((link.c.on_repeats, host.c.name))
    return (
        select(link.c.template, repeats_of.label("repeats_of"), func.count().label("links"))
        .join(lane, lane.c.id == link.c.lane_id)
        .join(host, host.c.id == lane.c.host_id)
        .where(QUEUED, link.c.lane_id.in_(lanes), link.c.demoted == literal_column("true"))
        .group_by(link.c.template, repeats_of)
    )


@cache
def rules_in_force() -> Select[Any]:
    """Learned rewrite rules at work, with their evidence."""
    columns = (rewrite_rule.c[name] for name in ("host", "rule", "confirmed", "applied"))
    return select(*columns).where(rewrite_rule.c.in_force == literal_column("true"))


@cache
def undecoded_entities() -> Select[Any]:
    """How many links hold an entity that should have been decoded, and the longest of them. Reads all links."""
    longest = select(link.c.url).where(_ENTITY).order_by(func.length(link.c.url).desc(), link.c.id).limit(1)
    return (
        select(func.count().label("links"), longest.scalar_subquery().label("example"))
        .select_from(link)
        .where(_ENTITY)
    )


@cache
def lane_of_link() -> Select[Any]:
    """A link's host and parts with their harvest; parameter `the_lane`."""
    subtree, cluster = part.alias("subtree"), part.alias("cluster")
    return (
        select(
            host.c.name.label("host"),
            host.c.ready_at,
            host.c.blocked_until,
            host.c.in_flight,
            host.c.max_in_flight,
            host.c.delay,
            subtree.c.key.label("subtree"),
            subtree.c.pages.label("subtree_pages"),
            subtree.c.hits.label("subtree_hits"),
            cluster.c.key.label("cluster"),
            cluster.c.pages.label("cluster_pages"),
            cluster.c.hits.label("cluster_hits"),
            cluster.c.scheduled.label("cluster_scheduled"),
            lane.c.head_id,
            lane.c.lift,
            lane.c.shut,
        )
        .select_from(lane)
        .join(host, host.c.id == lane.c.host_id)
        .join(subtree, subtree.c.id == lane.c.subtree_id)
        .join(cluster, cluster.c.id == lane.c.cluster_id)
        .where(lane.c.id == bindparam("the_lane"))
    )


@cache
def history() -> Select[Any]:
    """All fetches of a link, latest last; parameter `the_link`. Served by ix_page_link."""
    return select(page).where(page.c.link_id == bindparam("the_link")).order_by(page.c.id)


@cache
def whole_link() -> Select[Any]:
    """One link; parameter `the_id`."""
    return select(link).where(link.c.id == bindparam("the_id"))
