"""What a host's robots.txt came to, and for how long that holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pagesift_store.errors import InvalidValue
from pagesift_store.focus.retry import backoff, jitter
from pagesift_store.records import Robots
from pagesift_store.storage.statements import hosts as sql
from pagesift_store.transactions.operating import checked_delay, host_id, set_columns
from pagesift_store.urls.parts import bare_host
from pagesift_store.urls.reading import read

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from pagesift_store.transactions.work import Work

ROBOTS_AGE = 86_400.0
"""Seconds that the outcome of a robots.txt holds; RFC 9309, 2.4 asks for no more than a day."""


def set_robots(work: Work, name: str, status: int | None, asked: float | None) -> int:
    """The body of `Frontier.set_robots`."""
    if status is not None and (
        isinstance(status, bool) or not isinstance(status, int) or not 100 <= status <= 599
    ):
        raise InvalidValue(f"status={status!r} must be an HTTP status from 100 to 599, or None for no answer")
    values: dict[str, Any] = {"robots_status": status}
    if asked is not None:
        values["crawl_delay"], note = checked_delay(asked)
        if note is not None:
            values["note"] = note
    host = host_id(work, name)
    if status is None or status >= 500 or status == 429:
        values |= _deferral(work, host, status)
    else:
        values = {"crawl_delay": None} | values
        values |= {"robots_until": work.now + ROBOTS_AGE, "robots_failures": 0}
    if status is not None:
        work.run(sql.forgive(), the_host=host)
    work.crawl.moment = work.now  # by which a clock that goes back is known; no counter changes here
    return set_columns(work, host, values)


def _deferral(work: Work, host: int, status: int | None) -> dict[str, Any]:
    """Nobody knows what is allowed: the host rests, longer each time. An earlier crawl delay stands."""
    failures = work.first(sql.count_robots_failure(), the_host=host).robots_failures
    until = work.now + backoff(failures, jitter(work.crawl.seed, host, failures))
    work.run(sql.rest(), the_host=host, until=until)
    answer = "no answer" if status is None else f"status {status}"
    return {"robots_until": until, "note": f"robots.txt: {answer}; the host is deferred"}


def robots(connection: Connection, name: str, now: float) -> Robots:
    """The body of `Inspector.robots`."""
    bare = bare_host(read(name if "://" in name else f"http://{name}/").host)
    row = connection.execute(sql.robots_of(), {"name": bare}).first()
    # Of a host that shares its delay with others, nobody can say whose outcome the row holds.
    if row is None or row.robots_until is None or row.group_id is not None or row.members:
        return Robots(host=bare)
    return Robots(
        host=bare,
        status=row.robots_status,
        until=row.robots_until,
        crawl_delay=row.crawl_delay,
        holds=now < row.robots_until <= now + ROBOTS_AGE,
    )
