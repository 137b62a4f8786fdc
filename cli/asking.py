"""What anyone may ask: status, dump and the group `inspect`. Nothing here writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.exceptions import Exit

from pagesift_store import upkeep
from pagesift_store.inspector import Inspector
from pagesift_store.settings import Settings

from . import wire
from .exits import code_of_end
from .options import form_option, store_argument
from .output import show_record, show_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["COMMANDS"]

_ALL = 1_000
"""Rows of a table whose length is bounded by itself."""


@click.command()
@store_argument
@form_option
def status(store: str, form: str) -> None:
    """Show where the crawl stands: links by state, what a worker should do now, why it ended.

    The exit code says the same to a script: 0 while it goes on, else 3, 4 or 5.
    """
    with Inspector.open(store) as inspector:
        found = inspector.status()
    show_record(wire.status_to_json(found), form)
    raise Exit(code_of_end(found.stop))


@click.command()
@store_argument
def dump(store: str) -> None:
    """Print every row that a resume must restore, one JSON object per line, in a fixed order.

    Two stores that went through the same give the same text. Left out are attempt numbers, lease owners and
    expiries, the id of the store and times.
    """
    with Inspector.open(store) as inspector:
        for row in inspector.dump():
            click.echo(wire.dumps(dict(row)))


@click.group("inspect")
def inspect_group() -> None:
    """Look into a store, while the crawl runs or afterwards."""


@inspect_group.command()
@store_argument
@form_option
def summary(store: str, form: str) -> None:
    """Show the crawl as a whole: status, totals, the settings that are not the defaults, how it ended last."""
    with Inspector.open(store) as inspector:
        record = wire.status_to_json(inspector.status())
        changed = Settings().differences(inspector.settings())
        last = inspector.last_stop()
        record["totals"] = inspector.totals()
    record["settings"] = {name: value for name, (_, value) in changed.items()}
    record["upkeep"] = {
        done.kind: {"at": done.at, "detail": dict(done.detail)} for done in upkeep.history(store)
    }
    record["last_stop"] = None if last is None else wire.stop_to_json(last)
    show_record(record, form)


@inspect_group.command()
@store_argument
@click.argument("url")
@form_option
def url(store: str, url: str, form: str) -> None:
    """Show everything about one URL: its score term by term, its history, why it is not being fetched."""
    with Inspector.open(store) as inspector:
        show_record(wire.explanation_to_json(inspector.explain(url)), form)


def _long(
    some: Callable[[Inspector, int | None], list[dict[str, Any]]],
) -> Callable[[Inspector, int | None], Iterable[dict[str, Any]]]:
    """A listing that may be longer than the memory: all of it is asked for row by row."""
    return lambda inspector, most: inspector.each(some.__name__) if most is None else some(inspector, most)


def _listing(
    name: str,
    ask: Callable[[Inspector, int | None], Iterable[dict[str, Any]]],
    columns: str,
    text: str,
    *,
    usual: int = 20,
) -> None:
    """Make a command of the group that prints one of the inspector's listings.

    Args:
        name: of the command.
        ask: the rows, so many at most; None: all.
        columns: those of the table.
        text: what it shows.
        usual: rows of a table when nothing else is asked for.
    """

    @store_argument
    @form_option
    @click.option(
        "--limit",
        type=click.IntRange(min=0),
        help=f"Rows at most; 0: all.  [default: {usual} in a table, else all]",
    )
    def command(store: str, form: str, limit: int | None) -> None:
        with Inspector.open(store) as inspector:
            show_rows(lambda most: ask(inspector, most), columns.split(), form, limit, usual)

    inspect_group.command(name, help=text)(command)


_listing(
    "queue",
    _long(Inspector.queue),
    "id score url depth subtree ready_at",
    "List the best queued links, best first, the rests of their hosts and the rules of order left aside.",
)
_listing(
    "parts",
    _long(Inspector.parts),
    "kind key pages hits lower upper verdict scheduled",
    "List the parts of the site by pages fetched: hits, the interval of their share, dry or proven.",
)
_listing(
    "terms",
    lambda inspector, most: inspector.terms()[:most],
    "word stem df occurrences passages evidence_pages weight",
    "List the terms of the query: how common each is, and its weight in use.",
    usual=_ALL,
)
_listing(
    "model",
    lambda inspector, most: inspector.model()[:most],
    "feature mean deviation weight",
    "List what the link model has learned of each feature, and the weights in use.",
    usual=_ALL,
)
_listing(
    "hosts",
    _long(Inspector.hosts),
    "name pages in_flight delay ready_at blocked_until failures robots_status note",
    "List the hosts by pages fetched, with their politeness.",
)
_listing(
    "blocks",
    _long(Inspector.blocks),
    "pattern",
    "List the patterns of URLs that were blocked.",
    usual=_ALL,
)
_listing(
    "leases",
    _long(Inspector.leases),
    "id url attempt owner pid expires",
    "List what is leased, to whom, until when.",
)
_listing(
    "pages",
    _long(Inspector.pages),
    "fetched_at status relevance hit url title error",
    "List the latest fetches, latest first.",
)
_listing(
    "refusals",
    lambda inspector, most: inspector.refusals()[:most],
    "reason refused example",
    "List why URLs were refused, how often, and one example each.",
    usual=_ALL,
)
_listing(
    "templates",
    _long(Inspector.templates),
    "text fetched repeated demoted",
    "List the templates of URLs by how often their pages repeat.",
)

_listing(
    "traps",
    lambda inspector, most: inspector.traps()[:most],
    "kind what count evidence",
    "List what kept the crawl out of traps: URLs refused as marks of one, templates that repeat themselves and come "
    "last, learned rewrite rules, links with an `&amp;` that nobody decoded.",
    usual=_ALL,
)

COMMANDS = (status, dump, inspect_group)
