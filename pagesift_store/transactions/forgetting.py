"""Forgetting links for good: they, their pages, and the parts of a site that were known by them alone."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from pagesift_store.errors import InvalidValue
from pagesift_store.storage.statements import acts as sql
from pagesift_store.storage.statements import lanes as lanes_sql
from pagesift_store.transactions import choosing, limits, merging
from pagesift_store.transactions.choosing import Choice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pagesift_store.transactions.work import Work


def forget(work: Work, *, host: str | None, pattern: str | None) -> int:
    """The body of `Frontier.forget`."""
    if host is None and pattern is None:
        raise InvalidValue("give a host, or a pattern of URLs, to forget; a whole store is a file to delete")
    bare = choosing.host_named(host)
    with choosing.chosen(work, Choice(host=bare, pattern=choosing.compiled(pattern))) as found:
        # An alias has no page of its own: without the link that has it, it would be done and never fetched.
        found += work.run(sql.add_aliases())
        lanes = work.rows(sql.chosen_by_lane())
        fetched = choosing.count_moved(work, None)
        work.run(sql.clear_duplicates())
        work.run(sql.delete_chosen())
    work.crawl.fetched -= fetched
    _lower(work, lanes)
    _drop_empty(work)
    if fetched:
        merging.recount(work)
    choosing.refresh(work, lanes)
    if bare is not None and pattern is None:
        _forget_host(work, bare)
    limits.settle(work)
    work.memory.outdate()
    return found


def _lower(work: Work, lanes: Sequence[Any]) -> None:
    """Hosts and subtrees have that many fewer."""
    work.run_many(
        sql.lower_host(),
        [
            {"the_host": row.host_id, "fetched": row.fetched, "leased": row.leased, "lanes": 0}
            for row in lanes
        ],
    )
    work.run_many(
        lanes_sql.count_fetched(), [{"the_part": row.subtree_id, "step": -row.fetched} for row in lanes]
    )


def _drop_empty(work: Work) -> None:
    """Lanes without links go, and parts without lanes with the leases that were counted there."""
    empty = work.rows(sql.empty_lanes())
    work.run_many(sql.delete_lane(), [{"the_lane": row.id} for row in empty])
    hosts = Counter(row.host_id for row in empty)
    work.run_many(
        sql.lower_host(),
        [
            {"the_host": host, "fetched": 0, "leased": 0, "lanes": count}
            for host, count in sorted(hosts.items())
        ],
    )
    parts = work.rows(sql.empty_parts())
    work.run_many(sql.delete_part(), [{"the_part": row.id} for row in parts])
    work.crawl.leases -= sum(row.scheduled for row in parts)
    work.crawl.revisits = min(work.crawl.revisits, work.crawl.leases)


def _forget_host(work: Work, name: str) -> None:
    """What it taught goes. Its row stays, with the rest it was promised: forgetting must not hurt a server."""
    known = work.first(lanes_sql.find_host(), name=name)
    if known is not None:
        work.run(sql.forget_host(), the_host=known.id)
    work.run(sql.forget_rules(), name=name)
    work.run(sql.forget_templates(), first=f"{name}/", beyond=f"{name}0")
