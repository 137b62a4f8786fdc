"""Statements that hold a store against itself: what is counted anew, and rows that no call leaves behind."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Select, and_, bindparam, case, func, literal_column, or_, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from pagesift_store.storage.statements.lanes import marks
from pagesift_store.storage.tables import LEASED, QUEUED, REVISIT, lane, link, owner, page, upkeep

if TYPE_CHECKING:
    from sqlalchemy import Insert, Table, Update


@cache
def links_by_lane() -> Select[Any]:
    """Some links of every lane by state, and how many of them were fetched; parameters `after` and `upto`, two ids.

    Groups are made by sorting: all links at once would need a temporary file of their size.
    """
    fetched = func.sum(
        case((link.c.visits > literal_column("0"), literal_column("1")), else_=literal_column("0"))
    )
    return (
        select(link.c.lane_id, link.c.state, func.count().label("links"), fetched.label("fetched"))
        .where(link.c.id > bindparam("after"), link.c.id <= bindparam("upto"))
        .group_by(link.c.lane_id, link.c.state)
    )


@cache
def last_link() -> Select[Any]:
    """The highest id of a link."""
    return select(func.max(link.c.id).label("id"))


@cache
def all_lanes() -> Select[Any]:
    """Every lane with its place and its counters."""
    return select(
        lane.c.id, lane.c.host_id, lane.c.subtree_id, lane.c.cluster_id, lane.c.pages, lane.c.relevance
    ).order_by(lane.c.id)


@cache
def all_rows(table: Table) -> Select[Any]:
    """A table, whole, by its key."""
    return select(table).order_by(*table.primary_key.columns)


@cache
def set_counter(table: Table, column: str) -> Update:
    """Put one counter right; parameters `the_id`, `value`."""
    return update(table).where(table.c.id == bindparam("the_id")).values({column: bindparam("value")})


def _first(*order: Any, where: Any) -> Any:
    """The id of the first link of a lane in some order."""
    return (
        select(link.c.id)
        .where(where, link.c.lane_id == lane.c.id)
        .order_by(*order)
        .limit(1)
        .correlate(lane)
        .scalar_subquery()
    )


@cache
def wrong_heads() -> Select[Any]:
    """Lanes whose stored head, or next visit, is not what their links say. Served by ix_link_queue, ix_link_again."""
    best, again = link.alias("best"), link.alias("again")
    best_id = _first(link.c.demoted, link.c.score.desc(), link.c.id, where=QUEUED)
    again_id = _first(link.c.due_at, link.c.id, where=REVISIT)
    pairs = (
        (lane.c.head_id, best.c.id),
        (lane.c.head_score, best.c.score),
        (lane.c.head_rank, best.c.score + lane.c.lift),
        (lane.c.head_demoted, best.c.demoted),
        (lane.c.again_id, again.c.id),
        (lane.c.again_due, again.c.due_at),
    )
    return (
        select(
            lane.c.id,
            lane.c.head_id,
            best.c.id.label("best"),
            lane.c.again_id,
            again.c.id.label("again"),
        )
        .select_from(lane)
        .join(best, best.c.id == best_id, isouter=True)
        .join(again, again.c.id == again_id, isouter=True)
        .where(or_(*(stored.is_distinct_from(found) for stored, found in pairs)))
        .order_by(lane.c.id)
    )


@cache
def wrong_marks() -> Select[Any]:
    """Lanes that `lanes.settle_marks` would change; parameter `cluster_cap`."""
    dry, spent = marks()
    return select(lane.c.id).where(or_(lane.c.dry != dry, lane.c.spent != spent)).order_by(lane.c.id)


@cache
def unowned() -> Select[Any]:
    """Links that are leased by nobody: nothing but their expiry would free them."""
    lost = and_(LEASED, or_(link.c.owner_id.is_(None), link.c.owner_id.not_in(select(owner.c.id))))
    return (
        select(link.c.id, link.c.lane_id, link.c.visits, link.c.due_at, lane.c.host_id, lane.c.cluster_id)
        .join(lane, lane.c.id == link.c.lane_id)
        .where(lost)
        .order_by(link.c.id)
    )


class Impossible(NamedTuple):
    """A state that no call leaves a row in.

    Attributes:
        message: what is wrong with it.
        table: whose rows.
        rows: `id` of those that are in it.
        mend: one statement that puts all of them right.
    """

    message: str
    table: str
    rows: Select[Any]
    mend: Update


@cache
def impossible() -> tuple[Impossible, ...]:
    """All that one statement can put right."""
    own_parent, own_alias = link.c.parent_id == link.c.id, link.c.alias_of == link.c.id
    kept_owner = and_(link.c.owner_id.is_not(None), ~LEASED)
    fetched = (
        select(func.max(page.c.attempt)).where(page.c.link_id == link.c.id).correlate(link).scalar_subquery()
    )
    dangling = and_(page.c.duplicate_of.is_not(None), page.c.duplicate_of.not_in(select(link.c.id)))
    return (
        _impossible("it is its own parent", link, own_parent, {"parent_id": None}),
        _impossible("it is an alias of itself", link, own_alias, {"alias_of": None}),
        _impossible("it has an owner but is not leased", link, kept_owner, {"owner_id": None}),
        _impossible(
            "its attempt is below that of its last fetch",
            link,
            link.c.attempt < fetched,
            {"attempt": fetched},
        ),
        _impossible("it repeats the page of a link that is gone", page, dangling, {"duplicate_of": None}),
        _impossible(
            "it counts although an earlier page of its link does", page, _counted_twice(), {"counted": False}
        ),
    )


def _counted_twice() -> Any:
    """A page that counts although an earlier one of its link does."""
    earlier = page.alias("earlier")
    same = (earlier.c.link_id == page.c.link_id, earlier.c.id < page.c.id, earlier.c.counted)
    return and_(page.c.counted, select(literal_column("1")).where(*same).exists())


def _impossible(message: str, table: Table, where: Any, values: dict[str, Any]) -> Impossible:
    rows = select(table.c.id).where(where).order_by(table.c.id)
    return Impossible(message, table.name, rows, update(table).where(where).values(values))


@cache
def sampled_links() -> Select[Any]:
    """Every so manieth link; parameters `step` (1: all), `after`, `most`."""
    return (
        select(
            link.c.id,
            link.c.url,
            link.c.key,
            link.c.key_hash,
            link.c.n,
            link.c.state,
            link.c.seed,
            link.c.alias_of,
        )
        .where(link.c.id > bindparam("after"), link.c.id % bindparam("step") == literal_column("0"))
        .order_by(link.c.id)
        .limit(bindparam("most"))
    )


@cache
def same_hash() -> Select[Any]:
    """Links that share the hash of their key with another. Served by the unique index on (key_hash, n)."""
    other = link.alias("other")
    return (
        select(link.c.id, link.c.url, link.c.key, link.c.key_hash)
        .where(
            link.c.key_hash.in_(select(other.c.key_hash).group_by(other.c.key_hash).having(func.count() > 1))
        )
        .order_by(link.c.key_hash, link.c.id)
    )


@cache
def note_upkeep() -> Insert:
    """Remember what was done for the store; parameters `kind`, `at`, `detail`."""
    new = upsert(upkeep).values({name: bindparam(name) for name in ("kind", "at", "detail")})
    return new.on_conflict_do_update(
        index_elements=["kind"], set_={"at": new.excluded.at, "detail": new.excluded.detail}
    )


@cache
def read_upkeep() -> Select[Any]:
    """What was last done for the store."""
    return select(upkeep).order_by(upkeep.c.kind)
