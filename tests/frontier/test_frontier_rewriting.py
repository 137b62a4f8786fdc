"""Rewrite rules learned while crawling: what confirms and refutes them, and what they do to keys (RULES 1.7)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from store_invariants import violations

from pagesift_store import FoundLink, Frontier, Page, Settings
from pagesift_store.transactions.memory import AUDITED
from pagesift_store.urls.pipeline import key_hash

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SITE = "https://h.example"


def text_of(name: str) -> str:
    return f"What there is to say about {name}, at length. " * 8


def rules(store: Path) -> dict[str, tuple[int, bool, bool]]:
    """Rule → (confirmed, refuted, in force)."""
    with closing(sqlite3.connect(store)) as connection:
        found = connection.execute("SELECT rule, confirmed, refuted, in_force FROM rewrite_rule ORDER BY id")
        return {rule: (confirmed, bool(refuted), bool(force)) for rule, confirmed, refuted, force in found}


def in_force(store: Path) -> list[str]:
    return [rule for rule, (_, _, force) in rules(store).items() if force]


def states(store: Path) -> dict[str, str]:
    with closing(sqlite3.connect(store)) as connection:
        return dict(connection.execute("SELECT url, state FROM link ORDER BY id"))


class Crawl:
    """A crawl of one host whose pages are said one by one: path → name of the text."""

    def __init__(self, frontier: Frontier, store: Path) -> None:
        self.frontier = frontier
        self.store = store
        frontier.add([f"{SITE}/"])
        frontier.observe(frontier.lease(1)[0], Page(url=f"{SITE}/", text="Home"))

    def fetch(self, path: str, name: str | None = None, *links: str, **fields: Any) -> None:
        """Fetch a page now, whatever else is queued."""
        self.frontier.add([FoundLink(SITE + path, score=100.0)])
        (lease,) = self.frontier.lease(1)
        assert lease.url == SITE + path
        found = [FoundLink(link) for link in links]
        text = text_of(name or path)
        self.frontier.observe(lease, Page(**{"url": lease.url, "text": text, "links": found} | fields))

    def queue(self, *paths: str, score: float = 1.0) -> list[str]:
        """Queue links; returns the verdicts."""
        return [
            str(found.verdict)
            for found in self.frontier.add([FoundLink(SITE + p, score=score) for p in paths])
        ]

    def learn_print(self) -> None:
        """Two pages, each with a print view."""
        for name in "ab":
            self.fetch(f"/{name}", name)
            self.fetch(f"/{name}?print=1", name)


@pytest.fixture
def crawl(frontier: Callable[..., Frontier], store: Path) -> Crawl:
    return Crawl(frontier(), store)


# -- evidence ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pairs", "rule"),
    [
        ([("/a", "/a?print=1"), ("/b?x=2", "/b?print=1&x=2")], "drop_param_value print=1"),
        ([("/a", "/a?plain"), ("/b", "/b?plain")], "drop_param_value plain"),
        ([("/a/", "/a/index.php"), ("/b/c/", "/b/c/index.php")], "drop_last_segment index.php"),
        ([("/a", "/a/print"), ("/b", "/b/print")], "drop_last_segment /print"),
        ([("/a?s=1", "/a?s=2"), ("/b?s=1", "/b?s=3")], "drop_param s"),
    ],
)
def test_two_pairs_with_distinct_texts_put_a_rule_in_force(
    crawl: Crawl, store: Path, pairs: list[tuple[str, str]], rule: str
) -> None:
    for number, (one, other) in enumerate(pairs):
        assert in_force(store) == []
        crawl.fetch(one, f"page {number}")
        crawl.fetch(other, f"page {number}")
    assert in_force(store) == [rule]
    assert violations(store) == []


def test_two_values_that_were_each_confirmed_make_a_rule_for_all(crawl: Crawl, store: Path) -> None:
    for name, value in (("a", "1"), ("b", "2")):
        crawl.fetch(f"/{name}", name)
        crawl.fetch(f"/{name}?session={value}", name)
    assert in_force(store) == ["drop_param session"]
    assert crawl.queue("/a?session=3", "/c?session=4", "/c") == ["known", "new", "known"]


def test_a_rule_that_another_process_met_is_known_at_once(
    crawl: Crawl, store: Path, frontier: Callable[..., Frontier]
) -> None:
    first, other = crawl.frontier, frontier()
    crawl.fetch("/a", "a")
    crawl.frontier = other
    crawl.fetch("/a?print=1", "a")
    crawl.frontier = first
    crawl.fetch("/b", "b")
    assert rules(store) == {"drop_param_value print=1": (1, False, False)}
    crawl.fetch("/b?print=1", "b")
    assert in_force(store) == ["drop_param_value print=1"]


def test_a_soft_404_confirms_nothing_by_its_one_text(crawl: Crawl, store: Path) -> None:
    for path in (
        "/x",
        "/x?a=1",
        "/x?a=2",
        "/x?b=1",
        "/y",
        "/y?a=1",
        "/y/z",
        "/y/index.html",
        "/x/index.html",
    ):
        crawl.fetch(path, "nothing here")
    assert max(confirmed for confirmed, _, _ in rules(store).values()) == 1
    assert in_force(store) == []


def test_short_texts_take_no_part(crawl: Crawl, store: Path) -> None:
    for name in "abc":
        crawl.fetch(f"/{name}", text="Loading…")
        crawl.fetch(f"/{name}?print=1", text="Loading…")
    assert rules(store) == {}


def test_pages_of_different_hosts_make_no_rule(crawl: Crawl, store: Path) -> None:
    for name in "abc":
        crawl.fetch(f"/{name}", name)
        crawl.frontier.add([f"https://other.example/{name}?print=1"])
        (lease,) = crawl.frontier.lease(1)
        crawl.frontier.observe(lease, Page(url=lease.url, text=text_of(name)))
    assert rules(store) == {}


def test_a_pair_with_other_texts_refutes_a_rule_for_good(crawl: Crawl, store: Path) -> None:
    crawl.fetch("/a", "a")
    crawl.fetch("/a?view=all", "a")
    crawl.fetch("/b", "b")
    crawl.fetch("/b?view=all", "all of b")
    assert rules(store) == {"drop_param_value view=all": (1, True, False)}
    for name in "cd":
        crawl.fetch(f"/{name}", name)
        crawl.fetch(f"/{name}?view=all", name)
    assert in_force(store) == []


def test_many_candidates_do_not_keep_a_rule_from_being_learned(
    crawl: Crawl, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pagesift_store.transactions.rewriting.MOST_RULES", 5)
    crawl.fetch("/shop", "shop")
    for number in range(9):
        crawl.fetch(f"/shop/{number}x", "shop")
    crawl.learn_print()
    assert in_force(store) == ["drop_param_value print=1"]
    assert len(rules(store)) <= 5


# -- in force ----------------------------------------------------------------------------------------------------------


def test_keys_of_later_links_are_rewritten_and_their_urls_are_not(crawl: Crawl) -> None:
    crawl.learn_print()
    (added,) = crawl.frontier.add([FoundLink(f"{SITE}/new?print=1")])
    assert (added.verdict, added.url, added.key) == ("new", f"{SITE}/new?print=1", f"{SITE}/new")
    (again,) = crawl.frontier.add([FoundLink(f"{SITE}/new")])
    assert (again.verdict, again.link_id) == ("known", added.link_id)


def test_unfinished_links_are_rewritten_and_what_collides_is_skipped(crawl: Crawl, store: Path) -> None:
    crawl.queue("/both?print=1", score=3.0)
    crawl.queue("/both", "/only?print=1", "/a?print=1&x=1")
    crawl.learn_print()
    found = states(store)
    assert found[f"{SITE}/both?print=1"] == "skipped"
    assert [found[SITE + path] for path in ("/both", "/only?print=1", "/a?print=1&x=1")] == ["queued"] * 3
    assert crawl.queue("/only", "/a?x=1", "/both?print=1") == ["known"] * 3
    assert "the page of https://h.example/both" in crawl.frontier.explain(f"{SITE}/both?print=1").why
    assert crawl.frontier.lease(1)[0].score == 3.0  # the link that stays took over the better score
    assert violations(store) == []


def test_a_page_fetched_under_its_longer_name_is_not_fetched_under_the_shorter(
    crawl: Crawl, store: Path
) -> None:
    crawl.fetch("/long?print=1", "long")
    crawl.fetch("/twin?print=1", "twin")
    crawl.queue("/twin")
    crawl.learn_print()
    assert crawl.queue("/long") == ["known"]
    assert states(store)[f"{SITE}/twin"] == "skipped"
    assert crawl.frontier.lease(1) == []


def test_what_is_dead_stands_in_for_nothing(crawl: Crawl, store: Path) -> None:
    crawl.fetch("/gone", status=404)
    crawl.queue("/gone?print=1")
    crawl.learn_print()
    assert states(store)[f"{SITE}/gone?print=1"] == "queued"


def test_a_lease_is_left_alone(crawl: Crawl, store: Path) -> None:
    crawl.queue("/held?print=1", score=500.0)
    (lease,) = crawl.frontier.lease(1)
    crawl.queue("/held")
    crawl.learn_print()
    assert states(store)[lease.url] == "leased"
    crawl.frontier.observe(lease, Page(url=lease.url, text=text_of("held")))
    assert violations(store) == []


def test_one_in_fifty_is_fetched_as_found(crawl: Crawl) -> None:
    crawl.learn_print()
    urls = [f"{SITE}/page-{number}?print=1" for number in range(1_000)]
    added = crawl.frontier.add([FoundLink(url) for url in urls])
    as_found = {found.url for found in added if found.key == found.url}
    assert as_found == {url for url in urls if is_audited(url)}
    assert 5 <= len(as_found) <= 40


def is_audited(url: str) -> bool:
    return int.from_bytes(key_hash(url)[:4], "big") % AUDITED == 0


def fetch_an_audited_pair(crawl: Crawl) -> None:
    """A page and its print view, fetched although the rule is in force, and they differ."""
    pages = (f"/page-{number}" for number in range(1_000))
    path = next(path for path in pages if is_audited(f"{SITE}{path}?print=1"))
    crawl.fetch(path, "a page")
    crawl.fetch(f"{path}?print=1", "its print view, which says more")


def test_an_audit_refutes_a_rule_in_force(crawl: Crawl, store: Path) -> None:
    crawl.learn_print()
    fetch_an_audited_pair(crawl)
    assert rules(store)["drop_param_value print=1"] == (2, True, False)


def test_a_refuted_rule_gives_everything_back(crawl: Crawl, store: Path) -> None:
    crawl.fetch("/long?print=1", "long")
    crawl.queue("/both?print=1", "/both", "/only?print=1", "/long")
    crawl.learn_print()
    assert sorted(url for url, state in states(store).items() if state == "skipped") == [
        f"{SITE}/both?print=1",
        f"{SITE}/long",
    ]
    fetch_an_audited_pair(crawl)
    assert in_force(store) == []
    found = states(store)
    assert [found[SITE + p] for p in ("/both", "/both?print=1", "/only?print=1", "/long")] == ["queued"] * 4
    assert crawl.queue("/only", "/only?print=1", "/long?print=1") == ["new", "known", "known"]
    assert violations(store) == []


# -- resume ------------------------------------------------------------------------------------------------------------


def site_page(url: str) -> Page:
    """A site whose print views are all alike their pages but one, and whose session parameter does nothing."""
    path, _, query = url.removeprefix(SITE).partition("?")
    fields = dict(field.partition("=")[::2] for field in query.split("&") if field)
    number = int(path.strip("/") or 0)
    onward = [f"/{(number * 2 + step) % 40}" for step in (1, 2)]
    found = [f"{onward[0]}?s=x{number}", onward[1], f"{path}?print=1", f"{onward[1]}?print=1&s=y{number}"]
    name = f"other {number}" if number == 13 and "print" in fields else f"page {number}"
    return Page(url=url, text=text_of(name), links=[FoundLink(href) for href in found])


@pytest.mark.parametrize("reopened", [False, True], ids=["in one go", "reopened between any two"])
def test_a_resumed_crawl_learns_the_same(reopened: bool, store: Path, tmp_path: Path) -> None:
    def run(path: Path, *, reopen: bool) -> tuple[list[str], list[Any]]:
        order: list[str] = []
        made = Settings(default_delay=0.0, durability="normal")
        frontier = Frontier.open(path, query="", settings=made, clock=lambda: 1e6 + len(order))
        frontier.add([f"{SITE}/"])
        while len(order) < 120 and (leases := frontier.lease(1)):
            order.append(leases[0].url)
            frontier.observe(leases[0], site_page(leases[0].url))
            if reopen:
                frontier.close()
                frontier = Frontier.open(path, clock=lambda: 1e6 + len(order))
        dump = list(frontier.dump())
        frontier.close()
        return order, dump

    plain = run(store, reopen=False)
    assert any(row["table"] == "rewrite_rule" and row["in_force"] for row in plain[1])
    assert run(tmp_path / "again.db", reopen=reopened) == plain
    assert violations(store) == []
