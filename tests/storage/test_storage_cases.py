"""Cases of the field that are about the store as a whole."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from store_invariants import violations

from pagesift_store import (
    FoundLink,
    Frontier,
    Inspector,
    LeaseLost,
    LinkState,
    Page,
    Refusal,
    SchemaTooNew,
    Verdict,
    upkeep,
)
from pagesift_store.storage import schema

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_c09_a_newer_store_is_refused_by_everything(filled_store: Path) -> None:
    with closing(sqlite3.connect(filled_store)) as connection, connection:
        connection.execute(f"UPDATE {schema.VERSION_TABLE} SET version_num = 'ffffffffffff'")
    before = filled_store.read_bytes()
    for act in (
        Frontier.open,
        Inspector.open,
        upkeep.check,
        schema.migrate,
        lambda s: list(upkeep.export_lines(s)),
    ):
        with pytest.raises(SchemaTooNew, match=f"ffffffffffff, newer than {schema.HEAD}"):
            act(filled_store)
    assert filled_store.read_bytes() == before


@pytest.fixture
def filled_store(frontier: Callable[..., Frontier], store: Path) -> Path:
    with frontier() as opened:
        opened.add([f"https://a.example/{i}" for i in range(5)])
    return store


def test_c18_a_late_report_is_refused_across_a_reopening(
    frontier: Callable[..., Frontier], page: Callable[..., Page], clock: Callable[[], float], store: Path
) -> None:
    first = frontier(worker="a")
    first.add(["https://a.example/"])
    late = first.lease(1, ttl=1.0)[0]
    clock.forward(2)  # type: ignore[attr-defined]
    first.close()
    second = frontier(worker="b")
    current = second.lease(1)[0]
    with frontier(worker="a") as again:
        for act in (
            lambda: again.observe(late, page(late)),
            lambda: again.fail(late, "timeout"),
            lambda: again.release(late),
            lambda: again.renew(late),
        ):
            before = list(again.dump())
            with pytest.raises(LeaseLost):
                act()
            assert list(again.dump()) == before
    assert not second.observe(current, page(current)).repeated
    assert violations(store) == []


def test_c73_huge_values_are_refused_or_cut(
    frontier: Callable[..., Frontier], page: Callable[..., Page], store: Path
) -> None:
    opened = frontier()
    (added,) = opened.add(["data:text/plain," + "x" * 5_000_000])
    assert added.verdict is Verdict.REJECTED
    opened.add(["https://a.example/"])
    links = [FoundLink(f"/{i}", "student visa") for i in range(5_000)]
    links += [FoundLink("/big", "x" * 10_000_000, "y" * 10_000_000), FoundLink("/" + "z" * 5_000_000)]
    lease = opened.lease(1)[0]
    start = time.perf_counter()
    seen = opened.observe(lease, page(lease, *links, text="student " * 50_000, title="t" * 1_000_000))
    assert time.perf_counter() - start < 30
    assert seen.added[-1].reason is Refusal.TOO_LONG
    assert store.stat().st_size < 20_000_000
    assert violations(store) == []


def test_c76_a_lock_is_no_sign_of_another_layout(filled_store: Path, tmp_path: Path) -> None:
    """Readers do not even wait; the other kinds of file are in test_storage_refusals."""
    with closing(sqlite3.connect(filled_store, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with Inspector.open(filled_store) as inspector:
            assert inspector.status().counts[LinkState.QUEUED] == 5
        assert upkeep.backup(filled_store, tmp_path / "backup.db").links == 5


def test_c79_what_is_committed_is_what_is_shown(
    frontier: Callable[..., Frontier], page: Callable[..., Page], store: Path
) -> None:
    opened = frontier()
    with Inspector.open(store) as inspector:
        for i in range(5):
            opened.add([f"https://a.example/{i}"])
            assert inspector.status().counts[LinkState.QUEUED] == 1
            lease = opened.lease(1)[0]
            assert inspector.status().counts[LinkState.LEASED] == 1
            opened.observe(lease, page(lease))
            assert inspector.status().pages == i + 1


def test_c81_a_queued_link_takes_less_than_300_bytes(frontier: Callable[..., Frontier], store: Path) -> None:
    """The figure for a million is in `benchmarks/size.py`."""
    with frontier() as opened:
        empty = store.stat().st_size
        urls = [
            f"https://www.university.example/faculty-of-law/students/visa-and-fees/{i:011}"
            for i in range(20_000)
        ]
        assert {len(url) for url in urls} == {80}
        opened.add([FoundLink(url, "student visa fees", "what a visa costs") for url in urls], base=urls[0])
        opened.add(urls[:1])
        opened.add([FoundLink(url, "student visa fees", "what a visa costs") for url in urls], base=urls[0])
        links = opened.status().counts[LinkState.QUEUED]
    assert links > 19_000
    assert (store.stat().st_size - empty) / links < 300


def test_c83_an_error_after_the_commit_may_be_answered_by_repeating_the_call(
    frontier: Callable[..., Frontier], page: Callable[..., Page], store: Path
) -> None:
    opened = frontier()
    opened.add(["https://a.example/"])
    lease = opened.lease(1)[0]
    made = page(lease, "/1", "/2", text="student visa fees " * 30)
    opened.observe(lease, made)  # committed; then something of the caller's broke
    before = list(opened.dump())
    opened.close()
    for again in (frontier(), frontier(worker="other")):
        seen = again.observe(lease, made)
        assert seen.repeated
        assert list(again.dump()) == before
    assert violations(store) == []
