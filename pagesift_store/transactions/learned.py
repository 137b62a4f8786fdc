"""Writing back what was learned: the terms' statistics, the pairs', the link model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pagesift_store.storage.statements import crawl as sql

if TYPE_CHECKING:
    from pagesift_store.transactions.work import Work


def save_terms(work: Work) -> None:
    """Write the terms' rows."""
    work.run_many(
        sql.save_terms(),
        [
            {
                "the_bit": bit,
                "df": row.df,
                "occurrences": row.occurrences,
                "passages": row.passages,
                "evidence_pages": row.evidence_pages,
                "weight": row.weight,
            }
            for bit, row in enumerate(work.memory.term_rows)
        ],
    )


def save_pairs(work: Work) -> None:
    """Write the pairs' rows."""
    work.run_many(
        sql.save_pairs(),
        [
            {"the_bit": bit, "df": row.df, "occurrences": row.occurrences}
            for bit, row in enumerate(work.memory.pair_rows)
        ],
    )


def save_model(work: Work) -> None:
    """Write the link model."""
    posterior = work.memory.posterior
    work.run_many(
        sql.save_posterior(),
        [
            {"the_position": i, "mean": mean, "precision": precision, "weight": weight}
            for i, (mean, precision, weight) in enumerate(
                zip(posterior.mean, posterior.precision, (*posterior.used, None), strict=True)
            )
        ],
    )
