"""Which link next: the choice among heads against a slow oracle, and the lift of a lane."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagesift_store.focus.harvest import is_dry, is_proven
from pagesift_store.focus.order import Harvest, Head, Heads, Tier, Yield, choose, lift

if TYPE_CHECKING:
    from collections.abc import Sequence

DELTA = 0.05
CAP = 3
TOTAL = Harvest(200, 40)


def head(
    rank: float,
    number: int,
    *,
    demoted: bool = False,
    subtree: tuple[int, int] = (0, 0),
    cluster: tuple[int, int] = (0, 0),
    scheduled: int = 0,
    cluster_id: int | None = None,
) -> Head:
    return Head(
        demoted=demoted,
        rank=rank,
        link_id=number,
        lane_id=number,
        host_id=1,
        cluster_id=number if cluster_id is None else cluster_id,
        subtree=Harvest(*subtree),
        cluster=Harvest(*cluster),
        scheduled=scheduled,
    )


DRY = (60, 0)
PROVEN = (30, 25)


def _is_dry(one: Head) -> bool:
    return is_dry(*one.subtree, *TOTAL, DELTA)


def chosen(
    heads: Sequence[Head], *, last_resort: bool = True, lenient: bool = False, whole: bool = True
) -> Head | None:
    ordered = sorted(heads, key=Head.place)
    # What stands aside may be in the first tier or not; of spent clusters nothing goes before a better one.
    unspent = [one for one in ordered if one.cluster.hits or one.scheduled < CAP]
    everything = Tier(ordered, unspent)
    return choose(
        everything if whole else Tier(*([one for one in part if not _is_dry(one)] for part in everything)),
        lambda: [one for one in ordered if is_proven(*one.cluster, *TOTAL, DELTA)],
        total=TOTAL,
        cluster_cap=CAP,
        delta=DELTA,
        last_resort=lambda: everything if last_resort else None,
        lenient=lenient,
    )


def oracle(heads: Sequence[Head], last_resort: bool, lenient: bool) -> Head | None:
    """DESIGN 6, points 2 and 3, word for word; lenient, a cluster with a hit needs no proof and has no cap."""

    def aside(one: Head) -> bool:
        return one.demoted or _is_dry(one)

    def proven(one: Head) -> bool:
        return is_proven(*one.cluster, *TOTAL, DELTA)

    ordered = sorted(heads, key=Head.place)
    group = [one for one in ordered if not aside(one)] or (
        [one for one in ordered if aside(one)] if last_resort else []
    )
    if not group:
        return None
    best = group[0]
    if best.cluster.hits if lenient else proven(best):
        return best
    near = [one for one in group if one.demoted == best.demoted and one.rank >= best.rank / 2]
    fruitful = [] if lenient else [one for one in near if proven(one)]
    if fruitful:
        return fruitful[0]
    if best.scheduled >= CAP:
        open_ones = [one for one in near if one.scheduled < CAP or (lenient and one.cluster.hits)]
        return open_ones[0] if open_ones else best
    return best


harvests = st.sampled_from([(0, 0), (5, 1), DRY, PROVEN, (10, 2), (1, 1)])
heads_drawn = st.lists(
    st.builds(
        lambda rank, demoted, subtree, cluster, scheduled: (rank, demoted, subtree, cluster, scheduled),
        st.sampled_from([0.0, 0.1, 0.4, 0.5, 0.8, 1.0, 2.0, -0.3]),
        st.booleans(),
        harvests,
        harvests,
        st.integers(0, 5),
    ),
    max_size=12,
).map(
    lambda rows: [
        head(rank, i, demoted=demoted, subtree=subtree, cluster=cluster, scheduled=scheduled)
        for i, (rank, demoted, subtree, cluster, scheduled) in enumerate(rows)
    ]
)


@given(heads_drawn, st.booleans(), st.booleans(), st.booleans())
def test_the_choice_is_that_of_the_slow_oracle(
    heads: list[Head], last_resort: bool, lenient: bool, whole: bool
) -> None:
    expected = oracle(heads, last_resort, lenient)
    assert chosen(heads, last_resort=last_resort, lenient=lenient, whole=whole) == expected


def test_a_cluster_with_a_hit_never_gives_way_where_the_order_is_lenient() -> None:
    best, proven = head(1.0, 1, cluster=(40, 1), scheduled=40), head(0.9, 2, cluster=PROVEN)
    assert chosen([best, proven]) == proven
    assert chosen([best, proven], lenient=True) == best
    assert chosen([best._replace(cluster=Harvest(40, 0)), proven], lenient=True) == proven


def test_the_best_wins_and_ties_go_by_discovery() -> None:
    assert chosen([head(0.5, 2), head(0.9, 3), head(0.9, 1)]) == head(0.9, 1)


def test_dry_subtrees_and_demoted_templates_come_last() -> None:
    dry, demoted, poor = head(2.0, 1, subtree=DRY), head(2.0, 2, demoted=True), head(0.1, 3)
    assert chosen([dry, demoted, poor]) == poor
    assert chosen([dry, demoted]) == dry
    assert chosen([dry, demoted], last_resort=False) is None


def test_a_proven_cluster_with_half_the_rank_goes_first() -> None:
    best, proven = head(1.0, 1), head(0.5, 2, cluster=PROVEN)
    assert chosen([best, proven]) == proven
    assert chosen([best, head(0.49, 2, cluster=PROVEN)]) == best


def test_a_cluster_at_its_cap_gives_way_to_another_of_half_the_rank() -> None:
    best = head(1.0, 1, scheduled=CAP)
    other = head(0.6, 2, scheduled=CAP - 1)
    assert chosen([best, other]) == other
    assert chosen([best, head(0.4, 2)]) == best
    assert chosen([best, head(0.6, 2, scheduled=CAP)]) == best


@given(heads_drawn, st.data())
def test_heads_are_read_in_order_whatever_is_replaced_meanwhile(
    heads: list[Head], data: st.DataObject
) -> None:
    source = sorted(heads, key=Head.place)
    lazy, left = Heads(source), list(source)
    for _ in range(len(source)):
        looked = data.draw(st.integers(1, len(left))) if left else 0
        seen = [one for one, _ in zip(lazy, range(looked), strict=False)]
        assert seen == left[:looked]
        if not seen:
            break
        gone = data.draw(st.sampled_from(seen))
        successor = None
        if data.draw(st.booleans()):
            successor = gone._replace(rank=gone.rank - 0.05, link_id=gone.link_id + 100)
        lazy.replace(gone, successor)
        left = sorted(
            [one for one in left if one != gone] + ([successor] if successor else []), key=Head.place
        )
    assert list(lazy) == left


@given(heads_drawn, st.data())
def test_heads_are_left_out_once_they_may_not_be_chosen(heads: list[Head], data: st.DataObject) -> None:
    """Whichever way they are looked at, and however far, before that."""
    left = sorted(heads, key=Head.place)
    shut, spent = set[int](), set[int]()
    lazy = Heads(iter(left), lambda one: one.lane_id not in shut, lambda one: one.cluster_id in spent)
    for _ in range(len(heads)):
        first = [one for one in left if one.lane_id not in shut]
        expected = {False: first, True: [one for one in first if one.cluster_id not in spent]}
        unspent = data.draw(st.booleans())
        looked = data.draw(st.integers(0, len(expected[unspent])))
        found = lazy.unspent() if unspent else iter(lazy)
        assert [one for one, _ in zip(found, range(looked), strict=False)] == expected[unspent][:looked]
        data.draw(st.sampled_from([shut, spent])).add(data.draw(st.sampled_from(heads)).lane_id)
    assert list(lazy) == [one for one in left if one.lane_id not in shut]
    assert list(lazy.unspent()) == [one for one in left if one.lane_id not in shut | spent]


def test_heads_that_were_left_out_are_not_looked_at_again() -> None:
    asked, shut = list[int](), set[int]()

    def is_open(one: Head) -> bool:
        asked.append(one.lane_id)
        return one.lane_id not in shut

    lazy = Heads([head(1.0, number) for number in range(1, 101)], is_open)
    assert len(list(lazy)) == 100
    shut.update(range(1, 91))
    assert len(list(lazy)) == 10
    asked.clear()
    assert next(iter(lazy)).lane_id == 91
    assert asked == [91]


def test_heads_are_read_no_further_than_somebody_looks() -> None:
    source = iter([head(3.0, 1), head(2.0, 2), head(1.0, 3)])
    heads = Heads(source)
    assert next(iter(heads)).lane_id == 1
    heads.replace(head(3.0, 1), head(2.5, 4))
    looked = iter(heads)
    assert [next(looked).lane_id, next(looked).lane_id] == [4, 2]
    assert [one.lane_id for one in source] == [3]


def test_a_lane_without_news_about_it_has_no_lift() -> None:
    assert lift(Yield(4, 4 * 0.25), Yield(100, 25.0)) == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("lane", "expected"),
    [
        (Yield(1, 1.0), (1.0 - 0.25) / 3),
        (Yield(2, 0.0), -0.5 / 4),
        (Yield(1_000, 1_000.0), 750 / 1002),
    ],
)
def test_the_lift_is_the_lanes_mean_drawn_towards_the_sites(lane: Yield, expected: float) -> None:
    """(h + 2m)/(n + 2) − m, with m = ¼."""
    assert lift(lane, Yield(100, 25.0)) == pytest.approx(expected, rel=1e-12)
    mean = 0.25
    assert expected == pytest.approx((lane.relevance + 2 * mean) / (lane.pages + 2) - mean)


def test_the_reference_order_has_no_lift() -> None:
    assert lift(Yield(5, 5.0), Yield(100, 25.0), weight=0.0) == 0.0
