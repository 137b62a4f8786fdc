"""How the command ends: exit codes, and the one place that turns an error into a line and a code."""

from __future__ import annotations

import contextlib
import os
import sys
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import click
from click.exceptions import Exit

from pagesift_store.errors import LeaseLost, PagesiftError, SchemaTooNew, SchemaTooOld, StoreBusy
from pagesift_store.records import StopReason

from .text import one_line

if TYPE_CHECKING:
    from pagesift_store.records import Stop

__all__ = ["MEANINGS", "Code", "Program", "code_of_end", "complain"]


class Code(IntEnum):
    """Exit codes; `MEANINGS` says what each tells the caller."""

    OK = 0
    ERROR = 1
    USAGE = 2
    FINISHED = 3
    LIMIT = 4
    STOPPED = 5
    BUSY = 6
    SCHEMA = 7
    LEASE_LOST = 8
    UNSOUND = 9
    INTERRUPTED = 130
    PIPE = 141


MEANINGS = {
    Code.OK: "done. `status`, `lease`: there is something to fetch, now or later",
    Code.ERROR: "an error without a code of its own, named in one line on standard error; with a traceback, a bug",
    Code.USAGE: "the command line is wrong",
    Code.FINISHED: "`status`, `lease`: finished, nothing is left to fetch",
    Code.LIMIT: "`status`, `lease`: the limit on pages is reached",
    Code.STOPPED: "`status`, `lease`: a stop rule holds (only where the setting `adaptive` is on)",
    Code.BUSY: "another process kept the store locked for too long; nothing was written, try again",
    Code.SCHEMA: "the store is of another release; the message says which side to bring up",
    Code.LEASE_LOST: "a link was leased again since; its line changed nothing, all other lines were recorded",
    Code.UNSOUND: "`check`: a fault is left",
    Code.INTERRUPTED: "interrupted from the keyboard",
    Code.PIPE: "the reader of the output went away (`… | head`)",
}


def code_of_end(stop: Stop | None) -> Code:
    """The exit code that says why a crawl goes on or has ended."""
    if stop is None:
        return Code.OK
    known = {StopReason.EXHAUSTED: Code.FINISHED, StopReason.LIMIT_REACHED: Code.LIMIT}
    return known.get(stop.reason, Code.STOPPED)


def code_of_error(error: PagesiftError) -> Code:
    """The exit code of an error."""
    if isinstance(error, StoreBusy):
        return Code.BUSY
    if isinstance(error, SchemaTooOld | SchemaTooNew):
        return Code.SCHEMA
    return Code.LEASE_LOST if isinstance(error, LeaseLost) else Code.ERROR


def complain(error: PagesiftError) -> None:
    """Write one line about an error to standard error, led by its notes, which say where it happened."""
    where = getattr(error, "__notes__", [])
    click.echo("error: " + one_line(": ".join([*where, str(error)])), err=True)


class Program(click.Group):
    """The command tree. Errors of the library become one line and an exit code; any other exception is a bug."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the chosen command."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except PagesiftError as error:
            complain(error)
            raise Exit(code_of_error(error)) from error
        except BrokenPipeError as error:
            _forget_stdout()
            raise Exit(Code.PIPE) from error
        except KeyboardInterrupt as error:
            raise Exit(Code.INTERRUPTED) from error
        return result


def _forget_stdout() -> None:
    """Send what is left in the buffer nowhere: the interpreter flushes once more when it ends."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
