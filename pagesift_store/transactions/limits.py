"""Limits on the pages of a host or of a part: leased links count, and they hold over any number of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

from pagesift_store.storage.statements import limits as sql
from pagesift_store.storage.statements import revisits as revisits_sql

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pagesift_store.settings import Settings
    from pagesift_store.storage.prepared import Runner
    from pagesift_store.transactions.work import Work

UNLIMITED = 2**62
"""No limit, as a number that statements can compare with."""


class Caps(NamedTuple):
    """Pages at most, of one host and of one subtree."""

    host: int
    part: int

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Those of the settings."""
        host, part = settings.max_pages_per_host, settings.max_pages_per_part
        return cls(UNLIMITED if host is None else host, UNLIMITED if part is None else part)

    def leased(self, runner: Runner) -> dict[int, int]:
        """Leases out by subtree, where subtrees are limited: they count as if they were fetched."""
        if self.part == UNLIMITED:
            return {}
        return {row.subtree_id: row.links for row in runner.rows(revisits_sql.leased_by_subtree())}


NOTHING_NEW = Caps(0, 0)
"""Only pages that were fetched before may be leased."""


def shut_full(work: Work, host_id: int, subtree_id: int) -> None:
    """A page was fetched: once its host or its subtree has all it may have, their lanes leave the walk."""
    caps = Caps.of(work.settings)
    if caps.host != UNLIMITED:
        work.run(sql.shut_host(), the_host=host_id, most=caps.host)
    if caps.part != UNLIMITED:
        work.run(sql.shut_part(), the_part=subtree_id, most=caps.part)


def shut_new(work: Work, lanes: Sequence[int]) -> None:
    """Lanes were made: they are shut from the start where their host or their subtree is full."""
    caps = Caps.of(work.settings)
    if caps != (UNLIMITED, UNLIMITED):
        most = {"most_of_host": caps.host, "most_of_part": caps.part}
        work.run_many(sql.settle_lane(), [{"the_lane": lane, **most} for lane in lanes])


def settle(work: Work) -> None:
    """Shut and open every lane anew, after limits or counts were changed by hand."""
    caps = Caps.of(work.settings)
    work.run(sql.settle_lanes(), most_of_host=caps.host, most_of_part=caps.part)


def unsettled(work: Work) -> Sequence[Any]:
    """Lanes that are shut or open against the limits."""
    caps = Caps.of(work.settings)
    return work.rows(sql.unsettled_lanes(), most_of_host=caps.host, most_of_part=caps.part)
