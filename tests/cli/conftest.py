"""Running the command inside the test's process, and, where it matters, as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

from pagesift_store.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def run(store: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Runs `pagesift-store COMMAND… STORE ARGUMENTS…`; an exception that is no exit is the test's own failure."""
    monkeypatch.delenv("PAGESIFT_WORKER", raising=False)

    def call(command: str, *arguments: str, feed: str | bytes = "", code: int = 0) -> Result:
        words = [*command.split(), str(store), *arguments]
        result = CliRunner().invoke(
            main, words, input=feed, prog_name="pagesift-store", catch_exceptions=False
        )
        assert result.exit_code == code, result.output
        return result

    return call


@pytest.fixture
def crawl(run: Callable[..., Result]) -> Callable[..., Result]:
    """A store with one seed, whose host needs no rest; the same as `run`."""
    run(
        "init", "--query", "student visa fees", "--setting", "default_delay=0", "--setting", "max_in_flight=9"
    )
    run("add", "https://a.example/")
    return run


@pytest.fixture
def spawn(store: Path) -> Callable[..., subprocess.Popen[bytes]]:
    """Starts the command as a process, with pipes and what else is given."""

    def start(command: str, *arguments: str, **options: Any) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-m", "pagesift_store.cli", *command.split(), str(store), *arguments]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        environment = {name: value for name, value in os.environ.items() if name != "PAGESIFT_WORKER"}
        options["env"] = environment | options.get("env", {})
        return subprocess.Popen(words, **(pipes | options))

    return start


@pytest.fixture
def rows() -> Callable[[Result], list[dict[str, Any]]]:
    """The JSON lines that a command printed."""

    def read(result: Result) -> list[dict[str, Any]]:
        return [json.loads(line) for line in result.stdout.splitlines()]

    return read
