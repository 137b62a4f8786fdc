"""Looking after a store: check, backup, restore, vacuum, export, import, migrate."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO

import click
from click.exceptions import Exit

from pagesift_store import upkeep
from pagesift_store.errors import PagesiftError
from pagesift_store.storage import schema

from . import wire
from .exits import Code
from .options import form_option, store_argument
from .output import show_rows

__all__ = ["COMMANDS"]


@click.command()
@store_argument
@click.option("--repair", is_flag=True, help="Put right what can be recomputed, in one transaction.")
@click.option("--all-keys", is_flag=True, help="Make the key of every link anew, not of 20,000 only.")
@form_option
def check(store: str, repair: bool, all_keys: bool, form: str) -> None:
    """Hold a store against itself: the file, references, states, every counter, heads, scores, keys.

    What is found is listed, and with --repair what was changed. Links that today's URL rules would refuse are listed
    too; they are no fault. The exit code is 9 when a fault is left.
    """
    checked = upkeep.check(store, repair=repair, all_keys=all_keys)
    rows = [asdict(finding) for finding in checked.findings]
    if form == "table" and not rows:
        click.echo(f"sound: {checked.links} links, the keys of {checked.keys} made anew")
    else:
        show_rows(lambda most: rows[:most], ["fault", "where", "message", "mended"], form, 0, len(rows))
    raise Exit(Code.OK if checked.sound else Code.UNSOUND)


@click.command()
@store_argument
@click.argument("target")
@click.option(
    "--keep",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="Older backups that stay, as TARGET.1 (the latest), TARGET.2, …",
)
def backup(store: str, target: str, keep: int) -> None:
    """Copy a store, in use or not, and read the copy back before it gets its name.

    What was at TARGET becomes TARGET.1. A copy that fails its test leaves all older ones as they were.
    """
    click.echo(wire.dumps(asdict(upkeep.backup(store, target, keep=keep))))


@click.command()
@click.argument("backup_file", metavar="BACKUP")
@store_argument
@click.option("--yes", is_flag=True, help="Overwrite the store that is there, without asking.")
def restore(backup_file: str, store: str, yes: bool) -> None:
    """Put a backup in the place of a store, after reading it from end to end.

    A damaged backup is refused, and the one before it named. Leases taken before are refused afterwards.
    """
    force = Path(store).exists()
    if force and not yes:
        click.confirm(f"{store} holds {_content(store)}. Overwrite it?", abort=True, err=True)
    click.echo(wire.dumps(asdict(upkeep.restore(backup_file, store, force=force))))


def _content(store: str) -> str:
    try:
        links, pages = upkeep.content(store)
    except PagesiftError as error:
        return f"what cannot be read ({error})"
    return f"{links} links and {pages} fetches"


@click.command()
@store_argument
@click.option(
    "--full", is_flag=True, help="Write the file anew: needs up to twice its size, and others wait."
)
def vacuum(store: str, full: bool) -> None:
    """Give free pages of the file back to the disk; `status` shows how much they hold."""
    click.echo(wire.dumps(asdict(upkeep.vacuum(store, full=full))))


@click.command("export")
@store_argument
def export_command(store: str) -> None:
    """Print a store as JSON lines: everything but leases, in a form that knows nothing of SQLite.

    The last line counts the rows and holds their digest, so that `import` knows a whole export.
    """
    for line in upkeep.export_lines(store):
        click.echo(line)


@click.command("import")
@store_argument
@click.option(
    "--file",
    "stream",
    type=click.File("rb"),
    default="-",
    show_default="standard input",
    help="Where to read the export from.",
)
def import_command(store: str, stream: BinaryIO) -> None:
    """Make a store of an export, whole or not at all; links that were leased are queued."""
    click.echo(wire.dumps({"store": store, "rows": upkeep.import_lines(stream, store)}))


@click.command()
@store_argument
def migrate(store: str) -> None:
    """Bring a store of an older release up to this one."""
    applied = schema.migrate(store)
    click.echo(wire.dumps({"store": store, "schema": schema.HEAD, "applied": applied}))


COMMANDS = (check, backup, restore, vacuum, export_command, import_command, migrate)
