"""Several pages in one transaction: what each of them does is what it does alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_invariants import violations

from pagesift_store import FoundLink, Frontier, InvalidValue, LeaseLost, Page, Settings, WrongStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pagesift_store import Lease, Observation

QUERY = "student visa fees"
TEXTS = ("visa fees are due in May\n" * 12, "nothing of that kind\n" * 12, "fees\n" * 5, "")
HOSTS = ("a.example", "b.example")


def rows(frontier: Frontier) -> list[dict[str, Any]]:
    return [dict(row) for row in frontier.dump()]


pages = st.fixed_dictionaries(
    {
        "text": st.sampled_from(TEXTS),
        "status": st.sampled_from((200, 200, 200, 404, 503, 304)),
        "targets": st.lists(st.integers(0, 12), max_size=6),
        "anchor": st.sampled_from(("visa", "student fees", "home", "")),
        "redirected": st.booleans(),
    }
)


def page_of(lease: Lease, made: dict[str, Any]) -> Page:
    other = lease.url.replace("/p", "/q")
    return Page(
        url=other if made["redirected"] else lease.url,
        redirects=[lease.url] if made["redirected"] else [],
        status=made["status"],
        text=made["text"],
        links=[
            FoundLink(
                f"https://{HOSTS[n % 2]}/{'pq'[n % 2]}{n}", made["anchor"], f"the {made['anchor']} here"
            )
            for n in made["targets"]
        ],
    )


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(pages, min_size=1, max_size=4), min_size=1, max_size=4))
def test_together_is_one_after_the_other(
    tmp_path_factory: pytest.TempPathFactory, rounds: list[list[dict[str, Any]]]
) -> None:
    folder = tmp_path_factory.mktemp("many")
    fixed = Settings(default_delay=0.0, max_in_flight=100, durability="normal", rescore_drift=0.0)
    seeds = [f"https://{host}/p{n}" for host in HOSTS for n in range(4)]
    with (
        Frontier.open(folder / "one.db", query=QUERY, settings=fixed, clock=lambda: 1e9) as one,
        Frontier.open(folder / "many.db", query=QUERY, settings=fixed, clock=lambda: 1e9) as many,
    ):
        for frontier in (one, many):
            frontier.add(seeds)
        for made in rounds:
            alone = [
                (lease, page_of(lease, page)) for lease, page in zip(one.lease(len(made)), made, strict=False)
            ]
            found: list[Observation | LeaseLost] = []
            for lease, page in alone:
                try:
                    found.append(one.observe(lease, page))
                except LeaseLost as lost:
                    found.append(lost)
            together = [
                (lease, page_of(lease, page))
                for lease, page in zip(many.lease(len(made)), made, strict=False)
            ]
            assert [lease.url for lease, _ in together] == [lease.url for lease, _ in alone]
            assert list(map(repr, many.observe_many(together))) == list(map(repr, found))
        assert rows(many) == rows(one)
    assert violations(folder / "many.db") == []


def test_a_lost_lease_takes_nothing_of_the_others_with_it(
    frontier: Callable[..., Frontier], page: Callable[..., Page], clock: Any, store: Path
) -> None:
    opened = frontier()
    opened.add(["https://a.example/1", "https://a.example/2"])
    (first,) = opened.lease(1, ttl=1.0)
    clock.forward(2.0)
    again, second = sorted(opened.lease(2), key=lambda lease: lease.link_id)
    assert again.link_id == first.link_id
    lost, kept = opened.observe_many(
        [
            (first, page(first, "https://a.example/of-a-lost-lease")),
            (second, page(second, "https://a.example/of-one-that-holds")),
        ]
    )
    assert isinstance(lost, LeaseLost)
    assert not isinstance(kept, LeaseLost)
    assert [added.url for added in kept.added] == ["https://a.example/of-one-that-holds"]
    urls = {row["url"] for row in rows(opened) if row["table"] == "link"}
    assert "https://a.example/of-a-lost-lease" not in urls
    assert violations(store) == []


@pytest.mark.parametrize("wrong", ["status", "store"])
def test_what_cannot_be_stores_nothing_of_any_page(
    frontier: Callable[..., Frontier], page: Callable[..., Page], wrong: str
) -> None:
    opened = frontier()
    opened.add(["https://a.example/1", "https://a.example/2"])
    first, second = opened.lease(2)
    before = rows(opened)
    if wrong == "status":
        reports = [(first, page(first)), (second, replace(page(second), status=999))]
    else:
        reports = [(first, page(first)), (replace(second, store_id="another"), page(second))]
    with pytest.raises(InvalidValue if wrong == "status" else WrongStore):
        opened.observe_many(reports)
    assert rows(opened) == before
    assert all(not isinstance(one, LeaseLost) for one in opened.observe_many([(first, page(first))]))


def test_nothing_to_report_is_nothing_done(frontier: Callable[..., Frontier]) -> None:
    assert frontier().observe_many([]) == []
