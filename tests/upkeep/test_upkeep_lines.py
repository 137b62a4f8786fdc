"""A store as lines of JSON: what was exported comes back to the bit, and nothing else is taken for an export."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from store_invariants import violations

from pagesift_store import Frontier, InvalidExport, PagesiftError, StoreExists, upkeep
from pagesift_store.storage import tables
from pagesift_store.transactions import carrying

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def dump(store: Path) -> list[dict[str, object]]:
    with Frontier.open(store) as frontier:
        return [dict(row) for row in frontier.dump()]


@pytest.fixture(scope="module")
def lines(filled_once: Path) -> list[str]:
    return list(upkeep.export_lines(filled_once))


def sealed(lines: list[str]) -> list[str]:
    """Rows with the last line that they should have."""
    from hashlib import sha256

    rows = lines[1:]
    return [*lines, json.dumps({"rows": len(rows), "sha256": sha256("".join(rows).encode()).hexdigest()})]


def test_what_was_exported_comes_back(filled: Path, tmp_path: Path) -> None:
    with Frontier.open(filled) as frontier:
        frontier.recover("w")
    exported = list(upkeep.export_lines(filled))
    assert upkeep.import_lines(exported, tmp_path / "other.db") == len(exported) - 2
    assert dump(tmp_path / "other.db") == dump(filled)
    assert violations(tmp_path / "other.db") == []
    assert list(upkeep.export_lines(tmp_path / "other.db"))[2:-1] == exported[2:-1]


def test_leased_links_are_queued_again(lines: list[str], filled: Path, tmp_path: Path) -> None:
    upkeep.import_lines((line + "\n" for line in lines), tmp_path / "other.db")
    with Frontier.open(filled) as frontier:
        assert frontier.recover("w") == 2
    assert dump(tmp_path / "other.db") == dump(filled)
    assert violations(tmp_path / "other.db") == []


def test_a_crawl_goes_on_alike_after_the_way_through_lines(
    filled: Path, tmp_path: Path, clock: Callable[[], float]
) -> None:
    with Frontier.open(filled) as frontier:
        frontier.recover("w")
    upkeep.import_lines(upkeep.export_lines(filled), tmp_path / "other.db")
    orders = []
    for store in (filled, tmp_path / "other.db"):
        with Frontier.open(store, clock=clock) as frontier:
            orders.append([(lease.url, lease.score) for _ in range(8) for lease in frontier.lease(1)])
    assert orders[0] == orders[1]
    assert len(orders[0]) == 8


def test_the_form_says_what_it_is(lines: list[str]) -> None:
    header, *rows, last = (json.loads(line) for line in lines)
    assert header.keys() == {"format", "version", "schema"}
    assert (header["format"], header["version"]) == ("pagesift-store", 1)
    assert last.keys() == {"rows", "sha256"}
    assert last["rows"] == len(rows)
    assert not {"owner_id", "lease_expires"} & set().union(*rows)
    assert {row["table"] for row in rows} >= {
        "crawl",
        "term",
        "posterior",
        "host",
        "part",
        "lane",
        "link",
        "page",
    }


def test_nothing_is_overwritten(lines: list[str], filled: Path) -> None:
    before = filled.read_bytes()
    with pytest.raises(StoreExists, match="a store of"):
        upkeep.import_lines(lines, filled)
    assert filled.read_bytes() == before


def changed(line: str, **values: Any) -> str:
    return json.dumps(json.loads(line) | values, separators=(",", ":"))


def _row(lines: list[str], table: str) -> int:
    return next(i for i, line in enumerate(lines) if f'"table":"{table}"' in line)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: lines[:-1], "the last line is missing"),
        (lambda lines: lines[:-2] + lines[-1:], "not those that were written"),
        (lambda lines: lines[1:], "line 1 is not the header"),
        (lambda lines: [changed(lines[0], version=9), *lines[1:]], "version 9, this release reads 1"),
        (lambda lines: [changed(lines[0], schema="0001"), *lines[1:]], "import it with the release that wrote it"),
        (lambda lines: [*lines, lines[1]], "nothing after the last line"),
        (lambda lines: [*lines[:3], "{", *lines[3:]], "line 4 is not JSON"),
        (lambda lines: [*lines[:3], "[]", *lines[3:]], "line 4 is not an object"),
        (lambda lines: [*lines[:3], '{"table":"nothing"}', *lines[3:]], "there is no table 'nothing'"),
        (lambda lines: [*lines[:3], '{"table":"owner"}', *lines[3:]], "there is no table 'owner'"),
        (lambda lines: [*lines[:3], '{"table":["link"]}', *lines[3:]], "there is no table"),
        (lambda lines: [], "the last line is missing"),
        (lambda lines: [lines[0], *sealed([lines[0]])[1:]], "no sound store"),
    ],
)  # fmt: skip
def test_what_is_no_export_is_refused_with_words(
    lines: list[str], store: Path, change: Callable[[list[str]], list[str]], message: str
) -> None:
    with pytest.raises(InvalidExport, match=message):
        upkeep.import_lines(change(list(lines)), store)
    assert os.listdir(store.parent) == []


@pytest.mark.parametrize(
    ("table", "values", "message"),
    [
        ("link", {"depth": "deep"}, "link.depth cannot be 'deep'"),
        ("link", {"depth": True}, "link.depth cannot be"),
        ("link", {"depth": 2**70}, "link.depth cannot be"),
        ("link", {"url": None}, "link.url is null"),
        ("link", {"url": "\ud83d"}, "link.url cannot be"),
        ("link", {"key_hash": "00"}, "link.key_hash cannot be"),
        ("link", {"key_hash": "zz" * 16}, "link.key_hash cannot be"),
        ("link", {"key_hash": "00" * 16}, "no sound store: link 1: the hash of its key"),
        ("link", {"state": "lost"}, "CHECK constraint failed"),
        ("link", {"lane_id": 999}, "no sound store"),
        ("link", {"url": "mailto:a@a.example"}, "no sound store: link 1"),
        ("link", {"more": 1}, "columns of link that are missing or unknown: more"),
        ("host", {"in_flight": 9}, "no sound store"),
        ("host", {"ready_at": "soon"}, "host.ready_at cannot be"),
        ("crawl", {"settings": "{"}, "no sound store"),
        ("crawl", {"done": 17}, "no sound store: crawl: done is 17"),
        ("posterior", {"precision": -1.0}, "no sound store: posterior"),
    ],
)  # fmt: skip
def test_a_row_that_cannot_be_is_refused_with_words(
    lines: list[str], store: Path, table: str, values: dict[str, Any], message: str
) -> None:
    rows = list(lines[:-1])
    at = _row(rows, table)
    rows[at] = changed(rows[at], **values)
    with pytest.raises(InvalidExport, match=message):
        upkeep.import_lines(sealed(rows), store)
    assert os.listdir(store.parent) == []


ODD = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**65), 2**65), st.floats(), st.text(max_size=20), st.lists(st.integers()),
    st.sampled_from(["", "queued", "leased", "{}", "[]", "subtree", "https://a.example/", "00" * 16, 0, 1, -1, 1e300]),
)  # fmt: skip


@settings(
    max_examples=40,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_whatever_lines_come_they_make_a_sound_store_or_none(
    lines: list[str], tmp_path: Path, data: st.DataObject
) -> None:
    rows = list(lines[:-1])
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(1, len(rows) - 1))
        row = json.loads(rows[at])
        name = data.draw(st.sampled_from(sorted(row)))
        row[name] = data.draw(ODD)
        rows[at] = json.dumps(row, separators=(",", ":"))
        if data.draw(st.booleans()):
            del rows[data.draw(st.integers(1, len(rows) - 1))]
    store = tmp_path / "fuzzed.db"
    try:
        upkeep.import_lines(sealed(rows), store)
    except PagesiftError:
        assert not store.exists()
        return
    assert upkeep.check(store, all_keys=True).sound
    with Frontier.open(store) as frontier:
        frontier.status()
        frontier.lease(3)
    store.unlink()


def test_every_table_is_carried() -> None:
    """But the owners of leases, who belong to one machine."""
    assert {table.name for table in carrying.CARRIED} == set(tables.metadata.tables) - {"owner"}
