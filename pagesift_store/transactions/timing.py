"""A clock that went back must not make a store wait for years (RULES 4).

Times are stored as moments, so what was set while the clock stood too far ahead lies in a future that no rule meant.
The store keeps the moment of its last change. When the clock stands before it, what lies further ahead than any rule
can set, and did not when it was set, keeps its distance from that moment, not from ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pagesift_store.focus.retry import BACKOFF_CAP, RETRY_AFTER_CAP
from pagesift_store.storage.statements import clock as sql
from pagesift_store.storage.statements import hosts as hosts_sql
from pagesift_store.transactions import moves
from pagesift_store.transactions.robots import ROBOTS_AGE

if TYPE_CHECKING:
    from pagesift_store.transactions.work import Work

TOLERANCE = 60.0
"""Seconds: a clock may go back so far without anything being done about it; machines are set right by less."""


def follow(work: Work) -> None:
    """Pull back what a clock that went back has left too far ahead, once: the next change remembers the new moment."""
    back = work.crawl.moment - work.now
    if back <= TOLERANCE:
        return
    note = f"the clock went back by {back:.0f} s; times too far ahead were pulled back"
    moments = {"now": work.now, "moment": work.crawl.moment, "note": note}
    host_cap = max(RETRY_AFTER_CAP, BACKOFF_CAP)
    work.run(sql.pull_hosts(), **moments, cap=host_cap)
    work.run(sql.pull_robots(), now=work.now, cap=ROBOTS_AGE)
    work.run(sql.pull_leases(), now=work.now, moment=work.crawl.moment)
    link_cap = max(host_cap, work.settings.revisit_max)
    pulled = work.rows(sql.pulled_links(), now=work.now, moment=work.crawl.moment, cap=link_cap)
    work.run(sql.pull_links(), now=work.now, moment=work.crawl.moment, cap=link_cap)
    hosts = sorted({row.host_id for row in pulled})
    work.run_many(hosts_sql.note(), [{"the_host": host, "note": note} for host in hosts])
    moves.refresh_heads(work, (row.lane_id for row in pulled))
    work.crawl.moment = work.now
