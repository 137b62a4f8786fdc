"""What an operator changes: settings, hosts, robots outcomes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pagesift_store.errors import InvalidValue
from pagesift_store.focus.retry import backoff, crawl_delay
from pagesift_store.storage.statements import crawl as crawl_sql
from pagesift_store.storage.statements import hosts as sql
from pagesift_store.transactions.places import host_of
from pagesift_store.urls.parts import bare_host, registered_domain
from pagesift_store.urls.reading import read

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pagesift_store.settings import Settings
    from pagesift_store.transactions.work import Work

ROBOTS_AGE = 86_400.0
"""Seconds that the outcome of a robots.txt holds; RFC 9309, 2.4 asks for no more than a day."""


def configure(work: Work, changes: Mapping[str, Any]) -> Settings:
    """The body of `Frontier.configure`."""
    settings = work.settings.changed(changes)
    work.run(crawl_sql.save_settings(), settings=settings.to_json())
    work.memory.settings = settings
    return settings


def set_host(
    work: Work,
    name: str,
    *,
    delay: float | None,
    blocked_until: float | None,
    max_in_flight: int | None,
) -> int:
    """The body of `Frontier.set_host`."""
    values: dict[str, Any] = {}
    if delay is not None:
        values["delay"], note = _delay(delay)
        if note is not None:
            values["note"] = note
    if blocked_until is not None:
        if not isinstance(blocked_until, int | float) or math.isnan(blocked_until):
            raise InvalidValue(f"blocked_until={blocked_until!r} must be epoch seconds; 0 lifts the block")
        values["blocked_until"] = None if blocked_until <= work.now else min(blocked_until, 1e300)
    if max_in_flight is not None:
        if isinstance(max_in_flight, bool) or not isinstance(max_in_flight, int) or max_in_flight < 1:
            raise InvalidValue(f"max_in_flight={max_in_flight!r} must be a whole number, 1 or more")
        values["max_in_flight"] = max_in_flight
    return _set(work, name, values)


def set_robots(work: Work, name: str, status: int | None, asked: float | None) -> int:
    """The body of `Frontier.set_robots`."""
    values: dict[str, Any] = {"robots_status": status, "crawl_delay": None}
    if asked is not None:
        values["crawl_delay"], note = _delay(asked)
        if note is not None:
            values["note"] = note
    host_id = _host_id(work, name)
    if status is None or status >= 500 or status == 429:
        failures = work.first(sql.count_failure(), the_host=host_id).failures
        values["robots_until"] = work.now + backoff(failures)
        work.run(sql.rest(), the_host=host_id, until=values["robots_until"])
        answer = "no answer" if status is None else f"status {status}"
        values["note"] = f"robots.txt: {answer}; the host is deferred"
    else:
        values["robots_until"] = work.now + ROBOTS_AGE
        work.run(sql.forgive(), the_host=host_id)
    return _set(work, name, values)


def _set(work: Work, name: str, values: Mapping[str, Any]) -> int:
    if not values:
        return 0
    return work.run(sql.set_columns(tuple(sorted(values))), the_host=_host_id(work, name), **values)


def _host_id(work: Work, name: str) -> int:
    """The row of a host, by its name as anyone would write it; made when it is new."""
    host = read(name if "://" in name else f"http://{name}/").host
    bare = registered_domain(host) if work.settings.politeness == "domain" else bare_host(host)
    return host_of(work, bare).id


def _delay(value: float) -> tuple[float, str | None]:
    try:
        return crawl_delay(value)
    except (ValueError, TypeError) as error:
        raise InvalidValue(f"delay={value!r} must be a number of seconds from 0 to 300") from error
