"""What several commands take."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .output import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = TypeVar("Command", bound=Callable[..., Any])

__all__ = [
    "form_option",
    "lines_options",
    "seconds",
    "seconds_or_forever",
    "store_argument",
    "worker_option",
]


def seconds(value: str | float) -> float:
    """The value of an option that is a number of seconds, 0 or more."""
    return _seconds(value, "a number of seconds, 0 or more")


def seconds_or_forever(value: str | float) -> float:
    """As `seconds`, or the word `forever`."""
    return math.inf if value == "forever" else _seconds(value, "a number of seconds, 0 or more, or forever")


def _seconds(value: str | float, wanted: str) -> float:
    try:
        found = float(value)
    except ValueError:
        found = math.nan
    if not 0 <= found < math.inf:
        raise click.BadParameter(f"{value!r} is not {wanted}")
    return found


def store_argument(command: Command) -> Command:
    """The store: a path, or `sqlite:///path`."""
    return click.argument("store")(command)


def worker_option(command: Command) -> Command:
    """Whose leases they are: a name, so that they outlive the process that took them."""
    return click.option(
        "--worker",
        envvar="PAGESIFT_WORKER",
        default="cli",
        show_default=True,
        metavar="NAME",
        help="Owner of the leases; they outlive this process. Also read from PAGESIFT_WORKER.",
    )(command)


def form_option(command: Command) -> Command:
    """How the answer is printed."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(FORMATS),
        default="table",
        show_default=True,
        help="table for people; json, jsonl or csv for machines, with every field.",
    )(command)


def lines_options(what: str) -> Callable[[Command], Command]:
    """Where the lines come from: a file, standard input, or, for a single one, an option."""

    def decorate(command: Command) -> Command:
        command = click.option(
            "--lease",
            "lease_text",
            metavar="JSON",
            help="One lease as `lease` printed it, in place of lines.",
        )(command)
        return click.option(
            "--file",
            "stream",
            type=click.File("rb"),
            default="-",
            show_default="standard input",
            help=f"Where to read {what} from, one JSON object per line.",
        )(command)

    return decorate
