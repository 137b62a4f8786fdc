"""Waiting for work: until a host is ready, a retry is due, another process adds something, or somebody says stop."""

from __future__ import annotations

import contextlib
import queue
import time
from typing import TYPE_CHECKING

from pagesift_store.records import CrawlState, Lease, Status

if TYPE_CHECKING:
    from collections.abc import Callable

LOOK_AGAIN = 0.5
"""Seconds between two looks at a store that other processes may change."""


class Waiter:
    """Blocks a thread between two attempts to lease.

    Args:
        clock: the frontier's clock, which due times are told by.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._stopped = False
        # Unlike an Event, a SimpleQueue may be put into by a signal handler that interrupted its own thread.
        self._wake: queue.SimpleQueue[None] = queue.SimpleQueue()

    def stop(self) -> None:
        """End every wait, now and later."""
        self._stopped = True
        self._wake.put(None)

    def until(
        self, attempt: Callable[[], list[Lease]], status: Callable[[], Status], limit: float | None
    ) -> list[Lease]:
        """Attempt again whenever that may succeed.

        Args:
            attempt: leases what is ready.
            status: says when something may be.
            limit: seconds after which to give up. None: only the end of the crawl, or `stop`, ends the wait.

        Returns:
            Leases; empty when finished, stopped or out of time.
        """
        deadline = None if limit is None else time.monotonic() + limit
        while not self._stopped:
            seen = status()
            if seen.state is CrawlState.FINISHED:
                return []
            pause = LOOK_AGAIN if seen.next_due is None else min(LOOK_AGAIN, seen.next_due - self._clock())
            if deadline is not None:
                pause = min(pause, deadline - time.monotonic())
            if pause > 0:
                with contextlib.suppress(queue.Empty):
                    self._wake.get(timeout=pause)
                if self._stopped:
                    break
            leases = attempt()
            if leases:
                return leases
            if deadline is not None and time.monotonic() >= deadline:
                break
        return []
