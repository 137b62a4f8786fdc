"""A check finds every counter, head, score, state and key that is wrong, and mends what can be recomputed."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from store_invariants import violations

from pagesift_store import Fault, FoundLink, Frontier, InvalidSettings, StoreDamaged, StoreMissing, upkeep
from pagesift_store.transactions import counting

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pagesift_store import Page


def change(store: Path, *statements: str) -> None:
    """What a disk, a shell or a fault of ours may do to a store."""
    with closing(sqlite3.connect(store, isolation_level=None)) as connection:
        connection.execute("PRAGMA ignore_check_constraints=ON")
        for statement in statements:
            connection.execute(statement)


def dump(store: Path) -> list[dict[str, object]]:
    with Frontier.open(store) as frontier:
        return [dict(row) for row in frontier.dump()]


def faults(store: Path, *, repair: bool = False) -> set[Fault] | None:
    """What a check finds and leaves; None when it says that the store cannot even be read."""
    try:
        checked = upkeep.check(store, repair=repair)
    except (StoreDamaged, InvalidSettings):
        return None
    return {finding.fault for finding in checked.findings if not finding.mended}


def test_a_store_that_was_used_is_sound(filled: Path) -> None:
    checked = upkeep.check(filled, all_keys=True)
    assert checked.findings == ()
    assert checked.sound
    assert checked.keys == checked.links > 20


def test_counting_a_few_links_at_a_time_counts_them_all(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "_LINKS_AT_ONCE", 3)
    assert upkeep.check(filled).sound
    change(filled, "UPDATE host SET pages = pages + 1 WHERE name = 'b.example'")
    assert faults(filled) == {Fault.COUNT}


def test_a_check_changes_nothing(filled: Path) -> None:
    before = filled.read_bytes()
    upkeep.check(filled)
    change(filled, "UPDATE crawl SET done = 99")
    damaged = filled.read_bytes()
    assert not upkeep.check(filled).sound
    assert filled.read_bytes() == damaged != before


@pytest.mark.parametrize("links", [0, 3])
def test_a_store_that_contradicts_itself_says_what_mends_it(filled: Path, links: int) -> None:
    """The next link would be given an id that another has: nothing is written until the store is mended."""
    before = dump(filled)
    change(filled, f"UPDATE crawl SET links = {links}")
    with (
        Frontier.open(filled) as frontier,
        pytest.raises(StoreDamaged, match=r"link\.id.*nothing was written; run `pagesift-store check"),
    ):
        frontier.add(["https://new.example/"])
    upkeep.check(filled, repair=True)
    assert dump(filled) == before
    with Frontier.open(filled) as frontier:
        (added,) = frontier.add(["https://new.example/"])
        assert added.verdict == "new"


MENDED = [
    (Fault.COUNT, "crawl", f"UPDATE crawl SET {column} = {column} + 1")
    for column in ("queued", "leased", "waiting", "done", "dead", "skipped", "fetched", "pages", "hits", "relevant")
] + [
    (Fault.COUNT, "crawl", "UPDATE crawl SET relevance = relevance + 1e-9"),
    (Fault.COUNT, "crawl", "UPDATE crawl SET leases = leases + 1"),
    (Fault.COUNT, "host a.example", "UPDATE host SET in_flight = 7 WHERE name = 'a.example'"),
    (Fault.COUNT, "host a.example", "UPDATE host SET pages = pages - 1 WHERE name = 'a.example'"),
    (Fault.COUNT, "host a.example", "UPDATE host SET lanes = 0 WHERE name = 'a.example'"),
    (Fault.COUNT, "subtree a.example/", "UPDATE part SET pages = 50 WHERE key = 'a.example/' AND kind = 'subtree'"),
    (Fault.COUNT, "subtree a.example/", "UPDATE part SET hits = 50 WHERE key = 'a.example/' AND kind = 'subtree'"),
    (Fault.COUNT, "lane 1", "UPDATE lane SET relevance = relevance + 1e-9 WHERE id = 1"),
    (Fault.HEAD, "lane 3", "UPDATE lane SET head_id = 1 WHERE id = 3"),
    (Fault.HEAD, "lane 3", "UPDATE lane SET head_score = 99.0, head_rank = 99.0 WHERE id = 3"),
    (Fault.HEAD, "lane 3", "UPDATE lane SET spent = true WHERE id = 3"),
    (Fault.HEAD, "lane 3", "UPDATE lane SET dry = true WHERE id = 3"),
    (Fault.HEAD, "lane 3", "UPDATE lane SET head_id = NULL WHERE id = 3"),
    (Fault.SCORE, "link 8", "UPDATE link SET score = 0.25 WHERE id = 8"),
    (Fault.STATE, "link 8", "UPDATE link SET parent_id = 8 WHERE id = 8"),
    (Fault.STATE, "link 2", "UPDATE link SET attempt = 0 WHERE id = 2"),
    (Fault.STATE, "page 2", "UPDATE page SET duplicate_of = 9999 WHERE id = 2"),
    (Fault.STATE, "crawl", "UPDATE crawl SET links = 3"),
    (Fault.STATE, "link 12", "UPDATE link SET owner_id = (SELECT min(id) FROM owner) WHERE id = 12"),
    (Fault.REFERENCE, "link 8", "UPDATE link SET parent_id = 9999 WHERE id = 8"),
    (Fault.REFERENCE, "page 1", "UPDATE page SET link_id = 9999 WHERE id = 1"),
    (Fault.STRUCTURE, "ix_link_queue", "DROP INDEX ix_link_queue"),
    (Fault.STRUCTURE, "ix_link_worst", "CREATE INDEX ix_link_worst ON link (score DESC) WHERE state = 'queued'"),
    (Fault.STRUCTURE, "v_queue", "DROP VIEW v_queue"),
    (Fault.STRUCTURE, "_alembic_tmp_link", "CREATE TABLE _alembic_tmp_link (id INTEGER)"),
]  # fmt: skip


@pytest.mark.parametrize(("fault", "where", "statement"), MENDED, ids=[case[2][:60] for case in MENDED])
def test_c13_what_can_be_recomputed_is_found_and_mended(
    filled: Path, fault: Fault, where: str, statement: str
) -> None:
    change(filled, statement)
    checked = upkeep.check(filled)
    assert (fault, where) in {(finding.fault, finding.where) for finding in checked.findings}
    assert not checked.sound
    mended = upkeep.check(filled, repair=True)
    assert all(finding.mended for finding in mended.findings)
    assert mended.sound
    assert {finding.where for finding in mended.findings} >= {where}
    assert upkeep.check(filled).findings == ()
    assert violations(filled) == []
    with Frontier.open(filled) as frontier:
        frontier.recover("w")
        assert frontier.lease(3)


def test_a_repair_restores_the_store_to_the_bit(filled: Path) -> None:
    before = dump(filled)
    change(
        filled,
        "UPDATE crawl SET done = 0, pages = 1, relevance = 3.5",
        "UPDATE host SET in_flight = 1, pages = 0",
        "UPDATE part SET pages = 0, hits = 9",
        "UPDATE lane SET pages = 8, relevance = 0.1, head_id = NULL, head_score = 1.0",
        "UPDATE link SET score = 0.5 WHERE NOT given AND state = 'queued'",
    )
    assert upkeep.check(filled, repair=True).sound
    assert dump(filled) == before


def test_a_lease_of_nobody_is_given_back(filled: Path) -> None:
    """Its owner's row is gone: nothing but its expiry would free it."""
    change(filled, "UPDATE link SET owner_id = NULL WHERE state = 'leased'")
    mended = upkeep.check(filled, repair=True)
    assert {finding.message for finding in mended.findings} == {"leased by an owner that does not exist"}
    assert violations(filled) == []
    with Frontier.open(filled) as frontier:
        assert frontier.status().counts["leased"] == 0


def test_c70_links_that_todays_rules_refuse_are_told_and_are_no_fault(filled: Path) -> None:
    long = "/".join(["loop"] * 60)
    change(
        filled,
        f"UPDATE link SET url = 'https://a.example/{long}', key = 'https://a.example/kept' WHERE id = 8",
    )
    change(filled, "UPDATE link SET url = 'mailto:office@a.example' WHERE id = 9")
    found = {finding.where: finding for finding in upkeep.check(filled).findings}
    assert found["link 9"].fault is Fault.CONTENT
    assert "link 8" in found


def test_keys_that_the_rules_do_not_make_are_found(filled: Path) -> None:
    change(filled, "UPDATE link SET key_hash = zeroblob(16) WHERE id = 8")
    (finding,) = upkeep.check(filled).findings
    assert (finding.fault, finding.where) == (Fault.KEY, "link 8")
    with Frontier.open(filled) as frontier:
        frontier.rekey("standard")
    assert upkeep.check(filled).sound


def test_keys_of_an_older_version_of_the_rules_are_named_with_the_remedy(filled: Path) -> None:
    change(filled, "UPDATE crawl SET key_version = 0")
    (finding,) = upkeep.check(filled).findings
    assert "run `pagesift-store rekey STORE standard`" in finding.message


def test_an_index_that_misses_rows_is_made_anew(filled: Path) -> None:
    """As a fault of the disk leaves it: the table is whole, an index is not."""
    rewritten = "UPDATE sqlite_master SET sql = replace(sql, 'alias_of {}', 'alias_of {}') WHERE name = 'ix_link_alias'"
    change(filled, "PRAGMA writable_schema=ON", rewritten.format("IS NOT NULL", "> 5"))
    change(filled, "UPDATE link SET alias_of = 2 WHERE id = 5")
    change(filled, "PRAGMA writable_schema=ON", rewritten.format("> 5", "IS NOT NULL"))
    assert {finding.fault for finding in upkeep.check(filled).findings} == {Fault.DAMAGE}
    assert upkeep.check(filled, repair=True).sound


def test_the_index_that_a_bounded_queue_needs_is_made_anew(filled: Path) -> None:
    with Frontier.open(filled) as frontier:
        frontier.configure(max_queue=100)
    assert upkeep.check(filled).findings == ()
    change(filled, "DROP INDEX ix_link_worst")
    (finding,) = upkeep.check(filled).findings
    assert (finding.fault, finding.where) == (Fault.STRUCTURE, "ix_link_worst")
    assert upkeep.check(filled, repair=True).sound
    assert violations(filled) == []


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE crawl SET settings = 'not JSON'",
        'UPDATE crawl SET settings = \'{"delta": "much"}\'',
        "DELETE FROM crawl",
        "UPDATE crawl SET stop_state = '[]'",
        "DELETE FROM posterior WHERE position = 2",
        "DELETE FROM term WHERE bit = 0",
        "UPDATE posterior SET precision = 0 WHERE position = 2",
    ],
)
def test_what_cannot_be_recomputed_is_a_fault_with_words(filled: Path, statement: str) -> None:
    change(filled, statement)
    for repair in (False, True):
        found = faults(filled, repair=repair)
        assert found is None or Fault.CONTENT in found


def test_bytes_that_changed_on_the_disk_are_noticed(filled: Path) -> None:
    content = bytearray(filled.read_bytes())
    rng = random.Random(3)
    for _ in range(200):
        content[rng.randrange(4096, len(content))] ^= 0xFF
    filled.write_bytes(content)
    assert faults(filled) != set()


def test_a_check_is_remembered_when_it_may_write(filled: Path, clock: Callable[[], float]) -> None:
    upkeep.check(filled, clock=clock)
    assert upkeep.history(filled) == []
    upkeep.check(filled, repair=True, clock=clock)
    (done,) = upkeep.history(filled)
    assert (done.kind, done.at, done.detail) == ("check", clock(), {"findings": 0, "sound": True})


def test_a_check_of_nothing_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(StoreMissing):
        upkeep.check(tmp_path / "crawl.db", repair=True)
    assert list(tmp_path.iterdir()) == []


def test_a_check_runs_while_others_write(
    filled: Path, frontier: Callable[..., Frontier], page: Callable[..., Page]
) -> None:
    opened = frontier()
    for i in range(5):
        opened.add([f"https://a.example/more/{i}"])
        assert upkeep.check(filled).sound


@pytest.mark.parametrize(
    "statement", [case[2] for case in MENDED if "links" not in case[2]] + ["UPDATE host SET lanes = 1000"]
)
def test_whoever_has_a_store_open_goes_on_as_if_it_had_been_opened_after_the_repair(
    filled: Path, tmp_path: Path, frontier: Callable[..., Frontier], page: Callable[..., Page], statement: str
) -> None:
    """What was remembered may be what was wrong, and tells where a new link has its place."""

    def crawl(opened: Frontier) -> None:
        opened.add([FoundLink(f"https://{host}.example/new/{i}/{i}") for host in "ab" for i in range(20)])
        for lease in opened.lease(5):
            opened.observe(lease, page(lease, "/another/one/1", "/another/two/2"))

    change(filled, statement)
    with closing(frontier(worker="x")) as opened:
        opened.add([FoundLink(f"https://{host}.example/known/{i}") for host in "ab" for i in range(3)])
        assert upkeep.check(filled, repair=True).sound
        upkeep.backup(filled, tmp_path / "copy.db")
        crawl(opened)
    with closing(frontier(path=tmp_path / "copy.db", worker="x")) as opened:
        crawl(opened)
    assert dump(filled) == dump(tmp_path / "copy.db")
    assert violations(filled) == []
