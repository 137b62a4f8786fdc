"""When to try again: back-off with jitter, and what servers ask for."""

from __future__ import annotations

import math
import re
from datetime import UTC
from email.utils import parsedate_to_datetime
from hashlib import blake2b

__all__ = [
    "BACKOFF_BASE",
    "BACKOFF_CAP",
    "CRAWL_DELAY_CAP",
    "JITTER_SHARE",
    "RETRY_AFTER_CAP",
    "backoff",
    "crawl_delay",
    "jitter",
    "retry_after",
]

BACKOFF_BASE = 60.0
"""Seconds before the second attempt."""

BACKOFF_CAP = 6 * 3600.0
"""Longest back-off, seconds."""

JITTER_SHARE = 0.2
"""How far jitter moves a back-off, as a share of it, either way."""

RETRY_AFTER_CAP = 24 * 3600.0
"""Longest wait that a server may ask for, seconds."""

CRAWL_DELAY_CAP = 300.0
"""Longest delay between two requests that a robots.txt may ask for, seconds."""

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_LONGEST_HEADER = 128


def backoff(failures: int, jitter: float = 0.0) -> float:
    """How long to wait after so many failures in a row.

    Args:
        failures: failures in a row, the latest included, 1 or more.
        jitter: −1 to 1, from `jitter`; spreads links that failed together.

    Returns:
        Seconds: 60 · 2^(failures − 1), moved by up to 20 %, at most 6 hours.

    Raises:
        ValueError: no failure, or jitter out of range.
    """
    if failures < 1:
        raise ValueError(f"failures={failures!r} must be 1 or more")
    if not -1.0 <= jitter <= 1.0:
        raise ValueError(f"jitter={jitter!r} must lie between -1 and 1")
    doublings = min(failures - 1, 32)  # the cap is reached long before
    return min(BACKOFF_BASE * 2.0**doublings * (1.0 + JITTER_SHARE * jitter), BACKOFF_CAP)


def jitter(seed: int, link_id: int, failures: int) -> float:
    """The jitter of one retry: like chance, yet the same whenever it is computed again.

    Args:
        seed: seed of the store.
        link_id: discovery number of the link.
        failures: failures in a row.

    Returns:
        −1 (included) to 1 (excluded): the top 53 bits of a BLAKE2b digest, scaled.
    """
    digest = blake2b(f"{seed} {link_id} {failures}".encode(), digest_size=8).digest()
    return (int.from_bytes(digest, "big") >> 11) / 2.0**52 - 1.0


def retry_after(value: str | float | None, now: float) -> tuple[float | None, str | None]:
    """Read a Retry-After header (RFC 9110, 10.2.3).

    Args:
        value: the header as sent, or seconds; None when absent.
        now: UTC epoch seconds, for dates.

    Returns:
        Seconds to wait, above 0 and at most 24 hours, and a note when the value was clamped or ignored. Zero,
        negative values and dates in the past ask for nothing: (None, None).
    """
    if value is None:
        return None, None
    seconds = _seconds(value.strip(), now) if isinstance(value, str) else float(value)
    if seconds is None or math.isnan(seconds):
        return None, f"Retry-After {_shown(value)} ignored: neither seconds nor a date"
    if seconds <= 0.0:
        return None, None
    if seconds > RETRY_AFTER_CAP:
        return RETRY_AFTER_CAP, f"Retry-After {_shown(value)} clamped to {RETRY_AFTER_CAP:g} s"
    return seconds, None


def _seconds(value: str, now: float) -> float | None:
    """Seconds from now that a header names; None when it is neither a number nor a date."""
    if len(value) > _LONGEST_HEADER:
        return None
    if _NUMBER.fullmatch(value):
        return float(value)
    try:
        date = parsedate_to_datetime(value)
        if date.tzinfo is None:  # the asctime form, which RFC 9110 puts in UTC
            date = date.replace(tzinfo=UTC)
        return date.timestamp() - now
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _shown(value: str | float) -> str:
    """The value as a note quotes it, of bounded length."""
    return repr(value[:_LONGEST_HEADER] if isinstance(value, str) else value)


def crawl_delay(value: float) -> tuple[float, str | None]:
    """Read the Crawl-delay of a robots.txt.

    Args:
        value: seconds.

    Returns:
        Seconds between two requests, 0 to 300, and a note when the value was clamped.

    Raises:
        ValueError: NaN, infinite or negative.
    """
    if not (math.isfinite(value) and value >= 0.0):
        raise ValueError(f"crawl delay {value!r} must be a finite number of seconds, 0 or more")
    if value > CRAWL_DELAY_CAP:
        return CRAWL_DELAY_CAP, f"crawl delay {value:g} s clamped to {CRAWL_DELAY_CAP:g} s"
    return float(value), None
