"""What people ask, in every format, with text from strangers in it."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from pagesift_store import FoundLink, Frontier, Page
from pagesift_store.cli.text import inert, one_line, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from click.testing import Result

    Run = Callable[..., Result]

LISTINGS = ["queue", "parts", "terms", "model", "hosts", "leases", "pages", "refusals", "templates", "traps"]
HOSTILE = "=cmd|' /C calc'!A0 \x1b]0;owned\x07\x1b[31m[red]x[/red]\r\n\u202eabc\x9b2J"


@pytest.fixture
def known(crawl: Run, store: Path) -> Run:
    """A store that has something to show in each listing; the same as `run`."""
    with Frontier.open(store, worker="w") as frontier:
        (lease,) = frontier.lease()
        links = [FoundLink(f"/fees/{'long' * 20}{number}.html", anchor="visa fees") for number in range(40)]
        refused = [FoundLink("ftp://a.example/\x1b[31m")]
        frontier.observe(
            lease, Page(url=lease.url, title=HOSTILE, text="Student visa fees. " * 20, links=links + refused)
        )
        frontier.lease(2)
    return crawl


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("COLUMNS", "100")
    return


@pytest.mark.parametrize("name", LISTINGS)
def test_the_formats_say_the_same(known: Run, name: str) -> None:
    rows = json.loads(known(f"inspect {name}", "--format", "json").stdout)
    lines = known(f"inspect {name}", "--format", "jsonl").stdout.splitlines()
    table = list(
        csv.reader(io.StringIO(known(f"inspect {name}", "--format", "csv").stdout_bytes.decode(), newline=""))
    )
    assert [json.loads(line) for line in lines] == rows
    assert len(table) == 1 + len(rows)
    if rows:
        assert table[0] == list(rows[0])
    for row, cells in zip(rows, table[1:], strict=True):
        assert [_read(cell, value) for cell, value in zip(cells, row.values(), strict=True)] == list(
            row.values()
        )


def _read(cell: str, value: Any) -> Any:
    """A cell of CSV in the type of the value it was made of."""
    if value is None:
        return None if cell == "" else cell
    if isinstance(value, str):
        return value if cell.removeprefix("'") == inert(value) else cell
    return json.loads(cell)


@pytest.mark.parametrize("name", LISTINGS)
def test_tables_fit_and_hold_nothing_that_a_terminal_obeys(known: Run, name: str) -> None:
    text = known(f"inspect {name}").stdout
    assert text
    assert all(line.isprintable() and len(line) <= 100 for line in text.splitlines())


def test_hostile_titles_are_shown_as_text(known: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    text = known("inspect pages").stdout
    assert "[red]x[/red]" in text
    assert "owned" not in text
    assert json.loads(known("inspect pages", "--format", "jsonl").stdout)["title"].startswith("=cmd")
    assert "'=cmd|" in known("inspect pages", "--format", "csv").stdout
    for form in ("json", "jsonl", "csv"):
        assert not set("\x1b\x07\x9b\u202e") & set(known("inspect pages", "--format", form).stdout)


def test_a_table_ends_where_nobody_asked_for_more(known: Run) -> None:
    assert "the first 20; there are more" in known("inspect queue").stdout
    assert known("inspect queue", "--limit", "0").stdout.count("…") >= 38
    assert len(known("inspect queue", "--format", "jsonl").stdout.splitlines()) == 38
    assert len(known("inspect queue", "--format", "jsonl", "--limit", "3").stdout.splitlines()) == 3
    assert len(json.loads(known("inspect leases", "--format", "json", "--limit", "1").stdout)) == 1
    assert len(json.loads(known("inspect terms", "--format", "json", "--limit", "1").stdout)) == 1


def test_an_empty_listing_is_empty_in_every_format(crawl: Run) -> None:
    assert crawl("inspect pages").stdout == "nothing\n"
    assert json.loads(crawl("inspect pages", "--format", "json").stdout) == []
    assert crawl("inspect pages", "--format", "jsonl").stdout == ""
    assert crawl("inspect pages", "--format", "csv").stdout.startswith("fetched_at,status,")


@pytest.mark.parametrize("name", ["status", "inspect summary", "configure"])
def test_one_object_in_every_format(known: Run, name: str) -> None:
    record = json.loads(known(name, "--format", "json").stdout)
    assert json.loads(known(name, "--format", "jsonl").stdout).keys() == record.keys()
    assert known(name, "--format", "csv").stdout.startswith("name,value\n")
    assert list(record)[-1].partition(".")[0] in known(name).stdout


def test_status_counts(known: Run) -> None:
    found = json.loads(known("status", "--format", "json").stdout)
    assert found["counts"] == {"queued": 38, "leased": 2, "waiting": 0, "done": 1, "dead": 0, "skipped": 0}
    assert (found["state"], found["rejected"], found["stop"]) == ("ready", {"scheme": 1}, None)


def test_summary_tells_how_it_ended(known: Run) -> None:
    known("configure", "max_pages=1")
    known("recover", "--worker", "w")
    known("lease", code=4)
    found = json.loads(known("inspect summary", "--format", "json").stdout)
    assert found["last_stop"]["reason"] == "limit_reached"
    assert found["settings"]["max_pages"] == 1
    assert found["totals"]["links"] == 41


def test_one_url(known: Run) -> None:
    found = json.loads(known("inspect url", "https://a.example/", "--format", "json").stdout)
    assert found["why"] == "done: it was fetched"
    link = json.loads(known("inspect queue", "--format", "jsonl", "--limit", "1").stdout)
    found = json.loads(known("inspect url", link["url"], "--format", "json").stdout)
    assert set(found["terms"]) == {"anchor", "url", "context", "parent", "phrase"}
    text = known("inspect url", "https://a.example/").stdout
    assert "\nhistory\n" in text
    assert "has never seen" in known("inspect url", "https://a.example/nowhere", code=1).stderr


def test_dump_is_the_same_for_what_went_the_same(known: Run) -> None:
    first = known("dump").stdout
    known("recover", "--worker", "w")
    known("lease", "-n", "2")
    rows = [json.loads(line) for line in first.splitlines()]
    assert {row["table"] for row in rows} >= {"crawl", "link", "page", "term"}
    assert len(first.splitlines()) == len(known("dump").stdout.splitlines())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\t b\r\nc\x0bd", "a b c d"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]8;;https://x\x1b\\link\x1b]8;;\x07", "link"),
        ("\x9b2Jx", "x"),
        ("a\x1b", "a"),
        ("a\x00b\u202ec\ud800d\u200be", "a\ufffdb\ufffdc\ufffdd\ufffde"),
    ],
)
def test_one_line(text: str, shown: str) -> None:
    assert one_line(text) == shown


def test_shorten_keeps_both_ends() -> None:
    long = "https://www.example.edu/admissions/international/visa/fees.html"
    assert shorten(long, len(long)) == long
    short = shorten(long, 30)
    assert len(short) == 30
    assert short.startswith("https://www.")
    assert short.endswith("fees.html")
