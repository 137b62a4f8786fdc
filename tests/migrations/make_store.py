"""Write `stores/REVISION.sql`: a store of an older revision with rows of every kind in it, as SQL text.

python tests/migrations/make_store.py 0001

Made again only while that revision has not been released: afterwards it is what people have.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "upkeep"))

import conftest as filled

from pagesift_store import Frontier, Settings
from pagesift_store.storage import schema

STORES = Path(__file__).with_name("stores")


def main(revision: str) -> None:
    schema.HEAD = revision
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "crawl.db"
        settings = Settings(default_delay=0.0, max_in_flight=100, durability="normal")
        opened = Frontier.open(
            path, query="student visa fees", settings=settings, worker="w", clock=lambda: filled.NOW
        )
        with opened:
            filled.fill(opened)
        with closing(sqlite3.connect(path)) as connection:
            if revision == "0001":  # what that release left behind, and the next revision puts right
                connection.execute("UPDATE page SET duplicate_of = 9999 WHERE id = 2")
            connection.execute("UPDATE crawl SET store_id = '0123456789abcdef'")
            lines = list(connection.iterdump())
    STORES.mkdir(exist_ok=True)
    (STORES / f"{revision}.sql").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
