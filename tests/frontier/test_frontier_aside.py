"""Marks on lanes that come last: they save a walk past them, and change nothing else."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from store_invariants import violations

from pagesift_store import FoundLink, Frontier, Page, upkeep
from pagesift_store.transactions import aside, heads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

MARKED = """
SELECT lane.dry, lane.spent, cluster.key FROM lane JOIN part AS cluster ON cluster.id = lane.cluster_id ORDER BY lane.id
"""


def marks(store: Path) -> dict[str, tuple[int, int]]:
    """Cluster → its lane's marks (dry, spent)."""
    with closing(sqlite3.connect(store)) as connection:
        return {key: (dry, spent) for dry, spent, key in connection.execute(MARKED)}


def unmark(store: Path) -> None:
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("UPDATE lane SET dry = false, spent = false")
        connection.execute("UPDATE part SET dry = false")
        connection.commit()


def crawl(opened: Frontier, store: Path, seed: int, before_lease: Callable[[Path], None]) -> Iterator[Any]:
    """A random crawl of some hosts that pay off and many that do not; yields all that a caller can see."""
    rng = random.Random(seed)
    hosts = [f"h{i}.example" for i in range(8)]
    good = 2
    opened.add(
        FoundLink(f"https://{host}/{part}/x/{n}", score=round(rng.uniform(-0.5, 3), 1))
        for host in hosts
        for part in range(3)
        for n in range(9)
    )
    held: list[Any] = []
    for step in range(150):
        act = rng.choices(("lease", "observe", "release", "fail", "configure"), (4, 6, 1, 1, 0.4))[0]
        if step == 90:
            good = 0  # what paid off does not any more, and what was dry is no drier than the rest
        if act == "lease":
            before_lease(store)
            yield opened.status().state
            leases = opened.lease(rng.choice((1, 1, 2, 5)))
            held += leases
            yield [(lease.link_id, lease.score) for lease in leases]
        elif act == "configure":
            yield opened.configure(cluster_cap=rng.choice((2, 3, 9))).cluster_cap
        elif held:
            lease = held.pop(rng.randrange(len(held)))
            hit = rng.random() < (0.9 if int(lease.url[9]) < good else 0.02)
            link = FoundLink(f"/{rng.randrange(4)}/x/new{step}", score=round(rng.uniform(0, 4), 1))
            if act == "release":
                opened.release(lease)
            elif act == "fail":
                opened.fail(lease, "http_4xx")
            else:
                page = Page(
                    url=lease.url, text=f"page {lease.link_id}", links=[link], relevance=float(hit), new=hit
                )
                yield opened.observe(lease, page)


@pytest.mark.parametrize("focus", ["full", "reference"])
@pytest.mark.parametrize("seed", range(6))
def test_a_crawl_goes_as_if_nothing_was_marked(
    frontier: Callable[..., Frontier], tmp_path: Path, focus: str, seed: int
) -> None:
    """The marks of one store are taken away before each lease; `delta` makes dryness come and go."""

    def opened(name: str) -> Frontier:
        settings = {
            "focus": focus,
            "scope": "any",
            "max_in_flight": 4,
            "default_delay": 0.0,
            "cluster_cap": 3,
        }
        return frontier(path=tmp_path / name, delta=0.4, **settings)

    stores = tmp_path / "marked.db", tmp_path / "plain.db"
    marked, plain = (opened(store.name) for store in stores)
    seen: set[tuple[int, int]] = set()
    steps = zip(
        crawl(marked, stores[0], seed, lambda store: seen.update(marks(store).values())),
        crawl(plain, stores[1], seed, unmark),
        strict=True,
    )
    for number, (mine, theirs) in enumerate(steps):
        assert mine == theirs, number
    assert seen >= {(0, 0), (0, 1), (1, 0)}
    assert violations(stores[0]) == []
    assert upkeep.check(stores[0]).findings == ()


def warmed(frontier: Callable[..., Frontier], page: Callable[..., Page], **settings: Any) -> Frontier:
    """A host that pays off and one that does not, 20 pages of each fetched, two links of each queued."""
    opened = frontier(scope="any", max_in_flight=50, default_delay=0.0, **settings)
    for host, hit in (("good", True), ("dry", False)):
        opened.add([FoundLink(f"https://{host}.example/{i}", score=9.0) for i in range(20)])
        for lease in opened.lease(20):
            opened.observe(lease, page(lease, relevance=float(hit), new=hit))
        opened.add([FoundLink(f"https://{host}.example/x{i}", score=5.0 if hit else 8.0) for i in range(2)])
    return opened


def test_a_lease_marks_what_it_passes(
    frontier: Callable[..., Frontier], page: Callable[..., Page], store: Path
) -> None:
    opened = warmed(frontier, page)
    assert marks(store) == {"good.example/": (0, 0), "dry.example/": (0, 1)}
    assert opened.lease(1)[0].url == "https://good.example/x0"
    assert marks(store) == {"good.example/": (0, 0), "dry.example/": (1, 1)}


def test_a_new_lane_is_marked_as_its_parts_are(
    frontier: Callable[..., Frontier], page: Callable[..., Page], store: Path
) -> None:
    opened = warmed(frontier, page)
    opened.lease(1)
    opened.add([FoundLink("https://dry.example/new/1", score=9.0)])
    assert marks(store)["dry.example/new"] == (1, 0)
    assert opened.lease(1)[0].url == "https://good.example/x1"


def test_what_pays_off_again_loses_its_mark(
    frontier: Callable[..., Frontier], page: Callable[..., Page], store: Path
) -> None:
    opened = warmed(frontier, page)
    for lease in opened.lease(2):
        opened.observe(lease, page(lease, relevance=1.0, new=True))
    while leases := opened.lease(1):
        opened.observe(leases[0], page(leases[0], relevance=1.0, new=True))
    opened.add([FoundLink(f"https://dry.example/y{i}", score=9.0) for i in range(200)])
    for _ in range(100):
        (lease,) = opened.lease(1)
        opened.observe(lease, page(lease, relevance=1.0, new=True))
    opened.lease(1)
    assert marks(store)["dry.example/"] == (0, 0)


def test_a_lease_given_back_unmarks_a_cluster(frontier: Callable[..., Frontier], store: Path) -> None:
    opened = frontier(scope="any", cluster_cap=3, max_in_flight=50, default_delay=0.0)
    opened.add([FoundLink(f"https://a.example/{i}", score=1.0) for i in range(5)])
    leases = opened.lease(3)
    assert marks(store) == {"a.example/": (0, 1)}
    opened.release(leases[0])
    assert marks(store) == {"a.example/": (0, 0)}
    opened.configure(cluster_cap=2)
    assert marks(store) == {"a.example/": (0, 1)}


@pytest.mark.parametrize("lanes", [50, 500])
def test_a_lease_reads_no_lane_that_comes_last(
    frontier: Callable[..., Frontier], page: Callable[..., Page], monkeypatch: pytest.MonkeyPatch, lanes: int
) -> None:
    """However many there are, once they are marked; nor when there is nothing else."""
    opened = warmed(frontier, page)
    opened.add([FoundLink(f"https://dry.example/{i}/", score=9.0) for i in range(lanes)])
    opened.lease(1)
    read: list[int] = []
    walk = heads.Walk._walk

    def counted(self: heads.Walk, rows: Any) -> Iterator[Any]:
        for row in walk(self, rows):
            read.append(row.lane_id)
            yield row

    monkeypatch.setattr(heads.Walk, "_walk", counted)
    (last,) = opened.lease(1)
    assert last.url == "https://good.example/x1"
    assert len(read) <= 2
    opened.observe(last, page(last))
    for lease in opened.lease(1):
        assert lease.url.startswith("https://dry.example/")
    assert len(read) <= 8


def test_a_question_sees_what_is_not_dry_any_more(
    frontier: Callable[..., Frontier], page: Callable[..., Page], store: Path
) -> None:
    """Between two leases a mark may be out of date, and a question marks nothing."""
    opened = warmed(frontier, page)
    assert len(opened.lease(2)) == 2
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("UPDATE part SET hits = 15 WHERE key LIKE 'dry.example%'")
        connection.execute("UPDATE crawl SET hits = hits + 15")
        connection.commit()
    assert marks(store)["dry.example/"][0] == 1
    assert opened.status().state == "ready"


def test_a_part_that_is_missing_is_left_to_the_check(frontier: Callable[..., Frontier]) -> None:
    """As in a damaged store, or an import whose lanes refer to nothing, which is refused once its leases are back."""
    assert frontier()._write(lambda work: aside.schedule(work, 999, -1)) is False
