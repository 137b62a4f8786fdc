"""Which fetched pages are visited again, after an operator changed it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pagesift_store.focus.revisit import FIRST_INTERVAL
from pagesift_store.records import LinkState
from pagesift_store.storage.statements import acts as acts_sql
from pagesift_store.storage.statements import watches as sql
from pagesift_store.transactions import choosing, moves, scoring
from pagesift_store.transactions.admission import check_revisit
from pagesift_store.transactions.choosing import Choice

if TYPE_CHECKING:
    from pagesift_store.transactions.work import Work


def follow_settings(work: Work) -> None:
    """The setting `revisit` changed: what was fetched waits for its next visit, or is done for good."""
    states = {LinkState.DONE, LinkState.WAITING}
    follow(work, Choice(states=states, unless=work.memory.rules.blocked))


def follow(work: Work, choice: Choice) -> int:
    """The chosen pages wait for the visit that is laid down for them, or are done; returns how many more wait."""
    before: int = work.crawl.waiting
    with choosing.chosen(work, choice):
        _settle(work)
    return int(work.crawl.waiting) - before


def set_revisit(work: Work, every: float | None, *, host: str | None, pattern: str | None) -> int:
    """The body of `Frontier.set_revisit`."""
    every = check_revisit(every)
    blocked = work.memory.rules.blocked
    choice = Choice(host=choosing.host_named(host), pattern=choosing.compiled(pattern))
    with choosing.chosen(work, choice) as found:
        work.run(sql.set_revisit(), revisit=every)
        if not blocked:
            _settle(work)
    if blocked:  # they have their interval, and wait for a visit once they are unblocked
        follow(work, choice._replace(unless=blocked))
    return found


def _settle(work: Work) -> None:
    """Of the chosen links, those that were fetched wait or are done, as it is laid down for them now."""
    settings = work.settings
    lanes = work.rows(acts_sql.chosen_by_lane())
    first = min(max(FIRST_INTERVAL, settings.revisit_min), settings.revisit_max)
    watched = {"watched": int(settings.revisit)}
    done = work.run(sql.end(), **watched)
    work.moved(LinkState.WAITING, LinkState.DONE, done)
    begun = work.run(sql.begin(), **watched, now=work.now, first=first)
    work.moved(LinkState.DONE, LinkState.WAITING, begun)
    work.run(sql.move_due(), now=work.now)
    moves.refresh_heads(work, (row.id for row in lanes))
    if begun:
        scoring.rescore_revived(work)
