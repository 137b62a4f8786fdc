"""Statements about links: finding, adding, raising, moving between states, rescoring."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    ColumnElement,
    Float,
    Insert,
    Select,
    Update,
    and_,
    bindparam,
    case,
    delete,
    exists,
    false,
    insert,
    literal_column,
    or_,
    select,
    update,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from pagesift_store.storage.tables import LEASED, QUEUED, RETRY, WAITING, lane, link, part, template

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from sqlalchemy.sql import Delete

SIGNAL = (
    "anchor_hits",
    "url_hits",
    "context_hits",
    "phrase",
    "parent_relevance",
    "floor",
    "factor",
)
"""What a score is computed from, besides the depth's decay and the weights in use."""

RAISED = (*SIGNAL, "decay", "depth", "score", "given", "seed", "demoted", "on_repeats")
"""What a link found again takes over from the better find; its parent stays the page that it was found on first."""

NEW = (
    "id",
    "url",
    "key",
    "key_hash",
    "n",
    "lane_id",
    "parent_id",
    "alias_of",
    "depth",
    *SIGNAL,
    "decay",
    "score",
    "given",
    "seed",
    "demoted",
    "on_repeats",
    "template",
    "state",
    "revisit",
    "found_at",
)
"""What is told of a new link, in the order of the table."""

RARE = ("key", "revisit")
"""What few new links have: NULL is the default."""

ON_PAGES = tuple(name for name in NEW if name not in {*RARE, "alias_of", "state"})
"""What is told of most new links that a page carries; they are queued."""

BY_HAND = tuple(name for name in ON_PAGES if name != "parent_id")
"""The same of those that were added by hand."""

GIVEN = tuple(name for name in BY_HAND if name not in SIGNAL)
"""The same where every score was given: such links have no signal, as the table has it by default."""

HASHES = tuple(f"hash_{i}" for i in range(500))
"""Names of the parameters of `find_by_hash`."""


@cache
def find_by_hash(size: int) -> Select[Any]:
    """Links whose key has one of `size` hashes; parameters `HASHES`. Served by the unique index on (key_hash, n)."""
    return _by_hash(size, ("id", "url", "key", "n", "lane_id", "state", "visits", "alias_of"))


@cache
def known_links(size: int) -> Select[Any]:
    """What admission needs of them; as `find_by_hash`."""
    return _by_hash(size, ("id", "url", "key", "key_hash", "n", "lane_id", "template", "state", *RAISED))


def _by_hash(size: int, names: tuple[str, ...]) -> Select[Any]:
    return select(*(link.c[name] for name in names)).where(
        link.c.key_hash.in_([bindparam(name) for name in HASHES[:size]])
    )


@cache
def add_links() -> Insert:
    """New links, for many at once. The score comes with the row: `focus.score` gives Python and SQL the same bits."""
    return insert(link).values({name: bindparam(name) for name in NEW})


@cache
def add_queued_links(names: tuple[str, ...]) -> Insert:
    """As `add_links`, of queued links of which only some columns are told: the driver takes long to bind a NULL."""
    values: dict[str, Any] = {name: bindparam(name) for name in names}
    return insert(link).values(values | {"state": literal_column("'queued'")})


@cache
def raise_link() -> Update:
    """An unfinished link found again with a better signal; parameter `the_id`, then what it takes over."""
    return (
        update(link)
        .where(link.c.id == bindparam("the_id"))
        .values({name: bindparam(name) for name in RAISED})
    )


@cache
def read_link() -> Select[Any]:
    """One link with its lane's parts and host; parameter `the_id`."""
    return (
        select(
            link,
            lane.c.host_id,
            lane.c.subtree_id,
            lane.c.cluster_id,
            lane.c.pages.label("lane_pages"),
            lane.c.relevance.label("lane_relevance"),
            lane.c.dry,
            part.c.pages.label("cluster_pages"),
            part.c.hits.label("cluster_hits"),
        )
        .join(lane, lane.c.id == link.c.lane_id)
        .join(part, part.c.id == lane.c.cluster_id)
        .where(link.c.id == bindparam("the_id"))
    )


@cache
def finish() -> Update:
    """A link's state after a report; parameters `the_id` and the columns that change."""
    names = ("state", "reason", "due_at", "visits", "failures", "failures_total")
    return (
        update(link)
        .where(link.c.id == bindparam("the_id"))
        .values({name: bindparam(name) for name in names} | {"owner_id": None, "lease_expires": None})
    )


@cache
def set_aside() -> Update:
    """A link is no longer queued, until its new state is written; parameter `the_id`."""
    return update(link).where(link.c.id == bindparam("the_id")).values(state=literal_column("'done'"))


@cache
def make_alias() -> Update:
    """A known link turns out to lead to another's page; parameters `the_id`, `alias_of`."""
    return (
        update(link)
        .where(link.c.id == bindparam("the_id"))
        .values(
            state=literal_column("'done'"),
            alias_of=bindparam("alias_of"),
            due_at=None,
            owner_id=None,
            lease_expires=None,
            attempt=link.c.attempt + case((LEASED, literal_column("1")), else_=literal_column("0")),
        )
    )


@cache
def worst_queued(revisits: bool) -> Select[Any]:
    """The worst queued links, worst first; parameter `most`. Served by ix_link_worst, which bounded queues have.

    Args:
        revisits: whether links that were fetched before may be queued; they are history and stay.
    """
    found = select(link.c.id, link.c.lane_id).where(QUEUED)
    if revisits:
        found = found.where(link.c.visits == literal_column("0"))
    return found.order_by(link.c.score, link.c.id.desc()).limit(bindparam("most"))


@cache
def evict() -> Delete:
    """Forget a queued link altogether; parameter `the_id`."""
    return delete(link).where(link.c.id == bindparam("the_id"))


class Larger(FunctionElement[float]):
    """The larger of two expressions, each evaluated once, which a CASE would not do."""

    inherit_cache = True
    type = Float()


@compiles(Larger)
def _greatest(element: Larger, compiler: Any, **options: Any) -> str:
    return f"greatest({compiler.process(element.clauses, **options)})"


@compiles(Larger, "sqlite")
def _scalar_max(element: Larger, compiler: Any, **options: Any) -> str:
    return f"max({compiler.process(element.clauses, **options)})"


def bit_of(mask: Any, bit: int) -> ColumnElement[int]:
    """Bit of a mask, 0 or 1; both engines shift signed 64-bit integers arithmetically."""
    shifted: ColumnElement[int] = mask.bitwise_rshift(literal_column(str(bit))).bitwise_and(
        literal_column("1")
    )
    return shifted


def rescore(
    score: Callable[..., Any], coverage: Callable[..., Any], weights: Any, *, before: Any = None
) -> Update:
    """Give every unfinished link the score that the weights in use give it: one UPDATE.

    Rows with a given score, and those that no weight can change (no hit bit, no parent relevance, so no more than
    their floor), are left alone, and so is a row whose score comes out the same.

    Args:
        score: `focus.score.score`.
        coverage: `focus.score.coverage_by_bits`.
        weights: `focus.score.Weights`; its numbers become bound parameters.
        before: the weights by which every score was computed: rows with nothing that weighs otherwise now are not
            worked out. None: all are.
    """
    fresh = _fresh(score, coverage, weights)
    return (
        update(link)
        .where(
            _has_any(range(4) if before is None else _moved(before, weights)),  # a phrase is of hits
            or_(QUEUED, LEASED, WAITING),
            ~link.c.given,
            link.c.score != fresh,
        )
        .values(score=fresh)
        # Else SQLite keeps what every page held, in case this statement alone must be taken back; the transaction is.
        .prefix_with("OR FAIL", dialect="sqlite")
    )


def _moved(before: Any, weights: Any) -> Iterator[int]:
    """The features, by position, that count otherwise now; other weights of the terms move all that have hits."""
    by_hits = 3 if before.terms != weights.terms else 0
    for position, (was, now) in enumerate(zip(before.features, weights.features, strict=True)):
        if was != now or position < by_hits:
            yield position


_FEATURES = (link.c.anchor_hits, link.c.url_hits, link.c.context_hits, link.c.parent_relevance, link.c.phrase)
"""What the weights of the features multiply, in their order; 0 where a link has nothing of it."""


def _has_any(features: Iterable[int]) -> ColumnElement[bool]:
    return or_(false(), *(_FEATURES[position] != literal_column("0") for position in features))


def misscored(score: Callable[..., Any], coverage: Callable[..., Any], weights: Any) -> Select[Any]:
    """Unfinished links whose score is not the one that the weights in use give; arguments as for `rescore`."""
    fresh = _fresh(score, coverage, weights)
    wrong = and_(or_(QUEUED, LEASED, WAITING), ~link.c.given, link.c.score != fresh)
    return select(link.c.id, link.c.score, fresh.label("fresh")).where(wrong).order_by(link.c.id)


def set_right(score: Callable[..., Any], coverage: Callable[..., Any], weights: Any) -> Update:
    """Give those the score that they should have; arguments as for `rescore`."""
    fresh = _fresh(score, coverage, weights)
    wrong = and_(or_(QUEUED, LEASED, WAITING), ~link.c.given, link.c.score != fresh)
    return update(link).where(wrong).values(score=fresh)


def _fresh(score: Callable[..., Any], coverage: Callable[..., Any], weights: Any) -> Any:
    """What the weights give. Most masks are empty, which is seen at once; to look at all bits comes to the same."""
    bound = bound_weights(weights)

    def cover(mask: Any) -> Any:
        return case((mask == literal_column("0"), literal_column("0.0")), else_=coverage(mask, bound, bit_of))

    return score([link.c[name] for name in (*SIGNAL, "decay")], bound, cover, larger=Larger)


def bound_weights(weights: Any) -> Any:
    """The same weights as bound parameters, named by feature and by bit, so that the text of the SQL never changes."""
    return weights._replace(
        features=tuple(bindparam(f"feature_{i}", value) for i, value in enumerate(weights.features)),
        terms=tuple(bindparam(f"term_{i}", value) for i, value in enumerate(weights.terms)),
        total=bindparam("total", weights.total),
    )


@cache
def due_links() -> Select[Any]:
    """Links to be tried again whose time has come, earliest first; parameters `now`, `most`. Served by ix_link_due."""
    return (
        select(link.c.id, link.c.lane_id)
        .where(RETRY, link.c.due_at <= bindparam("now"))
        .order_by(link.c.due_at, link.c.id)
        .limit(bindparam("most"))
    )


@cache
def expired_links() -> Select[Any]:
    """Leased links whose time has run out; parameter `now`. Served by ix_link_lease."""
    return _held().where(link.c.lease_expires <= bindparam("now"))


@cache
def owned_links() -> Select[Any]:
    """Leased links of an owner; parameter `the_owner`. Served by ix_link_lease, which holds leased links only."""
    return _held().where(link.c.owner_id == bindparam("the_owner"))


def _held() -> Select[Any]:
    return (
        select(link.c.id, link.c.lane_id, link.c.visits, link.c.due_at, lane.c.host_id, lane.c.cluster_id)
        .join(lane, lane.c.id == link.c.lane_id)
        .where(LEASED)
        .order_by(link.c.lease_expires, link.c.id)  # by id alone SQLite would walk all links
    )


@cache
def queue_again() -> Update:
    """Back to the queue, from whatever state; parameter `the_id`."""
    return (
        update(link)
        .where(link.c.id == bindparam("the_id"))
        .values(state=literal_column("'queued'"), owner_id=None, lease_expires=None, due_at=None)
    )


@cache
def wait_again() -> Update:
    """A lease of a page that was due for another visit comes back: it is as due as before; parameter `the_id`."""
    return (
        update(link)
        .where(link.c.id == bindparam("the_id"))
        .values(state=literal_column("'waiting'"), owner_id=None, lease_expires=None)
    )


@cache
def next_due() -> Select[Any]:
    """When the next link that waits for another try is due. Served by ix_link_due."""
    return select(link.c.due_at).where(RETRY).order_by(link.c.due_at).limit(1)


@cache
def next_expiry() -> Select[Any]:
    """When the next lease runs out. Served by ix_link_lease."""
    return select(link.c.lease_expires).where(LEASED).order_by(link.c.lease_expires).limit(1)


@cache
def demote() -> Update:
    """Put the unfinished links of a template last, or back; parameters `template`, `demoted`."""
    return (
        update(link)
        .where(
            and_(
                or_(QUEUED, LEASED, WAITING),
                link.c.template == bindparam("the_template"),
                link.c.demoted != bindparam("is_demoted"),
            )
        )
        .values(demoted=bindparam("is_demoted"))
    )


@cache
def demote_found_on_repeats() -> Update:
    """Put the unfinished links of a host last, or back, that only pages carry whose text was there before.

    Those of demoted templates stay last. Parameters `the_host`, `is_demoted`. Reads the host's links: it is rare.
    """
    own_template = exists().where(
        template.c.hash == link.c.template, template.c.demoted == literal_column("true")
    )
    return (
        update(link)
        .where(
            or_(QUEUED, LEASED, WAITING),
            link.c.lane_id.in_(select(lane.c.id).where(lane.c.host_id == bindparam("the_host"))),
            link.c.demoted != bindparam("is_demoted"),
            link.c.on_repeats,
            ~own_template,
        )
        .values(demoted=bindparam("is_demoted"))
    )
