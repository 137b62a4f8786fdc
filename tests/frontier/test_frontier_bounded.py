"""A bounded queue: which links are forgotten, what finds them, and that it costs the same however long the queue is."""

from __future__ import annotations

import itertools
import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import killing
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_invariants import violations

from pagesift_store import FoundLink, Frontier, Settings, Verdict, upkeep
from pagesift_store.storage.statements import links as sql

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from pagesift_store.transactions.work import Work

NEW = Verdict.NEW
DRAWN = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
_NUMBERS = itertools.count()
SCORES = st.sampled_from([-1.0, -0.0, 0.0, 0.25, 0.5, 1e-300, 1.0])
"""Few, so that many are equal."""


def found(*scores: float, first: int = 0) -> list[FoundLink]:
    """Links with these scores, each with a URL of its own, numbered from `first`."""
    return [FoundLink(f"https://a.example/{i}", score=score) for i, score in enumerate(scores, first)]


def test_a_better_newcomer_evicts_the_worst(frontier: Callable[..., Frontier], store: Path) -> None:
    opened = frontier(max_queue=3, scope="any")
    opened.add([FoundLink(f"https://a.example/{score}", score=score) for score in (0.5, 0.1, 0.9)])
    opened.add([FoundLink("https://a.example/new", score=0.7)])
    assert [lease.score for lease in opened.lease(5)] == [0.9, 0.7, 0.5]
    assert violations(store) == []


def test_what_was_evicted_is_forgotten_and_may_come_again_under_another_number(
    frontier: Callable[..., Frontier],
) -> None:
    opened = frontier(max_queue=1, scope="any")
    opened.add([FoundLink("https://a.example/1", score=0.1)])
    opened.add([FoundLink("https://a.example/2", score=0.2)])
    again = opened.add([FoundLink("https://a.example/1", score=0.3)])[0]
    assert (again.verdict, again.link_id) == (NEW, 3)


def test_of_equals_the_oldest_stay(frontier: Callable[..., Frontier]) -> None:
    opened = frontier(max_queue=2, scope="any")
    opened.add([FoundLink(f"https://a.example/{i}", score=1.0) for i in range(5)])
    assert [lease.link_id for lease in opened.lease(5)] == [1, 2]


# -- held against the plainest way to do it ----------------------------------------------------------------------------


class Plain:
    """The same queue as a dictionary that is sorted anew for each eviction."""

    def __init__(self) -> None:
        self.links: dict[int, tuple[str, float, str]] = {}
        self._last = 0

    def add(self, links: Sequence[FoundLink], bound: int | None) -> None:
        for link in links:
            assert link.score is not None
            known = next((i for i, (url, *_) in self.links.items() if url == link.href), None)
            if known is None:
                self._last += 1
                self.links[self._last] = (link.href, link.score, "queued")
            elif link.score > self.links[known][1]:
                self.links[known] = (link.href, link.score, self.links[known][2])
        for i in self.worst()[: max(len(self.worst()) - bound, 0) if bound is not None else 0]:
            del self.links[i]

    def worst(self) -> list[int]:
        """Queued links, those first that are forgotten first."""
        queued = [i for i, (_, _, state) in self.links.items() if state == "queued"]
        return sorted(queued, key=lambda i: (self.links[i][1], -i))

    def move(self, links: Sequence[int], state: str) -> None:
        for i in links:
            self.links[i] = (*self.links[i][:2], state)


def stored(store: Path) -> dict[int, tuple[str, float, str]]:
    with closing(sqlite3.connect(store)) as connection:
        rows = connection.execute("SELECT id, url, score, state FROM link").fetchall()
    return {row[0]: row[1:] for row in rows}


ADD = st.lists(
    st.builds(FoundLink, st.integers(0, 14).map("https://a.example/{}".format), score=SCORES), max_size=8
)
ACT = st.one_of(ADD, ADD, st.none(), st.integers(1, 5), st.sampled_from(["lease", "release"]))
"""Links to add, twice as often as anything else; another bound, or none."""


@DRAWN
@given(fresh=st.integers(0, 10**9), bound=st.none() | st.integers(1, 4), acts=st.lists(ACT, max_size=12))
def test_the_same_links_are_forgotten_as_by_a_sort_of_the_whole_queue(
    frontier: Callable[..., Frontier],
    tmp_path: Path,
    fresh: int,
    bound: int | None,
    acts: list[list[FoundLink] | int | str | None],
) -> None:
    store = tmp_path / f"{next(_NUMBERS)}-{fresh}.db"
    plain, leases = Plain(), list[Any]()
    with frontier(path=store, max_queue=bound, scope="any") as opened:
        for act in acts:
            match act:
                case list():
                    opened.add(act, depth=1)
                    plain.add(act, bound)
                case None | int():
                    bound = act
                    opened.configure(max_queue=bound)
                case "lease":
                    leases += (taken := opened.lease(2))
                    plain.move([lease.link_id for lease in taken], "leased")
                case _:
                    for lease in leases:
                        opened.release(lease)
                    plain.move([lease.link_id for lease in leases], "queued")
                    leases.clear()
            assert stored(store) == plain.links
            worst = opened._write(lambda work: work.rows(sql.worst_queued(False), most=100))
            assert [row.id for row in worst] == plain.worst()
        assert violations(store) == []


@DRAWN
@given(rows=st.lists(st.tuples(SCORES, st.booleans()), min_size=1, max_size=30), most=st.integers(1, 30))
def test_the_worst_are_found_in_their_order_and_what_was_fetched_before_stays(
    frontier: Callable[..., Frontier], tmp_path: Path, rows: list[tuple[float, bool]], most: int
) -> None:
    store = tmp_path / f"{next(_NUMBERS)}.db"
    with frontier(path=store, max_queue=100, scope="any") as opened:
        opened.add(found(*(score for score, _ in rows)), depth=1)
        fetched = [i for i, (_, visited) in enumerate(rows, 1) if visited]

        def look(work: Work) -> None:
            for i in fetched:
                work.connection.exec_driver_sql("UPDATE link SET visits = 1 WHERE id = ?", (i,))
            for revisits in (False, True):
                ids = [i for i in range(1, len(rows) + 1) if not revisits or i not in fetched]
                ids.sort(key=lambda i: (rows[i - 1][0], -i))
                got = [row.id for row in work.rows(sql.worst_queued(revisits), most=most)]
                assert got == ids[:most]

        opened._write(look)


# -- the index behind it -----------------------------------------------------------------------------------------------


def has_index(store: Path) -> bool:
    with closing(sqlite3.connect(store)) as connection:
        return "ix_link_worst" in {row[1] for row in connection.execute("PRAGMA index_list(link)")}


def test_only_a_bounded_queue_has_the_index(frontier: Callable[..., Frontier], store: Path) -> None:
    opened = frontier(scope="any")
    opened.add(found(0.1, 0.2, 0.3))
    assert not has_index(store)
    for bound, expected in ((2, True), (3, True), (None, False), (1, True)):
        opened.configure(max_queue=bound)
        assert has_index(store) is expected
        opened.configure(default_delay=0.0)
        assert has_index(store) is expected
    opened.add(found(0.4, first=9))
    assert [lease.score for lease in opened.lease(5)] == [0.4]
    assert upkeep.check(store).findings == ()
    assert violations(store) == []


def test_a_new_store_has_it_from_the_start(tmp_path: Path) -> None:
    for bound in (None, 5):
        Frontier.open(tmp_path / f"{bound}.db", query="fees", settings=Settings(max_queue=bound)).close()
        assert has_index(tmp_path / f"{bound}.db") is (bound is not None)


def test_a_kill_leaves_setting_and_index_as_they_were_or_as_they_should_be(
    frontier: Callable[..., Frontier], store: Path
) -> None:
    with frontier(scope="any") as opened:
        opened.add(found(*(i / 10 for i in range(10))))

    def turn(bound: int | None) -> None:
        with Frontier.open(store) as opened:
            opened.configure(max_queue=bound)

    statements = killing.run(lambda: turn(4)).statements
    for at in range(1, statements + 1):
        for bound in (None, 4):
            assert killing.run(lambda: turn(bound), kill_at=at).killed  # noqa: B023
            assert violations(store) == []
            turn(bound)
            assert has_index(store) is (bound is not None)


@contextmanager
def steps(opened: Frontier) -> Iterator[list[int]]:
    """Counts the steps of SQLite's machine on the connection that writes."""
    driver = opened._write(lambda work: work._driver)
    taken = [0]

    def step() -> None:
        taken[0] += 1

    driver.set_progress_handler(step, 1)
    try:
        yield taken
    finally:
        driver.set_progress_handler(None, 1)


def cost_of_a_crowd(opened: Frontier, queued: int) -> int:
    """Steps of adding a dozen better links to a full queue, once what is remembered is up to date."""
    scores = [1 + i / queued for i in range(queued)]
    opened.add(found(*scores), depth=1)
    opened.add(found(*[3.0] * 12, first=queued), depth=1)
    with steps(opened) as taken:
        opened.add(found(*[3.0] * 12, first=queued + 12), depth=1)
    return taken[0]


def test_a_full_queue_costs_the_same_however_long_it_is(
    frontier: Callable[..., Frontier], tmp_path: Path
) -> None:
    costs = []
    for queued in (500, 5_000):
        store = tmp_path / f"{queued}.db"
        with frontier(path=store, max_queue=queued, scope="any") as opened:
            costs.append(cost_of_a_crowd(opened, queued))
            assert opened.status().counts["queued"] == queued
        assert violations(store) == []
    assert 1_000 < costs[1] <= costs[0] * 1.05


def test_others_follow_when_the_queue_is_bounded_under_them(
    frontier: Callable[..., Frontier], store: Path
) -> None:
    """Their statements were prepared for a store without the index, or with it."""
    one, other = frontier(scope="any"), frontier()
    other.add(found(*(1 + i / 2_000 for i in range(2_000))), depth=1)
    one.configure(max_queue=1_000)
    other.add(found(3.0, first=5_000), depth=1)
    with steps(other) as taken:
        other.add(found(*[3.0] * 12, first=6_000), depth=1)
    assert taken[0] < 5_000
    assert other.status().counts["queued"] == 1_000
    one.configure(max_queue=None)
    other.add(found(*[0.5] * 12, first=7_000), depth=1)
    assert other.status().counts["queued"] == 1_012
    one.configure(max_queue=3)
    assert other.add(found(0.1, first=8_000), depth=1)[0].verdict is NEW
    assert other.status().counts["queued"] == 3
    assert violations(store) == []


# -- copies ------------------------------------------------------------------------------------------------------------


def test_every_way_to_copy_a_store_brings_the_index_along_or_leaves_it_out(
    frontier: Callable[..., Frontier], tmp_path: Path
) -> None:
    for bound in (None, 3):
        one, backup, other = (tmp_path / f"{bound}-{name}.db" for name in ("one", "backup", "other"))
        with frontier(path=one, max_queue=bound, scope="any") as opened:
            opened.add(found(0.1, 0.2, 0.3, 0.4), depth=1)
        upkeep.backup(one, backup)
        upkeep.restore(backup, other)
        upkeep.import_lines(upkeep.export_lines(one), tmp_path / f"{bound}-imported.db")
        for store in (other, tmp_path / f"{bound}-imported.db"):
            assert has_index(store) is (bound is not None)
            assert violations(store) == []
            assert upkeep.check(store).findings == ()
            upkeep.vacuum(store, full=True)
            assert has_index(store) is (bound is not None)


def test_a_restore_under_an_open_client_takes_the_index_with_it(
    frontier: Callable[..., Frontier], store: Path, tmp_path: Path
) -> None:
    opened = frontier(scope="any")
    opened.add(found(0.1, 0.2, 0.3, 0.4), depth=1)
    upkeep.backup(store, tmp_path / "unbounded.db")
    opened.configure(max_queue=3)
    opened.add(found(0.5, first=9), depth=1)
    upkeep.backup(store, tmp_path / "bounded.db")
    upkeep.restore(tmp_path / "unbounded.db", store, force=True)
    opened.add(found(0.6, first=9), depth=1)
    assert opened.status().counts["queued"] == 5
    assert violations(store) == []
    upkeep.restore(tmp_path / "bounded.db", store, force=True)
    opened.add(found(0.6, first=19), depth=1)
    assert opened.status().counts["queued"] == 3
    assert violations(store) == []


def test_a_queue_is_cut_after_every_five_hundred_items(frontier: Callable[..., Frontier]) -> None:
    opened = frontier(max_queue=1)
    best, other = FoundLink("https://a.example/best", score=9.0), FoundLink("https://a.example/x", score=1.0)
    items = ["https://a.example/", *["mailto:a@a.example"] * 497, best, other, other]
    assert [one.verdict for one in opened.add(items)][-3:] == [NEW, NEW, NEW], "forgotten in between"
    assert [one.verdict for one in opened.add(["https://a.example/", best, other, other])][-2:] == [
        NEW,
        Verdict.KNOWN,
    ]
