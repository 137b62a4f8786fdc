"""Lanes in the order of their heads, without a look at every lane of hosts that may not be visited.

A polite crawl has its best hosts at rest nearly all the time, each with up to a thousand lanes that stand before all
that may be leased. Some of them are passed over, which is the cheapest where there are few. Before it costs more, the
best lane of each host that may be visited is looked up, and the walk goes on from host to host.
"""

from __future__ import annotations

import math
from heapq import heappop, heappush
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

from pagesift_store.storage.statements import leases as sql

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from sqlalchemy import Select

    from pagesift_store.storage.prepared import Runner, Stream

    Place = tuple[int, float, int]
    Next = tuple[Place, int, Any, Iterator[Any]]

ONE_IN = 128
"""Of the lanes that are passed over one in so many is seen, and stands for all. A power of two."""

OF_HOSTS = 4.0
"""Lanes passed for each host before it is gone by hosts: a lane costs 0.2 to 0.6 us, a host that is ready 1.6."""

AT_ONCE = (1, 8, 64)
"""Lanes of one host that are read together: most hosts rest after their first, the others are read to some depth."""

FIRST_DEMOTED: Place = (1, -math.inf, 0)
END: Place = (2, 0.0, 0)


class Lanes:
    """The lanes with some marks whose hosts may be visited, best first, read as far as somebody looks.

    Args:
        runner: inside a transaction, which need not be a writing one.
        values: parameters of the statements.
        dry, spent: the marks.
        soon: of hosts that rest and will soon be ready, instead.
        note: told of rows that are read before somebody looks at them.
        is_open: whether the host of a row may still be visited, after what was leased meanwhile.
    """

    def __init__(
        self,
        runner: Runner,
        values: Mapping[str, Any],
        dry: bool,
        spent: bool,
        *,
        soon: bool = False,
        note: Callable[[Any], None] = lambda row: None,
        is_open: Callable[[Any], bool] = lambda row: True,
    ) -> None:
        self._runner = runner
        self._values = values
        self._kind = (dry, spent, soon)
        self._soon = soon
        self._note = note
        self._is_open = is_open
        self._stream: Stream | None = None

    def close(self) -> None:
        """Stop reading."""
        if self._stream is not None:
            self._stream.close()

    def __iter__(self) -> Iterator[Any]:
        passed, enough = 0, None
        for row in self._read(sql.walk_heads(*self._kind), but=ONE_IN - 1):
            if row.fits:
                yield row
                continue
            if enough is None:
                enough = self._runner.first(sql.last_host()).id * OF_HOSTS
            passed += ONE_IN
            if passed >= enough:
                break
        else:
            return
        place = _place(row)
        yield from self._by_hosts(place)
        if not place[0] and not self._soon:
            yield from self._by_hosts(FIRST_DEMOTED)

    def _read(self, statement: Select[Any], **more: Any) -> Stream:
        self.close()
        self._stream = self._runner.stream(statement, **self._values, **more)
        return self._stream

    def _by_hosts(self, place: Place) -> Iterator[Any]:
        """Lanes behind a place, demoted or not as it is. A host's next is read once somebody has looked at the last."""
        following: list[Next] = []
        hosts = self._read(sql.best_of_hosts(*self._kind), **_behind(place))
        for host in chain(hosts, (None,)):
            until = END if host is None else (place[0], -host.head_rank, host.head_id)
            while following and following[0][0] < until:
                _, _, row, more = heappop(following)
                yield row
                _follow(following, more)
            if host is not None:
                _follow(following, self._of_host(host.id, place))

    def _of_host(self, host_id: int, place: Place) -> Iterator[Any]:
        for most in chain(AT_ONCE, repeat(AT_ONCE[-1])):
            one = {"the_host": host_id, "most": most}
            rows = self._runner.rows(sql.heads_of_host(*self._kind), **self._values, **_behind(place), **one)
            for row in rows:
                self._note(row)
            for row in rows:
                yield row
                if not self._is_open(row):
                    return
            if len(rows) < most:
                return
            place = _place(rows[-1])


def _place(row: Any) -> Place:
    return row.head_demoted, -row.head_rank, row.head_id


def _behind(place: Place) -> dict[str, Any]:
    return {"after_demoted": place[0], "after_rank": place[1], "after_id": place[2]}


def _follow(following: list[Next], lanes: Iterator[Any]) -> None:
    """Have the next one of these lanes, if there is one, among those that are to come."""
    row = next(lanes, None)
    if row is not None:
        heappush(following, (_place(row), row.host_id, row, lanes))
