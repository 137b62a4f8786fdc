"""The weights in use, and the one UPDATE that brings every score to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pagesift_store.focus.score import Weights, coverage_by_bits, score
from pagesift_store.focus.weights import term_weights
from pagesift_store.storage.statements import lanes as lanes_sql
from pagesift_store.storage.statements import links as links_sql
from pagesift_store.transactions.learned import save_terms

if TYPE_CHECKING:
    from pagesift_store.transactions.work import Work


def current_term_weights(work: Work) -> tuple[float, ...]:
    """What the terms weigh by the pages seen so far."""
    return term_weights(work.crawl.texts, [row.df for row in work.memory.term_rows])


def drifted(work: Work) -> bool:
    """Whether some term weight has moved away from the one in use by `rescore_drift` or more; at 0, at all."""
    limit = work.settings.rescore_drift
    moves = [
        abs(now - row.weight)
        for now, row in zip(current_term_weights(work), work.memory.term_rows, strict=True)
    ]
    return any(move >= limit if limit > 0 else move > 0 for move in moves)


def rescore(work: Work, *, every: bool = False) -> int:
    """Use the current weights from now on: one UPDATE of the link table, one of the lanes' heads.

    Args:
        work: the transaction.
        every: look at links as well that the change of the weights cannot have reached.

    Returns:
        Rows of the link table that changed.
    """
    memory = work.memory
    for now, row in zip(current_term_weights(work), memory.term_rows, strict=True):
        row.weight = now
    save_terms(work)
    before = None if every else memory.weights
    memory.use(Weights.of(memory.posterior.used, [row.weight for row in memory.term_rows]))
    changed = _update(work, before)
    work.crawl.rescores += 1
    work.crawl.rescored += changed
    return changed


def rescore_revived(work: Work) -> None:
    """Links came back that no rescore has reached while they were finished: score them with the weights in use."""
    _update(work, None)


def _update(work: Work, before: Weights | None) -> int:
    """The two UPDATEs; `before` as for `links.rescore`."""
    statement = links_sql.rescore(score, coverage_by_bits, work.memory.weights, before=before)
    changed = work.connection.execute(statement).rowcount
    if changed:
        work.run(lanes_sql.refresh_all_heads())
    return changed
