"""Statements about hosts, parts and lanes: where links queue and what each part of a site has yielded."""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Insert,
    Select,
    Update,
    and_,
    bindparam,
    func,
    insert,
    literal_column,
    or_,
    select,
    tuple_,
    update,
)

from pagesift_store.storage.tables import DRY, QUEUED, REVISIT, host, lane, link, part


@cache
def find_host() -> Select[Any]:
    """How a host queues, by name; parameter `name`."""
    return select(host.c.id, host.c.group_id, host.c.lanes, host.c.languages).where(
        host.c.name == bindparam("name")
    )


@cache
def host_by_id() -> Select[Any]:
    """A host's name; parameter `the_host`."""
    return select(host.c.name).where(host.c.id == bindparam("the_host"))


@cache
def add_host() -> Insert:
    """A new host; parameter `name`."""
    return insert(host).values(name=bindparam("name"))


@cache
def set_languages() -> Update:
    """What a host has shown of its language segments; parameters `the_host`, `languages`."""
    return update(host).where(host.c.id == bindparam("the_host")).values(languages=bindparam("languages"))


KEYS = tuple(f"key_{i}" for i in range(500))
"""Names of the parameters of `find_subtrees` and `find_clusters`."""


@cache
def find_subtrees(size: int) -> Select[Any]:
    """Subtrees with one of `size` keys; parameters `KEYS`."""
    return _find_parts(literal_column("'subtree'"), size)


@cache
def find_clusters(size: int) -> Select[Any]:
    """Clusters with one of `size` keys; parameters `KEYS`."""
    return _find_parts(literal_column("'cluster'"), size)


def _find_parts(kind: Any, size: int) -> Select[Any]:
    keys: list[Any] = [bindparam(name) for name in KEYS[:size]]
    return select(part.c.id, part.c.key).where(part.c.kind == kind, part.c.key.in_(keys))


@cache
def last_part() -> Select[Any]:
    """The highest id of a part; NULL when there is none."""
    return select(func.max(part.c.id).label("id"))


@cache
def last_lane() -> Select[Any]:
    """The highest id of a lane; NULL when there is none."""
    return select(func.max(lane.c.id).label("id"))


@cache
def add_part() -> Insert:
    """A new part; parameters `id`, `kind`, `key`."""
    return insert(part).values({name: bindparam(name) for name in ("id", "kind", "key")})


@cache
def lanes_of_host() -> Select[Any]:
    """All lanes of a host with the keys of their parts; parameter `the_host`.

    Read by the lanes' own unique index, whose first column is the host.
    """
    return _lanes().where(lane.c.host_id == bindparam("the_host"))


@cache
def lanes_after() -> Select[Any]:
    """Lanes made after another, with the keys of their parts; parameter `after`: its id."""
    return _lanes().where(lane.c.id > bindparam("after"))


def _lanes() -> Select[Any]:
    subtree, cluster = part.alias("subtree_part"), part.alias("cluster_part")
    return (
        select(
            lane.c.id,
            lane.c.host_id,
            lane.c.subtree_id,
            lane.c.cluster_id,
            subtree.c.key.label("subtree"),
            cluster.c.key.label("cluster"),
        )
        .join(subtree, subtree.c.id == lane.c.subtree_id)
        .join(cluster, cluster.c.id == lane.c.cluster_id)
    )


def _is_spent(cluster_id: Any) -> Any:
    """Whether a cluster has been given its leases without a hit; parameter `cluster_cap`."""
    return (
        select(and_(part.c.hits == literal_column("0"), part.c.scheduled >= bindparam("cluster_cap")))
        .where(part.c.id == cluster_id)
        .scalar_subquery()
    )


@cache
def add_lane() -> Insert:
    """A new lane, marked as its parts are, with the best of its links as its head.

    Parameters `id`, `host_id`, `subtree_id`, `cluster_id`, `cluster_cap`; `link_id`, `the_score`, `is_demoted`: the
    head, None for no head.
    """
    names = ("id", "host_id", "subtree_id", "cluster_id")
    score: Any = bindparam("the_score")
    dry = select(part.c.dry).where(part.c.id == bindparam("subtree_id")).scalar_subquery()
    return insert(lane).values(
        {name: bindparam(name) for name in names}
        | {
            "head_id": bindparam("link_id"),
            "head_score": score,
            "head_rank": score,  # no page of it adds to it yet
            "head_demoted": bindparam("is_demoted"),
            "dry": dry,
            "spent": _is_spent(bindparam("cluster_id")),
        }
    )


@cache
def mark_subtree() -> Update:
    """Whether a subtree is known to be dry; parameters `the_part`, `is_dry` (0 or 1)."""
    return update(part).where(part.c.id == bindparam("the_part")).values(dry=bindparam("is_dry"))


@cache
def mark_dry() -> Update:
    """The same of its lanes, where it is news; parameters as for `mark_subtree`. Served by ix_lane_subtree_id."""
    is_dry: Any = bindparam("is_dry")
    return (
        update(lane)
        .where(lane.c.subtree_id == bindparam("the_part"), lane.c.dry != is_dry)
        .values(dry=is_dry)
    )


@cache
def mark_spent() -> Update:
    """Whether the lanes of a cluster give way, where it is news; parameters `the_part`, `is_spent` (0 or 1).

    Served by ix_lane_cluster_id.
    """
    is_spent: Any = bindparam("is_spent")
    return (
        update(lane)
        .where(lane.c.cluster_id == bindparam("the_part"), lane.c.spent != is_spent)
        .values(spent=is_spent)
    )


@cache
def forget_dry() -> Update:
    """No subtree is known to be dry."""
    return update(part).where(DRY).values(dry=literal_column("false"))


def marks() -> tuple[Any, Any]:
    """The marks `dry` and `spent` that a lane should have; parameter `cluster_cap`."""
    dry = select(part.c.dry).where(part.c.id == lane.c.subtree_id).correlate(lane).scalar_subquery()
    return dry, _is_spent(lane.c.cluster_id).correlate(lane)


@cache
def settle_marks() -> Update:
    """Mark every lane as its parts are; parameter `cluster_cap`."""
    dry, spent = marks()
    return update(lane).where(or_(lane.c.dry != dry, lane.c.spent != spent)).values(dry=dry, spent=spent)


@cache
def count_lanes() -> Update:
    """More lanes of a host; parameters `the_id`, `lanes`."""
    return (
        update(host).where(host.c.id == bindparam("the_id")).values(lanes=host.c.lanes + bindparam("lanes"))
    )


def _goes_before(demoted: Any, score: Any, link_id: Any) -> ColumnElement[bool]:
    """Whether a link stands before the lane's head: (demoted, score descending, id ascending)."""
    return or_(
        lane.c.head_id.is_(None),
        lane.c.head_demoted > demoted,
        and_(
            lane.c.head_demoted == demoted,
            or_(
                lane.c.head_score < score,
                and_(lane.c.head_score == score, lane.c.head_id > link_id),
            ),
        ),
    )


@cache
def offer_head() -> Update:
    """A queued link becomes its lane's head if it stands before it.

    Parameters `the_lane`, `link_id`, `the_score`, `is_demoted`.
    """
    score: Any = bindparam("the_score")
    demoted: Any = bindparam("is_demoted")
    link_id: Any = bindparam("link_id")
    return (
        update(lane)
        .where(lane.c.id == bindparam("the_lane"), _goes_before(demoted, score, link_id))
        .values(head_id=link_id, head_score=score, head_rank=score + lane.c.lift, head_demoted=demoted)
    )


@cache
def set_head() -> Update:
    """A lane's head as it is known; parameters `the_lane`, `link_id`, `the_score`, `is_demoted` (None for no head)."""
    score: Any = bindparam("the_score")
    return (
        update(lane)
        .where(lane.c.id == bindparam("the_lane"))
        .values(
            head_id=bindparam("link_id"),
            head_score=score,
            head_rank=score + lane.c.lift,
            head_demoted=bindparam("is_demoted"),
        )
    )


def _head(*columns: Any) -> Any:
    """Columns of a lane's first queued link. Served by ix_link_queue, whatever stands behind it."""
    return (
        select(*columns)
        .where(QUEUED, link.c.lane_id == lane.c.id)
        .order_by(link.c.demoted, link.c.score.desc(), link.c.id)
        .limit(1)
        .correlate(lane)
        .scalar_subquery()
    )


def _again(*columns: Any) -> Any:
    """Columns of the page of a lane that is to be visited first. Served by ix_link_again."""
    return (
        select(*columns)
        .where(REVISIT, link.c.lane_id == lane.c.id)
        .order_by(link.c.due_at, link.c.id)
        .limit(1)
        .correlate(lane)
        .scalar_subquery()
    )


@cache
def refresh_head() -> Update:
    """Find a lane's head and its next visit anew; parameter `the_lane`."""
    return update(lane).where(lane.c.id == bindparam("the_lane")).values(_HEADS)


@cache
def refresh_all_heads() -> Update:
    """Find every lane's head anew, after a rescore: one UPDATE on the lane table, of the lanes where it is another."""
    known = tuple_(lane.c.head_id, lane.c.head_score, lane.c.head_demoted)
    found = _head(link.c.id, link.c.score, link.c.demoted)
    return update(lane).where(lane.c.head_id.is_not(None), known.is_distinct_from(found)).values(_HEAD)


# Rows are set as a whole, by one look into the index of the queue.
_HEAD: Any = {
    tuple_(lane.c.head_id, lane.c.head_score, lane.c.head_rank, lane.c.head_demoted): _head(
        link.c.id, link.c.score, link.c.score + lane.c.lift, link.c.demoted
    )
}
_HEADS: Any = {**_HEAD, tuple_(lane.c.again_id, lane.c.again_due): _again(link.c.id, link.c.due_at)}


@cache
def count_page() -> Update:
    """A page that counts, in its lane.

    Parameters `the_lane`, `the_relevance`, `lift`: what the lane's pages, this one included, add to its links' rank.
    """
    lift: Any = bindparam("lift")
    return (
        update(lane)
        .where(lane.c.id == bindparam("the_lane"))
        .values(
            pages=lane.c.pages + 1,
            relevance=lane.c.relevance + bindparam("the_relevance"),
            lift=lift,
            head_rank=lane.c.head_score + lift,
        )
    )


@cache
def count_harvest() -> Update:
    """A page that counts, in one of its parts; parameters `the_part`, `hit` (0 or 1)."""
    return (
        update(part)
        .where(part.c.id == bindparam("the_part"))
        .values(pages=part.c.pages + 1, hits=part.c.hits + bindparam("hit"))
    )


@cache
def count_fetched() -> Update:
    """One more link of a subtree whose page was fetched; parameters `the_part`, `step`."""
    return (
        update(part)
        .where(part.c.id == bindparam("the_part"))
        .values(fetched=part.c.fetched + bindparam("step"))
    )


@cache
def schedule() -> Update:
    """Leases given (`step` 1) or come back (-1) in a cluster; parameters `the_part`, `step`."""
    return (
        update(part)
        .where(part.c.id == bindparam("the_part"))
        .values(scheduled=part.c.scheduled + bindparam("step"))
    )


@cache
def scheduled() -> Update:
    """As `schedule`; returns the hits of the cluster and the leases given now, for which SQLite makes a table."""
    return schedule().returning(part.c.hits, part.c.scheduled)


@cache
def occupy() -> Update:
    """A host gives one lease; parameters `the_host`, `ready_at`."""
    return (
        update(host)
        .where(host.c.id == bindparam("the_host"))
        .values(in_flight=host.c.in_flight + 1, ready_at=bindparam("ready_at"))
    )


@cache
def vacate() -> Update:
    """Work on a link of a host ended.

    Parameters `the_host`, `places` (1 when it held a lease, else 0), `visited` (1 when a page was fetched for the
    first time, else 0), `keep` (0 when the host answered, which ends its row of failures, else 1).
    """
    return (
        update(host)
        .where(host.c.id == bindparam("the_host"))
        .values(
            in_flight=host.c.in_flight - bindparam("places"),
            pages=host.c.pages + bindparam("visited"),
            failures=host.c.failures * bindparam("keep"),
        )
    )
