"""The reference cannot drift from the command, and nothing in the command goes without words."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest
from click.testing import CliRunner

from pagesift_store.cli import main
from pagesift_store.cli.exits import MEANINGS, Code

if TYPE_CHECKING:
    from types import ModuleType

DOCS = Path(__file__).parents[2] / "docs"


def _maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_cli", DOCS / "make_cli.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAKER: Any = _maker()
COMMANDS = dict(MAKER.commands())
PAGE = (DOCS / "cli.md").read_text(encoding="utf-8")


def test_the_page_is_what_the_command_says() -> None:
    assert MAKER.reference() == PAGE, "run `make docs`"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_explained_and_in_the_page(name: str) -> None:
    command = COMMANDS[name]
    assert command.help
    assert f"### {name.removeprefix('pagesift-store ')}\n" in PAGE
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help, f"{name} {option.name}"
            assert all(f"`{spelling}`" in PAGE for spelling in option.opts)


def test_listings_have_formats_and_a_limit() -> None:
    listings = {
        "queue",
        "parts",
        "terms",
        "model",
        "hosts",
        "leases",
        "pages",
        "refusals",
        "templates",
        "traps",
    }
    for name in listings:
        options = {param.name for param in COMMANDS[f"pagesift-store inspect {name}"].params}
        assert {"form", "limit"} <= options


def test_every_exit_code_has_a_meaning_in_the_page() -> None:
    assert set(MEANINGS) == set(Code)
    assert all(f"| {int(code)} | " in PAGE for code in Code)


def test_the_entry_point_leads_here() -> None:
    (entry,) = importlib.metadata.entry_points(group="console_scripts", name="pagesift-store")
    assert entry.load() is main


def test_help_and_version() -> None:
    assert "Commands:" in CliRunner().invoke(main, ["-h"]).output
    assert importlib.metadata.version("pagesift-store") in CliRunner().invoke(main, ["--version"]).output
