"""Which link comes next: by score, by what hosts allow, by what limits allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from racing import race
from store_invariants import violations

from pagesift_store import CrawlState, FoundLink, Frontier, InvalidValue, Page, StopReason

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def given(*scores: float, host: str = "a.example") -> list[FoundLink]:
    return [FoundLink(f"https://{host}/{i}", score=score) for i, score in enumerate(scores)]


SCORES: list[tuple[tuple[float, ...], list[int]]] = [
    ((0.1, 0.9, 0.5), [2, 3, 1]),
    ((-0.1, -0.9, -0.5), [1, 3, 2]),
    ((0.5, 0.5, 0.5), [1, 2, 3]),
    ((0.0, -0.0, 0.0), [1, 2, 3]),
    ((-1.0, 0.0, 1.0), [3, 2, 1]),
    ((1e300, -1e300, 1e-300), [1, 3, 2]),
    ((0.5, 0.9, 0.5, 0.9), [2, 4, 1, 3]),
]


@pytest.mark.parametrize(("scores", "order"), SCORES)
@pytest.mark.parametrize("rescored", [False, True])
def test_the_best_comes_first_and_ties_by_discovery(
    frontier: Callable[..., Frontier], scores: tuple[float, ...], order: list[int], *, rescored: bool
) -> None:
    opened = frontier(scope="any")
    opened.add(given(*scores))
    if rescored:
        opened.rescore()
    assert [opened.lease(1)[0].link_id for _ in scores] == order


@pytest.mark.parametrize(("scores", "order"), SCORES)
def test_several_at_once_come_in_the_same_order(
    frontier: Callable[..., Frontier], scores: tuple[float, ...], order: list[int]
) -> None:
    opened = frontier(scope="any")
    opened.add(given(*scores))
    assert [lease.link_id for lease in opened.lease(10)] == order


def test_n_at_once_are_the_n_one_by_one(
    frontier: Callable[..., Frontier], tmp_path: Path, page: Callable[..., Page]
) -> None:
    """Over many lanes, beyond a cluster's cap, with proven clusters, up to the host's places."""

    def crawl(name: str) -> Frontier:
        opened = frontier(path=tmp_path / name, scope="any", cluster_cap=3, max_in_flight=30)
        opened.add([FoundLink(f"https://a.example/warm/{i}", score=9.0) for i in range(8)])
        for lease in opened.lease(8):
            text = "\n".join(
                f"Student visa fees are explained here, number {lease.link_id}, part {i}." for i in range(9)
            )
            opened.observe(lease, page(lease, text=text, relevance=1.0))
        opened.add([FoundLink(f"https://a.example/warm/x{i}", score=5.0 - i) for i in range(6)])
        opened.add(
            [
                FoundLink(f"https://a.example/{i}/{j}", score=8.0 - i - j / 10)
                for i in range(6)
                for j in range(5)
            ]
        )
        return opened

    together, apart = crawl("together.db"), crawl("apart.db")
    ids = [lease.link_id for lease in together.lease(40)]
    assert len(ids) == 30
    assert ids == [apart.lease(1)[0].link_id for _ in ids]
    assert apart.lease(1) == []


@pytest.mark.parametrize("at_once", [1, 2, 9])
def test_dry_hosts_come_last_however_high_they_stand(
    frontier: Callable[..., Frontier], page: Callable[..., Page], at_once: int
) -> None:
    """Nor while a better page is out, for it may bring better links."""
    opened = frontier(scope="any", max_in_flight=30, default_delay=0.0)
    for host, hit in (("good", True), ("dry", False), ("arid", False)):
        opened.add([FoundLink(f"https://{host}.example/{i}", score=9.0) for i in range(20)])
        for lease in opened.lease(20):
            opened.observe(lease, page(lease, relevance=float(hit), new=hit))
    queued = {"dry": (9.0, 7.0), "arid": (8.0, 6.0), "good": (1.0, 0.5)}
    for host, scores in queued.items():
        opened.add([FoundLink(f"https://{host}.example/x{s}", score=s) for s in scores])

    def leased() -> list[float]:
        found = []
        while leases := opened.lease(at_once):
            found += leases
        for lease in found:
            opened.observe(lease, page(lease))
        return [lease.score for lease in found]

    assert leased() == [1.0, 0.5]
    assert leased() == [9.0, 8.0, 7.0, 6.0]


def test_an_empty_query_means_the_order_of_discovery(
    frontier: Callable[..., Frontier], page: Callable[..., Page]
) -> None:
    opened = frontier(query="")
    opened.add(["https://a.example/"])
    fetched = []
    while leases := opened.lease(1):
        (lease,) = leases
        fetched.append(lease.link_id)
        links = [f"/{lease.link_id}/{i}" for i in range(3)] if lease.depth < 2 else []
        opened.observe(lease, page(lease, *links))
    assert fetched == list(range(1, 14))


def test_a_lease_says_what_a_fetcher_needs(frontier: Callable[..., Frontier], clock: Any) -> None:
    opened = frontier(default_delay=7.0)
    opened.add(["https://a.example/?utm_source=x&b=%2F"])
    (lease,) = opened.lease(1, ttl=60.0)
    assert lease.url == "https://a.example/?utm_source=x&b=%2F"
    assert lease.key == "https://a.example/?b=%2F"
    assert (lease.link_id, lease.attempt, lease.depth, lease.score) == (1, 1, 0, 5.5)
    assert (lease.expires, lease.host_delay) == (clock.now + 60.0, 7.0)
    assert (lease.parent_url, lease.etag, lease.last_modified) == (None, None, None)


@pytest.mark.parametrize(
    "arguments",
    [
        {"n": 0},
        {"n": -1},
        {"n": True},
        {"n": 1.0},
        {"ttl": 0},
        {"ttl": -1.0},
        {"ttl": float("nan")},
        {"ttl": "5"},
    ],
)
def test_what_no_lease_can_be(frontier: Callable[..., Frontier], arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue, match=next(iter(arguments))):
        frontier().lease(**arguments)


# -- what hosts allow -----------------------------------------------------------------------------------------------


def test_a_host_rests_between_two_leases_whoever_takes_them(
    frontier: Callable[..., Frontier], clock: Any
) -> None:
    opened = frontier(default_delay=10.0, scope="any")
    opened.add(given(3.0, 2.0, 1.0))
    assert len(opened.lease(3)) == 1
    for early in (0.0, 9.0):
        clock.forward(early)
        assert frontier().lease(3) == []
    clock.forward(1.0)
    assert [lease.link_id for lease in frontier().lease(3)] == [2]


def test_four_processes_get_one_link_of_a_resting_host(
    frontier: Callable[..., Frontier], store: Path
) -> None:
    with frontier(default_delay=300.0, scope="any") as opened:
        opened.add(given(*range(20)))
    leased = race(
        """
frontier = Frontier.open(arguments["store"], worker="cron")
print(json.dumps(len(frontier.lease(3))))
""",
        [{"store": store}] * 4,
    )
    assert sum(leased) == 1


@pytest.mark.parametrize("places", [1, 2, 5])
def test_a_host_has_so_many_places(
    frontier: Callable[..., Frontier], page: Callable[..., Page], places: int
) -> None:
    opened = frontier(max_in_flight=places, scope="any")
    opened.add([FoundLink(f"https://a.example/{i}/x") for i in range(8)])
    leases = opened.lease(8)
    assert len(leases) == places
    assert opened.lease(8) == []
    opened.observe(leases[0], page(leases[0]))
    assert len(opened.lease(8)) == 1


def test_a_slow_host_does_not_fill_the_front(frontier: Callable[..., Frontier]) -> None:
    opened = frontier(default_delay=10.0, scope="any")
    opened.add(given(*[0.9] * 300, host="big.example"))
    opened.add([link for i in range(10) for link in given(0.1, host=f"small{i}.example")])
    hosts = [lease.url.split("/")[2] for lease in opened.lease(10)]
    assert hosts == ["big.example", *[f"small{i}.example" for i in range(9)]]


def test_a_blocked_host_waits_for_its_time(frontier: Callable[..., Frontier], clock: Any) -> None:
    opened = frontier(scope="any")
    opened.add(given(1.0))
    opened.set_host("a.example", blocked_until=clock.now + 100)
    assert opened.lease() == []
    clock.forward(100)
    assert len(opened.lease()) == 1


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("delay", -1.0),
        ("delay", float("nan")),
        ("delay", float("inf")),
        ("max_in_flight", 0),
        ("blocked_until", float("nan")),
    ],
)
def test_what_no_host_can_be_set_to(frontier: Callable[..., Frontier], setting: str, value: float) -> None:
    with pytest.raises(InvalidValue, match=setting):
        frontier().set_host("a.example", **{setting: value})


def test_an_absurd_delay_is_clamped_and_noted(frontier: Callable[..., Frontier]) -> None:
    opened = frontier()
    opened.set_host("a.example", delay=86_400.0)
    (host,) = [row for row in opened.dump() if row["table"] == "host"]
    assert host["delay"] == 300.0
    assert host["note"] == "crawl delay 86400 s clamped to 300 s"


@pytest.mark.parametrize(
    ("status", "deferred"), [(200, False), (404, False), (403, False), (429, True), (503, True), (None, True)]
)
def test_the_outcome_of_robots_txt_is_kept(
    frontier: Callable[..., Frontier], status: int | None, *, deferred: bool
) -> None:
    opened = frontier(scope="any")
    opened.add(given(1.0))
    opened.set_robots("a.example", status)
    assert (frontier().lease() == []) is deferred


def test_a_crawl_delay_is_honoured_and_an_operators_stands_before_it(
    frontier: Callable[..., Frontier],
) -> None:
    opened = frontier(scope="any")
    opened.add(given(1.0, 2.0))
    opened.set_robots("a.example", 200, crawl_delay=12.0)
    (lease,) = opened.lease()
    assert lease.host_delay == 12.0
    opened.release(lease)
    opened.set_host("a.example", delay=3.0, blocked_until=0)
    assert opened.explain("https://a.example/0").why.startswith("queued; its host a.example rests")


def test_hosts_can_share_a_delay_by_domain(frontier: Callable[..., Frontier]) -> None:
    opened = frontier(politeness="domain", default_delay=10.0, scope="any")
    opened.add([link for i in range(5) for link in given(1.0, host=f"s{i}.shared.example")])
    assert len(opened.lease(5)) == 1


# -- what limits allow ----------------------------------------------------------------------------------------------


def test_leased_links_count_against_the_limit(
    frontier: Callable[..., Frontier], page: Callable[..., Page]
) -> None:
    opened = frontier(max_pages=10, scope="any")
    opened.add(given(*range(30)))
    first, second = opened.lease(8), opened.lease(8)
    assert (len(first), len(second)) == (8, 2)
    opened.release(first[0])
    assert len(opened.lease(8)) == 1
    assert opened.lease(1) == []


def test_raising_a_limit_is_enough_to_go_on(
    frontier: Callable[..., Frontier], page: Callable[..., Page], store: Path
) -> None:
    with frontier(max_pages=2, scope="any") as opened:
        opened.add(given(1.0, 2.0, 3.0))
        for lease in opened.lease(5):
            opened.observe(lease, page(lease))
        assert opened.lease() == []
        status = opened.status()
        assert (status.state, status.stop.reason) == (CrawlState.FINISHED, StopReason.LIMIT_REACHED)
        assert status.stop.detail == {"max_pages": 2, "fetched": 2, "leased": 0}
    with frontier() as opened:
        assert opened.lease() == []
        opened.configure(max_pages=None)
        assert len(opened.lease(5)) == 1
    assert violations(store) == []


def test_a_page_limit_cuts_fetches_not_what_is_known(
    frontier: Callable[..., Frontier], page: Callable[..., Page]
) -> None:
    opened = frontier(max_pages=2)
    opened.add(["https://a.example/"])
    (lease,) = opened.lease()
    links = [FoundLink(f"/{i}") for i in range(99)] + [FoundLink("/last", anchor="student visa fees")]
    assert len(opened.observe(lease, page(lease, *links)).added) == 100
    assert opened.lease(5)[0].url == "https://a.example/last"


def test_what_is_too_deep_is_refused(frontier: Callable[..., Frontier], page: Callable[..., Page]) -> None:
    opened = frontier(max_depth=1)
    opened.add(["https://a.example/"])
    (lease,) = opened.lease()
    opened.observe(lease, page(lease, "/1"))
    (lease,) = opened.lease()
    (added,) = opened.observe(lease, page(lease, "/2")).added
    assert added.reason == "depth"
