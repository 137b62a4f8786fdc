"""Cases about URLs, keys, redirects and traps that take a store to show; the pure ones are in the tests of `urls`."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from store_invariants import violations

from pagesift_store import FoundLink, Frontier, Inspector, InvalidSettings, LinkState, Page, Settings, Verdict
from pagesift_store.transactions.keys import signed_hash
from pagesift_store.urls.pipeline import key_hash

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

A, B = "https://a.example/x", "https://a.example/y"


# -- C23: identity by hash -------------------------------------------------------------------------------------------


def test_c23_a_thousand_urls_under_256_hashes_stay_a_thousand(
    frontier: Callable[..., Frontier],
    page: Callable[..., Page],
    store: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def weak(key: str) -> bytes:
        return key_hash(key)[:1] * 16

    for name, module in list(sys.modules.items()):
        if name.startswith("pagesift_store.") and hasattr(module, "key_hash"):
            monkeypatch.setattr(module, "key_hash", weak)
    urls = [f"https://a.example/{number}" for number in range(1_000)]
    opened = frontier(query="", key_rules="strict")
    assert {found.verdict for found in opened.add(urls)} == {Verdict.NEW}
    assert {found.verdict for found in opened.add(reversed(urls))} == {Verdict.KNOWN}
    (lease,) = opened.lease(1)
    seen = opened.observe(lease, page(lease, *urls, *(f"{url}/" for url in urls[:10])))
    assert [found.verdict for found in seen.added] == [Verdict.KNOWN] * 1_000 + [Verdict.NEW] * 10
    assert [opened.explain(url).url for url in urls[::97]] == urls[::97]
    assert opened.rekey("loose").merged == 10
    assert {found.verdict for found in opened.add(urls)} == {Verdict.KNOWN}
    leased = {lease.url for lease in opened.lease(99)} | {lease.url}
    assert len(leased) == 100
    with closing(sqlite3.connect(store)) as connection:
        assert (
            connection.execute("SELECT count(*), count(DISTINCT key_hash) FROM link").fetchone()[0] == 1_000
        )
    assert violations(store) == []


def test_c23_hashes_fit_the_signed_integers_of_every_engine() -> None:
    found = [signed_hash(str(number)) for number in range(1_000)]
    assert min(found) < 0 < max(found)
    assert all(-(2**63) <= value < 2**63 for value in found)
    # Stored in files: a change of the function would orphan every template.
    assert [signed_hash(text) for text in ("", "a.example/n#", "\ud800x", "é" * 99)] == [
        -1970711489451281740,
        -7847083489536056430,
        3094624804804911241,
        -581881500728106627,
    ]


# -- C52: a calendar without end -------------------------------------------------------------------------------------


def month(url: str) -> Page:
    """A month with nothing in it, and the way to the next."""
    number = int(url.rpartition("m=")[2])
    return Page(
        url=url,
        text=f"Month {number}. There is nothing planned; look at another month. " * 5,
        links=[FoundLink(f"/cal?y=2024&m={number + 1}", "Next month, fees of students")],
    )


def test_c52_a_calendar_comes_last_and_the_inspector_shows_it(
    frontier: Callable[..., Frontier], store: Path
) -> None:
    opened = frontier()
    opened.add(["https://a.example/"])
    links = [FoundLink("/cal?y=2024&m=1", "Student visa fees"), *(FoundLink(f"/{n}") for n in range(8))]
    opened.observe(opened.lease(1)[0], Page(url="https://a.example/", links=links))
    order = []
    while len(order) < 20 and (leases := opened.lease(1)):
        url = leases[0].url
        order.append(url)
        opened.observe(leases[0], month(url) if "cal" in url else Page(url=url, text=f"Of {url} " * 40))
    assert order.index("https://a.example/7") < 14
    assert sum("cal" in url for url in order[:12]) <= 6
    with Inspector.open(str(store)) as inspector:
        (calendar,) = (row for row in inspector.templates() if row["text"].startswith("a.example/cal"))
    assert (calendar["demoted"], calendar["repeated"]) == (True, calendar["fetched"] - 1)


# -- C56: redirects ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "hops",
    [
        [A, *(f"https://a.example/hop-{k}" for k in range(24)), B],
        [A, B, A],
        [A, A],
    ],
    ids=["a chain of 25", "a two-cycle", "a self-loop"],
)
def test_c56_loops_and_long_chains_end_dead_and_leave_no_trace(
    frontier: Callable[..., Frontier], store: Path, hops: list[str]
) -> None:
    opened = frontier()
    opened.add([A])
    (lease,) = opened.lease(1)
    seen = opened.observe(lease, Page(url=hops[-1], redirects=hops[:-1], text="x " * 200))
    assert seen.state is LinkState.DEAD
    assert opened.explain(A).facts["reason"] == "redirect loop"
    assert opened.status().counts[LinkState.DEAD] == sum(opened.status().counts.values()) == 1
    assert opened.lease(1) == []
    assert violations(store) == []


def test_c56_two_links_that_lead_to_each_other_are_each_known(
    frontier: Callable[..., Frontier], store: Path
) -> None:
    opened = frontier()
    opened.add([A, B])
    first, second = opened.lease(2)
    opened.observe(first, Page(url=B, redirects=[A], text="x " * 200))
    with pytest.raises(Exception, match="leased again"):
        opened.observe(second, Page(url=A, redirects=[B], text="x " * 200))
    assert {opened.explain(url).state for url in (A, B)} == {LinkState.DONE}
    assert violations(store) == []


def test_c56_a_seed_that_moves_uses_up_no_depth(frontier: Callable[..., Frontier], store: Path) -> None:
    opened = frontier(max_depth=1, scope="prefix")
    opened.add(["https://old.example/docs/"])
    (lease,) = opened.lease(1)
    moved = Page(
        url="https://new.example/en/docs/",
        redirects=[lease.url, "https://new.example/docs/"],
        links=[FoundLink("page"), FoundLink("/elsewhere")],
    )
    added = opened.observe(lease, moved).added
    assert [found.verdict for found in added] == [Verdict.NEW, Verdict.REJECTED]
    (lease,) = opened.lease(1)
    assert (lease.url, lease.depth) == ("https://new.example/en/docs/page", 1)
    assert violations(store) == []


def test_c56_redirects_survive_a_restart(store: Path, tmp_path: Path) -> None:
    def run(path: Path, *, reopen: bool) -> list[Any]:
        made = Settings(default_delay=0.0, durability="normal")
        frontier = Frontier.open(path, query="fees", settings=made, clock=lambda: 1e6)
        frontier.add([f"https://a.example/{number}" for number in range(12)])
        while leases := frontier.lease(1):
            url = leases[0].url
            number = int(url.rpartition("/")[2])
            target = f"https://{'b' if number % 5 == 0 else 'a'}.example/{number // 2 + 20}"
            frontier.observe(
                leases[0],
                Page(
                    url=target if number < 20 else url,
                    redirects=[url] if number < 20 else [],
                    text="y " * number,
                ),
            )
            if reopen:
                frontier.close()
                frontier = Frontier.open(path, clock=lambda: 1e6)
        dump = list(frontier.dump())
        frontier.close()
        return dump

    assert run(store, reopen=False) == run(tmp_path / "again.db", reopen=True)
    assert violations(store) == []


# -- C61: hash routes ------------------------------------------------------------------------------------------------


ROUTES = ["https://app.example/#/one", "https://app.example/#/two", "https://app.example/#section"]


def test_c61_fragments_go_unless_the_host_has_hash_routes(frontier: Callable[..., Frontier]) -> None:
    opened = frontier()
    assert [found.verdict for found in opened.add(ROUTES)] == [Verdict.NEW, Verdict.KNOWN, Verdict.KNOWN]


def test_c61_hash_routes_are_pages_of_their_own(frontier: Callable[..., Frontier], store: Path) -> None:
    opened = frontier(query="", route_hosts=["app.example"])
    assert [found.url for found in opened.add([*ROUTES, "https://other.example/#/one"])] == [
        "https://app.example/#/one",
        "https://app.example/#/two",
        "https://app.example/",
        "https://other.example/",
    ]
    opened.close()
    again = frontier()
    (lease,) = again.lease(1)
    assert lease.url == lease.key == ROUTES[0]
    text = "One of the views of this application. " * 9
    links = [FoundLink("#/three"), FoundLink("#!/four"), FoundLink("#top")]
    seen = again.observe(lease, Page(url="https://app.example/", text=text, links=links))
    assert [found.verdict for found in seen.added] == [Verdict.NEW, Verdict.NEW, Verdict.KNOWN]
    assert again.explain("https://app.example/").state is LinkState.QUEUED
    assert again.rekey("loose").merged == 0
    assert violations(store) == []


@pytest.mark.parametrize(
    "hosts", ["app.example", ["https://app.example"], ["App.example"], ["a:8"], [""], [1]]
)
def test_c61_what_is_no_host(hosts: Any) -> None:
    with pytest.raises(InvalidSettings, match="route_hosts"):
        Settings(route_hosts=hosts)
