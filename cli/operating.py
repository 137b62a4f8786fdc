"""What an operator does: recover, rescore, configure, rekey, set-host, set-robots."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from pagesift_store.frontier import Frontier
from pagesift_store.inspector import Inspector

from . import wire
from .options import form_option, seconds, seconds_or_forever, store_argument
from .output import show_record
from .settings import assignments

__all__ = ["COMMANDS"]


@click.command()
@store_argument
@click.option(
    "--worker",
    envvar="PAGESIFT_WORKER",
    metavar="NAME",
    help="All leases of this owner. Also read from PAGESIFT_WORKER.",
)
def recover(store: str, worker: str | None) -> None:
    """Give back leases now, expired or not.

    Without a worker: those of processes that are provably gone.
    """
    with Frontier.open(store) as frontier:
        click.echo(wire.dumps({"recovered": frontier.recover(worker)}))


@click.command()
@store_argument
def rescore(store: str) -> None:
    """Rescore every unfinished link with the current weights, by one UPDATE."""
    with Frontier.open(store) as frontier:
        click.echo(wire.dumps({"rescored": frontier.rescore()}))


@click.command()
@store_argument
@click.argument("pairs", nargs=-1, metavar="[NAME=VALUE]...")
@form_option
def configure(store: str, pairs: tuple[str, ...], form: str) -> None:
    """Change operational settings, for this and every later run; without any, show all settings."""
    if pairs:
        with Frontier.open(store) as frontier:
            settings = frontier.configure(**assignments(pairs))
    else:
        with Inspector.open(store) as inspector:
            settings = inspector.settings()
    show_record(asdict(settings), form)


@click.command()
@store_argument
@click.argument("preset", type=click.Choice(["strict", "standard", "loose"]))
@click.option("--dry-run", is_flag=True, help="Say what would be merged, change nothing.")
def rekey(store: str, preset: str, dry_run: bool) -> None:
    """Move a store to other key rules: what is one page now becomes one link."""
    with Frontier.open(store) as frontier:
        click.echo(wire.dumps(asdict(frontier.rekey(preset, dry_run=dry_run))))


@click.command("set-host")
@store_argument
@click.argument("host")
@click.option("--delay", type=seconds, metavar="SECONDS", help="Between two leases; at most 300.")
@click.option(
    "--blocked-until",
    type=seconds_or_forever,
    metavar="TIME|forever",
    help="No lease before this time (UTC epoch seconds); 0 lifts a block.",
)
@click.option("--max-in-flight", type=int, help="Leases at a time.")
def set_host(store: str, host: str, **changes: Any) -> None:
    """Set how a host is treated; what is not given stays as it is."""
    if all(value is None for value in changes.values()):
        raise click.UsageError("give --delay, --blocked-until or --max-in-flight")
    with Frontier.open(store) as frontier:
        click.echo(wire.dumps({"host": host, "changed": frontier.set_host(host, **changes)}))


@click.command("set-robots")
@store_argument
@click.argument("host")
@click.option("--status", type=click.IntRange(100, 599), help="HTTP status of its robots.txt.")
@click.option("--no-answer", is_flag=True, help="There was none: time-out, no connection.")
@click.option(
    "--crawl-delay",
    type=seconds,
    metavar="SECONDS",
    help="Seconds between two fetches, as it asks; clamped to 300.",
)
def set_robots(store: str, host: str, status: int | None, no_answer: bool, crawl_delay: float | None) -> None:
    """Record the outcome of a host's robots.txt; one that could not be had defers the host."""
    if (status is None) != no_answer:
        raise click.UsageError("give either --status or --no-answer")
    with Frontier.open(store) as frontier:
        click.echo(wire.dumps({"host": host, "changed": frontier.set_robots(host, status, crawl_delay)}))


COMMANDS = (recover, rescore, configure, rekey, set_host, set_robots)
