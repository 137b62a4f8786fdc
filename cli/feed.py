"""Work that comes in by lines: each line is one transaction and gets one line of answer."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any, TypeVar

import click
from click.exceptions import Exit

from pagesift_store.errors import LeaseLost, PagesiftError

from . import wire
from .exits import Code, complain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pagesift_store.records import Lease

__all__ = ["answer", "only", "records"]

Item = TypeVar("Item")

_BOM = b"\xef\xbb\xbf"


def records(stream: IO[bytes], read: Callable[[Any], Item]) -> Iterator[tuple[str, Item]]:
    """The lines of a stream with their places; empty lines are skipped.

    Raises:
        InvalidValue: what stands in a line is not what is expected; a note has the line's number.
    """
    for number, line in enumerate(stream, 1):
        text = line.removeprefix(_BOM) if number == 1 else line
        if not text.strip():
            continue
        place = f"line {number}"
        try:
            item = read(wire.parse(text))
        except PagesiftError as error:
            error.add_note(place)
            raise
        yield place, item


def only(option: str, text: str, read: Callable[[Any], Item]) -> tuple[str, Item]:
    """The one record that an option gives, in the form of `records`."""
    try:
        return option, read(wire.parse(text))
    except PagesiftError as error:
        error.add_note(option)
        raise


def answer(
    items: Iterable[tuple[str, Item]],
    lease_of: Callable[[Item], Lease],
    act: Callable[[Item], dict[str, Any]],
) -> None:
    """Do each item and print what became of it.

    A lost lease belongs to its own line: the answer says so and the next line follows. Anything else that is wrong
    ends the work there; all lines before are recorded, none after is read.

    Raises:
        Exit: with `Code.LEASE_LOST` when a lease was lost.
        PagesiftError: noted with its line.
    """
    lost = False
    for place, item in items:
        try:
            result = act(item)
        except LeaseLost as error:
            error.add_note(place)
            complain(error)
            lost = True
            lease = lease_of(item)
            result = {
                "link_id": lease.link_id,
                "url": lease.url,
                "error": type(error).__name__,
                "message": str(error),
            }
        except PagesiftError as error:
            error.add_note(place)
            raise
        click.echo(wire.dumps(result))
    if lost:
        raise Exit(Code.LEASE_LOST)
