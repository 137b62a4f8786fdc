"""A crawl that is killed anywhere and resumed equals one that was never disturbed (DESIGN 5, *Exact resume*)."""

from __future__ import annotations

import importlib.util
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pagesift_store import Frontier

CRAWLER = Path(__file__).with_name("crawler.py")
KILLS = 50


def run(store: Path, kill_at: int | None = None) -> int:
    """Run the crawler as a process of its own; returns its exit code, negative for a signal."""
    command = [sys.executable, str(CRAWLER), str(store)]
    if kill_at is not None:
        command += ["--kill-at", str(kill_at)]
    return subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode


def dump_of(store: Path) -> list[dict[str, object]]:
    with Frontier.open(store) as frontier:
        return [dict(row) for row in frontier.dump()]


def fetch_order(dump: list[dict[str, object]]) -> list[object]:
    return [row["link_id"] for row in dump if row["table"] == "page"]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, object]]:
    store = tmp_path_factory.mktemp("undisturbed") / "crawl.db"
    assert run(store) == 0
    return dump_of(store)


def test_the_undisturbed_crawl_is_worth_killing(undisturbed: list[dict[str, object]]) -> None:
    crawl = next(row for row in undisturbed if row["table"] == "crawl")
    assert crawl["fetched"] >= 300
    assert crawl["rescores"] >= 10
    assert crawl["hits"] > 10
    assert crawl["dead"] > 0


def test_c49_killed_fifty_times_and_resumed(tmp_path: Path, undisturbed: list[dict[str, object]]) -> None:
    """Kills at random statements; the first are early, so that some fall into the creation of the store."""
    rng = random.Random(20261130)
    kills = stores = 0
    while kills < KILLS:
        store = tmp_path / f"crawl-{stores}.db"
        stores += 1
        at = rng.randint(1, 130)
        while (code := run(store, at)) != 0:
            assert code == -signal.SIGKILL
            kills += 1
            at = rng.randint(1, 3_000)
        dump = dump_of(store)
        assert fetch_order(dump) == fetch_order(undisturbed)
        assert dump == undisturbed
        assert len(set(fetch_order(dump))) == len(fetch_order(dump)), "a page was observed twice"
    left = sorted(path.name for path in tmp_path.iterdir() if not path.name.endswith((".db", "-wal", "-shm")))
    assert left == [], "a killed creation left something behind"


def test_killed_in_the_middle_of_a_rescore(tmp_path: Path, undisturbed: list[dict[str, object]]) -> None:
    """The statement before the one that rescores is found by counting; the kill comes right at it."""
    store = tmp_path / "crawl.db"
    for number in (1, 3, 10):
        code = subprocess.run(
            [sys.executable, "-c", KILL_AT_RESCORE, str(CRAWLER), str(store), str(number)],
            stdout=subprocess.DEVNULL,
            check=False,
        ).returncode
        assert code == -signal.SIGKILL
    assert run(store) == 0
    assert dump_of(store) == undisturbed


KILL_AT_RESCORE = """
import importlib.util, os, signal, sys
from sqlalchemy import Engine, event
spec = importlib.util.spec_from_file_location("crawler", sys.argv[1])
crawler = importlib.util.module_from_spec(spec)
spec.loader.exec_module(crawler)
left = [int(sys.argv[3])]
def after(connection, cursor, statement, *rest):
    if statement.startswith("UPDATE OR FAIL link SET score="):
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
event.listen(Engine, "after_cursor_execute", after)  # a rescore runs through SQLAlchemy
crawler.crawl(sys.argv[2])
"""


def test_the_site_is_a_function_of_the_url() -> None:
    spec = importlib.util.spec_from_file_location("crash_crawler", CRAWLER)
    assert spec is not None
    assert spec.loader is not None
    crawler = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(crawler)
    url = crawler.SEED + "visa/topic-8/"
    assert crawler.page_of(url) == crawler.page_of(url)
