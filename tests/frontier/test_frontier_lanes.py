"""Lanes stay bounded however many directories a site has, and the order stays right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from store_invariants import violations

from pagesift_store import FoundLink

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pagesift_store import Frontier


def rows(opened: Frontier, table: str) -> list[dict[str, object]]:
    return [dict(row) for row in opened.dump() if row["table"] == table]


def test_a_site_of_many_directories_has_at_most_a_thousand_lanes(frontier: Callable[..., Frontier]) -> None:
    opened = frontier(max_in_flight=10_000, cluster_cap=10_000)
    opened.add(["https://a.example/"])
    opened.add([FoundLink(f"https://a.example/d{i}/page", score=float(i)) for i in range(1_500)])
    assert len(rows(opened, "lane")) == 1_000
    assert rows(opened, "host")[0]["lanes"] == 1_000
    overflow = [row for row in rows(opened, "part") if str(row["key"]).endswith("/*")]
    assert [row["kind"] for row in overflow] == ["subtree", "cluster"]
    scores = [lease.score for lease in opened.lease(300)]
    assert scores == [float(i) for i in range(1_499, 1_199, -1)]


def test_a_flat_site_has_one_lane_and_its_order_is_by_score(frontier: Callable[..., Frontier]) -> None:
    opened = frontier(max_in_flight=10_000)
    opened.add(["https://a.example/"])
    opened.add([FoundLink(f"https://a.example/post-{i}", score=float(i % 997)) for i in range(3_000)])
    assert len(rows(opened, "lane")) == 1
    scores = [lease.score for lease in opened.lease(50)]
    assert scores == sorted((float(i % 997) for i in range(3_000)), reverse=True)[:50]


def test_what_two_remember_of_hosts_grows_with_what_each_of_them_adds(
    frontier: Callable[..., Frontier], store: Path, tmp_path: Path
) -> None:
    """Each meets new directories, languages and seeds on hosts that the other knows already."""
    batches = [
        ["https://a.example/", "https://b.example/en/guide/x"],
        ["https://a.example/visa/1", "https://a.example/de/visa/2"],
        ["https://a.example/fees/1/x", "https://b.example/it/guide/y", "https://c.example/"],
        ["https://a.example/visa/3", "https://a.example/fees/1/y", "https://c.example/it/visa/z"],
        ["https://a.example/it/fees/1", "https://b.example/it/guide/z", "https://c.example/en/"],
    ]
    two = [frontier(), frontier()]
    for turn, batch in enumerate([*batches, *batches]):
        two[turn % 2].add(batch[:1])
        two[turn % 2].add(batch[1:], depth=1)
    alone = frontier(path=tmp_path / "alone.db")
    for batch in [*batches, *batches]:
        alone.add(batch[:1])
        alone.add(batch[1:], depth=1)
    assert list(two[0].dump()) == list(alone.dump())
    assert violations(store) == []
