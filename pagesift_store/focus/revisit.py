"""When to look at a page again: an interval that follows how often the page changes."""

from __future__ import annotations

import math

__all__ = ["CHANGED_FACTOR", "FIRST_INTERVAL", "UNCHANGED_FACTOR", "is_turn_of", "next_interval"]

FIRST_INTERVAL = 86_400.0
"""Seconds between the first visit and the second, before limits."""

CHANGED_FACTOR = 0.5
"""A page that changed comes up after half the time."""

UNCHANGED_FACTOR = 1.5
"""A page that did not comes up after one and a half times the time."""


def next_interval(previous: float | None, changed: bool, minimum: float, maximum: float) -> float:
    """How long to leave a page alone, as Nutch's and StormCrawler's adaptive schedules decide it.

    Args:
        previous: the interval before this visit, seconds; None on the first visit.
        changed: whether this visit found other text than the one before; not looked at on the first visit.
        minimum: shortest interval, seconds, above 0.
        maximum: longest interval, seconds, `minimum` or more.

    Returns:
        Seconds, between minimum and maximum.

    Raises:
        ValueError: limits that contradict each other.
    """
    if not 0.0 < minimum <= maximum:
        raise ValueError(f"minimum={minimum!r} must be above 0 and at most maximum={maximum!r}")
    factor = CHANGED_FACTOR if changed else UNCHANGED_FACTOR
    interval = FIRST_INTERVAL if previous is None else previous * factor
    return min(max(interval, minimum), maximum)


def is_turn_of(share: float, before: int) -> bool:
    """Whether a turn belongs to the one of two parties that has a share of all turns.

    Its turns are spread as evenly as whole turns can be, and depend on nothing but their number.

    Args:
        share: 0 (never) to 1 (always).
        before: turns so far.
    """
    return math.floor((before + 1) * share) > math.floor(before * share)
