"""What `lease(10)` costs, by queue size and lanes, with a million finished rows, behind a host that rests.

    python -m benchmarks.lease
    python -m benchmarks.lease --sizes 10k,100k,1M --lanes 1k,20k

The clock of the store is ours and moves a second between two calls, so that hosts with the default delay of one second
are ready again. Leases are kept, so each call takes other links. The floor claims the ten best of its one queue.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # "python benchmarks/lease.py" works, too

from benchmarks import workload
from benchmarks.floor import Floor
from benchmarks.harness import Figure, Spent, at_most, named, number, parser, ratios, report, sizes
from benchmarks.stores import CHUNK, copied, crawl_store, derived, floor_store, scratch, spread_store, sql
from pagesift_store import FoundLink, Frontier, Page, upkeep

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HOSTS = 200
MANY_HOSTS = 1_000
LINKS_OF_EACH = 20
"""Hosts beside one that rests, and the links that each of them has."""

AT_ONCE = 10
DRY_HOST = "dry-place"
DRY_PAGES = 40
"""Fetched of each host that is to be dry, and of one that pays off."""
LANES_OF_HOST = 500

RESTING_HOST = "resting-place.org"
"""Has better links than any other host, where it has any."""
RESTING_HOSTS = "resting-places"
"""So have these, numbered."""


class Leasing:
    """A copy of a store whose clock moves a second before each call."""

    def __init__(self, frontier: Frontier, now: list[float]) -> None:
        self._frontier = frontier
        self._now = now
        self.spent = Spent()

    def call(self, *, keep: bool, after: float = 1.0) -> list[str]:
        """Lease ten links after so many seconds, timed; then keep them, or give them back. Returns their hosts."""
        self._now[0] += after
        with self.spent.timed():
            found = self._frontier.lease(AT_ONCE)
        if len(found) != AT_ONCE:
            raise SystemExit(f"{len(found)} leases, {AT_ONCE} were due")
        for lease in () if keep else found:
            self._frontier.release(lease)
        return [lease.url.split("/")[2] for lease in found]


@contextlib.contextmanager
def leasing(store: Path, *, delay: float = 1.0, rest: Sequence[str] = ()) -> Iterator[Leasing]:
    """A copy of a store to lease from, its caches filled; its best hosts, `rest`, have just been visited."""
    now = [1_800_000_000.0]
    with (
        scratch(f"lease-{store.stem}") as path,
        Frontier.open(copied(store, path), clock=lambda: now[0]) as frontier,
    ):
        frontier.configure(default_delay=delay)
        for host in rest:
            frontier.set_host(host, delay=300.0)
        if rest:
            # The best links are those of these hosts, which rest for longer than we measure.
            frontier.lease(len(rest))
        made = Leasing(frontier, now)
        made.call(keep=delay > 0)
        made.spent = Spent()
        yield made


def leased(store: Path, calls: int) -> Spent:
    """The time of some calls; each takes other links."""
    with leasing(store) as one:
        for _ in range(calls):
            one.call(keep=True)
        return one.spent


class Claiming:
    """A copy of a floor. Its lease is a transaction, so that ten claims are ten."""

    def __init__(self, floor: Floor) -> None:
        self._floor = floor
        self.spent = Spent()

    def call(self) -> None:
        """Ten claims, timed."""
        with self.spent.timed():
            for _ in range(AT_ONCE):
                self._floor.lease()


@contextlib.contextmanager
def claiming(queued: int) -> Iterator[Claiming]:
    """A copy of a floor to claim from."""
    with scratch(f"lease-floor-{queued}") as path:
        floor = Floor(copied(floor_store(queued), path))
        yield Claiming(floor)
        floor.close()


def floor_of(queued: int, calls: int) -> Spent:
    """The time of some calls of the floor."""
    with claiming(queued) as one:
        for _ in range(calls):
            one.call()
        return one.spent


def milliseconds(spent: Spent) -> float:
    """The median call."""
    return median(spent.laps) * 1e3


def by_size(queues: list[int], lane_counts: list[int], calls: int) -> list[Figure]:
    """`lease(10)` by queue size and lanes, each beside the smallest queue with as many lanes.

    All sizes and their floors take turns, call by call: the speed of a machine moves more within a minute than what is
    compared here.
    """
    found: list[Figure] = []
    for lanes in lane_counts:
        with contextlib.ExitStack() as stack:
            stores = [
                stack.enter_context(leasing(spread_store(queued, hosts=HOSTS, lanes=min(lanes, queued))))
                for queued in queues
            ]
            floors = [stack.enter_context(claiming(queued)) for queued in queues]
            for _ in range(calls):
                for store, floor in zip(stores, floors, strict=True):
                    store.call(keep=True)
                    floor.call()
            for queued, store, floor in zip(queues, stores, floors, strict=True):
                value = milliseconds(store.spent)
                times = ratios(store.spent.laps, stores[0].spent.laps)
                found.append(
                    Figure(
                        name=f"lease({AT_ONCE}), {named(queued)} queued, {named(min(lanes, queued))} lanes",
                        value=value,
                        unit="ms",
                        floor=milliseconds(floor.spent),
                        ratio=ratios(store.spent.laps, floor.spent.laps),
                        cpu_ms=store.spent.cpu / calls * 1e3,
                        note=f"{number(times, 2)} × that of {named(queues[0])} queued (≤ 1.5)",
                        **at_most(value, 8 if lanes <= 1_000 else 30, "ms"),
                    )
                )
    return found


def on_crawls(queues: list[int], calls: int) -> list[Figure]:
    """`lease(10)` on crawls, whose hosts and lanes grow with them, each beside the smallest."""
    found: list[Figure] = []
    for queued in queues:
        base = crawl_store(queued)
        with sql(base) as connection:
            (lanes,) = connection.execute("SELECT count(*) FROM lane").fetchone()
        spent, floor = leased(base, calls), milliseconds(floor_of(queued, calls))
        value = milliseconds(spent)
        times = value / found[0].value if found else 1.0
        found.append(
            Figure(
                name=f"lease({AT_ONCE}) of a crawl, {named(queued)} queued",
                value=value,
                unit="ms",
                floor=floor,
                ratio=value / floor,
                cpu_ms=spent.cpu / calls * 1e3,
                note=f"{lanes:,} lanes; {number(times, 2)} × that of {named(queues[0])} queued",
            )
        )
    return found


def finish_all_but_ten(store: Path) -> None:
    """Mark all links done but ten, by hand: a crawl would take hours."""
    with sql(store) as connection:
        connection.execute("UPDATE link SET state = 'done', attempt = 1, visits = 1 WHERE id > 10")
    put_right(store)


def forget_all_but_ten(store: Path) -> None:
    """The same ten links, without the others."""
    with sql(store) as connection:
        connection.execute("DELETE FROM link WHERE id > 10")
    put_right(store)


def put_right(store: Path) -> None:
    """Let the store's own check make heads and counters those of the rows: a lease relies on all of them."""
    checked = upkeep.check(store, repair=True)
    if not checked.sound:
        raise SystemExit(f"{store}: {checked.findings[-1]}")


def beside(what: str, one: Leasing, other: Leasing, most: float, burden: str) -> Figure:
    """`lease(10)` of two stores that took turns, the other being without what might be a burden."""
    times = ratios(one.spent.cpu_laps, other.spent.cpu_laps)
    return Figure(
        name=f"lease({AT_ONCE}), {what}",
        value=milliseconds(one.spent),
        unit="ms",
        cpu_ms=one.spent.cpu / len(one.spent.laps) * 1e3,
        note=f"{number(times)} × the processor time without {burden}, {number(milliseconds(other.spent))} ms",
        **at_most(times, most, f"× without {burden}"),
    )


def behind_done(done: int, calls: int) -> Figure:
    """`lease(10)` of ten queued links, with and without finished rows beside them, in turns."""
    base = spread_store(done)
    full, bare = derived("done", base, finish_all_but_ten), derived("without", base, forget_all_but_ten)
    with leasing(full, delay=0.0) as one, leasing(bare, delay=0.0) as other:
        for _ in range(calls):
            one.call(keep=False)
            other.call(keep=False)
    return beside(f"{AT_ONCE} queued, {named(done)} done", one, other, 1.2, "them")


def behind_resting_host(queued: int, resting: int, calls: int) -> Figure:
    """`lease(10)` where the best links are those of a host that rests, and where they are not there, in turns."""
    base = derived(f"{named(MANY_HOSTS)}-hosts", spread_store(queued), spread_further)
    more = derived(f"resting-{named(resting)}", base, lambda store: rest_in_front(store, resting))
    with leasing(more, rest=[RESTING_HOST]) as one, leasing(base) as other:
        for _ in range(calls):
            if RESTING_HOST in one.call(keep=True):
                raise SystemExit(f"{RESTING_HOST} rests and was leased from")
            other.call(keep=True)
        if one.call(keep=True, after=300.0).count(RESTING_HOST) != 1:
            raise SystemExit(f"{RESTING_HOST} is ready and its best link was not leased, or more than that")
        del one.spent.cpu_laps[calls:], one.spent.laps[calls:]
    what = f"{named(queued)} queued behind {named(resting)} of a host that rests"
    return beside(what, one, other, 1.5, "it")


def behind_dry(queued: int, dry: int, calls: int) -> Figure:
    """`lease(10)` where the best heads are those of dry subtrees, and where they are not there, in turns."""
    base = spread_store(queued)
    more = derived(f"dry-{named(dry)}", base, lambda store: dry_in_front(store, dry))
    with leasing(more) as one, leasing(base) as other:
        for _ in range(calls):
            if any(host.startswith(DRY_HOST) for host in one.call(keep=True)):
                raise SystemExit("a dry host was leased from while there are others")
            other.call(keep=True)
    return beside(f"{named(queued)} queued behind {named(dry)} dry lanes", one, other, 1.5, "them")


def behind_resting(queued: int, resting: int, calls: int) -> Figure:
    """`lease(10)` where the best heads are those of hosts that rest, and where they are not there, in turns."""
    base = spread_store(queued)
    more = derived(f"hosts-resting-{named(resting)}", base, lambda store: hosts_in_front(store, resting))
    hosts = [f"{RESTING_HOSTS}{number}.org" for number in range(resting // LANES_OF_HOST)]
    with leasing(more, rest=hosts) as one, leasing(base) as other:
        for _ in range(calls):
            if any(host.startswith(RESTING_HOSTS) for host in one.call(keep=True)):
                raise SystemExit("a host was leased from that rests")
            other.call(keep=True)
    what = f"{named(queued)} queued behind {named(resting)} lanes of {len(hosts)} hosts that rest"
    return beside(what, one, other, 1.5, "them")


def spread_further(store: Path) -> None:
    """Add many hosts, each with a few links."""
    with Frontier.open(store) as frontier:
        for number in range(LINKS_OF_EACH):
            frontier.add(
                [
                    FoundLink(
                        f"https://host{i:04d}.org/page/n{number:03d}", score=workload.given_score(i + number)
                    )
                    for i in range(MANY_HOSTS)
                ],
                depth=1,
            )


def dry_in_front(store: Path, lanes: int) -> None:
    """Give some hosts the best links, in many lanes, after pages without a hit; as many pages elsewhere are hits."""
    with Frontier.open(store) as frontier:
        frontier.configure(default_delay=0.0, max_in_flight=DRY_PAGES)
        for number in range(lanes // LANES_OF_HOST):
            for host, is_hit in ((f"{DRY_HOST}{number}.org", False), ("fruitful-place.org", True)):
                urls = [f"https://{host}/{number * DRY_PAGES + i}" for i in range(DRY_PAGES)]
                frontier.add([FoundLink(url, score=9.0) for url in urls], depth=1)
                for lease in frontier.lease(DRY_PAGES):
                    page = Page(url=lease.url, text=lease.url, relevance=float(is_hit), new=is_hit)
                    frontier.observe(lease, page)
        for number in range(lanes):
            place, area = divmod(number, LANES_OF_HOST)
            url = f"https://{DRY_HOST}{place}.org/area{area:04d}/page"
            frontier.add([FoundLink(url, score=2 + number / lanes)], depth=1)


def hosts_in_front(store: Path, lanes: int) -> None:
    """Give some hosts the best links, in many lanes."""
    with Frontier.open(store) as frontier:
        for place in range(lanes // LANES_OF_HOST):
            frontier.add(
                [
                    FoundLink(
                        f"https://{RESTING_HOSTS}{place}.org/area{area:04d}/page",
                        score=2 + area / LANES_OF_HOST + place / lanes,
                    )
                    for area in range(LANES_OF_HOST)
                ],
                depth=1,
            )


def rest_in_front(store: Path, resting: int) -> None:
    """Give one host the best links, in as many lanes as a host can have."""
    with Frontier.open(store) as frontier:
        for start in range(0, resting, CHUNK):
            frontier.add(
                [
                    FoundLink(
                        f"https://{RESTING_HOST}/area{i % 1_000:04d}/page/n{i:08d}", score=2 + i / resting
                    )
                    for i in range(start, start + CHUNK)
                ],
                depth=1,
            )


def main() -> None:
    """Measure and print."""
    options = parser("What lease(10) costs.")
    options.add_argument("--sizes", type=sizes, default=[10_000, 100_000], help="links queued (10k,100k)")
    options.add_argument("--lanes", type=sizes, default=[1_000, 20_000], help="lanes they are in (1k,20k)")
    options.add_argument("--resting", type=sizes, default=[200_000], help="links of a host that rests (200k)")
    options.add_argument("--calls", type=int, default=100, help="calls, of which the median counts (100)")
    chosen = options.parse_args()
    largest = max(chosen.sizes)
    found = [
        *by_size(chosen.sizes, chosen.lanes, chosen.calls),
        behind_done(largest, chosen.calls),
        behind_dry(largest, 20_000, chosen.calls),
        behind_resting(largest, 20_000, chosen.calls),
        *(behind_resting_host(largest, resting, chosen.calls) for resting in chosen.resting),
    ]
    report(found, chosen.json)


if __name__ == "__main__":
    main()
