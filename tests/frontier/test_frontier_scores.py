"""One score, written three times: in Python for new links, in SQL for the queue, and here; all to the same bit."""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_invariants import expected_score, violations

from pagesift_store import FoundLink, Frontier, Page
from pagesift_store.focus.features import decay
from pagesift_store.focus.model import FEATURES
from pagesift_store.focus.score import Weights, coverage_by_bits, score
from pagesift_store.focus.weights import Covers
from pagesift_store.storage.engine import Database
from pagesift_store.storage.statements.links import rescore
from pagesift_store.transactions.signals import Signal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MOST_TERMS = 64
ROWS = 12

masks = st.one_of(st.integers(-(2**63), 2**63 - 1), st.sampled_from([0, -(2**63), -1, 1, 2**62, 2**63 - 1]))
shares = st.floats(0.0, 1.0)
links = st.fixed_dictionaries(
    {
        "anchor_hits": masks,
        "url_hits": masks,
        "context_hits": masks,
        "phrase": st.integers(0, 1),
        "parent_relevance": shares,
        "floor": st.sampled_from([0.0, 0.3, 0.6]),
        "factor": st.sampled_from([1.0, 0.3, 0.2, 0.1]),
        "decay": st.integers(0, 12).map(decay),
    }
)
features = st.lists(st.floats(0.0, 12.0), min_size=len(FEATURES), max_size=len(FEATURES))


def terms(size: int) -> st.SearchStrategy[list[int]]:
    """Pages that hold each term, of 1,000."""
    return st.lists(st.integers(0, 1_000), min_size=size, max_size=size)


def term_weight(pages: int, df: int) -> float:
    return min(max(math.log((pages + 1) / (df + 0.5)) / math.log(pages + 1), 0.15), 1.0)


@given(links, features, st.lists(st.floats(0.15, 1.0), min_size=1, max_size=MOST_TERMS))
def test_the_score_of_a_new_link(
    link: dict[str, Any], of_features: list[float], of_terms: list[float]
) -> None:
    weights = Weights.of(of_features, of_terms)
    expected = expected_score(link, of_features, of_terms)
    signal = Signal(**link)
    assert score(signal, weights, lambda mask: coverage_by_bits(mask, weights)) == expected
    assert score(signal, weights, Covers(weights.terms).__getitem__) == expected


@pytest.fixture(params=[1, 3, MOST_TERMS], ids="{} terms".format)
def scored(request: pytest.FixtureRequest, frontier: Callable[..., Frontier]) -> tuple[Frontier, int]:
    """A frontier with twelve queued links that have no score yet, and how many terms its query has."""
    opened = frontier(query=" ".join(f"term{i}x" for i in range(request.param)), scope="any")
    opened.add([FoundLink(f"https://a.example/{i}/page") for i in range(ROWS)])
    return opened, request.param


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_the_score_of_a_rescored_link(scored: tuple[Frontier, int], store: Path, data: st.DataObject) -> None:
    opened, size = scored
    of_features, dfs = data.draw(features), data.draw(terms(size))
    rows = data.draw(st.lists(links, min_size=ROWS, max_size=ROWS))
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("UPDATE crawl SET texts = 1000")
        connection.executemany(
            "UPDATE term SET df = ? WHERE bit = ?", [(df, bit) for bit, df in enumerate(dfs)]
        )
        connection.executemany(
            "UPDATE posterior SET weight = ? WHERE position = ?",
            [(weight, i) for i, weight in enumerate(of_features)],
        )
        columns = ", ".join(f"{name} = :{name}" for name in rows[0])
        connection.executemany(
            f"UPDATE link SET {columns} WHERE id = :id", [row | {"id": i + 1} for i, row in enumerate(rows)]
        )
        before = [row[0] for row in connection.execute("SELECT score FROM link ORDER BY id")]
    changed = opened.rescore()
    weights = [term_weight(1_000, df) for df in dfs]
    stored = [row for row in opened.dump() if row["table"] == "link"]
    for row, old in zip(stored, before, strict=True):
        hopeless = not (row["anchor_hits"] | row["url_hits"] | row["context_hits"] or row["parent_relevance"])
        assert row["score"] == (old if hopeless else expected_score(row, of_features, weights))
    assert changed == sum(row["score"] != old for row, old in zip(stored, before, strict=True))


@st.composite
def moves(draw: st.DrawFn, size: int) -> tuple[Weights, Weights]:
    """Two sets of weights of which the second has some, or none, of its numbers from the first."""
    of_terms = st.lists(st.floats(0.15, 1.0), min_size=size, max_size=size)
    before = Weights.of(draw(features), draw(of_terms))
    kept = draw(st.lists(st.booleans(), min_size=len(FEATURES), max_size=len(FEATURES)))
    drawn = zip(kept, before.features, draw(features), strict=True)
    return before, Weights.of(
        [was if keep else now for keep, was, now in drawn],
        before.terms if draw(st.booleans()) else draw(of_terms),
    )


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_move_of_weights_reaches_all_that_it_changes(
    scored: tuple[Frontier, int], store: Path, data: st.DataObject
) -> None:
    opened, size = scored
    before, after = data.draw(moves(size))
    rows = [
        row | {"phrase": row["phrase"] if row["anchor_hits"] else 0}
        for row in data.draw(st.lists(links, min_size=ROWS, max_size=ROWS))
    ]
    scores = [expected_score(row, list(before.features), list(before.terms)) for row in rows]
    columns = ", ".join(f"{name} = :{name}" for name in (*rows[0], "score"))
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.executemany(
            f"UPDATE link SET {columns} WHERE id = :id",
            [row | {"id": i, "score": old} for i, (row, old) in enumerate(zip(rows, scores, strict=True), 1)],
        )
    statement = rescore(score, coverage_by_bits, after, before=before)
    changed = Database(store).write(lambda connection: connection.execute(statement).rowcount)
    stored = [row["score"] for row in opened.dump() if row["table"] == "link"]
    assert stored == [expected_score(row, list(after.features), list(after.terms)) for row in rows]
    assert changed == sum(new != old for new, old in zip(stored, scores, strict=True))


def test_a_move_of_one_feature_works_out_the_links_that_have_it_alone() -> None:
    before = Weights.of([1.0] * 5, [1.0] * 3)
    columns = ["anchor_hits", "url_hits", "context_hits", "parent_relevance", "phrase"]
    for position, column in enumerate(columns):
        moved = before._replace(features=[2.0 if i == position else 1.0 for i in range(5)])
        where = str(rescore(score, coverage_by_bits, moved, before=before)).partition("WHERE")[2]
        assert [name for name in columns if f"link.{name} != 0" in where] == [column]


def test_the_last_of_64_terms_counts(frontier: Callable[..., Frontier], store: Path) -> None:
    words = [f"word{i}x" for i in range(MOST_TERMS)]
    opened = frontier(query=" ".join(words), scope="any")
    opened.add([FoundLink("https://a.example/x/y", anchor=words[63]), FoundLink("https://a.example/x/z")])
    last, none = (row for row in opened.dump() if row["table"] == "link")
    assert (last["anchor_hits"], none["anchor_hits"]) == (-(2**63), 0)
    assert last["score"] == expected_score(last, [2.0, 1.5, 1.0, 0.5, 0.5], [1.0] * MOST_TERMS) > 0
    assert violations(store) == []


SCORED: list[tuple[str, FoundLink, float]] = [
    ("nothing", FoundLink("/x/y"), 0.0),
    ("one of three terms in the anchor", FoundLink("/x/y", anchor="visa"), 2.0 / 3),
    ("two: a phrase", FoundLink("/x/y", anchor="student visa"), 2.0 * (2 / 3) + 0.5),
    ("inflected", FoundLink("/x/y", anchor="Students' visas"), 2.0 * (2 / 3) + 0.5),
    ("in the URL", FoundLink("/x/visa-fees"), 1.5 * (2 / 3)),
    ("around it", FoundLink("/x/y", anchor="here", context="visa fees: here"), 1.0 * (2 / 3)),
    ("furniture", FoundLink("/news/y", anchor="visa"), 0.2 * 2.0 / 3),
    ("a section", FoundLink("/study", anchor="Study"), 0.3),
]


@pytest.mark.parametrize(
    ("link", "expected"), [case[1:] for case in SCORED], ids=[case[0] for case in SCORED]
)
def test_scores_by_hand(frontier: Callable[..., Frontier], link: FoundLink, expected: float) -> None:
    opened = frontier()
    opened.add(["https://a.example/"])
    opened.add([link], base="https://a.example/")
    (row,) = [row for row in opened.dump() if row["table"] == "link" and not row["seed"]]
    assert row["score"] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("depth", [0, 1, 5])
def test_a_score_decays_with_depth(frontier: Callable[..., Frontier], depth: int) -> None:
    opened = frontier()
    opened.add(["https://a.example/"])
    opened.add([FoundLink("https://a.example/x/y", anchor="visa")], depth=depth)
    row = [row for row in opened.dump() if row["table"] == "link"][1]
    assert row["score"] == pytest.approx(2.0 / 3 * 0.9**depth, rel=1e-12)


def test_the_explained_terms_make_the_score(frontier: Callable[..., Frontier]) -> None:
    opened = frontier()
    opened.add(["https://a.example/"])
    opened.add([FoundLink("https://a.example/fees/visa.html", anchor="student visa", context="fees")])
    found = opened.explain("https://a.example/fees/visa.html")
    assert tuple(found.terms) == FEATURES
    linear = sum(product for _, _, product in found.terms.values())
    assert found.score == pytest.approx(max(found.signal["floor"], found.signal["factor"] * linear))


# -- the one UPDATE -------------------------------------------------------------------------------------------------


def changes(opened: Frontier, act: Callable[[], Any]) -> list[str]:
    """The statements of one call that write to the link table."""
    driver = opened._write(lambda work: work._driver)
    heard: list[str] = []
    driver.set_trace_callback(heard.append)
    act()
    driver.set_trace_callback(None)
    return [
        sql for sql in heard if sql.split(None, 1)[0] != "SELECT" and " link " in " ".join(sql.split()[:5])
    ]


@pytest.mark.parametrize("links", [10, 1_000])
def test_rescoring_is_one_update_of_the_link_table(
    frontier: Callable[..., Frontier], store: Path, links: int
) -> None:
    opened = frontier(scope="any", rescore_drift=1.0, learn=False)
    anchors = ("visa", "fees", "student visa")
    opened.add([FoundLink(f"https://a.example/{i}/x", anchor=anchors[i % 3]) for i in range(links)])
    for word, lease in zip(("alpha", "beta", "gamma"), opened.lease(3), strict=True):
        opened.observe(lease, Page(url=lease.url, text=f"A page about the {word} visa. " * 20))
    rescored: list[int] = []
    statements = changes(opened, lambda: rescored.append(opened.rescore()))
    assert len(statements) == 1
    assert statements[0].startswith("UPDATE OR FAIL link SET score=")
    assert rescored[0] > links // 2
    assert violations(store) == []


def test_rescoring_what_is_up_to_date_changes_no_row(frontier: Callable[..., Frontier]) -> None:
    opened = frontier(scope="any")
    opened.add([FoundLink(f"https://a.example/{i}/x", anchor="student visa") for i in range(20)])
    opened.rescore()
    assert opened.rescore() == 0


def test_a_given_score_and_a_finished_link_are_never_rescored(
    frontier: Callable[..., Frontier], store: Path
) -> None:
    opened = frontier(scope="any")
    opened.add([FoundLink("https://a.example/x/given", anchor="student visa", score=0.25)])
    opened.add([FoundLink("https://a.example/x/done", anchor="student visa")])
    done = opened.lease(1)[0]
    opened.observe(done, Page(url=done.url))
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("UPDATE posterior SET weight = 9.0 WHERE position < 5")
    assert opened.rescore() == 0
    scores = {row["url"]: row["score"] for row in opened.dump() if row["table"] == "link"}
    assert scores == {"https://a.example/x/given": 0.25, done.url: done.score}


@pytest.mark.parametrize(("drift", "rescored"), [(0.0, True), (0.05, True), (1.0, False)])
def test_a_page_rescores_when_a_term_has_drifted(
    frontier: Callable[..., Frontier], store: Path, drift: float, *, rescored: bool
) -> None:
    opened = frontier(rescore_drift=drift, learn=False)
    opened.add([f"https://a.example/{i}" for i in range(3)])
    opened.add([FoundLink("https://a.example/x/y", anchor="visa")])
    changed = 0
    for word, lease in zip(("alpha", "beta", "gamma"), opened.lease(3), strict=True):
        page = Page(url=lease.url, text=f"A page about the {word} visa. " * 20)
        changed += opened.observe(lease, page).rescored
    assert (changed > 0) is rescored
    assert violations(store) == []


LIST = Page(
    url="https://a.example/list/2", text="one two three", links=[FoundLink("/x/y", anchor="one two three")]
)
PROSE = replace(LIST, text="one two three and many more words that stand in no link of it")


@pytest.mark.parametrize(
    ("page", "target", "focus", "floor"),
    [
        (LIST, "/list/3", "full", 0.2),
        (LIST, "/list/next", "full", 0.0),
        (LIST, "/other/3", "full", 0.0),
        (PROSE, "/list/3", "full", 0.0),
        (LIST, "/list/3", "reference", 0.0),
        (replace(LIST, url="https://a.example/archive/2"), "/archive/3", "full", 0.0),
    ],
)
def test_a_list_goes_on(
    frontier: Callable[..., Frontier], page: Page, target: str, focus: str, floor: float
) -> None:
    opened = frontier(focus=focus)
    opened.add([page.url])
    opened.observe(opened.lease()[0], replace(page, links=[*page.links, FoundLink(target)]))
    found = opened.explain(f"https://a.example{target}")
    assert found is not None
    assert found.signal["floor"] == floor


def test_a_repeated_list_does_not_go_on(frontier: Callable[..., Frontier]) -> None:
    opened = frontier()
    opened.add(["https://a.example/list/1", "https://a.example/list/2"])
    for n in (1, 2):
        text = f"one two three {n} " * 30
        links = [FoundLink("/x/y", anchor=text), FoundLink(f"/list/{10 * n}")]
        opened.observe(opened.lease()[0], Page(url=f"https://a.example/list/{n}", text=text, links=links))
    floors = [opened.explain(f"https://a.example/list/{n}").signal["floor"] for n in (10, 20)]
    assert floors == [0.2, 0.0]
