"""What an observed page changes: redirects, unchanged pages, repeats, and what is learned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from store_invariants import violations

from pagesift_store import FoundLink, Frontier, Inspector, LeaseLost, LinkState, Page, Refusal, Verdict
from pagesift_store.upkeep import check

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pagesift_store import Lease

A, B, C = (f"https://a.example/{name}" for name in "abc")
TOPIC = "\n".join(
    f"Paragraph {i}: students pay the fees for a visa at the embassy, in {word} or by card."
    for i, word in enumerate(("cash", "euros", "dollars", "stamps", "advance", "person"))
)


def table(opened: Frontier, name: str) -> list[dict[str, Any]]:
    return [dict(row) for row in opened.dump() if row["table"] == name]


def lease_of(opened: Frontier, url: str) -> Lease:
    """The lease of one URL; all others are given back."""
    leases = opened.lease(50)
    for lease in leases:
        if lease.url != url:
            opened.release(lease)
    return next(lease for lease in leases if lease.url == url)


@pytest.fixture
def opened(frontier: Callable[..., Frontier]) -> Frontier:
    opened = frontier()
    opened.add([A])
    return opened


# -- redirects ------------------------------------------------------------------------------------------------------


def test_every_hop_is_an_alias_of_the_link(opened: Frontier, store: Path) -> None:
    (lease,) = opened.lease()
    seen = opened.observe(lease, Page(url=C, redirects=[A, B], links=[FoundLink("d")], text=TOPIC))
    assert (seen.state, [one.url for one in seen.added]) == (LinkState.DONE, ["https://a.example/d"])
    for hop in (B, C):
        assert opened.add([FoundLink(hop)])[0].verdict is Verdict.KNOWN
        assert opened.explain(hop).state is LinkState.DONE
        assert opened.explain(hop).facts["alias_of"] == A
    assert opened.status().pages == 1
    assert violations(store) == []


def test_a_hop_that_was_queued_is_done(opened: Frontier, store: Path) -> None:
    opened.add([FoundLink(B), FoundLink(C)])
    opened.observe(lease_of(opened, A), Page(url=C, redirects=[A, B]))
    assert opened.lease(5) == []
    assert opened.status().counts[LinkState.DONE] == 3
    assert violations(store) == []


def test_a_hop_that_was_dead_is_done(opened: Frontier, store: Path) -> None:
    opened.add([FoundLink(B)])
    opened.fail(lease_of(opened, B), "http_4xx")
    opened.observe(lease_of(opened, A), Page(url=B, redirects=[A]))
    assert opened.explain(B).state is LinkState.DONE
    assert violations(store) == []


def test_a_hop_that_is_leased_elsewhere_is_taken_over(
    opened: Frontier, frontier: Callable[..., Frontier], store: Path
) -> None:
    opened.add([FoundLink(B)])
    own, others = sorted(opened.lease(2), key=lambda lease: lease.url)
    opened.observe(own, Page(url=B, redirects=[A]))
    assert violations(store) == []
    with pytest.raises(LeaseLost):
        opened.observe(others, Page(url=B, text="too late"))
    assert opened.status().counts[LinkState.LEASED] == 0
    assert violations(store) == []


def test_landing_on_a_fetched_page_is_a_duplicate_of_it(opened: Frontier, store: Path) -> None:
    opened.add([FoundLink(B)])
    opened.observe(lease_of(opened, B), Page(url=B, text=TOPIC))
    seen = opened.observe(lease_of(opened, A), Page(url=B, redirects=[A], text=TOPIC + "\nNew since."))
    assert seen.duplicate_of == opened.explain(B).link_id
    assert seen.hit is False
    assert violations(store) == []


@pytest.mark.parametrize(
    ("hops", "state"),
    [
        ([A, A], LinkState.DEAD),
        ([A, B, A, C], LinkState.DEAD),
        ([A, B, C, B], LinkState.DEAD),
        ([A, *[f"{B}{i}" for i in range(20)]], LinkState.DONE),
        ([A, *[f"{B}{i}" for i in range(21)]], LinkState.DEAD),
        ([A, "mailto:a@a.example", B], LinkState.DONE),
    ],
)
def test_loops_and_long_chains_are_dead(
    opened: Frontier, store: Path, hops: list[str], state: LinkState
) -> None:
    (lease,) = opened.lease()
    seen = opened.observe(lease, Page(url=hops[-1], redirects=hops[:-1], links=[FoundLink("/x")]))
    assert seen.state is state
    assert opened.explain(A).facts["reason"] == ("redirect loop" if state is LinkState.DEAD else None)
    assert violations(store) == []


def test_a_page_out_of_scope_feeds_nothing(opened: Frontier, store: Path) -> None:
    opened.add([FoundLink(B)])
    seen = opened.observe(
        lease_of(opened, B),
        Page(url="https://other.example/", redirects=[B], text=TOPIC, links=[FoundLink("/x")]),
    )
    assert [one.reason for one in seen.added] == [Refusal.OUT_OF_SCOPE]
    assert (seen.state, seen.hit, opened.status().pages) == (LinkState.DONE, False, 1)
    assert table(opened, "crawl")[0]["pages"] == 0
    assert violations(store) == []


def test_a_seed_takes_its_new_host_into_the_scope(opened: Frontier, store: Path) -> None:
    (lease,) = opened.lease()
    moved = Page(url="https://other.example/", redirects=[A], text=TOPIC, links=[FoundLink("/x")])
    assert [one.verdict for one in opened.observe(lease, moved).added] == [Verdict.NEW]
    assert opened.add([FoundLink("https://www.other.example/y")])[0].verdict is Verdict.NEW
    assert violations(store) == []


@pytest.mark.parametrize(
    ("canonical", "known"),
    [
        ("https://a.example/the-page", True),
        ("/the-page", True),
        ("https://b.example/the-page", False),
        ("/", False),
        ("mailto:a@a.example", False),
        ("", False),
    ],
)
def test_a_canonical_url_on_the_host_is_an_alias(opened: Frontier, canonical: str, *, known: bool) -> None:
    (lease,) = opened.lease()
    opened.observe(lease, Page(url=A, canonical=canonical))
    assert (opened.status().counts[LinkState.DONE] == 2) is known


# -- unchanged pages ------------------------------------------------------------------------------------------------


def test_validators_are_kept_over_304_and_cleared_by_a_page_without(
    frontier: Callable[..., Frontier], clock: Any, store: Path
) -> None:
    opened = frontier(revisit=True)
    opened.add([A])
    etag, modified = 'W/"a,b"', "Thu, 01 Jan 1970 00:00:00 GMT"
    pages = [
        Page(url=A, text=TOPIC, etag=etag, last_modified=modified),
        Page(url=A, status=304),
        Page(url=A, status=304),
        Page(url=A, text=TOPIC),
        Page(url=A, text=TOPIC),
    ]
    sent, relevance = [], []
    for page in pages:
        (lease,) = opened.lease()
        sent.append((lease.etag, lease.last_modified))
        seen = opened.observe(lease, page)
        relevance.append(seen.relevance)
        clock.now = seen.due
    assert sent == [(None, None), (etag, modified), (etag, modified), (etag, modified), (None, None)]
    assert relevance[0] > 0
    assert relevance[1] == relevance[2] == relevance[0]
    assert table(opened, "crawl")[0]["texts"] == 1
    assert violations(store) == []


@pytest.mark.parametrize("etag", ['"plain"', 'W/"weak"', '""', "", '"caf\u00e9"', "no quotes, a comma"])
def test_validators_are_kept_byte_for_byte(frontier: Callable[..., Frontier], clock: Any, etag: str) -> None:
    opened = frontier(revisit=True)
    opened.add([A])
    clock.now = opened.observe(opened.lease()[0], Page(url=A, etag=etag)).due
    assert opened.lease()[0].etag == etag


def test_a_link_counts_once_however_often_it_is_fetched(
    frontier: Callable[..., Frontier], clock: Any, store: Path
) -> None:
    opened = frontier(revisit=True)
    opened.add([A])
    for i in range(4):
        clock.now = opened.observe(opened.lease()[0], Page(url=A, text=f"{TOPIC}\nVersion {i}.")).due
    crawl = table(opened, "crawl")[0]
    assert (opened.status().pages, crawl["pages"], crawl["texts"]) == (1, 1, 1)
    assert violations(store) == []


# -- repeats --------------------------------------------------------------------------------------------------------


def test_the_same_text_elsewhere_is_a_duplicate(opened: Frontier) -> None:
    opened.add([FoundLink(B)])
    first = opened.observe(lease_of(opened, A), Page(url=A, text=TOPIC))
    second = opened.observe(lease_of(opened, B), Page(url=B, text=TOPIC))
    assert (first.duplicate_of, first.hit) == (None, True)
    assert (second.duplicate_of, second.hit) == (1, False)


def test_short_texts_are_no_duplicates(opened: Frontier) -> None:
    opened.add([FoundLink(B)])
    opened.observe(lease_of(opened, A), Page(url=A, text="Nothing here."))
    assert opened.observe(lease_of(opened, B), Page(url=B, text="Nothing here.")).duplicate_of is None


@pytest.mark.parametrize(
    ("urls", "templated"),
    [(("/list?page=1", "/list?page=2"), True), (("/list/1", "/list/2"), True), (("/one", "/two"), False)],
)
def test_the_same_text_but_for_digits_is_templated(
    opened: Frontier, store: Path, urls: tuple[str, str], *, templated: bool
) -> None:
    opened.add([FoundLink(f"https://a.example{url}") for url in urls])
    for i, url in enumerate(urls):
        where = f"https://a.example{url}"
        opened.observe(lease_of(opened, where), Page(url=where, text=f"Page {i}. " + TOPIC))
    assert [bool(row["templated"]) for row in table(opened, "page")] == [False, templated]
    assert violations(store) == []


def test_a_template_that_repeats_itself_comes_last_until_it_brings_something_new(
    frontier: Callable[..., Frontier], store: Path
) -> None:
    opened = frontier(scope="any")
    lists = [f"https://a.example/list?page={i}" for i in range(30)]
    opened.add([FoundLink(url, score=2.0) for url in lists])
    for _ in range(12):
        (lease,) = opened.lease()
        opened.observe(lease, Page(url=lease.url, text="An empty list, as all these pages show. " * 8))
    assert table(opened, "template")[0]["demoted"]
    opened.add([FoundLink(A, score=0.1), FoundLink("https://a.example/list?page=31", score=9.0)])
    assert violations(store) == []
    (lease,) = opened.lease()
    assert lease.url == A
    opened.observe(lease, Page(url=A))
    (lease,) = opened.lease()
    assert lease.url == "https://a.example/list?page=31"
    opened.observe(lease, Page(url=lease.url, text=TOPIC))
    assert not table(opened, "template")[0]["demoted"]
    assert violations(store) == []


# -- what is learned ------------------------------------------------------------------------------------------------


def learned(opened: Frontier) -> tuple[Any, Any]:
    posterior = [(row["mean"], row["precision"]) for row in table(opened, "posterior")]
    return posterior, [(row["df"], row["occurrences"]) for row in table(opened, "term")]


@pytest.mark.parametrize(
    ("found", "page", "model", "terms"),
    [
        (FoundLink(B, anchor="student visa"), {}, True, True),
        (FoundLink(B, score=1.0), {}, False, True),
        (FoundLink(B, anchor="student visa"), {"noindex": True}, False, False),
        (FoundLink(B, anchor="student visa"), {"status": 404}, False, False),
        (FoundLink(B, anchor="student visa"), {"new": False}, False, False),
        (FoundLink(B, anchor="student visa"), {"redirects": [B], "url": "https://o.example/"}, False, False),
    ],
    ids=["ordinary", "given score", "noindex", "error", "not new", "out of scope"],
)
def test_what_teaches_the_model_and_the_terms(
    opened: Frontier, found: FoundLink, page: dict[str, Any], *, model: bool, terms: bool
) -> None:
    opened.add([found])
    lease = lease_of(opened, B)
    before = learned(opened)
    opened.observe(lease, Page(**({"url": B, "text": TOPIC} | page)))
    after = learned(opened)
    assert (after[0] != before[0], after[1] != before[1]) == (model, terms)


def test_a_seed_teaches_the_terms_and_not_the_model(opened: Frontier) -> None:
    before = learned(opened)
    opened.observe(opened.lease()[0], Page(url=A, text=TOPIC))
    after = learned(opened)
    assert (after[0] == before[0], after[1] == before[1]) == (True, False)


def test_a_duplicate_teaches_nothing(opened: Frontier) -> None:
    opened.add([FoundLink(B, anchor="student visa")])
    opened.observe(lease_of(opened, A), Page(url=A, text=TOPIC))
    before = learned(opened)
    opened.observe(lease_of(opened, B), Page(url=B, text=TOPIC))
    assert learned(opened) == before


def test_learning_can_be_switched_off(frontier: Callable[..., Frontier]) -> None:
    opened = frontier(learn=False)
    opened.add([A])
    opened.add([FoundLink(B, anchor="student visa")])
    before = learned(opened)
    opened.observe(lease_of(opened, B), Page(url=B, text=TOPIC))
    assert learned(opened)[0] == before[0]


@pytest.mark.parametrize(
    ("setting", "page", "link", "verdict"),
    [
        ({}, {}, {}, Verdict.NEW),
        ({}, {"nofollow": True}, {}, Verdict.REJECTED),
        ({}, {}, {"nofollow": True}, Verdict.REJECTED),
        ({"follow_nofollow": True}, {"nofollow": True}, {"nofollow": True}, Verdict.NEW),
        ({}, {"noindex": True}, {}, Verdict.NEW),
    ],
)
def test_links_that_ask_not_to_be_followed(
    frontier: Callable[..., Frontier],
    setting: dict[str, Any],
    page: dict[str, Any],
    link: dict[str, Any],
    verdict: Verdict,
) -> None:
    opened = frontier(**setting)
    opened.add([A])
    seen = opened.observe(opened.lease()[0], Page(url=A, links=[FoundLink("/x", **link)], **page))
    assert [one.verdict for one in seen.added] == [verdict]
    assert seen.added[0].reason is (None if verdict is Verdict.NEW else Refusal.NOFOLLOW)


@pytest.mark.parametrize(
    ("base", "found"),
    [
        (None, "https://a.example/dir/x"),
        ("/other/", "https://a.example/other/x"),
        ("https://a.example/abs/", "https://a.example/abs/x"),
        ("http://", "https://a.example/dir/x"),
    ],
)
def test_links_resolve_against_the_base(
    frontier: Callable[..., Frontier], base: str | None, found: str
) -> None:
    opened = frontier()
    opened.add(["https://a.example/dir/page"])
    (lease,) = opened.lease()
    seen = opened.observe(lease, Page(url=lease.url, base_url=base, links=[FoundLink("x")]))
    assert seen.added[0].url == found


def test_a_callers_own_judgement_takes_the_place_of_ours(opened: Frontier) -> None:
    opened.add([FoundLink(B)])
    assert opened.observe(lease_of(opened, A), Page(url=A, relevance=0.8, new=True)).hit is True
    seen = opened.observe(lease_of(opened, B), Page(url=B, text=TOPIC, relevance=0.1))
    assert (seen.relevance, seen.hit) == (0.1, False)


def test_two_hundred_pages_at_once_or_in_runs_of_one_teach_the_same(
    frontier: Callable[..., Frontier], tmp_path: Path
) -> None:
    """What is learned is read and written exactly (the floats too)."""

    def crawl(name: str, runs: int) -> list[Any]:
        path = tmp_path / name
        opened = frontier(path=path, max_pages=60)
        opened.add(["https://a.example/"])
        for i in range(60):
            if i % (60 // runs) == 0:
                opened.close()
                opened = frontier(path=path)
            (lease,) = opened.lease()
            links = [
                FoundLink(f"/{lease.link_id}/{j}", anchor=f"{word} page", context="student fees")
                for j, word in enumerate(("visa", "sport", "student visa"))
            ]
            text = TOPIC if lease.link_id % 3 else "Football and rowing. " * 20
            opened.observe(
                lease, Page(url=lease.url, text=f"{text} Number {lease.link_id * 7919}", links=links)
            )
        return list(opened.dump())

    assert crawl("one.db", 1) == crawl("many.db", 60)


def test_an_inspector_shows_what_is_committed_at_once(
    frontier: Callable[..., Frontier], clock: Any, store: Path
) -> None:
    opened = frontier()
    with Inspector.open(store, clock=clock) as inspector:
        for i in range(3):
            opened.add([f"https://a.example/{i}"])
            assert inspector.status().counts[LinkState.QUEUED] == i + 1


def test_a_page_that_links_to_itself_was_not_found_on_itself(
    frontier: Callable[..., Frontier], page: Callable[..., Page], store: Path
) -> None:
    """Its own link raised its score a moment before it was done, and took the page for its parent."""
    opened = frontier()
    opened.add(["https://a.example/"])
    for _ in range(2):
        lease = opened.lease(1)[0]
        opened.observe(lease, page(lease, FoundLink("/visa", "student visa fees"), "/plain"))
    rows = {row["url"]: row for row in opened.dump() if row["table"] == "link"}
    assert rows["https://a.example/visa"]["parent_id"] == rows["https://a.example/"]["id"]
    assert check(store).findings == ()
