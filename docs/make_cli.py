"""Write `docs/cli.md`: the reference of the command, out of the command itself. A test compares the two.

python docs/make_cli.py
"""

from __future__ import annotations

import inspect
import re
from dataclasses import MISSING, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pagesift_store.cli import main, wire
from pagesift_store.cli.exits import MEANINGS
from pagesift_store.records import FoundLink, Lease, Page
from pagesift_store.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

TARGET = Path(__file__).with_name("cli.md")

INTRODUCTION = """\
# The command `pagesift-store`

Written by `docs/make_cli.py`; change the code or that script, not this page.

`STORE` is a path, or `sqlite:///path`. What a crawl does (`add`, `lease`, `observe`, `fail`, …) speaks JSON lines, in
and out. What people ask (`status`, `inspect …`, `configure`) prints a table, or `--format json`, `jsonl` or `csv`.

## A crawl in a shell

```sh
pagesift-store init crawl.db --query "student visa fees"
pagesift-store add crawl.db https://www.example.edu/

while lease=$(pagesift-store lease crawl.db --wait 60); do
    [ -n "$lease" ] || continue    # nothing was ready for a minute
    url=$(printf '%s' "$lease" | jq -r .url)
    if curl --silent --globoff --path-as-is --location --max-time 30 \\
            --dump-header head.txt --output page.html "$url"; then
        pagesift-store observe crawl.db --lease "$lease" --headers head.txt --html page.html
    else
        pagesift-store fail crawl.db --lease "$lease" --kind connect --message "curl ended with $?"
    fi
done
pagesift-store inspect queue crawl.db
```

`lease` ends the loop by its exit code once the crawl is finished (3), has reached its limit (4) or a stop rule holds
(5). The loop may run several times at once: no link is given to two. `--headers` takes status, validators and redirects
from what curl wrote down; without such a file, give `--status`, `--url` and `--header`. This loop asks no `robots.txt`;
`set-robots` and `set-host` record what yours found.

Leases taken by the command belong to no process but to a name (`--worker`, `PAGESIFT_WORKER`, else `cli`), so that
`lease` and `observe` can be two processes. They come back by `release`, by `recover --worker NAME`, or when they
expire.
"""

LINES = """\
## Lines in, lines out

`observe`, `fail`, `release` and `renew` read one JSON object per line, in UTF-8, and answer each by one line, written
when its transaction is committed. A field with a default may be missing or null. An unknown field, a value of another
type, NaN and infinities are errors that name the line and the field.

- A line that is wrong ends the work there, with exit code 1: all lines before it are recorded, none after it is read.
  Running the whole input again is harmless, because outcomes that were recorded are known again (`"repeated": true`).
- A lease that was lost concerns its own line only: the answer is
  `{"link_id": …, "url": …, "error": "LeaseLost", "message": …}`, the next line follows, and the exit code at
  the end is 8.

"""

FORMATS = """\
## Formats

- `table`: for eyes. Some columns only, numbers rounded, times as dates in UTC, long text shortened in the middle. URLs
  and titles come from strangers, so escape sequences are cut and control characters, direction marks and lone
  surrogates shown as U+FFFD. 20 rows unless `--limit` says otherwise.
- `json` (one array or object) and `jsonl` (one object per line): every field and row, floats to the bit, times as UTC
  epoch seconds. ASCII where standard output is not UTF-8, so that they can be read back in any locale; what a terminal
  would obey is escaped everywhere.
- `csv`: every field and row, with a header; an object is a list of names and values. Meant for spreadsheets: text that
  begins with `=`, `+`, `-`, `@`, a tab or a carriage return gets an apostrophe before it, so that it is not taken
  for a formula; control characters, and what standard output cannot encode, become backslash escapes. Numbers stay
  as they are. Where every character counts, take JSON.
"""


def reference() -> str:
    """The whole page."""
    return "\n".join(
        [
            INTRODUCTION,
            "## Exit codes\n",
            _table(["code", "meaning"], [[str(int(code)), text] for code, text in MEANINGS.items()]),
            LINES + "\n".join(_records()),
            FORMATS,
            "## Settings\n",
            "For `init --setting` and, where operational, for `configure`. `none` is no limit; `include` and `exclude`"
            " take one pattern at each mention.\n",
            _table(["setting", "default", "operational", "meaning"], _settings()),
            "## Commands\n",
            *(_command(names, command) for names, command in commands()),
        ]
    )


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command that does something, by its full name, in the order of the names."""
    yield from _below("pagesift-store", main)


def _below(path: str, group: click.Group) -> Iterator[tuple[str, click.Command]]:
    for name, command in sorted(group.commands.items()):
        if isinstance(command, click.Group):
            yield from _below(f"{path} {name}", command)
        else:
            yield f"{path} {name}", command


def _command(path: str, command: click.Command) -> str:
    arguments = [param for param in command.params if isinstance(param, click.Argument)]
    options = [param for param in command.params if isinstance(param, click.Option)]
    usage = " ".join([path, *(param.make_metavar(click.Context(command)) for param in arguments)])
    lines = [
        f"### {path.removeprefix('pagesift-store ')}\n",
        f"`{usage}`\n",
        _reflowed(command.help or ""),
        "",
    ]
    if options:
        lines.append(_table(["option", "meaning"], [_option(option) for option in options]))
    return "\n".join(lines)


def _option(option: click.Option) -> list[str]:
    names = ", ".join(f"`{name}`" for name in option.opts)
    value = "" if option.is_flag else f" {_value(option)}"
    text = option.help or ""
    if option.show_default:
        default = option.show_default if isinstance(option.show_default, str) else f"{option.default}"
        text += f" Default: {default}."
    required = " Required." if option.required else ""
    return [names + value, re.sub(r"  \[default: (.*)\]", r" Default: \1.", text) + required]


def _value(option: click.Option) -> str:
    if isinstance(option.type, click.Choice):
        return " or ".join(str(choice) for choice in option.type.choices)
    return option.metavar or option.type.name.upper()


def _records() -> Iterator[str]:
    """The fields of the records on the wire."""
    told = {
        wire.Fetched: "A line for `observe`",
        wire.Failure: "A line for `fail`",
        Lease: "`lease`: what `lease` prints; a line for `release` and `renew`",
        Page: "`page`",
        FoundLink: "Each of `page.links`; a text is read as its `href`",
    }
    for kind, title in told.items():
        meaning = _attributes(kind)
        rows = []
        for spec in fields(kind):
            needed = spec.default is MISSING and spec.default_factory is MISSING
            rows.append(
                [f"`{spec.name}`", _json_type(str(spec.type)), "yes" if needed else "", meaning[spec.name]]
            )
        yield f"{title}:\n\n" + _table(["field", "type", "required", "meaning"], rows)


def _json_type(annotation: str) -> str:
    lists = {"Sequence[str]": "list of texts", "Sequence[FoundLink]": "list of links"}
    names = {"str": "text", "int": "whole number", "float": "number", "bool": "true or false"}
    parts = [part for part in annotation.split(" | ") if part != "None"]
    return " or ".join(lists.get(part, names.get(part, "object")) for part in parts)


def _settings() -> list[list[str]]:
    meaning = _attributes(Settings)
    return [
        [
            f"`{spec.name}`",
            _default(spec.default),
            "yes" if spec.metadata["operational"] else "",
            meaning[spec.name].removesuffix(" Operational."),
        ]
        for spec in fields(Settings)
    ]


def _default(value: Any) -> str:
    if value == ():
        return "empty"
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def _attributes(kind: type[Any]) -> dict[str, str]:
    """The sentences of a docstring's `Attributes:` section, by name."""
    section = (inspect.getdoc(kind) or "").partition("Attributes:\n")[2]
    found: dict[str, str] = {}
    for entry in re.split(r"\n(?=    \w)", section):
        name, _, text = entry.strip().partition(":")
        found[name] = " ".join(text.split())
    return found


def _reflowed(text: str) -> str:
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def _table(names: list[str], rows: list[list[str]]) -> str:
    lines = [names, ["---"] * len(names), *rows]
    return (
        "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
        + "\n"
    )


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
