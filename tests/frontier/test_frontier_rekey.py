"""Moving a store to other key rules: what is merged, what moves along, and that it happens wholly or not at all."""

from __future__ import annotations

import signal
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from racing import run
from store_invariants import violations

from pagesift_store import FoundLink, Frontier, InvalidSettings, LeaseLost, Page, Settings
from pagesift_store.urls.keys import key_rules
from pagesift_store.urls.pipeline import UrlRules, key_hash
from pagesift_store.urls.reading import read
from pagesift_store.urls.scope import Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SITE = "https://www.college.example"
TWINS = (f"{SITE}/fees", f"{SITE}/fees/", f"{SITE}/fees/index.html", "http://college.example/fees")
TOPIC = "The student visa fees are due before the student applies for a visa, and fees are not paid back. "


def links(store: Path) -> dict[str, dict[str, Any]]:
    """Every link by its URL."""
    with closing(sqlite3.connect(store)) as connection:
        connection.row_factory = sqlite3.Row
        return {row["url"]: dict(row) for row in connection.execute("SELECT * FROM link ORDER BY id")}


def pages(store: Path) -> list[dict[str, Any]]:
    with closing(sqlite3.connect(store)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute("SELECT * FROM page ORDER BY id")]


def add(frontier: Frontier, *urls: str, score: float = 1.0, depth: int = 1) -> None:
    frontier.add([FoundLink(url, score=score) for url in urls], depth=depth)


@pytest.fixture
def opened(frontier: Callable[..., Frontier]) -> Frontier:
    """A crawl under the strict rules, with the site in its scope and nothing queued."""
    made = frontier(key_rules="strict", rescore_drift=1.0)
    made.add([f"{SITE}/"])
    made.observe(made.lease(1)[0], Page(url=f"{SITE}/", text="Nothing"))
    return made


def fetch(frontier: Frontier, page: Callable[..., Page], url: str, **fields: Any) -> None:
    """Fetch one page, which is the best of the queue."""
    add(frontier, url, score=9.0)
    (lease,) = frontier.lease(1)
    assert lease.url == url
    frontier.observe(lease, page(lease, **fields))


def test_each_preset_merges_what_its_rules_say_and_looser_ones_more(opened: Frontier, store: Path) -> None:
    plain = f"{SITE}/fees?b=2&a=1"
    variants = {
        "strict": [],
        "standard": [
            f"{SITE}/fees?a=1&b=2",
            f"{SITE}/fees;jsessionid=A1?b=2&a=1",
            "https://college.example/fees?b=2&a=1&utm_source=x",
        ],
        "loose": [f"{SITE}/fees/?b=2&a=1", f"{SITE}/fees/index.html?b=2&a=1", f"http{SITE[5:]}/fees?b=2&a=1"],
    }
    add(opened, plain, *(url for urls in variants.values() for url in urls))
    assert opened.rekey("strict").merged == 0
    assert opened.rekey("standard").merged == 3
    assert set(links(store)) == {f"{SITE}/", plain, *variants["loose"]}
    done = opened.rekey("loose")
    assert (done.preset, done.links, done.merged) == ("loose", 5, 3)
    assert done.examples == ((plain, *variants["loose"]),)
    assert set(links(store)) == {f"{SITE}/", plain}
    assert violations(store) == []


def test_going_back_keeps_what_was_merged_and_tells_apart_what_comes(opened: Frontier, store: Path) -> None:
    add(opened, *TWINS)
    opened.rekey("loose")
    assert opened.rekey("strict").merged == 0
    assert opened.add([FoundLink(TWINS[0])])[0].verdict == "known"
    assert [found.verdict for found in opened.add([FoundLink(url) for url in TWINS[1:]])] == ["new"] * 3
    assert violations(store) == []


def test_the_rules_are_stored(opened: Frontier, frontier: Callable[..., Frontier], store: Path) -> None:
    opened.rekey("loose")
    opened.close()
    with closing(sqlite3.connect(store)) as connection:
        assert connection.execute("SELECT key_rules, key_version FROM crawl").fetchone() == (
            "loose",
            key_rules("loose").version,
        )
    again = frontier()
    assert [found.verdict for found in again.add([FoundLink(url) for url in TWINS])] == [
        "new",
        *["known"] * 3,
    ]


def test_an_unknown_preset_is_refused(opened: Frontier, store: Path) -> None:
    before = links(store)
    with pytest.raises(InvalidSettings, match="sloppy"):
        opened.rekey("sloppy")
    assert links(store) == before


def test_a_dry_run_changes_nothing_and_shows_examples(opened: Frontier, store: Path) -> None:
    add(opened, *TWINS, *(f"{SITE}/page-{k}{slash}" for k in range(20) for slash in ("", "/")))
    before = list(opened.dump())
    planned = opened.rekey("loose", dry_run=True)
    assert list(opened.dump()) == before
    assert planned.merged == 3 + 20
    assert len(planned.examples) == 10
    assert planned.examples[0] == TWINS
    assert opened.add([FoundLink(f"{SITE}/page-1/x/")])[0].key == f"{SITE}/page-1/x/"
    assert opened.rekey("loose") == replace(planned, links=planned.links + 1)


def test_a_fetched_page_stands_over_an_earlier_queued_one(
    opened: Frontier, page: Callable[..., Page], store: Path
) -> None:
    add(opened, TWINS[0], score=0.5)
    fetch(opened, page, TWINS[1])
    opened.rekey("loose")
    assert links(store)[TWINS[1]]["state"] == "done"
    assert TWINS[0] not in links(store)
    assert opened.lease(1) == []
    assert violations(store) == []


def test_of_unfinished_links_the_earliest_stays_with_the_best_of_all(opened: Frontier, store: Path) -> None:
    add(opened, TWINS[0], score=0.5, depth=5)
    add(opened, TWINS[1], score=2.0, depth=4)
    add(opened, TWINS[2], score=1.0, depth=2)
    first = links(store)[TWINS[0]]["id"]
    opened.rekey("loose")
    kept = links(store)[TWINS[0]]
    assert (kept["id"], kept["score"], kept["depth"]) == (first, 2.0, 2)
    assert violations(store) == []


def test_a_computed_score_follows_its_signal_and_the_smallest_depth(opened: Frontier, store: Path) -> None:
    opened.add([FoundLink(TWINS[0], anchor="Campus")], depth=1)
    opened.add([FoundLink(TWINS[1], anchor="Student visa fees")], depth=4)
    signal_of_best = links(store)[TWINS[1]]
    opened.rekey("loose")
    kept = links(store)[TWINS[0]]
    for name in ("anchor_hits", "url_hits", "context_hits", "phrase", "parent_relevance", "floor", "factor"):
        assert kept[name] == signal_of_best[name]
    assert kept["depth"] == 1
    assert kept["decay"] == pytest.approx(0.9)
    assert kept["score"] == pytest.approx(signal_of_best["score"] / signal_of_best["decay"] * 0.9)
    assert violations(store) == []


def test_what_was_reached_by_a_redirect_is_not_queued_again(opened: Frontier, store: Path) -> None:
    add(opened, f"{SITE}/go")
    (lease,) = opened.lease(1)
    opened.observe(lease, Page(url=TWINS[1], redirects=[lease.url], text=TOPIC * 3))
    add(opened, TWINS[0])
    opened.rekey("loose")
    assert {url: row["state"] for url, row in links(store).items()} == {
        f"{SITE}/": "done",
        f"{SITE}/go": "done",
        TWINS[1]: "done",
    }
    assert violations(store) == []


def test_a_leased_link_stands_over_a_queued_one_and_its_lease_holds(
    opened: Frontier, page: Callable[..., Page], store: Path
) -> None:
    add(opened, TWINS[0], score=0.5)
    add(opened, TWINS[1], score=2.0)
    (lease,) = opened.lease(1)
    opened.rekey("loose")
    opened.observe(lease, page(lease))
    assert set(links(store)) == {f"{SITE}/", TWINS[1]}
    assert violations(store) == []


def test_a_leased_link_goes_when_its_page_is_there_already(
    opened: Frontier, page: Callable[..., Page], store: Path
) -> None:
    fetch(opened, page, TWINS[0])
    add(opened, TWINS[1])
    (lease,) = opened.lease(1)
    opened.rekey("loose")
    assert violations(store) == []
    with pytest.raises(LeaseLost):
        opened.observe(lease, page(lease))
    assert violations(store) == []


def test_the_failures_of_another_are_no_outcome_of_a_lease(
    opened: Frontier, page: Callable[..., Page], store: Path
) -> None:
    add(opened, TWINS[0], score=9.0)
    opened.fail(opened.lease(1)[0], "http_4xx")
    add(opened, TWINS[1])
    (lease,) = opened.lease(1)
    opened.rekey("loose")
    assert opened.observe(lease, page(lease)).repeated is False
    assert [row["link_id"] for row in pages(store)][-2:] == [lease.link_id] * 2
    assert violations(store) == []


def test_pages_children_and_aliases_move_to_the_link_that_stays(
    opened: Frontier, page: Callable[..., Page], store: Path
) -> None:
    fetch(opened, page, TWINS[0], text=TOPIC * 3, links=[FoundLink("/one")])
    fetch(opened, page, TWINS[1], text=TOPIC * 3, links=[FoundLink("/two")])
    fetch(opened, page, f"{SITE}/copy", text=TOPIC * 3)
    add(opened, TWINS[2], score=9.0)
    (lease,) = opened.lease(1)
    opened.observe(lease, Page(url=f"{SITE}/landed", redirects=[lease.url], text=TOPIC * 4))
    opened.rekey("loose")
    found = links(store)
    stays = found[TWINS[0]]["id"]
    assert {url for url in TWINS if url in found} == {TWINS[0]}
    assert [found[url]["parent_id"] for url in (f"{SITE}/one", f"{SITE}/two")] == [stays, stays]
    assert found[f"{SITE}/landed"]["alias_of"] == stays
    assert [row["duplicate_of"] for row in pages(store) if row["link_id"] == stays] == [None] * 3
    assert [row["duplicate_of"] for row in pages(store) if row["link_id"] == found[f"{SITE}/copy"]["id"]] == [
        stays
    ]


def test_a_link_that_was_fetched_under_two_urls_counts_once(
    opened: Frontier, page: Callable[..., Page], store: Path
) -> None:
    fetch(opened, page, f"{SITE}/fees/", text=TOPIC * 3, relevance=0.7)
    fetch(opened, page, f"{SITE}/fees", text=TOPIC * 4, relevance=0.6)
    fetch(opened, page, f"{SITE}/fees/index.html", text=TOPIC * 5, relevance=0.5)
    assert (opened.status().pages, opened.status().relevant) == (4, 3)
    opened.rekey("loose")
    assert (opened.status().pages, opened.status().relevant) == (2, 1)
    assert violations(store) == []


def test_a_link_that_was_found_on_itself_was_found_where_that_was(
    opened: Frontier, page: Callable[..., Page], store: Path
) -> None:
    fetch(opened, page, f"{SITE}/list", links=[FoundLink("/fees/", score=8.0)])
    (lease,) = opened.lease(1)
    opened.observe(lease, page(lease, FoundLink("/fees", score=8.0)))
    assert links(store)[f"{SITE}/fees"]["parent_id"] == lease.link_id
    opened.rekey("loose")
    assert links(store)[f"{SITE}/fees/"]["parent_id"] == links(store)[f"{SITE}/list"]["id"]


def test_c58_twins_of_scheme_and_host_are_distinct_until_a_rekey(opened: Frontier, store: Path) -> None:
    twins = [
        f"{scheme}://{host}/x" for scheme in ("http", "https") for host in ("h.example", "www.h.example")
    ]
    opened.add(twins)
    assert set(twins) <= set(links(store))
    opened.rekey("standard")
    assert len(set(twins) & set(links(store))) == 2
    opened.rekey("loose")
    assert len(set(twins) & set(links(store))) == 1
    assert violations(store) == []


# -- all or nothing ----------------------------------------------------------------------------------------------------

KILLED = """
import os, signal, sys
from sqlalchemy import Engine, event
from pagesift_store import Frontier
left = int(sys.argv[2])
def count(*_):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
event.listen(Engine, "connect", lambda connection, _: connection.set_trace_callback(count))
with Frontier.open(sys.argv[1], clock=lambda: 1e6) as frontier:
    frontier.rekey("loose")
"""


def test_a_kill_at_any_statement_leaves_the_old_keys_or_the_new_ones(
    opened: Frontier,
    page: Callable[..., Page],
    frontier: Callable[..., Frontier],
    store: Path,
    tmp_path: Path,
) -> None:
    fetch(opened, page, TWINS[0])
    fetch(opened, page, TWINS[1])
    add(opened, TWINS[2], *(f"{SITE}/page-{k}{slash}" for k in range(3) for slash in ("", "/")))
    opened.close()
    old = dump_of(store)
    copy = tmp_path / "copy.db"
    outcomes = []
    for statement in (8, 14, 20, 27, 35, 44, 52, 60, 66, 70, 10_000):
        copy.unlink(missing_ok=True)
        copy.write_bytes(store.read_bytes())
        code = run(KILLED, copy, str(statement))
        assert code in (0, -signal.SIGKILL)
        outcomes.append(dump_of(copy))
        assert violations(copy) == []
    assert outcomes[-1] != old
    assert all(found in (old, outcomes[-1]) for found in outcomes)
    assert outcomes[:8] == [old] * 8


def dump_of(path: Path) -> list[Any]:
    with Frontier.open(path, clock=lambda: 1e6) as frontier:
        return list(frontier.dump())


# -- whatever was added ------------------------------------------------------------------------------------------------

HREFS = st.builds(
    "{}://{}college.example/{}{}{}".format,
    st.sampled_from(["http", "https"]),
    st.sampled_from(["", "www."]),
    st.sampled_from(["", "a", "a/", "a//b", "a/b", "b", "b;jsessionid=1"]),
    st.sampled_from(["", "/", "/index.html", "/index.php/"]),
    st.sampled_from(["", "?", "?x=1", "?x=1&y=2", "?y=2&x=1", "?utm_source=q&x=1", "?print=1"]),
)


@settings(max_examples=25, deadline=None)
@given(
    hrefs=st.lists(HREFS, min_size=1, max_size=30),
    fetched=st.integers(0, 10),
    path=st.permutations(["standard", "loose", "strict"]),
)
def test_every_key_is_that_of_the_rules_and_none_is_there_twice(
    hrefs: list[str], fetched: int, path: Iterable[str]
) -> None:
    with TemporaryDirectory() as folder:
        store = Path(folder) / "crawl.db"
        made = Settings(key_rules="strict", default_delay=0.0, durability="normal", upgrade_https=False)
        with Frontier.open(store, query="", settings=made, clock=lambda: 1e6) as frontier:
            frontier.add(hrefs)
            for lease in frontier.lease(fetched) if fetched else ():
                frontier.observe(lease, Page(url=lease.url, text=f"{lease.url} " * 30))
            for preset in path:
                frontier.rekey(preset)
                check_keys(store, preset)
                assert violations(store) == []
                assert all(found.verdict == "known" for found in frontier.add(hrefs)) or preset != "loose"


def check_keys(store: Path, preset: str) -> None:
    rules = UrlRules(key_rules(preset), Scope("any"))
    found = links(store)
    for url, row in found.items():
        key = row["key"] if row["key"] is not None else rules.key(read(url))
        assert row["key_hash"] == key_hash(key)
    assert len({row["key_hash"] for row in found.values()}) == len(found)


def test_the_most_relevant_carrier_stays_where_two_links_are_one(
    frontier: Callable[..., Frontier], store: Path
) -> None:
    opened = frontier("graduate funding", key_rules="strict")
    opened.add(["https://a.example/1", "https://a.example/2"])
    first, second = sorted(opened.lease(2), key=lambda lease: lease.url)
    for lease, relevance, href, anchor in (
        (first, 1.0, "/g/x/y/z?utm_source=1", "read"),
        (second, 0.0, "/g/x/y/z?utm_source=2", "graduate funding"),
    ):
        page = Page(
            url=lease.url, text=f"of {lease.url} " * 20, relevance=relevance, links=[FoundLink(href, anchor)]
        )
        opened.observe(lease, page)
    opened.rekey("standard")
    (link,) = [row for row in opened.dump() if row["table"] == "link" and "/g/" in row["url"]]
    assert link["parent_relevance"] == 1.0
    assert link["phrase"] == 1
    assert violations(store) == []


def test_proof_is_counted_anew_where_two_fetched_links_are_one(frontier: Callable[..., Frontier]) -> None:
    """What was remembered of clusters with a hit went on with the pages of both."""
    opened = frontier("visa", focus="reference", key_rules="strict", cluster_cap=1)
    opened.add(["https://x.edu/a/p?utm_source=1", "https://x.edu/a/p?utm_source=2", "https://x.edu/a/q"])
    opened.add([f"https://x.edu/b{i}/q" for i in range(11)])
    leases = sorted(opened.lease(14), key=lambda lease: ("/a/" not in lease.url, lease.url))
    for lease in leases[:2]:
        opened.observe(lease, Page(url=lease.url, text="visa " * 30 + lease.url, relevance=0.9, new=True))
    for lease in leases[3:9]:
        opened.observe(lease, Page(url=lease.url, text="nothing " * 30 + lease.url, relevance=0.0, new=False))
    opened.add(["https://x.edu/b1/new"])
    opened.lease(1)
    assert opened.rekey("standard").merged == 1
    last = Page(url=leases[2].url, text="visa " * 40, relevance=0.9, new=True)
    assert opened.observe(leases[2], last).hit
