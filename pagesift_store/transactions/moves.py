"""Links that change their state, and what has to change along with them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from pagesift_store.records import LinkState
from pagesift_store.storage.statements import lanes as lanes_sql
from pagesift_store.storage.statements import links as links_sql
from pagesift_store.transactions import aside, limits

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pagesift_store.transactions.work import Work

MOST_WOKEN = 10_000
"""Waiting links that one lease wakes at most; the next lease wakes the rest."""


def give_back(work: Work, held: Sequence[Any]) -> int:
    """Leased links go back to their places, as if they had never been leased; returns how many.

    The host's free place and the cluster's count come back too; its ready time stays, because the server may well
    have been asked.

    Args:
        work: the transaction.
        held: rows with `id`, `lane_id`, `host_id`, `cluster_id`, `visits`, `due_at`.
    """
    again = [row for row in held if row.visits and row.due_at is not None]
    work.run_many(links_sql.wait_again(), [{"the_id": row.id} for row in again])
    work.moved(LinkState.LEASED, LinkState.WAITING, len(again))
    new = [row for row in held if row not in again]
    work.run_many(links_sql.queue_again(), [{"the_id": row.id} for row in new])
    work.moved(LinkState.LEASED, LinkState.QUEUED, len(new))
    for row in held:
        work.run(lanes_sql.vacate(), the_host=row.host_id, places=1, visited=0, keep=1)
    work.crawl.leases -= len(held)
    work.crawl.revisits -= sum(row.visits > 0 for row in held)
    clusters = Counter(row.cluster_id for row in held)
    for cluster, count in sorted(clusters.items()):
        if aside.schedule(work, cluster, -count):
            aside.mark_spent(work, [cluster], spent=False)
    refresh_heads(work, (row.lane_id for row in held))
    return len(held)


def free_expired(work: Work) -> int:
    """Leases whose time has run out go back; returns how many."""
    if not work.crawl.leased:
        return 0
    return give_back(work, work.rows(links_sql.expired_links(), now=work.now))


def wake_due(work: Work) -> int:
    """Links whose time for another try has come are queued again; returns how many.

    Pages that are due for another visit stay where they are: they are leased from there.
    """
    if not work.crawl.waiting:
        return 0
    due = work.rows(links_sql.due_links(), now=work.now, most=MOST_WOKEN)
    work.run_many(links_sql.queue_again(), [{"the_id": row.id} for row in due])
    work.moved(LinkState.WAITING, LinkState.QUEUED, len(due))
    refresh_heads(work, (row.lane_id for row in due))
    return len(due)


def refresh_heads(work: Work, lanes: Iterable[int]) -> None:
    """Find the heads of some lanes anew, and what is to be visited again first."""
    work.run_many(lanes_sql.refresh_head(), [{"the_lane": lane} for lane in sorted(set(lanes))])


def leave(work: Work, row: Any, *, answered: bool = False, visited: bool = False) -> None:
    """Take a link out of its state, before it is given another: its host has a place free.

    Args:
        work: the transaction.
        row: the link as it was read, with its lane's `host_id` and `subtree_id`.
        answered: the host answered, so its row of failures ends.
        visited: a page was fetched for the first time.
    """
    work.moved(LinkState(row.state), None)
    if row.state == LinkState.QUEUED:
        # A late report: until its outcome is written, the links of its own page must not push it out of a full queue.
        work.run(links_sql.set_aside(), the_id=row.id)
    places = int(row.state == LinkState.LEASED)
    if places or answered or visited:
        work.run(
            lanes_sql.vacate(),
            the_host=row.host_id,
            places=places,
            visited=int(visited),
            keep=int(not answered),
        )
    if visited:
        work.run(lanes_sql.count_fetched(), the_part=row.subtree_id, step=1)
        limits.shut_full(work, row.host_id, row.subtree_id)
