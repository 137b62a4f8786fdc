"""What an operator changes: settings, hosts, stop rules."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pagesift_store.errors import InvalidValue
from pagesift_store.focus.retry import crawl_delay
from pagesift_store.storage import schema
from pagesift_store.storage.statements import crawl as crawl_sql
from pagesift_store.storage.statements import hosts as sql
from pagesift_store.transactions import aside, ending, grouping, limits, watching
from pagesift_store.transactions.places import host_of
from pagesift_store.urls.reading import read

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pagesift_store.settings import Settings
    from pagesift_store.transactions.work import Work

FOREVER = 1e300
"""A time that never comes; infinities have no place in a store."""

RESETTABLE = ("delay", "blocked_until", "max_in_flight", "group")
"""What of a host can be set back to the default."""


def configure(work: Work, changes: Mapping[str, Any]) -> Settings:
    """The body of `Frontier.configure`."""
    before, settings = work.settings, work.settings.changed(changes)
    work.crawl.settings = settings.to_json()
    work.run(crawl_sql.save_settings(), settings=work.crawl.settings)
    work.settings = work.memory.settings = settings
    schema.follow_bound(work.connection, bounded=settings.max_queue is not None)
    if limits.Caps.of(before) != limits.Caps.of(settings):
        limits.settle(work)
    if before.cluster_cap != settings.cluster_cap:
        aside.settle(work)
    if before.revisit != settings.revisit:
        watching.follow_settings(work)
    return settings


def set_host(
    work: Work,
    name: str,
    *,
    delay: float | None = None,
    blocked_until: float | None = None,
    max_in_flight: int | None = None,
    group: str | None = None,
    reset: Iterable[str] = (),
) -> int:
    """The body of `Frontier.set_host`."""
    values = _defaults(reset)
    if delay is not None:
        values["delay"], note = checked_delay(delay)
        if note is not None:
            values["note"] = note
    if blocked_until is not None:
        if not isinstance(blocked_until, int | float) or math.isnan(blocked_until):
            raise InvalidValue(f"blocked_until={blocked_until!r} must be epoch seconds; 0 lifts the block")
        values["blocked_until"] = None if blocked_until <= work.now else min(blocked_until, FOREVER)
    if max_in_flight is not None:
        if isinstance(max_in_flight, bool) or not isinstance(max_in_flight, int) or max_in_flight < 1:
            raise InvalidValue(f"max_in_flight={max_in_flight!r} must be a whole number, 1 or more")
        values["max_in_flight"] = max_in_flight
    changed = 0
    if "group" in values or group is not None:
        values.pop("group", None)
        changed = grouping.regroup(work, politeness_name(work, name), group)
    return set_columns(work, host_id(work, name), values) or changed


def _defaults(names: Iterable[str]) -> dict[str, Any]:
    """Columns that are to be as for any host."""
    if isinstance(names, str):
        names = (names,)
    for name in (chosen := list(names)):
        if name not in RESETTABLE:
            raise InvalidValue(f"reset={name!r} must be one of {', '.join(RESETTABLE)}")
    return dict.fromkeys(chosen)


def set_columns(work: Work, host: int, values: Mapping[str, Any]) -> int:
    """Write some columns of a host; returns the rows changed."""
    return work.run(sql.set_columns(tuple(sorted(values))), the_host=host, **values) if values else 0


def politeness_name(work: Work, name: str) -> str:
    """What shares a delay with a host, by its name as anyone would write it."""
    return work.memory.politeness_name(read(name if "://" in name else f"http://{name}/").host)


def host_id(work: Work, name: str) -> int:
    """The row that decides on a host; made when it is new."""
    return host_of(work, politeness_name(work, name)).id


def checked_delay(value: float) -> tuple[float, str | None]:
    """Seconds between two leases, and a note when they were clamped.

    Raises:
        InvalidValue: negative, not finite, or no number.
    """
    try:
        return crawl_delay(value)
    except (ValueError, TypeError) as error:
        raise InvalidValue(f"delay={value!r} must be a number of seconds from 0 to 300") from error


def resume(work: Work) -> int:
    """The body of `Frontier.resume`."""
    state = ending.stop_state(work.memory)
    if state == state.resumed():
        return 0
    work.crawl.stop_state = state.resumed().to_json()
    return 1
