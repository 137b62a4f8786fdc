"""What `inspect traps` shows of the traps that a crawl met (C51, C52)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from trap_runs import crawl
from trap_sites import AmpChains, Calendar, PrintQuery, Site, SoftNotFound

from pagesift_store import Inspector

if TYPE_CHECKING:
    from pathlib import Path


def shown(site: Site, store: Path, budget: int = 100) -> dict[tuple[str, str], dict[str, Any]]:
    """What the inspector says after a short crawl: (kind, what) → its row."""
    crawl(site, store, query="", budget=budget)
    with Inspector.open(str(store)) as inspector:
        return {(row["kind"], row["what"]): row for row in inspector.traps()}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "crawl.db"


def test_a_site_without_a_trap_has_nothing_to_show(store: Path) -> None:
    assert shown(Site(), store) == {}


def test_c51_growing_amp_chains(store: Path) -> None:
    found = shown(AmpChains(), store)
    assert found["refused", "amp_chain"]["count"] >= 3
    assert "&amp;amp;" in found["refused", "amp_chain"]["evidence"]
    assert found["entity", "&amp;"]["count"] >= 10
    assert "&amp;page=1" in found["entity", "&amp;"]["evidence"]


def test_c52_a_calendar(store: Path) -> None:
    found = shown(Calendar(), store, budget=150)
    (days,) = (row for (kind, what), row in found.items() if kind == "demoted" and what.endswith("?d&m&y"))
    assert days["count"] >= 20
    assert days["evidence"].endswith("pages repeat others")


def test_learned_rules(store: Path) -> None:
    found = shown(PrintQuery(), store)
    rule = found["rewritten", "college.example: drop_param_value print=1"]
    assert rule["count"] >= 1
    assert rule["evidence"] == "2 pairs of pages"


def test_links_that_only_repeated_pages_carry(store: Path) -> None:
    found = shown(SoftNotFound(), store, budget=300)
    assert found["demoted", "college.example found on repeats"]["count"] >= 20
