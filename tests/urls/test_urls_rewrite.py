"""Learned rewrite rules: what is proposed, what is applied, what is confirmed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagesift_store.errors import InvalidValue
from pagesift_store.urls.reading import WebUrl, read
from pagesift_store.urls.rewrite import (
    RewriteRule,
    RewriteSet,
    apply,
    candidates,
    differs_by,
    generalised,
    needed_confirmations,
)


def page(path: str) -> WebUrl:
    return read(f"https://e.edu{path}")


def value(name: str, text: str | None) -> RewriteRule:
    return RewriteRule("drop_param_value", name, text)


def end(text: str) -> RewriteRule:
    return RewriteRule("drop_last_segment", text)


PRINT = value("print", "1")


@pytest.mark.parametrize(
    ("a", "b", "rule"),
    [
        ("/x?print=1", "/x", PRINT),
        ("/x", "/x?print=1", PRINT),
        ("/x?id=2&print=1", "/x?id=2", PRINT),
        ("/x?print=1&id=2&id=3", "/x?id=2&id=3", PRINT),
        ("/x?b=1&print=1&a=2", "/x?a=2&b=1", PRINT),
        ("/x?print", "/x", value("print", None)),
        ("/x?print=", "/x", value("print", "")),
        ("/x?q=%2f%20", "/x", value("q", "%2f%20")),
        ("/x/index.html", "/x/", end("index.html")),
        ("/x/", "/x/index.html", end("index.html")),
        ("/index.html?id=1", "/?id=1", end("index.html")),
        ("/article/7/print", "/article/7", end("/print")),
        ("/article/7/print/", "/article/7/", end("print/")),
        ("/article/7/print/", "/article/7", end("/print/")),
        ("/print", "/", end("print")),
    ],
)
def test_candidates(a: str, b: str, rule: RewriteRule) -> None:
    assert candidates(page(a), page(b)) == [rule]
    assert differs_by(rule, page(a), page(b))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("/x", "/x"),
        ("/x?a=1&b=2", "/x?b=2&a=1"),
        ("/x?sid=1", "/x?sid=2"),
        ("/x?a=1&b=2", "/x"),
        ("/x?a=1&a=1", "/x?a=1"),
        ("/x?a=1&", "/x?a=1"),
        ("/x/", "/x"),
        ("/x/a/b", "/x/"),
        ("/xprint", "/x"),
        ("/x/index.html?a=1", "/x/"),
        ("/x?", "/x"),
        ("/a", "/b"),
    ],
)
def test_no_candidates(a: str, b: str) -> None:
    assert candidates(page(a), page(b)) == []


def test_urls_of_two_origins_have_no_candidates() -> None:
    for other in ("http://e.edu/x", "https://www.e.edu/x", "https://e.edu:81/x"):
        assert candidates(page("/x?print=1"), read(other)) == []


@pytest.mark.parametrize(
    ("rules", "found", "expected"),
    [
        ([PRINT], "/x?print=1", "/x"),
        ([PRINT], "/x?id=2&print=1&print=1", "/x?id=2"),
        ([PRINT], "/x?print=2&Print=1", "/x?print=2&Print=1"),
        ([value("print", None)], "/x?print&print=", "/x?print="),
        ([RewriteRule("drop_param", "sid")], "/x?sid=1&a&sid&sid=", "/x?a"),
        ([end("index.html")], "/x/index.html?a", "/x/?a"),
        ([end("index.html")], "/x/my-index.html", "/x/my-index.html"),
        ([end("/print")], "/x/print", "/x"),
        ([end("/print")], "/x/print/print", "/x"),
        ([end("/print")], "/print", "/print"),
        ([end("print")], "/print", "/"),
        ([end("/print"), end("index.html"), PRINT], "/x/print/index.html?print=1", "/x/print/"),
        ([end("/print/"), end("index.html")], "/x/print/index.html", "/x"),
        ([], "/x?print=1", "/x?print=1"),
    ],
)
def test_apply(rules: list[RewriteRule], found: str, expected: str) -> None:
    web = page(found)
    assert apply(rules, web) == page(expected)
    assert apply(RewriteSet(rules), web) == page(expected)
    assert web == page(found)


def test_apply_gives_back_what_it_does_not_change() -> None:
    web = page("/x?a=1")
    assert apply([PRINT, end("index.html")], web) is web
    assert RewriteSet().apply(web) is web


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (PRINT, "drop_param_value print=1"),
        (value("print", None), "drop_param_value print"),
        (value("", "a=b"), "drop_param_value =a=b"),
        (RewriteRule("drop_param", "sid"), "drop_param sid"),
        (end("/print"), "drop_last_segment /print"),
        (end("a=b"), "drop_last_segment a=b"),
    ],
)
def test_ids_are_one_line_and_read_back(rule: RewriteRule, text: str) -> None:
    assert rule.id == text
    assert RewriteRule.from_id(text) == rule


@pytest.mark.parametrize("text", ["", "drop_param", "drop_host e.edu", "print=1"])
def test_other_texts_are_no_ids(text: str) -> None:
    with pytest.raises(InvalidValue, match="not the id"):
        RewriteRule.from_id(text)


@pytest.mark.parametrize(
    ("rule", "a", "b", "differs"),
    [
        (PRINT, "/x?print=1", "/x", True),
        (PRINT, "/x?print=1", "/y", False),
        (PRINT, "/x", "/x", False),
        (PRINT, "/x?print=2", "/x", False),
        (PRINT, "/x?b=1&a=1&print=1", "/x?a=1&b=1", True),
        (PRINT, "/x?a=1&b=1", "/x?b=1&a=1", False),
        (RewriteRule("drop_param", "sid"), "/x?sid=1", "/x?sid=2", True),
        (end("index.html"), "/x/index.html", "/x/", True),
        (end("index.html"), "/x/index.html?print=1", "/x/", False),
    ],
)
def test_differs_by(rule: RewriteRule, a: str, b: str, differs: bool) -> None:
    assert differs_by(rule, page(a), page(b)) is differs
    assert differs_by(rule, page(b), page(a)) is differs


def test_a_parameter_goes_once_two_of_its_values_were_confirmed() -> None:
    assert generalised([value("sid", "1"), PRINT, end("sid")]) == []
    assert generalised([value("sid", "1"), value("sid", "1")]) == []
    assert generalised([value("sid", "1"), value("print", "1"), value("sid", "2"), value("print", None)]) == [
        RewriteRule("drop_param", "print"),
        RewriteRule("drop_param", "sid"),
    ]


@pytest.mark.parametrize(("delta", "count"), [(0.05, 2), (0.01, 2), (0.5, 2), (1e-9, 2)])
def test_needed_confirmations(delta: float, count: int) -> None:
    assert needed_confirmations(delta) == count


@pytest.mark.parametrize(("chance", "count"), [(0.05, 1), (0.01, 1), (0.3, 3), (0.5, 5)])
def test_needed_confirmations_for_other_chances(chance: float, count: int) -> None:
    assert needed_confirmations(0.05, chance) == count


@pytest.mark.parametrize(
    ("delta", "chance"), [(0, None), (1, None), (-1, None), (0.05, 0), (0.05, 1), (float("nan"), None)]
)
def test_needed_confirmations_refuses_what_is_no_probability(delta: float, chance: float | None) -> None:
    with pytest.raises(InvalidValue, match="between 0 and 1"):
        needed_confirmations(delta, chance)


paths = st.lists(st.sampled_from(["a", "print", "index.html", ""]), max_size=4).map(
    lambda some: "/" + "/".join(some)
)
queries = st.lists(st.sampled_from(["", "a=1", "a=2", "print", "print=1"]), max_size=4).map("&".join)
pages = st.builds(lambda path, query: page(f"{path}?{query}" if query else path), paths, queries)
rule_lists = st.lists(
    st.sampled_from(
        [PRINT, value("print", None), end("print"), end("/print"), end("print/"), end("index.html")]
    )
    | st.just(RewriteRule("drop_param", "a"))
)


@given(pages, pages)
def test_every_candidate_turns_one_into_the_other(a: WebUrl, b: WebUrl) -> None:
    found = candidates(a, b)
    assert candidates(b, a) == found
    for rule in found:
        assert differs_by(rule, a, b)
        assert RewriteRule.from_id(rule.id) == rule


@given(rule_lists, pages)
def test_applying_is_idempotent_and_does_not_depend_on_the_order(
    rules: list[RewriteRule], web: WebUrl
) -> None:
    once = apply(rules, web)
    assert apply(rules, once) == once
    assert apply(list(reversed(rules)), web) == once
    assert read(once.url) == once
