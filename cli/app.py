"""The command tree."""

from __future__ import annotations

import click

from . import asking, operating, upkeep, work
from .exits import Program
from .observing import observe

__all__ = ["main"]


@click.group(cls=Program, name="pagesift-store", context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="pagesift-store")
def main() -> None:
    """Keep a crawl in one file: what to fetch next, who fetches it, what was learned.

    STORE is a path, or sqlite:///path. What a crawl does speaks JSON lines, in and out; what people ask prints
    tables, or --format json, jsonl, csv.
    """


for _command in (*work.COMMANDS, observe, *operating.COMMANDS, *upkeep.COMMANDS, *asking.COMMANDS):
    main.add_command(_command)
