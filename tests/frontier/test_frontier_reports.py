"""What of a page is read before the store is locked changes neither outcomes nor errors."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pagesift_store import FoundLink, InvalidValue, LeaseLost, Verdict, WrongStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pagesift_store import Frontier, Page

SITE = "https://a.example"
NO_TEXT: Any = None


def test_a_lost_lease_is_told_before_a_field_that_is_no_text(
    frontier: Callable[..., Frontier], page: Callable[..., Page], clock: Any, tmp_path: Path
) -> None:
    opened = frontier(scope="any")
    opened.add([f"{SITE}/1"])
    (lost,) = opened.lease(1)
    clock.forward(1_000)
    (good,) = opened.lease(1)
    bad = replace(page(lost), text=NO_TEXT)
    with pytest.raises(LeaseLost):
        opened.observe(lost, bad)
    first, second = opened.observe_many([(lost, bad), (good, page(good))])
    assert isinstance(first, LeaseLost)
    assert not isinstance(second, LeaseLost)
    with pytest.raises(WrongStore):
        frontier(path=tmp_path / "other").observe(good, replace(page(good), text=NO_TEXT))


def test_every_page_is_checked_before_one_is_read(
    frontier: Callable[..., Frontier], page: Callable[..., Page]
) -> None:
    opened = frontier(scope="any")
    opened.add([f"{SITE}/1", f"{SITE}/2"])
    one, two = opened.lease(2)
    with pytest.raises(InvalidValue, match="status=5"):
        opened.observe_many([(one, replace(page(one), text=NO_TEXT)), (two, replace(page(two), status=5))])


def test_a_context_that_is_no_text_hits_nothing(
    frontier: Callable[..., Frontier], page: Callable[..., Page]
) -> None:
    opened = frontier(query="student visa", scope="any")
    opened.add([f"{SITE}/1"])
    (lease,) = opened.lease(1)
    found = [
        FoundLink("/2", "visa", NO_TEXT),
        FoundLink("mailto:x", "x", NO_TEXT),
        FoundLink("/3", "visa", "visa"),
    ]
    outcome = opened.observe(lease, page(lease, *found))
    assert [added.verdict for added in outcome.added] == [Verdict.NEW, Verdict.REJECTED, Verdict.NEW]
    assert opened.explain(f"{SITE}/2").score == opened.explain(f"{SITE}/3").score > 0


def test_a_page_is_read_once_also_where_others_change_the_rules(
    frontier: Callable[..., Frontier],
    page: Callable[..., Page],
    store: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from pagesift_store.transactions import reported

    opened, other = frontier(scope="any"), frontier(path=store, worker="other")
    opened.add([f"{SITE}/{i}" for i in range(4)])
    read: list[str] = []
    monkeypatch.setattr(
        reported, "read_main", lambda *given, plain=reported.read_main: read.append(given[1]) or plain(*given)
    )
    acts: list[Callable[[], Any]] = [
        lambda: other.block("nowhere"),
        lambda: other.configure(cluster_cap=7),
        lambda: other.add(["https://b.example/en/1"]),
    ]
    for number, act in enumerate(acts):
        (lease,) = opened.lease(1)
        act()
        opened.observe(lease, page(lease, text=f"text {number}"))
    assert read == ["text 0", "text 1", "text 2"]
