"""Learned rewrite rules in force: keys are remade, and of two links that are one page, one is skipped (RULES 1.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pagesift_store.records import LinkState
from pagesift_store.storage.statements import links as links_sql
from pagesift_store.storage.statements import rewrites as sql
from pagesift_store.transactions import merging, moves, scoring
from pagesift_store.transactions.keys import key_of
from pagesift_store.transactions.places import host_of
from pagesift_store.urls.pipeline import key_hash
from pagesift_store.urls.rewrite import RewriteRule, RewriteSet

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pagesift_store.transactions.work import Work


def put_in_force(work: Work, host: str, rules: Iterable[RewriteRule]) -> None:
    """These rules, and no others, make the keys of a host from now on."""
    chosen = list(rules)
    if chosen:
        work.memory.rewrites[host] = RewriteSet(chosen)
    else:
        work.memory.rewrites.pop(host, None)
    work.crawl.rules += 1


def rewrite_links(work: Work, host: str, rule: RewriteRule) -> int:
    """A rule came into force: remake the keys of a host's links; returns how many changed.

    Those of finished links too: else each page that was fetched under its longer name would be fetched once more
    under the shorter one.
    """
    changed = 0
    for row in _reached(work, host, rule):
        remade, other = _remake(work, row)
        changed += remade if other is None else _one_of_two(work, row, rule, other)
    return changed


def bring_back(work: Work, host: str, rule: RewriteRule) -> None:
    """A rule was refuted: what it skipped is queued again, and links have the keys that they would have without it."""
    mine = rule_prefix(rule)
    info = host_of(work, work.memory.politeness_name(host))
    skipped = work.rows(sql.skipped_links(), the_host=info.id, mine=_like(mine))
    work.run_many(links_sql.queue_again(), [{"the_id": row.id} for row in skipped])
    work.moved(LinkState.SKIPPED, LinkState.QUEUED, len(skipped))
    moves.refresh_heads(work, (row.lane_id for row in skipped))
    if skipped:
        scoring.rescore_revived(work)
    for row in _reached(work, host, rule):
        _remake(work, row)


def rule_prefix(rule: RewriteRule) -> str:
    """What the reason of a link begins with that a rule skipped."""
    return f"rewrite {rule.id}: "


def _remake(work: Work, row: Any) -> tuple[bool, Any]:
    """Give a link the key that the rules in force make.

    Returns:
        Whether its key changed, and the link that has the key already, which then keeps it; None when there is none.
    """
    web = work.memory.rules.read(row.url)
    plain = work.memory.rules.key(web)
    key = work.memory.rewritten(web, plain)
    if key == key_of(work, row.key, row.url):
        return False, None
    digest = key_hash(key)
    same_hash = work.rows_in(links_sql.find_by_hash, links_sql.HASHES, [digest])
    other = next((found for found in same_hash if key_of(work, found.key, found.url) == key), None)
    if other is not None:
        return False, other
    n = max((found.n + 1 for found in same_hash), default=0)
    work.run(sql.set_key(), the_id=row.id, key=None if key == plain else key, key_hash=digest, n=n)
    return True, None


def _one_of_two(work: Work, row: Any, rule: RewriteRule, other: Any) -> bool:
    """Two links are one page now: what was fetched stays, else the shorter name; a lease is left alone."""
    if row.visits and not other.visits:
        row, other = other, row
    if row.state not in (LinkState.QUEUED, LinkState.WAITING) or row.visits or other.state == LinkState.DEAD:
        return False
    work.run(sql.skip(), the_id=row.id, reason=f"{rule_prefix(rule)}the page of {other.url}"[:500])
    work.moved(LinkState(row.state), LinkState.SKIPPED)
    if other.state in merging.UNFINISHED and not other.visits:
        whole, gone = (work.first(links_sql.read_link(), the_id=link.id) for link in (other, row))
        work.run(links_sql.raise_link(), the_id=other.id, **merging.best_of(work, whole, [gone]))
    moves.refresh_heads(work, [row.lane_id, other.lane_id])
    return True


def _reached(work: Work, host: str, rule: RewriteRule) -> Iterable[Any]:
    """Links of a host that a rule may change, found by what it drops; not those that were skipped or are dead."""
    text = rule.name if rule.kind != "drop_param_value" or rule.value is None else f"{rule.name}={rule.value}"
    info = host_of(work, work.memory.politeness_name(host))
    return work.rows(sql.reached_links(), the_host=info.id, needle=f"%{_like(text)}")


def _like(text: str) -> str:
    """A LIKE pattern for what begins with a text."""
    return text.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_") + "%"
