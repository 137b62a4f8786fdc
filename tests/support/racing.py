"""Several real processes at the same line, let go at once."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_START = """
import json, sys
arguments = json.loads(sys.argv[1])
from pagesift_store import *
print(flush=True)
sys.stdin.readline()
"""
_LONGEST = 60


def race(source: str, racers: Sequence[dict[str, Any]]) -> list[Any]:
    """Run Python source in a process for each racer, all let go together.

    The source sees its racer as `arguments` and everything public of the package; it prints one line of JSON.

    Returns:
        What each printed, in order.
    """
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", _START + source, json.dumps(racer, default=str)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for racer in racers
    ]
    for process in processes:
        process.stdout.readline()
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    answers = []
    for process in processes:
        output, _ = process.communicate(timeout=_LONGEST)
        assert process.returncode == 0
        answers.append(json.loads(output))
    return answers


def run(source: str, *arguments: str | Path) -> int:
    """Run Python source in a process of its own; returns its exit code, negative when a signal ended it."""
    command = [sys.executable, "-c", source, *map(str, arguments)]
    return subprocess.run(command, check=False, timeout=_LONGEST).returncode
