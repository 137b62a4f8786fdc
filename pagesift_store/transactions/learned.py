"""Writing back what was learned: the terms' statistics, the pairs', the link model. Rows that did not change stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pagesift_store.storage.statements import crawl as sql

if TYPE_CHECKING:
    from pagesift_store.transactions.work import Work


def save_terms(work: Work) -> None:
    """Write the terms' rows."""
    before, memory = work.memory.stored_terms, work.memory
    memory.stored_terms = [row.stored() for row in memory.term_rows]
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
            for bit, (row, old, new) in enumerate(
                zip(memory.term_rows, before, memory.stored_terms, strict=True)
            )
            if new != old
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
    before, memory = work.memory.stored_model, work.memory
    memory.stored_model = memory.posterior.rows()
    work.run_many(
        sql.save_posterior(),
        [
            {"the_position": i, "mean": mean, "precision": precision, "weight": weight}
            for i, (old, (mean, precision, weight)) in enumerate(
                zip(before, memory.stored_model, strict=True)
            )
            if (mean, precision, weight) != old
        ],
    )
