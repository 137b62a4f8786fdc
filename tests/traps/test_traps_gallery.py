"""Sites with 200 real pages and one trap each: with 500 fetches, the real pages are found (C50 to C56, C58).

`benchmarks/traps.py` prints what each trap costs, beside plain breadth-first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from trap_runs import QUERY, crawl
from trap_sites import GALLERY, ORIGIN, REAL, REAL_PAGES, Site

if TYPE_CHECKING:
    from pathlib import Path

ENOUGH = 190

# Fetches that a trap may cost before the last real page; a crawl that knows of no traps spends all it has.
FREE = {"session in the path, ;jsessionid=", "session in the path, /(S(…))/"}
CHEAP = {
    "endless calendar",
    "query that echoes itself",
    "every page echoes its own address",
    "&amp; chains",
    "print views, ?print=1",
    "index.html twins",
}


def test_the_sites_hold_what_they_promise() -> None:
    texts = {Site().page(path).text for path in REAL}
    assert len(REAL) == len(texts) == REAL_PAGES
    assert min(map(len, texts)) >= 200


@pytest.mark.parametrize("site", GALLERY, ids=lambda site: site.name)
def test_an_answer_depends_on_nothing_but_the_url(site: type[Site]) -> None:
    urls = [f"{ORIGIN}/", f"{ORIGIN}/visa/", f"{ORIGIN}/nowhere/at-all"]
    assert [site().answer(url) for url in urls] == [site().answer(url) for url in urls]


@pytest.mark.parametrize("query", [QUERY, ""], ids=["focused", "without a query"])
@pytest.mark.parametrize("site", [Site, *GALLERY], ids=lambda site: site.name)
def test_a_trap_does_not_keep_a_crawl_from_the_real_pages(
    site: type[Site], query: str, tmp_path: Path
) -> None:
    run = crawl(site(), tmp_path / "crawl.db", query)
    assert run.real >= ENOUGH
    if site.name in FREE or site is Site:
        assert run.cost == 0
    if site.name in CHEAP:
        assert run.cost <= 40
