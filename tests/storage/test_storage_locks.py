"""Opening a store twice in one process must not drop the locks that the first opening holds."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from pagesift_store import Frontier, Inspector

if TYPE_CHECKING:
    from pathlib import Path

OTHER = """
import sys
from pagesift_store import Frontier
with Frontier.open(sys.argv[1]) as frontier:
    frontier.add(["https://other.example/"])
"""


def test_a_second_opening_leaves_the_first_ones_log_alone(tmp_path: Path) -> None:
    """Were the locks dropped, another process would take itself for the last one and remove the log in use."""
    store = tmp_path / "crawl.db"
    with Frontier.open(store, query="visa") as first:
        first.add(["https://a.example/"])
        with Frontier.open(store), Inspector.open(store):
            pass
        subprocess.run([sys.executable, "-c", OTHER, str(store)], check=True)
        assert store.with_name("crawl.db-wal").exists()
        first.add(["https://b.example/"])
        assert first.status().counts["queued"] == 3
    with Frontier.open(store) as again:
        assert again.status().counts["queued"] == 3
