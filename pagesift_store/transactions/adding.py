"""Adding URLs by hand: seeds, and links that came from elsewhere."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pagesift_store.errors import InvalidUrl, InvalidValue, Refusal
from pagesift_store.focus.model import PRIORS
from pagesift_store.records import Added, FoundLink, Verdict
from pagesift_store.storage.statements import crawl as crawl_sql
from pagesift_store.transactions.admission import (
    BATCH,
    Offer,
    admit,
    check_revisit,
    check_score,
    offer,
    settle_heads,
)
from pagesift_store.transactions.signals import Carrier
from pagesift_store.urls.parts import bare_host, site_host
from pagesift_store.urls.reading import WebUrl, read

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pagesift_store.transactions.work import Work

SEED_SCORE = sum(PRIORS)
"""5.5: no link can have more before anything is learned, so seeds come first."""


def add(
    work: Work,
    urls: Iterable[str | FoundLink],
    *,
    base: str | None,
    depth: int,
    score: float | None,
    revisit: float | None,
) -> list[Added]:
    """The body of `Frontier.add`."""
    if isinstance(urls, str | bytes):
        raise InvalidValue(f"urls={urls!r} is one text; give a list of URLs")
    if isinstance(depth, bool) or not isinstance(depth, int) or depth < 0:
        raise InvalidValue(f"depth={depth!r} must be a whole number, 0 or more")
    if score is not None:
        check_score(score)
    text = FoundLink("", revisit=check_revisit(revisit))
    origin = None if base is None else read(base)
    nobody = Carrier(depth)
    verdicts: list[Added] = []
    offers: list[Offer] = []
    refused: dict[int, Added] = {}
    for item in urls:
        try:
            offers.append(_offer(work, item, origin, depth, score, text))
        except InvalidUrl as error:
            href = item.href if isinstance(item, FoundLink) else item
            refused[len(offers) + len(refused)] = rejected(work, href, error.reason)
        if len(offers) + len(refused) == BATCH:
            verdicts += admit(work, offers, refused, nobody)
            refused = {}
    verdicts += admit(work, offers, refused, nobody)
    settle_heads(work)
    return verdicts


def _offer(
    work: Work,
    item: str | FoundLink,
    base: WebUrl | None,
    depth: int,
    score: float | None,
    text: FoundLink,
) -> Offer:
    """The offer of one item; `text` has what all texts have in common.

    Raises:
        InvalidUrl: a rule refuses it.
    """
    if isinstance(item, FoundLink):
        href, found, seed = item.href, item, False
        if found.revisit is not None:
            check_revisit(found.revisit)
        elif text.revisit is not None:
            found = replace(found, revisit=text.revisit)
        given = score if found.score is None else found.score
    elif isinstance(item, str):
        href, found, seed = item, text, base is None and depth == 0
        given = SEED_SCORE if seed and score is None else score
    else:
        raise InvalidValue(f"{item!r} is neither a text nor a FoundLink")
    rules = work.memory.rules
    if seed:
        web = rules.parse(href)
        extend_scope(work, web)
    else:
        web = rules.admit(href, base)
    return offer(work, rules.target(web), found, depth, given, seed=seed)


def rejected(work: Work, href: str, reason: Refusal) -> Added:
    """The verdict on a URL that a rule refused, counted."""
    work.refuse(reason, href)
    return Added(verdict=Verdict.REJECTED, url=href, reason=reason)


def extend_scope(work: Work, web: WebUrl) -> None:
    """Take a seed's host into the scope and among the hosts whose directories are parts."""
    memory = work.memory
    host = bare_host(web.host)
    entry = memory.rules.scope.entry(web)
    if entry is None and host not in memory.seed_hosts:
        work.run(crawl_sql.add_scope(), host=site_host(web.host), prefix="")
    elif entry is not None:
        work.run(crawl_sql.add_scope(), host=entry.host, prefix=entry.prefix)
        memory.rules.scope.extend(web)
    else:
        return
    memory.seed_hosts.add(host)
    work.crawl.rules += 1
