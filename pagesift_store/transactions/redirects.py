"""Where a fetch landed: every hop becomes an alias, and the final URL decides what the page is (DESIGN 5, step 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pagesift_store.errors import InvalidUrl
from pagesift_store.records import LinkState, Page
from pagesift_store.storage.statements import links as sql
from pagesift_store.transactions import moves
from pagesift_store.transactions.adding import extend_scope
from pagesift_store.transactions.keys import key_of
from pagesift_store.transactions.places import host_of_url, place_of, write_lanes
from pagesift_store.transactions.signals import NO_SIGNAL
from pagesift_store.urls.pipeline import key_hash

if TYPE_CHECKING:
    from pagesift_store.transactions.work import Work
    from pagesift_store.urls.reading import WebUrl

MOST_HOPS = 20
"""Redirects after which a chain is taken for a loop."""


@dataclass(frozen=True, slots=True)
class Landing:
    """How the redirects of one fetch ended.

    Attributes:
        web: the final URL.
        outside: it is out of scope: the page feeds nothing.
        same_as: the link that had been fetched under the final URL before; None when there is none.
        lost: why the redirects led nowhere; None when they led somewhere.
    """

    web: WebUrl
    outside: bool = False
    same_as: int | None = None
    lost: str | None = None


def land(work: Work, row: Any, page: Page) -> Landing:
    """Take in the hops of a fetch.

    Raises:
        InvalidUrl: the final URL is not one.
    """
    rules = work.memory.rules
    own = rules.read(row.url)
    web = own if page.url == row.url else rules.read(page.url, row.url)
    if own.route and not web.route:
        web = rules.read(web.url + own.route)  # servers never see it; browsers keep it, too
    later = _later_hops(work, page, own, web)
    urls = [own.url, *(hop.url for hop in later)]
    if len(set(urls)) < len(urls) or len(later) > MOST_HOPS:
        return Landing(web, lost="redirect loop")
    outside = not rules.scope.admits(web)
    if outside and row.seed:
        extend_scope(work, web)
        outside = False
    outside = outside or rules.is_blocked(web.url)
    same_as = None
    if later or page.canonical is not None:
        seen = {rules.key(own) if row.key is None else row.key}
        for hop in later:
            same_as = _alias(work, row, hop, seen)  # the last one is where it landed
        _canonical(work, row, page, web, seen)
    return Landing(web, outside=outside, same_as=same_as)


def _later_hops(work: Work, page: Page, own: WebUrl, web: WebUrl) -> list[WebUrl]:
    """The hops after the leased URL, the final one included; what is no http(s) URL cannot be a link and goes."""
    if not page.redirects:
        return [] if web.url == own.url else [web]
    found = []
    for text in page.redirects:
        try:
            found.append(work.memory.rules.read(text, own.url))
        except InvalidUrl:
            continue
    if found and found[0].url == own.url:
        del found[0]
    return [*found, web]


def _canonical(work: Work, row: Any, page: Page, web: WebUrl, seen: set[str]) -> None:
    """`rel=canonical`, in scope, is an alias too.

    Not one that names the front page from elsewhere, nor one on another host: both are common faults of whole sites,
    and an alias is never fetched.
    """
    if page.canonical is None:
        return
    try:
        target = work.memory.rules.admit(page.canonical, web)
    except InvalidUrl:
        return
    if target.host == web.host and not (target.path == "/" and web.path != "/"):
        _alias(work, row, target, seen, only_new=True)


def _alias(work: Work, row: Any, web: WebUrl, seen: set[str], *, only_new: bool = False) -> int | None:
    """Make a URL an alias of a link; returns the other link that had been fetched under it, if any."""
    key = work.memory.rules.key(web)
    key = work.memory.rewritten(web, key)
    if key in seen:
        return None
    seen.add(key)
    digest = key_hash(key)
    same_hash = work.rows_in(sql.find_by_hash, sql.HASHES, [digest])
    known = next((found for found in same_hash if key_of(work, found.key, found.url) == key), None)
    if known is None:
        _insert(work, row, web, key, digest, max((found.n + 1 for found in same_hash), default=0))
        return None
    if known.id == row.id or known.alias_of == row.id:
        return None
    if known.alias_of is not None:
        return int(known.alias_of)
    if known.visits:
        return int(known.id)
    if not only_new or known.state != LinkState.LEASED:
        _take_over(work, row, known)
    return None


def _insert(work: Work, row: Any, web: WebUrl, key: str, digest: bytes, n: int) -> None:
    work.crawl.links += 1
    host = host_of_url(work, web)
    plain = work.memory.rules.key(web)
    lane_id, template = place_of(work, web, host)
    write_lanes(work)
    work.run(
        sql.add_links(),
        **NO_SIGNAL._asdict()
        | {
            "id": work.crawl.links,
            "url": web.url,
            "key": None if key == plain else key,
            "key_hash": digest,
            "n": n,
            "lane_id": lane_id,
            "parent_id": row.parent_id,
            "alias_of": row.id,
            "depth": row.depth,
            "score": row.score,
            "given": row.given,
            "seed": row.seed,
            "demoted": False,
            "on_repeats": False,
            "template": template,
            "state": LinkState.DONE.value,
            "revisit": None,
            "found_at": work.now,
        },
    )
    work.moved(None, LinkState.DONE)


def _take_over(work: Work, row: Any, known: Any) -> None:
    """A link that was not fetched yet is done through another; a lease of it is lost."""
    target = work.first(sql.read_link(), the_id=known.id)
    moves.leave(work, target)
    work.run(sql.make_alias(), the_id=known.id, alias_of=row.id)
    work.moved(None, LinkState.DONE)
    if known.state == LinkState.QUEUED:
        moves.refresh_heads(work, [known.lane_id])
