"""Bad input: an error that names the value, or a verdict inside a batch; and settings that differ."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import pytest
from store_invariants import violations

from pagesift_store import (
    FoundLink,
    Frontier,
    InvalidQuery,
    InvalidSettings,
    InvalidUrl,
    InvalidValue,
    LinkState,
    Page,
    Refusal,
    Settings,
    SettingsDiffer,
    UnknownUrl,
    Verdict,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SEED = "https://a.example/"
NO_SCORES = [
    math.nan,
    math.inf,
    -math.inf,
    1e308 * 10,
    1.75e308,
    pytest.param(10**5000, id="huge"),
    "0.5",
    True,
    False,
]


@pytest.fixture
def opened(frontier: Callable[..., Frontier]) -> Frontier:
    opened = frontier()
    opened.add([SEED])
    return opened


# -- scores ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("score", NO_SCORES)
def test_what_is_no_score_is_refused_at_the_door(opened: Frontier, store: Path, score: Any) -> None:
    (lease,) = opened.lease()
    before = list(opened.dump())
    link = FoundLink("/x", score=score)
    for call in (
        lambda: opened.add([FoundLink(f"{SEED}x"), FoundLink(f"{SEED}y", score=score)]),
        lambda: opened.add([f"{SEED}x"], score=score),
        lambda: opened.observe(lease, Page(url=SEED, links=[FoundLink("/ok"), link])),
    ):
        with pytest.raises(InvalidValue, match=r"score=.* must be a finite number"):
            call()
    assert list(opened.dump()) == before
    assert violations(store) == []


@pytest.mark.parametrize("score", [0, 0.0, -0.0, -5, 1e307, 1.7e308, -1.7e308, 5e-324])
def test_any_finite_number_is_a_score(opened: Frontier, score: float) -> None:
    opened.add([FoundLink(f"{SEED}x", score=score)])
    assert opened.explain(f"{SEED}x").score == score


@pytest.mark.parametrize("depth", [-1, True, 1.0, "1"])
def test_what_is_no_depth(opened: Frontier, depth: Any) -> None:
    with pytest.raises(InvalidValue, match="depth="):
        opened.add([f"{SEED}x"], depth=depth)


@pytest.mark.parametrize("urls", [f"{SEED}x", b"https://a.example/", [7], [None], [b"https://a.example/x"]])
def test_what_is_no_list_of_urls(opened: Frontier, urls: Any) -> None:
    with pytest.raises(InvalidValue):
        opened.add(urls)
    assert opened.status().counts[LinkState.QUEUED] == 1


@pytest.mark.parametrize("base", ["", "relative", "mailto:a@a.example", "http://"])
def test_what_is_no_base(opened: Frontier, base: str) -> None:
    with pytest.raises(InvalidUrl):
        opened.add(["x"], base=base)


@pytest.mark.parametrize(
    "href", ["http://", "https:", "http:///", "//", "http://[::1", "http://a.example:99999/"]
)
def test_one_bad_url_does_not_fail_its_batch(opened: Frontier, href: str) -> None:
    bad, good = opened.add([FoundLink(href), FoundLink(f"{SEED}x")])
    assert (bad.verdict, good.verdict) == (Verdict.REJECTED, Verdict.NEW)
    assert all(row["name"] for row in opened.dump() if row["table"] == "host")


# -- pages ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "page",
    [
        {"status": 99},
        {"status": 600},
        {"status": True},
        {"status": "200"},
        {"relevance": -0.1},
        {"relevance": 1.1},
        {"relevance": math.nan},
        {"relevance": "0.5"},
        {"url": "mailto:a@a.example"},
        {"url": "http://"},
    ],
)
def test_what_no_page_can_be(opened: Frontier, page: dict[str, Any]) -> None:
    (lease,) = opened.lease()
    before = list(opened.dump())
    with pytest.raises(InvalidValue):
        opened.observe(lease, Page(**({"url": SEED} | page)))
    assert list(opened.dump()) == before


def test_a_page_with_ten_thousand_links_of_which_half_are_junk(opened: Frontier, store: Path) -> None:
    junk = [
        FoundLink("http://["),
        FoundLink("javascript:void(0)"),
        FoundLink("data:text/html," + "x" * 5_000),
        FoundLink("https://other.example/"),
        FoundLink("/" + "a/" * 5_000),
    ]
    links = [link for i in range(5_000) for link in (FoundLink(f"/{i}/x", anchor="visa"), junk[i % 5])]
    (lease,) = opened.lease()
    added = opened.observe(lease, Page(url=SEED, links=links)).added
    assert [one.verdict for one in added] == [Verdict.NEW, Verdict.REJECTED] * 5_000
    rejected = opened.status().rejected
    assert sum(rejected.values()) == 5_000
    assert rejected[Refusal.OUT_OF_SCOPE] == 1_000
    assert opened.status().counts[LinkState.QUEUED] == 5_000
    assert violations(store) == []


def test_long_texts_are_cut_and_long_urls_refused(opened: Frontier, store: Path) -> None:
    (lease,) = opened.lease()
    long = "visa " * 400_000
    links = [FoundLink("/x", anchor=long, context=long), FoundLink("/" + "x" * 9_000)]
    seen = opened.observe(lease, Page(url=SEED, title=long, text=long, links=links))
    assert [one.reason for one in seen.added] == [None, Refusal.TOO_LONG]
    assert store.stat().st_size < 2_000_000
    assert violations(store) == []


BAD_TEXTS = {"NUL": "a\x00b", "half a pair": "a\ud83db", "an escaped byte": "a\udcc3b", "only": "\x00"}
LISTS = ("headings", "redirects")
TEXT_FIELDS = [field.name for field in fields(Page) if "str" in field.type and field.name != "url"]


@pytest.mark.parametrize("text", ["a\x00b", "a\ud83db"], ids=["NUL", "half a pair"])
@pytest.mark.parametrize("field", TEXT_FIELDS)
def test_no_text_of_a_page_can_stop_it(
    frontier: Callable[..., Frontier], store: Path, field: str, text: str
) -> None:
    opened = frontier()
    opened.add(["https://a.example/it/page"])  # a path whose language is in doubt: the declared one is stored
    (lease,) = opened.lease()
    given: dict[str, Any] = {"url": lease.url, "links": [FoundLink("/x")]}
    page = Page(**(given | {field: [text] if field in LISTS else text}))
    assert opened.observe(lease, page).state in (LinkState.DONE, LinkState.DEAD)
    assert opened.observe(lease, page).repeated
    assert all("\x00" not in str(value) for row in opened.dump() for value in row.values())
    with frontier() as again:
        again.add(["https://a.example/it/other"])
    assert violations(store) == []


@pytest.mark.parametrize("text", BAD_TEXTS.values(), ids=BAD_TEXTS)
@pytest.mark.parametrize("field", ["href", "anchor", "context"])
def test_no_text_of_a_link_can_stop_its_page(opened: Frontier, field: str, text: str) -> None:
    (lease,) = opened.lease()
    bad = FoundLink(**({"href": "/y"} | {field: text}))
    added = opened.observe(lease, Page(url=SEED, links=[FoundLink("/x"), bad, FoundLink("/z")])).added
    assert [one.verdict for one in (added[0], added[2])] == [Verdict.NEW] * 2


@pytest.mark.parametrize("text", BAD_TEXTS.values(), ids=BAD_TEXTS)
@pytest.mark.parametrize(
    "href", ["mailto:{}", "https://{}/", "/{}", "{}", "https://a.example/?q={}", "https://other.example/{}"]
)
def test_no_url_can_stop_its_batch(opened: Frontier, href: str, text: str) -> None:
    added = opened.add([href.format(text), f"{SEED}good"])
    assert added[1].verdict is Verdict.NEW
    assert all("\x00" not in str(value) for row in opened.dump() for value in row.values())


@pytest.mark.parametrize("text", BAD_TEXTS.values(), ids=BAD_TEXTS)
def test_no_message_can_stop_a_failure(opened: Frontier, text: str) -> None:
    (lease,) = opened.lease()
    assert opened.fail(lease, "other", text).state is LinkState.WAITING
    assert "\ufffd" in opened.explain(SEED).history[0]["error"]


@pytest.mark.parametrize("text", BAD_TEXTS.values(), ids=BAD_TEXTS)
def test_any_query_and_any_worker_can_be_opened_again(store: Path, text: str) -> None:
    Frontier.open(store, query=f"fees {text}").close()
    with Frontier.open(store, query=f"fees {text}", worker=text) as opened:
        opened.add([SEED])
        opened.lease()
        assert opened.recover(text) == 1


@pytest.mark.parametrize("url", ["", "not a url", "mailto:a@a.example", "http://", "/relative"])
def test_explaining_what_is_no_url(opened: Frontier, url: str) -> None:
    with pytest.raises(InvalidUrl):
        opened.explain(url)


def test_explaining_what_was_never_seen(opened: Frontier) -> None:
    with pytest.raises(UnknownUrl, match=r"never seen 'https://a\.example/x'"):
        opened.explain("https://a.example/x")


# -- query and settings ---------------------------------------------------------------------------------------------


def test_a_query_has_up_to_64_terms(frontier: Callable[..., Frontier]) -> None:
    assert frontier(query=" ".join(f"word{i}x" for i in range(64))).status().query


def test_a_query_with_65_terms_is_refused(store: Path) -> None:
    with pytest.raises(InvalidQuery, match="65"):
        Frontier.open(store, query=" ".join(f"word{i}x" for i in range(65)))
    assert list(store.parent.iterdir()) == []


@pytest.mark.parametrize("query", ["", "   ", "?!"])
def test_a_query_may_be_empty(
    frontier: Callable[..., Frontier], page: Callable[..., Page], store: Path, query: str
) -> None:
    opened = frontier(query=query)
    opened.add([SEED])
    (lease,) = opened.lease()
    assert opened.observe(lease, page(lease, FoundLink("/x", anchor="the visa"))).relevance == 0.0
    assert opened.rescore() == 0
    assert violations(store) == []


def test_another_query_is_refused_and_both_are_named(opened: Frontier, store: Path) -> None:
    with pytest.raises(SettingsDiffer, match="about 'student visa fees', not 'parking'"):
        Frontier.open(store, query="parking")


def test_other_settings_are_refused_and_both_are_named(opened: Frontier, store: Path) -> None:
    with pytest.raises(SettingsDiffer, match=r"max_pages: stored None, given 7.*configure\(\)"):
        Frontier.open(store, settings=Settings(max_pages=7))


def test_the_same_query_and_settings_are_welcome(store: Path) -> None:
    settings = Settings(max_pages=7, exclude=("/private/",))
    for _ in range(2):
        Frontier.open(store, query="fees", settings=settings).close()


def test_configured_settings_hold_for_every_later_run(frontier: Callable[..., Frontier], clock: Any) -> None:
    opened, other = frontier(), frontier()
    opened.add([SEED, f"{SEED}x"])
    assert opened.configure(default_delay=30, max_in_flight=3).default_delay == 30.0
    (lease,) = other.lease(5)
    assert lease.host_delay == 30.0
    with frontier() as later:
        assert later.configure().max_in_flight == 3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"language": "de"}, "language is fixed for the life of a store"),
        ({"key_rules": "strict"}, "key_rules is fixed for the life of a store"),
        ({"max_page": 5}, "there is no setting 'max_page'"),
        ({"max_pages": -1}, "max_pages=-1 must be a whole number from 0"),
        ({"default_delay": math.nan}, "default_delay=nan must be a number from 0 to 300"),
        ({"durability": "none"}, "durability='none' must be full or normal"),
        ({"max_pages": 5, "max_in_flight": 0}, "max_in_flight=0"),
    ],
)
def test_what_cannot_be_configured(opened: Frontier, changes: dict[str, Any], message: str) -> None:
    before = opened.configure()
    with pytest.raises(InvalidSettings, match=message):
        opened.configure(**changes)
    assert opened.configure() == before


@pytest.mark.parametrize("now", [math.nan, math.inf, "5", None, True])
def test_a_clock_gives_finite_seconds(opened: Frontier, clock: Any, now: Any) -> None:
    before, clock.now = clock.now, now
    with pytest.raises(InvalidValue, match="the clock gave"):
        opened.add([SEED])
    clock.now = before
