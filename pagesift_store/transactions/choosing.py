"""Which links an operator's act is about: by host, pattern of the URL, state, words of the reason."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from pagesift_store.errors import InvalidValue
from pagesift_store.records import LinkState
from pagesift_store.storage.statements import acts as sql
from pagesift_store.transactions import moves
from pagesift_store.urls.parts import bare_host
from pagesift_store.urls.reading import read

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from typing import Any

    from pagesift_store.transactions.work import Work

BATCH = 5_000
"""Links that are looked at in one go."""


class Choice(NamedTuple):
    """What a link must be to be chosen.

    Attributes:
        host: host of its URL, as `bare_host` gives it; None: any.
        pattern: matches somewhere in its URL; None: any URL.
        states: one of these.
        reason: stands somewhere in its reason; None: any, or none.
        unless: none of these matches in its URL.
    """

    host: str | None = None
    pattern: re.Pattern[str] | None = None
    states: Collection[str] = frozenset(LinkState)
    reason: str | None = None
    unless: Sequence[re.Pattern[str]] = ()

    def takes(self, row: Any) -> bool:
        """Whether a link is chosen."""
        return (
            row.state in self.states
            and (self.reason is None or self.reason in (row.reason or ""))
            and (self.pattern is None or self.pattern.search(row.url) is not None)
            and not any(pattern.search(row.url) for pattern in self.unless)
            and (self.host is None or bare_host(read(row.url).host) == self.host)
        )


def host_named(name: str | None) -> str | None:
    """A host as anyone would write it, in the form that `Choice` compares.

    Raises:
        InvalidUrl: it is no host name.
    """
    return None if name is None else bare_host(read(name if "://" in name else f"http://{name}/").host)


def compiled(pattern: str | None) -> re.Pattern[str] | None:
    """A regular expression about URLs.

    Raises:
        InvalidValue: it is none.
    """
    if pattern is None:
        return None
    try:
        return re.compile(pattern)
    except (re.error, TypeError) as error:
        raise InvalidValue(f"pattern={pattern!r} is not a regular expression: {error}") from error


@contextmanager
def chosen(work: Work, choice: Choice) -> Iterator[int]:
    """Put the chosen links into the table of the statements in `acts`; gives their number."""
    sql.chosen.create(work.connection)
    try:
        yield _fill(work, choice)
    finally:
        sql.chosen.drop(work.connection)


def _fill(work: Work, choice: Choice) -> int:
    after = found = 0
    while rows := work.rows(sql.links_after(), after=after, most=BATCH):
        taken = [{"id": row.id} for row in rows if choice.takes(row)]
        work.run_many(sql.add_chosen(), taken)
        found += len(taken)
        after = rows[-1].id
    return found


def count_moved(work: Work, after: LinkState | None) -> int:
    """Count the chosen links out of their states, before they leave them; returns how many of them were fetched."""
    fetched = 0
    for row in work.rows(sql.chosen_by_state()):
        work.moved(LinkState(row.state), after, row.links)
        fetched += row.fetched
    return fetched


def free_hosts(work: Work, lanes: Collection[Any]) -> None:
    """The leases of the chosen links no longer hold a place; `lanes`: rows of `chosen_by_lane`."""
    work.run_many(
        sql.lower_host(),
        [
            {"the_host": row.host_id, "fetched": 0, "leased": row.leased, "lanes": 0}
            for row in lanes
            if row.leased
        ],
    )


def refresh(work: Work, lanes: Collection[Any]) -> None:
    """Find the heads of the lanes anew that chosen links left or joined."""
    moves.refresh_heads(work, (row.id for row in lanes))
