"""Lanes that come last: those of dry subtrees, and those of clusters that have had their leases without a hit.

A crawl of weeks leaves thousands of them behind, most of them with better scores than what is worth a fetch. They are
marked, so that a lease does not pass them by.

Whether a cluster is spent changes with its own counts only, and is marked at once. Whether a subtree is dry depends on
all the others too: it is marked when a lease meets it, and every lease looks first whether one that is marked is dry no
more. Of those with as many hits it is enough to look at the one with the fewest pages: more pages without a hit lower
its own upper bound and raise the lower bound of the rest, so the others are dry if that one is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pagesift_store.focus.harvest import is_dry
from pagesift_store.focus.order import Harvest
from pagesift_store.storage.statements import checks as checks_sql
from pagesift_store.storage.statements import lanes as lanes_sql
from pagesift_store.storage.statements import leases as sql

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pagesift_store.storage.prepared import Runner
    from pagesift_store.transactions.work import Work


def read_dry(runner: Runner) -> list[Harvest]:
    """Of the subtrees that are marked dry, by hits, the harvest with the fewest pages."""
    return [Harvest(*row) for row in runner.rows(sql.dry_harvests())]


def review(work: Work) -> None:
    """Take the marks from subtrees that are no longer dry."""
    memory = work.memory
    if memory.dry is None:
        memory.dry = read_dry(work)
    turned = [harvest for harvest in memory.dry if not is_dry(*harvest, *work.total, work.settings.delta)]
    for harvest in turned:
        for row in work.rows(sql.dry_subtrees(), the_hits=harvest.hits):
            if is_dry(row.pages, row.hits, *work.total, work.settings.delta):
                break
            _mark(work, row.id, dry=False)


def mark_dry(work: Work, subtrees: Iterable[int]) -> None:
    """Mark subtrees that a lease found dry."""
    for subtree in sorted(subtrees):
        _mark(work, subtree, dry=True)


def _mark(work: Work, subtree: int, *, dry: bool) -> None:
    work.run(lanes_sql.mark_subtree(), the_part=subtree, is_dry=int(dry))
    work.run(lanes_sql.mark_dry(), the_part=subtree, is_dry=int(dry))
    work.memory.dry = None


def give(work: Work, cluster: int, hits: int, before: int) -> bool:
    """Count a lease given in a cluster that has so many hits and had so many leases; returns whether that spends it."""
    work.run(lanes_sql.schedule(), the_part=cluster, step=1)
    return not hits and before + 1 == work.settings.cluster_cap


def schedule(work: Work, cluster: int, step: int) -> bool:
    """Count leases given in a cluster, or come back; returns whether that has spent it, or not any more."""
    cap = work.settings.cluster_cap
    found = work.first(lanes_sql.scheduled(), the_part=cluster, step=step)
    if found is None or found.hits:  # none: a broken reference, which the check tells
        return False
    return bool((found.scheduled >= cap) != (found.scheduled - step >= cap))


def mark_spent(work: Work, clusters: Iterable[int], *, spent: bool = True) -> None:
    """Mark the lanes of clusters that leases have spent, or that are not so any more."""
    work.run_many(
        lanes_sql.mark_spent(), [{"the_part": part, "is_spent": int(spent)} for part in sorted(clusters)]
    )


def settle(work: Work) -> None:
    """Mark every lane anew, after counts or settings were changed by hand: dry ones as leases meet them."""
    work.run(lanes_sql.forget_dry())
    work.run(lanes_sql.settle_marks(), cluster_cap=work.settings.cluster_cap)
    work.memory.dry = None


def unsettled(work: Work) -> Sequence[Any]:
    """Lanes whose marks are not those of their parts."""
    return work.rows(checks_sql.wrong_marks(), cluster_cap=work.settings.cluster_cap)
