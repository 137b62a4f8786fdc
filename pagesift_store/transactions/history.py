"""The fetch history: one row for each outcome that was reported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pagesift_store.storage.statements import pages as sql

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pagesift_store.transactions.work import Work


def add(work: Work, row: Any, digest: bytes, columns: Mapping[str, Any]) -> None:
    """Write one more outcome of a link.

    Most outcomes lack a third of the columns. For a NULL, a bool or bytes the driver looks for an adapter, which takes
    ten times as long as to bind a number or a bytearray.

    Args:
        work: the transaction.
        row: the link as it was leased.
        digest: of the outcome as reported.
        columns: what is known besides; None is left out. Flags are best 0 or 1.
    """
    told = {name: value for name, value in columns.items() if value is not None}
    told |= {
        "link_id": row.id,
        "attempt": row.attempt,
        "digest": bytearray(digest),
        "fetched_at": work.now,
    }
    work.run(sql.add_page(tuple(told)), **told)
