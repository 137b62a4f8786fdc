"""Adding: one verdict per item, in order, as often as one likes."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, replace
from typing import TYPE_CHECKING, Any

import pytest
from store_invariants import violations

from pagesift_store import Added, FoundLink, Frontier, LinkState, Page, Refusal, Settings, Verdict
from pagesift_store.transactions.admission import BATCH

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SEED = "https://a.example/"
NEW, KNOWN, REJECTED = Verdict


def test_verdicts_come_in_the_order_of_the_items(frontier: Callable[..., Frontier]) -> None:
    added = frontier().add(
        [
            SEED,
            "mailto:a@a.example",
            "https://www.a.example/#top",
            "http://",
            "https://b.example/",
            "https://a.example/logo.png",
        ]
    )
    assert [(one.verdict, one.link_id, one.reason) for one in added] == [
        (NEW, 1, None),
        (REJECTED, None, Refusal.SCHEME),
        (KNOWN, 1, None),
        (REJECTED, None, Refusal.INVALID),
        (NEW, 2, None),
        (REJECTED, None, Refusal.EXTENSION),
    ]
    assert [one.url for one in added[:3]] == [SEED, "mailto:a@a.example", SEED]


def test_a_verdict_is_what_its_constructor_makes(frontier: Callable[..., Frontier]) -> None:
    opened = frontier()
    url, key = "https://www.a.example/?utm_source=x", "https://a.example/"
    for verdict in (NEW, KNOWN):
        (added,) = opened.add([url])
        made = Added(verdict=verdict, url=url, key=key, link_id=1)
        assert added == made
        assert hash(added) == hash(made)
        assert repr(added) == repr(made)
        assert pickle.loads(pickle.dumps(added)) == made
        assert replace(added, link_id=2) == replace(made, link_id=2)
        with pytest.raises(FrozenInstanceError):
            added.key = url  # type: ignore[misc]


def test_verdicts_on_many_items_come_in_their_order(
    frontier: Callable[..., Frontier], page: Callable[..., Page], store: Path
) -> None:
    opened = frontier()
    urls = [f"https://a.example/{i}{'.png' if i % 7 == 3 or i > 1_150 else ''}" for i in range(1_200)]
    expected = [(REJECTED if url.endswith(".png") else NEW, url) for url in urls]
    assert [(one.verdict, one.url) for one in opened.add(urls)] == expected
    (lease,) = opened.lease(1)
    seen = opened.observe(lease, page(lease, *urls))
    assert [one.url for one in seen.added] == urls
    assert [one.verdict is REJECTED for one in seen.added] == [url.endswith(".png") for url in urls]
    numbers = [one.link_id for one in seen.added if one.link_id is not None]
    assert numbers == list(range(1, len(numbers) + 1))
    assert opened.add(url for url in urls if url.endswith(".png"))[-1].verdict is REJECTED
    assert violations(store) == []


def test_adding_again_changes_nothing(frontier: Callable[..., Frontier]) -> None:
    opened = frontier()
    urls = [f"https://a.example/{i}" for i in range(700)]
    opened.add(urls)
    before = list(opened.dump())
    assert {one.verdict for one in opened.add(urls)} == {KNOWN}
    assert list(opened.dump()) == before


def test_a_seed_is_a_text_without_a_base_at_depth_0(frontier: Callable[..., Frontier]) -> None:
    opened = frontier()
    opened.add([SEED])
    opened.add([FoundLink("https://a.example/1")])
    opened.add(["2"], base=SEED)
    opened.add(["https://a.example/3"], depth=1)
    opened.add(["https://a.example/4"], score=1.5)
    seeds = {row["url"]: (bool(row["seed"]), row["score"]) for row in opened.dump() if row["table"] == "link"}
    assert {url for url, (seed, _) in seeds.items() if seed} == {SEED, "https://a.example/4"}
    assert seeds[SEED] == (True, 5.5)
    assert seeds["https://a.example/4"] == (True, 1.5)


@pytest.mark.parametrize(
    ("scope", "url", "verdict"),
    [
        ("site", "https://docs.a.example/x", NEW),
        ("site", "https://b.example/x", REJECTED),
        ("host", "https://docs.a.example/x", REJECTED),
        ("host", "https://a.example/elsewhere", NEW),
        ("prefix", "https://a.example/elsewhere", REJECTED),
        ("prefix", "https://a.example/dir/x", NEW),
        ("any", "https://b.example/x", NEW),
    ],
)
def test_a_seed_extends_the_scope(
    frontier: Callable[..., Frontier], scope: str, url: str, verdict: Verdict
) -> None:
    opened = frontier(scope=scope)
    assert opened.add([FoundLink("https://a.example/dir/x")])[0].verdict == (
        NEW if scope == "any" else REJECTED
    )
    opened.add(["https://a.example/dir/"])
    (added,) = opened.add([FoundLink(url)])
    assert added.verdict is verdict
    assert added.reason is (Refusal.OUT_OF_SCOPE if verdict is REJECTED else None)


def test_seeds_of_several_runs_add_up(frontier: Callable[..., Frontier], store: Path) -> None:
    for i in range(3):
        with frontier() as opened:
            opened.add([f"https://{host}.example/" for host in "abcde"[: i + 3]])
    assert frontier().status().counts[LinkState.QUEUED] == 5
    assert violations(store) == []


def test_what_a_store_knows_survives_and_nothing_is_purged(
    frontier: Callable[..., Frontier], page: Callable[..., Page]
) -> None:
    with frontier() as opened:
        opened.add([f"https://a.example/{i}" for i in range(10)])
        for lease in opened.lease(3):
            opened.observe(lease, page(lease))
    with frontier() as opened:
        assert opened.status().counts[LinkState.QUEUED] == 7
        assert opened.status().counts[LinkState.DONE] == 3


@pytest.mark.parametrize(
    ("one", "other", "rules"),
    [
        ("/Report.html", "/report.html", "standard"),
        ("/?id=A", "/?id=a", "standard"),
        ("/?k", "/?k=", "standard"),
        ("/x", "/x/", "standard"),
        ("/?a=1&a=2", "/?a=2&a=1", "standard"),
        ("//x", "/x", "strict"),
        ("/?b=1&a=2", "/?a=2&b=1", "strict"),
    ],
)
def test_different_pages_have_different_keys(
    frontier: Callable[..., Frontier], one: str, other: str, rules: str
) -> None:
    added = frontier(key_rules=rules).add([f"https://a.example{one}", f"https://a.example{other}"])
    assert [one.verdict for one in added] == [NEW, NEW]


def test_many_pages_that_link_home_make_one_row(
    frontier: Callable[..., Frontier], page: Callable[..., Page]
) -> None:
    opened = frontier()
    opened.add([f"https://a.example/{i}" for i in range(20)])
    ids = set()
    for lease in opened.lease(20):
        (home,) = opened.observe(lease, page(lease, FoundLink("/home", anchor="student visa"))).added
        ids.add(home.link_id)
    assert ids == {21}


# -- a known link found again (RULES 2.7) ---------------------------------------------------------------------------


def link(opened: Frontier, url: str) -> dict[str, Any]:
    return dict(next(row for row in opened.dump() if row["table"] == "link" and row["url"] == url))


TARGET = "https://a.example/x/y"
WEAK = FoundLink(TARGET, context="visa")
STRONG = FoundLink(TARGET, anchor="student visa fees")


@pytest.mark.parametrize("order", [(WEAK, STRONG), (STRONG, WEAK), (STRONG, WEAK, STRONG)])
def test_the_better_find_wins_and_takes_its_signal_along(
    frontier: Callable[..., Frontier], order: tuple[FoundLink, ...], store: Path
) -> None:
    opened = frontier()
    opened.add([SEED])
    for found in order:
        opened.add([found], depth=1)
    row = link(opened, TARGET)
    assert (row["anchor_hits"], row["context_hits"], row["phrase"]) == (0b111, 0, 1)
    assert violations(store) == []


def test_the_better_find_wins_within_one_batch(frontier: Callable[..., Frontier], store: Path) -> None:
    opened = frontier()
    opened.add([SEED])
    opened.add([WEAK, STRONG, WEAK])
    assert link(opened, TARGET)["anchor_hits"] == 0b111
    assert violations(store) == []


@pytest.mark.parametrize(
    ("finds", "score"),
    [
        ([FoundLink(TARGET, score=1.0), FoundLink(TARGET, score=3.0)], 3.0),
        ([FoundLink(TARGET, score=3.0), FoundLink(TARGET, score=1.0)], 3.0),
        ([STRONG, FoundLink(TARGET, score=0.25)], 0.25),
    ],
)
@pytest.mark.parametrize("revisit", [None, 60.0])
def test_a_new_link_that_is_found_twice_in_one_batch_is_one_row(
    frontier: Callable[..., Frontier],
    store: Path,
    finds: list[FoundLink],
    score: float,
    revisit: float | None,
) -> None:
    opened = frontier()
    opened.add([SEED])
    beside = FoundLink("https://a.example/x/z", score=0.5)
    first, other, again = opened.add([replace(finds[0], revisit=revisit), beside, finds[1]], depth=1)
    assert (first.verdict, other.verdict, again.verdict) == (NEW, NEW, KNOWN)
    assert again.link_id == first.link_id
    row = link(opened, TARGET)
    assert (row["score"], bool(row["given"]), row["depth"], row["revisit"]) == (score, True, 1, revisit)
    assert row["parent_id"] is None
    assert [lease.url for lease in opened.lease(3)][1:] == (
        [TARGET, beside.href] if score > 0.5 else [beside.href, TARGET]
    )
    assert violations(store) == []


@pytest.mark.parametrize("depths", [(3, 1), (1, 3), (2, 1, 3)])
def test_the_smaller_depth_wins(
    frontier: Callable[..., Frontier], depths: tuple[int, ...], store: Path
) -> None:
    opened = frontier()
    opened.add([SEED])
    for depth in depths:
        opened.add([STRONG if depth == 1 else WEAK], depth=depth)
    row = link(opened, TARGET)
    assert (row["depth"], row["decay"]) == (1, 0.9)
    assert violations(store) == []


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize(("focus", "relevance"), [("full", 0.8), ("reference", 0.1)])
def test_the_carrier_is_the_most_relevant_page_that_has_the_link(
    frontier: Callable[..., Frontier], store: Path, focus: str, relevance: float, first: int
) -> None:
    opened = frontier(focus=focus)
    opened.add(["https://a.example/1", "https://a.example/2"])
    carriers = [(0.8, FoundLink(TARGET)), (0.1, STRONG)]
    for of_page, found in (carriers[first], carriers[1 - first]):
        lease = opened.lease()[0]
        opened.observe(lease, Page(url=lease.url, links=[found], relevance=of_page))
    row = link(opened, TARGET)
    assert (row["parent_relevance"], row["anchor_hits"]) == (relevance, 0b111)
    assert violations(store) == []


def test_ties_keep_their_order_when_one_is_found_again(frontier: Callable[..., Frontier]) -> None:
    opened = frontier()
    opened.add([SEED])
    same = [FoundLink(f"https://a.example/x/{name}", anchor="student visa") for name in "ba"]
    opened.add(same)
    opened.add(same[::-1])
    assert [lease.url for lease in opened.lease(3)[1:]] == [found.href for found in same]


def test_a_given_score_takes_the_place_of_ours_even_a_lower_one(
    frontier: Callable[..., Frontier], store: Path
) -> None:
    opened = frontier(scope="any")
    opened.add([STRONG])
    opened.add([FoundLink("https://a.example/x/z", score=1.0)])
    opened.add([FoundLink(TARGET, score=0.01)])
    assert violations(store) == []
    assert [lease.score for lease in opened.lease(2)] == [1.0, 0.01]


def test_what_is_finished_is_not_raised(frontier: Callable[..., Frontier]) -> None:
    opened = frontier()
    opened.add([SEED])
    opened.observe(opened.lease()[0], Page(url=SEED))
    before = link(opened, SEED)
    assert opened.add([FoundLink(SEED, score=100.0)])[0].verdict is KNOWN
    assert link(opened, SEED) == before


@pytest.mark.parametrize("later", [0.1, 9.0])
def test_a_head_follows_its_link_from_batch_to_batch_of_one_call(
    frontier: Callable[..., Frontier], store: Path, later: float
) -> None:
    """Links of one lane, more than are stored at a time; the best so far is given another score at the end."""
    opened = frontier(query="visa", scope="any")
    best = FoundLink("https://b.example/a/best", anchor="visa")
    others = [FoundLink(f"https://b.example/a/{i}", score=0.2 + i / 10_000) for i in range(2 * BATCH)]
    opened.add([others[0], best, *others[1:], replace(best, score=later)])
    assert violations(store) == []
    first, second = (lease.url for lease in opened.lease(2))
    assert (first == best.href) is (later > 1)
    assert second == others[-1 if later > 1 else -2].href


def test_links_with_given_scores_are_the_same_beside_others(tmp_path: Path) -> None:
    """Where all are given, no statement names a signal: the table has what such a link is stored with."""
    given = [
        FoundLink("https://a.example/visa/1", "visa", "fees", score=2.0),
        FoundLink("https://a.example/visa/2", score=-1.0, revisit=60.0),
        FoundLink("https://a.example/visa/1", score=3.5),  # met again in the same call
        FoundLink("https://b.example/en/visa", score=0.0),
    ]
    rows = []
    for name, others in (("alone", []), ("beside", [FoundLink("https://c.example/fees", "fees")])):
        settings = Settings(scope="any")
        with Frontier.open(tmp_path / f"{name}.db", query="visa fees", settings=settings) as frontier:
            frontier.add([*given, *others], depth=2)
            dumped = [row for row in frontier.dump() if row["table"] == "link"]
            rows.append([row for row in dumped if not str(row["url"]).startswith("https://c.")])
            assert violations(tmp_path / f"{name}.db") == []
    assert rows[0] == rows[1]
    assert [row["score"] for row in rows[0]] == [3.5, -1.0, 0.0]
    assert {(row["factor"], row["url_hits"], row["given"]) for row in rows[0]} == {(1.0, 0, 1)}
