"""Politeness over real processes, and waiting for what another process does."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections import defaultdict
from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from racing import race
from shared_clock import SharedClock
from store_invariants import violations

from pagesift_store import FoundLink, Frontier

if TYPE_CHECKING:
    from collections.abc import Callable

SUPPORT = Path(__file__).parents[1] / "support"

WORKER = """
import os
sys.path.insert(0, arguments["support"])
from shared_clock import SharedClock

clock, ttl, taken = SharedClock(arguments["clock"]), 1000.0, []
frontier = Frontier.open(arguments["store"], clock=clock)
while clock() < arguments["until"]:
    leases = frontier.lease(arguments["at_once"], ttl=ttl)
    for lease in leases:
        taken.append([lease.url.split("/")[2], lease.expires - ttl])
        if lease.link_id % 5:
            frontier.observe(lease, Page(url=lease.url))
        else:
            frontier.release(lease)
    if not leases:
        status = frontier.status()
        if status.state is CrawlState.COOLING:
            clock.forward_to(min(status.next_due, arguments["until"]))
        elif status.state is CrawlState.FINISHED:
            break
left = frontier.lease(1) if arguments["holds"] else []
print(json.dumps(taken + [[lease.url.split("/")[2], clock()] for lease in left]), flush=True)
os._exit(0)  # as a kill would end it: nothing is given back
"""


def work(
    store: Path, clock: Path, until: float, *, at_once: int = 3, processes: int = 8
) -> dict[str, list[float]]:
    """Let processes lease until the clock says so; returns when each host was leased from."""
    racer = {"support": SUPPORT, "store": store, "clock": clock, "until": until, "at_once": at_once}
    times: dict[str, list[float]] = defaultdict(list)
    for taken in race(WORKER, [racer | {"holds": number % 2} for number in range(processes)]):
        for host, moment in taken:
            times[host].append(moment)
    return {host: sorted(moments) for host, moments in times.items()}


@pytest.fixture
def made(tmp_path: Path, store: Path, frontier: Callable[..., Frontier], clock: Any) -> Callable[..., Path]:
    """Fills the store of the test; gives the file of its clock."""

    def make(hosts: int, links: int, **settings: Any) -> Path:
        opened = frontier(scope="any", **settings)
        opened.add(
            [FoundLink(f"https://h{i}.example/{j}") for j in range(links) for i in range(hosts)], depth=1
        )
        for i in range(hosts):
            opened.set_host(f"h{i}.example", delay=10.0 if hosts == 1 else 5.0 + i % 11)
        opened.close()
        SharedClock(tmp_path / "clock", clock.now)
        return tmp_path / "clock"

    return make


def test_c27_eight_processes_never_lease_twice_in_one_window(
    made: Callable[..., Path], store: Path, clock: Any
) -> None:
    """Over restarts as well: each round ends as a kill would, with leases out."""
    file = made(hosts=1, links=60)
    moments = []
    for round_ in range(1, 4):
        moments += work(store, file, clock.now + 60.0 * round_)["h0.example"]
    assert len(moments) >= 15
    assert all(later - earlier >= 10.0 for earlier, later in pairwise(moments))
    assert violations(store) == []


def test_eight_processes_lease_as_much_of_200_hosts_as_the_delays_allow(
    made: Callable[..., Path], store: Path, clock: Any
) -> None:
    seconds = 40.0
    file = made(hosts=200, links=10)
    times = work(store, file, clock.now + seconds)
    allowed = taken = 0
    for i in range(200):
        delay, moments = 5.0 + i % 11, times[f"h{i}.example"]
        assert all(later - earlier >= delay for earlier, later in pairwise(moments))
        allowed += ceil(seconds / delay)
        taken += sum(moment < clock.now + seconds for moment in moments)
    assert 0.95 * allowed <= taken <= allowed
    assert violations(store) == []


# -- waiting --------------------------------------------------------------------------------------------------------

WAITING = """
import signal, sys
from pagesift_store import Frontier
frontier = Frontier.open(sys.argv[1], worker="waits")
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job inherits that it is ignored
if sys.argv[2] == "stops":
    signal.signal(signal.SIGTERM, lambda *_: frontier.stop())
print("waits", flush=True)
leases = frontier.lease(1, wait=True)
print([lease.url for lease in leases], flush=True)
"""


@pytest.fixture
def waiting(store: Path) -> Any:
    """Starts a process that waits for a lease; one that is still there at the end is killed."""
    started: list[subprocess.Popen[str]] = []

    def start(how: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", WAITING, str(store), how]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "waits\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def busy(store: Path) -> Any:
    """A store on the real clock whose one link is leased, so that there is something to wait for."""
    with Frontier.open(store, query="student visa fees") as opened:
        opened.set_host("a.example", delay=0.0)
        opened.add(["https://a.example/"])
        assert len(opened.lease(1)) == 1
        yield opened


def test_a_wait_ends_when_another_process_adds_work(busy: Frontier, waiting: Any) -> None:
    process = waiting("for work")
    added = time.monotonic()
    busy.add(["https://a.example/2"])
    output, _ = process.communicate(timeout=20)
    assert output == "['https://a.example/2']\n"
    assert time.monotonic() - added < 10  # a look every half second, and a machine that may be busy


def test_a_wait_ends_when_the_crawl_does(busy: Frontier, waiting: Any) -> None:
    process = waiting("for the end")
    busy.forget("a.example")
    output, _ = process.communicate(timeout=20)
    assert output == "[]\n"


def test_a_wait_ends_on_a_signal(busy: Frontier, waiting: Any) -> None:
    process = waiting("stops")
    process.send_signal(signal.SIGTERM)
    output, errors = process.communicate(timeout=20)
    assert (process.returncode, output, errors) == (0, "[]\n", "")


def test_a_wait_can_be_interrupted(busy: Frontier, waiting: Any, store: Path) -> None:
    process = waiting("is interrupted")
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=20)
    assert output == ""
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert violations(store) == []


def test_a_wait_is_no_longer_than_it_was_asked_for(busy: Frontier) -> None:
    begun = time.monotonic()
    assert busy.lease(1, wait=0.2) == []
    assert 0.2 <= time.monotonic() - begun < 10
