"""An operator's acts on a store, by command: each says how many rows it changed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from store_invariants import violations

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    Run = Callable[..., Result]
    Rows = Callable[[Result], list[dict[str, Any]]]


def said(result: Result) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


@pytest.fixture
def fed(crawl: Run) -> Run:
    crawl("add", "https://b.example/1", "https://b.example/2")
    return crawl


def test_a_host_is_blocked_and_unblocked(fed: Run, rows: Rows) -> None:
    assert said(fed("block", "b.example"))["changed"] == 1
    assert [row["url"] for row in rows(fed("lease", "-n", "9"))] == ["https://a.example/"]
    assert said(fed("unblock", "b.example"))["changed"] == 1
    assert len(rows(fed("lease", "-n", "9"))) == 2


def test_a_pattern_is_blocked_and_unblocked(fed: Run, store: Path) -> None:
    assert said(fed("block", "--pattern", r"b\.example"))["changed"] == 2
    assert said(fed("add", "https://b.example/3"))["reason"] == "blocked"
    assert r"b\.example" in fed("inspect blocks").stdout
    assert said(fed("unblock", "--pattern", r"b\.example"))["changed"] == 2
    assert "is not blocked" in fed("unblock", "--pattern", "other", code=1).stderr
    assert violations(store) == []


def test_a_block_can_have_an_end(fed: Run) -> None:
    fed("block", "b.example", "--until", "4000000000")
    assert "4000000000" in fed("inspect hosts --format json").stdout


@pytest.mark.parametrize("arguments", [(), ("b.example", "--pattern", "x"), ("--pattern", "(")])
def test_what_no_block_can_be(fed: Run, arguments: tuple[str, ...]) -> None:
    assert fed("block", *arguments, code=1).stderr.startswith("error: ")


def test_the_dead_are_queued_again(fed: Run, rows: Rows, store: Path) -> None:
    for lease in rows(fed("lease", "-n", "9")):
        fed("fail", "--lease", json.dumps(lease), "--kind", "timeout", "--permanent")
    assert said(fed("requeue", "--reason", "status 404")) == {"requeued": 0}
    assert said(fed("requeue", "--reason", "timeout", "--host", "b.example")) == {"requeued": 2}
    assert len(rows(fed("lease", "-n", "9"))) == 2
    assert violations(store) == []


def test_forgetting_asks_first(fed: Run, store: Path) -> None:
    assert said(fed("forget", "b.example", "--dry-run")) == {"forgotten": 2, "dry_run": True}
    refused = fed("forget", "b.example", feed="n\n", code=1)
    assert "delete 2 links with their pages?" in refused.stderr
    assert "b.example/1" in fed("inspect queue").stdout
    assert said(fed("forget", "b.example", feed="y\n"))["forgotten"] == 2
    assert said(fed("forget", "--pattern", "^https://a", "--yes"))["forgotten"] == 1
    assert fed("inspect queue").stdout == "nothing\n"
    assert violations(store) == []


def test_links_are_watched_one_by_one(fed: Run, rows: Rows) -> None:
    assert said(fed("set-revisit", "3600", "--host", "b.example"))["changed"] == 2
    assert said(fed("set-revisit", "never", "--pattern", "/2$"))["changed"] == 1
    (first, *_) = [row for row in rows(fed("lease", "-n", "9")) if row["url"].endswith("/1")]
    page = {"lease": first, "page": {"url": first["url"]}}
    assert said(fed("observe", feed=json.dumps(page)))["state"] == "waiting"
    assert said(fed("set-revisit", "default"))["changed"] == 3
    assert "seconds" in fed("set-revisit", "sometimes", code=2).stderr


def test_hosts_share_a_delay_and_are_set_back(fed: Run, rows: Rows) -> None:
    assert said(fed("set-host", "b.example", "--group", "a.example"))["changed"] == 1
    fed("set-host", "a.example", "--max-in-flight", "1")
    assert len(rows(fed("lease", "-n", "9"))) == 1
    assert said(fed("set-host", "b.example", "--reset", "group"))["changed"] == 1
    assert len(rows(fed("lease", "-n", "9"))) == 2
    assert said(fed("set-host", "a.example", "--reset", "max-in-flight", "--reset", "blocked-until"))[
        "changed"
    ]


def test_a_stopped_crawl_is_resumed(fed: Run) -> None:
    assert said(fed("resume")) == {"changed": 0}
