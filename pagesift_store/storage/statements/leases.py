"""Statements that hand out work: walk the heads of the lanes, take one, look behind it."""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import (
    Select,
    Update,
    and_,
    bindparam,
    case,
    func,
    literal_column,
    or_,
    select,
    tuple_,
    update,
)

from pagesift_store.storage.tables import DRY, HAS_HEAD, LEASED, QUEUED, WAITING, host, lane, link, page, part

_SUBTREE = part.alias("subtree")
_CLUSTER = part.alias("cluster")


def _open_now() -> Any:
    """Hosts that may be visited: rested, not blocked, with a free place."""
    return and_(
        host.c.ready_at <= bindparam("now"),
        or_(host.c.blocked_until.is_(None), host.c.blocked_until <= bindparam("now")),
        host.c.in_flight < func.coalesce(host.c.max_in_flight, bindparam("max_in_flight")),
    )


def _open_soon() -> Any:
    """Hosts that rest, and will have rested by a time; parameters `now`, `soon`."""
    return and_(
        host.c.ready_at > bindparam("now"),
        host.c.ready_at <= bindparam("soon"),
        or_(host.c.blocked_until.is_(None), host.c.blocked_until <= bindparam("soon")),
    )


def _host_within_limits() -> Any:
    return host.c.pages + host.c.in_flight < bindparam("most_of_host")


def _part_within_limits() -> Any:
    return _SUBTREE.c.fetched < bindparam("most_of_part")


def _within_limits() -> Any:
    """Hosts and subtrees that may give more pages; parameters `most_of_host`, `most_of_part`."""
    return and_(_host_within_limits(), _part_within_limits())


def _heads() -> Select[Any]:
    return (
        select(
            lane.c.id.label("lane_id"),
            lane.c.head_id,
            lane.c.head_rank,
            lane.c.head_demoted,
            lane.c.lift,
            lane.c.dry,
            lane.c.spent,
            lane.c.subtree_id,
            lane.c.cluster_id,
            host.c.id.label("host_id"),
            host.c.in_flight,
            host.c.pages.label("host_pages"),
            func.coalesce(host.c.max_in_flight, bindparam("max_in_flight")).label("places"),
            func.coalesce(host.c.delay, host.c.crawl_delay, bindparam("default_delay")).label("delay"),
            _SUBTREE.c.pages.label("subtree_pages"),
            _SUBTREE.c.hits.label("subtree_hits"),
            _SUBTREE.c.fetched.label("subtree_fetched"),
            _CLUSTER.c.pages.label("cluster_pages"),
            _CLUSTER.c.hits.label("cluster_hits"),
            _CLUSTER.c.scheduled.label("cluster_scheduled"),
        )
        .select_from(lane)
        .join(host, host.c.id == lane.c.host_id)
        .join(_SUBTREE, _SUBTREE.c.id == lane.c.subtree_id)
        .join(_CLUSTER, _CLUSTER.c.id == lane.c.cluster_id)
    )


_BEST_FIRST = (lane.c.head_demoted, lane.c.head_rank.desc(), lane.c.head_id)


def _behind_place() -> Any:
    """Heads behind a place in the order, of those that are demoted as it is.

    Parameters `after_demoted`, `after_rank` (its negative), `after_id`. A range of ix_lane_host for each host.
    """
    place: list[Any] = [bindparam("after_rank"), bindparam("after_id")]
    return and_(
        lane.c.head_demoted == bindparam("after_demoted"),
        tuple_(-lane.c.head_rank, lane.c.head_id) > tuple_(*place),
    )


def _marked(dry: bool, spent: bool) -> Any:
    """Lanes with these marks, as constants.

    Two walks go on side by side, and were they one statement, the driver would compile it anew for the second.
    """
    marks = {lane.c.dry: dry, lane.c.spent: spent}
    return and_(*(column == literal_column(str(mark).lower()) for column, mark in marks.items()))


def _host_fits(soon: bool) -> Any:
    return and_(_open_soon() if soon else _open_now(), _host_within_limits())


_SCATTERED = (lane.c.id * (lane.c.id + literal_column("2654435761"))).op(">>")(literal_column("16"))
"""A number of each lane, whose last bits are as if drawn, in whatever steps the ids of a host's lanes follow.

By the square of the id: of a multiple of it there are steps by which none comes among 4,000 lanes.
"""


@cache
def walk_heads(dry: bool, spent: bool, soon: bool = False) -> Select[Any]:
    """Heads of lanes with these marks whose hosts may be visited now, best first.

    With `soon`: whose hosts rest, but no longer than to a time; the demoted are left out.

    Parameters `now` (`soon`), `max_in_flight`, `default_delay`, `most_of_host`, `most_of_part`, `but`. Walks
    ix_lane_order and sorts nothing, so the cost is that of the heads looked at: neither the links behind a head nor
    finished links matter, nor lanes with other marks. Lanes that a limit shuts are not in the index; those that leases
    alone have filled are passed over.

    So are those of hosts that may not be visited, but one in so many, which comes with `fits` false, so that one sees
    how it goes on. `but` is that number, a power of two, less one.
    """
    fits = _host_fits(soon)
    one_in_many = _SCATTERED.op("&")(bindparam("but")) == literal_column("0")
    walk = (
        _heads()
        .add_columns(fits.label("fits"))
        .where(_marked(dry, spent), HAS_HEAD, or_(fits, one_in_many), _part_within_limits())
        .order_by(*_BEST_FIRST)
    )
    return walk.where(lane.c.head_demoted == literal_column("false")) if soon else walk


@cache
def last_host() -> Select[Any]:
    """The highest id of a host, which is about how many there are; NULL when there is none."""
    return select(func.max(host.c.id).label("id"))


@cache
def best_of_hosts(dry: bool, spent: bool, soon: bool = False) -> Select[Any]:
    """The hosts of `walk_heads`, each with rank and link of its first head behind a place, the best first.

    Of the heads that are demoted as that of the place is; those of full subtrees count too. Hosts without one are left
    out. Parameters `now` (`soon`), `max_in_flight`, `most_of_host`, and those of the place (`after_…`).

    Walks the hosts, and seeks one lane of each that may be visited in ix_lane_host.
    """
    best = lane.alias("best")
    first = (
        select(lane.c.id)
        .where(lane.c.host_id == host.c.id, _marked(dry, spent), HAS_HEAD, _behind_place())
        .order_by(*_BEST_FIRST)
        .limit(1)
        .correlate(host)
        .scalar_subquery()
    )
    return (
        select(host.c.id, best.c.head_rank, best.c.head_id)
        .select_from(host)
        .join(best, best.c.id == first)
        .where(_host_fits(soon))
        .order_by(best.c.head_rank.desc(), best.c.head_id)
    )


@cache
def heads_of_host(dry: bool, spent: bool, soon: bool = False) -> Select[Any]:
    """As `walk_heads`, of one host, behind a place, `most` heads at most, demoted as that of the place is.

    Parameters `the_host`, `most` and those of the place (`after_…`) besides, no `but`. Walks ix_lane_host.
    """
    return (
        _heads()
        .where(
            lane.c.host_id == bindparam("the_host"),
            _marked(dry, spent),
            HAS_HEAD,
            _behind_place(),
            _host_fits(soon),
            _part_within_limits(),
        )
        .order_by(*_BEST_FIRST)
        .limit(bindparam("most"))
    )


@cache
def dry_harvests() -> Select[Any]:
    """Of the subtrees marked dry, by hits, the least pages. Served by ix_part_dry."""
    return select(func.min(part.c.pages).label("pages"), part.c.hits).where(DRY).group_by(part.c.hits)


@cache
def dry_subtrees() -> Select[Any]:
    """The subtrees with so many hits that are marked dry, fewest pages first; parameter `the_hits`.

    Served by ix_part_dry.
    """
    return (
        select(part.c.id, part.c.pages, part.c.hits)
        .where(DRY, part.c.hits == bindparam("the_hits"))
        .order_by(part.c.pages, part.c.id)
    )


@cache
def fruitful_clusters() -> Select[Any]:
    """Clusters with a hit; others cannot be proven. Served by ix_part_fruitful."""
    return select(part.c.id, part.c.pages, part.c.hits).where(
        part.c.kind == literal_column("'cluster'"), part.c.hits > literal_column("0")
    )


CLUSTERS = tuple(f"cluster_{i}" for i in range(64))
"""Names of the parameters of `heads_of_clusters`."""


@cache
def heads_of_clusters(size: int) -> Select[Any]:
    """As `walk_heads`, of `size` clusters only; parameters `CLUSTERS` besides. Served by ix_lane_cluster_id."""
    return (
        _heads()
        .where(
            lane.c.cluster_id.in_([bindparam(name) for name in CLUSTERS[:size]]),
            HAS_HEAD,
            _open_now(),
            _within_limits(),
        )
        .order_by(*_BEST_FIRST)
    )


@cache
def leased_heads() -> Select[Any]:
    """What is leased, as if each were its lane's head; parameters `max_in_flight`, `default_delay`.

    Served by ix_link_lease, which holds leased links only.
    """
    columns = [
        link.c.id.label("head_id") if column.name == "head_id"
        else (link.c.score + lane.c.lift).label("head_rank") if column.name == "head_rank"
        else link.c.demoted.label("head_demoted") if column.name == "head_demoted"
        else column
        for column in _heads().selected_columns
    ]  # fmt: skip
    return (
        select(*columns)
        .select_from(link)
        .join(lane, lane.c.id == link.c.lane_id)
        .join(host, host.c.id == lane.c.host_id)
        .join(_SUBTREE, _SUBTREE.c.id == lane.c.subtree_id)
        .join(_CLUSTER, _CLUSTER.c.id == lane.c.cluster_id)
        .where(LEASED)
        .order_by(link.c.lease_expires, link.c.id)  # by id alone SQLite would walk all links
    )


@cache
def behind() -> Select[Any]:
    """The first queued link of a lane; parameter `the_lane`. Served by ix_link_queue."""
    return (
        select(link.c.id, link.c.score, link.c.demoted)
        .where(QUEUED, link.c.lane_id == bindparam("the_lane"))
        .order_by(link.c.demoted, link.c.score.desc(), link.c.id)
        .limit(1)
    )


@cache
def take() -> Update:
    """Mark one link leased and say all that its lease needs; parameters `the_id`, `owner`, `expires`."""
    return (
        update(link)
        .where(link.c.id == bindparam("the_id"), or_(QUEUED, WAITING))
        .values(
            state=literal_column("'leased'"),
            attempt=link.c.attempt + 1,
            owner_id=bindparam("owner"),
            lease_expires=bindparam("expires"),
        )
        .returning(
            link.c.id,
            link.c.url,
            link.c.key,
            link.c.attempt,
            link.c.score,
            link.c.depth,
            link.c.parent_id,
            link.c.visits,
        )
    )


@cache
def validators() -> Select[Any]:
    """Validators of a link's last page; parameter `the_id`. Served by ix_page_link."""
    return (
        select(page.c.etag, page.c.last_modified)
        .where(page.c.link_id == bindparam("the_id"), page.c.error.is_(None))
        .order_by(page.c.id.desc())
        .limit(1)
    )


@cache
def url_of() -> Select[str]:
    """The fetch URL of a link; parameter `the_id`."""
    return select(link.c.url).where(link.c.id == bindparam("the_id"))


@cache
def extend() -> Update:
    """A later expiry for a lease that is still the link's own; parameters `the_id`, `the_attempt`, `expires`."""
    return (
        update(link)
        .where(link.c.id == bindparam("the_id"), link.c.attempt == bindparam("the_attempt"), LEASED)
        .values(lease_expires=bindparam("expires"))
    )


@cache
def next_ready() -> Select[Any]:
    """Of the hosts with something to lease and a place free: when the first that is shut opens.

    Parameters `now`, `max_in_flight`, `most_of_host`, `most_of_part`. Columns: `rests_until`, of hosts that rest and
    are not blocked; `blocked_until`, of those that are blocked. Hosts that are open count for neither: what they have
    is set aside. Full hosts are left out: a report frees them, not time; so are hosts and parts at their limits.
    """
    has_head = (
        select(lane.c.id)
        .join(_SUBTREE, _SUBTREE.c.id == lane.c.subtree_id)
        .where(lane.c.host_id == host.c.id, HAS_HEAD, _within_limits())
        .correlate(host)
    )
    is_due = select(lane.c.id).where(lane.c.host_id == host.c.id, lane.c.again_due <= bindparam("now"))
    blocked = host.c.blocked_until > bindparam("now")
    return select(
        func.min(case((blocked, None), (host.c.ready_at > bindparam("now"), host.c.ready_at))).label(
            "rests_until"
        ),
        func.min(case((blocked, host.c.blocked_until))).label("blocked_until"),
    ).where(
        host.c.in_flight < func.coalesce(host.c.max_in_flight, bindparam("max_in_flight")),
        or_(has_head.limit(1).exists(), is_due.limit(1).exists()),
    )
