"""What an operator does: recover, rescore, configure, rekey, hosts, blocks, requeue, forget."""

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
@click.option("--group", metavar="NAME", help="What it shares delay, places and limits with from now on.")
@click.option(
    "--reset",
    multiple=True,
    type=click.Choice(["delay", "blocked-until", "max-in-flight", "group"]),
    help="Back to what holds for any host; may be repeated.",
)
def set_host(store: str, host: str, reset: tuple[str, ...], **changes: Any) -> None:
    """Set how a host is treated; what is not given stays as it is."""
    if not reset and all(value is None for value in changes.values()):
        raise click.UsageError("give --delay, --blocked-until, --max-in-flight, --group or --reset")
    changes["reset"] = [name.replace("-", "_") for name in reset]
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


@click.command()
@store_argument
@click.argument("host", required=False)
@click.option("--pattern", metavar="REGEX", help="In place of a host: URLs in which it is found.")
@click.option("--until", type=seconds, metavar="TIME", help="When a host's block ends (UTC epoch seconds).")
def block(store: str, host: str | None, pattern: str | None, until: float | None) -> None:
    """Fetch nothing more of a host, or no URL that matches; acts on a crawl that is going on.

    A host's links stay in their places. Unfinished links that match a pattern are skipped, and later finds refused.
    """
    with Frontier.open(store) as frontier:
        changed = frontier.block(host, pattern=pattern, until=until)
        click.echo(wire.dumps({"host": host, "pattern": pattern, "changed": changed}))


@click.command()
@store_argument
@click.argument("host", required=False)
@click.option("--pattern", metavar="REGEX", help="In place of a host: a pattern that was blocked.")
def unblock(store: str, host: str | None, pattern: str | None) -> None:
    """Take a block back; what a pattern skipped is queued again."""
    with Frontier.open(store) as frontier:
        changed = frontier.unblock(host, pattern=pattern)
        click.echo(wire.dumps({"host": host, "pattern": pattern, "changed": changed}))


@click.command()
@store_argument
@click.option("--reason", metavar="TEXT", help="Words that stand in their reason: timeout, `status 404`.")
@click.option("--host", help="Host of their URLs.")
@click.option("--pattern", metavar="REGEX", help="Found in their URLs.")
@click.option(
    "--state", type=click.Choice(["dead", "skipped"]), default="dead", show_default=True, help="Which links."
)
def requeue(store: str, **choice: Any) -> None:
    """Give links another chance that were given up, all of them or those chosen."""
    with Frontier.open(store) as frontier:
        click.echo(wire.dumps({"requeued": frontier.requeue(**choice)}))


@click.command()
@store_argument
@click.argument("host", required=False)
@click.option("--pattern", metavar="REGEX", help="Found in their URLs.")
@click.option("--dry-run", is_flag=True, help="Say how many there are, delete nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def forget(store: str, host: str | None, pattern: str | None, dry_run: bool, yes: bool) -> None:
    """Delete links with their pages: those of a host, or those whose URLs match.

    What the crawl learned from them stays, and so does how their hosts are treated. Found again, they are new links;
    to keep them out, block them.
    """
    with Frontier.open(store) as frontier:
        if not dry_run and not yes:
            found = frontier.forget(host, pattern=pattern, dry_run=True)
            click.confirm(f"delete {found} links with their pages?", abort=True, err=True)
        deleted = frontier.forget(host, pattern=pattern, dry_run=dry_run)
        click.echo(wire.dumps({"forgotten": deleted, "dry_run": dry_run}))


@click.command("set-revisit")
@store_argument
@click.argument("every", metavar="SECONDS|never|default")
@click.option("--host", help="Links of this host only.")
@click.option("--pattern", metavar="REGEX", help="Links only in whose URLs it is found.")
def set_revisit(store: str, every: str, host: str | None, pattern: str | None) -> None:
    """Set how often known links are visited, whatever the setting `revisit` says."""
    interval = {"never": 0.0, "default": None}[every] if every in ("never", "default") else seconds(every)
    with Frontier.open(store) as frontier:
        click.echo(wire.dumps({"changed": frontier.set_revisit(interval, host=host, pattern=pattern)}))


@click.command()
@store_argument
def resume(store: str) -> None:
    """Go on after a stop rule ended the crawl: its counters start anew."""
    with Frontier.open(store) as frontier:
        click.echo(wire.dumps({"changed": frontier.resume()}))


COMMANDS = (
    recover,
    rescore,
    configure,
    rekey,
    set_host,
    set_robots,
    set_revisit,
    block,
    unblock,
    requeue,
    forget,
    resume,
)
