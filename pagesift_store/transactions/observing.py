"""One observation: all of it or nothing, in the order of the design (DESIGN 5)."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from pagesift_store.errors import InvalidUrl, InvalidValue, LeaseLost, Refusal
from pagesift_store.focus.analysis import Analysis, analyse
from pagesift_store.focus.fingerprint import short_hash
from pagesift_store.records import Added, FailKind, FoundLink, Lease, LinkState, Observation, Page
from pagesift_store.storage.statements import hosts as hosts_sql
from pagesift_store.storage.statements import pages as pages_sql
from pagesift_store.transactions import (
    ending,
    failing,
    learning,
    moves,
    redirects,
    repeats,
    revisiting,
    rewriting,
)
from pagesift_store.transactions.adding import rejected
from pagesift_store.transactions.admission import Offer, admit, check_revisit, check_score, offer
from pagesift_store.transactions.leasing import accept
from pagesift_store.transactions.places import host_of_url, note_language
from pagesift_store.transactions.signals import Carrier
from pagesift_store.transactions.texts import clean, escaped
from pagesift_store.urls.reading import WebUrl, read
from pagesift_store.urls.shapes import is_furniture, language_candidate, series
from pagesift_store.urls.words import url_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pagesift_store.transactions.work import Work

MOST_TEXT = 2_000_000
"""Characters of main text that are read; what is longer is cut."""

MOST_TITLE = 300
"""Characters of a title that are kept."""


@dataclass(slots=True)
class Outcome:
    """What is being concluded about one page, step by step.

    Attributes:
        row: the link as it was before.
        page: what was reported.
        digest: of the report.
        web: the final URL.
        landing: how the redirects ended.
        analysis: what the page holds.
        repeat: whether its text was there before.
        relevance: 0 to 1.
        hit: it brought new on-topic content.
        counted: it takes part in the statistics.
        rescored: rows that it rescored.
    """

    row: Any
    page: Page
    digest: bytes
    web: WebUrl
    landing: redirects.Landing
    analysis: Analysis
    repeat: repeats.Repeat
    relevance: float = 0.0
    hit: bool = False
    counted: bool = False
    rescored: int = 0


def observe(work: Work, lease: Lease, page: Page) -> Observation:
    """The body of `Frontier.observe`; the page has passed `check`."""
    row = accept(work, lease)
    digest = digest_of(page)
    before = failing.reported(work, row, lease, digest)
    if before is not None:
        return _repeated(row, before)
    if page.status >= 400:
        return _failed(work, row, page, digest)
    if page.status == 304:
        return _unchanged(work, row, page, digest)
    landing = redirects.land(work, row, page)
    if landing.lost is not None:
        return _looped(work, row, page, digest, landing.lost)
    outcome = _read(work, row, page, digest, landing)
    learning.learn(work, outcome)
    moves.leave(work, row, answered=True, visited=not row.visits)
    added = _follow(work, outcome)
    state, due = _finish(work, outcome)
    return Observation(
        relevance=outcome.relevance,
        hit=outcome.hit,
        duplicate_of=outcome.repeat.duplicate_of,
        added=added,
        rescored=outcome.rescored,
        stop=ending.held(work.memory, work.now),
        state=state,
        due=due,
    )


def observe_or_lost(work: Work, lease: Lease, page: Page) -> Observation | LeaseLost:
    """As `observe`; a lost lease, which is found out before anything is changed, is returned."""
    try:
        return observe(work, lease, page)
    except LeaseLost as lost:
        return lost


def check(page: Page) -> None:
    """Refuse what no page can have.

    Raises:
        InvalidValue: a status outside 100 to 599, a relevance outside 0 to 1, a score that is not finite.
    """
    if isinstance(page.status, bool) or not isinstance(page.status, int) or not 100 <= page.status <= 599:
        raise InvalidValue(f"status={page.status!r} must be an HTTP status from 100 to 599")
    given = page.relevance
    if given is not None and (
        isinstance(given, bool) or not isinstance(given, int | float) or not 0.0 <= given <= 1.0
    ):
        raise InvalidValue(f"relevance={given!r} must be a number from 0 to 1")
    for link in page.links:
        if link.revisit is not None:
            check_revisit(link.revisit)
        if link.score is not None:
            check_score(link.score, link.href)


def digest_of(page: Page) -> bytes:
    """16 bytes that tell one outcome from another, to know a repeated report."""
    digest = blake2b(digest_size=16)
    fields = (
        page.url, page.status, tuple(page.redirects), page.title, tuple(page.headings), page.language,
        page.base_url, page.content_type, page.nofollow, page.noindex, page.canonical, page.etag,
        page.last_modified, page.retry_after, page.relevance, page.new, len(page.links),
    )  # fmt: skip
    links = "".join(
        [
            f"\x1e{link.href}\x1f{link.anchor}\x1f{link.context}\x1f{link.nofollow}{link.score}\x1f{link.revisit}"
            for link in page.links
        ]
    )
    for text in (repr(fields), page.text, links):
        digest.update(text.encode("utf-8", "surrogatepass"))
    return digest.digest()


def _repeated(row: Any, before: Any) -> Observation:
    return Observation(
        relevance=before.relevance,
        hit=bool(before.hit),
        duplicate_of=before.duplicate_of,
        repeated=True,
        state=LinkState(row.state),
        due=row.due_at,
    )


def _failed(work: Work, row: Any, page: Page, digest: bytes) -> Observation:
    kind, permanent = kind_of(page.status)
    outcome = failing.record(
        work,
        row,
        kind,
        f"status {page.status}",
        digest=digest,
        status=page.status,
        asked=page.retry_after,
        permanent=permanent,
    )
    if kind is not FailKind.HTTP_5XX:
        work.run(hosts_sql.forgive(), the_host=row.host_id)
    return Observation(state=outcome.state, due=outcome.due)


def kind_of(status: int) -> tuple[FailKind, bool]:
    """The kind of failure of a status of 400 or more, and whether it is final.

    408 (time-out) and 425 (too early) pass by themselves; all other 4xx but 429 are final.
    """
    if status >= 500:
        return FailKind.HTTP_5XX, False
    if status == 429:
        return FailKind.HTTP_429, False
    return (FailKind.TIMEOUT, False) if status in (408, 425) else (FailKind.HTTP_4XX, True)


def _unchanged(work: Work, row: Any, page: Page, digest: bytes) -> Observation:
    """304: the page is as it was. Validators and relevance stay, no statistic takes it in."""
    known = work.first(pages_sql.last_page(), the_link=row.id)
    kept = {} if known is None else known._asdict()
    kept.pop("id", None)
    interval = revisiting.interval(work, row, known, changed=False)
    work.run(
        pages_sql.add_page(),
        **pages_sql.EMPTY
        | kept
        | {
            "link_id": row.id,
            "attempt": row.attempt,
            "digest": digest,
            "fetched_at": work.now,
            "status": 304,
            "counted": False,
            "changed": False,
            "interval": interval,
            "etag": escaped(page.etag) if page.etag is not None else kept.get("etag"),
            "last_modified": (
                escaped(page.last_modified) if page.last_modified is not None else kept.get("last_modified")
            ),
        },
    )
    moves.leave(work, row, answered=True, visited=not row.visits)
    if not row.visits:  # nothing was asked for that could be unchanged, yet the place is used up
        work.crawl.fetched += 1
    state, due = revisiting.settle(work, row, interval)
    return Observation(
        relevance=kept.get("relevance", 0.0),
        hit=bool(kept.get("hit", False)),
        duplicate_of=kept.get("duplicate_of"),
        state=state,
        due=due,
    )


def _looped(work: Work, row: Any, page: Page, digest: bytes, why: str) -> Observation:
    work.run(
        pages_sql.add_page(),
        **failing.failure_row(work, row, digest, page.status, f"{FailKind.CONTENT.value}: {why}"),
    )
    moves.leave(work, row, answered=True)
    failing.settle(work, row, LinkState.DEAD, reason=why, failures=row.failures + 1)
    return Observation(state=LinkState.DEAD)


def _read(work: Work, row: Any, page: Page, digest: bytes, landing: redirects.Landing) -> Outcome:
    web = landing.web
    analysis = analyse(
        work.memory.terms,
        title=page.title,
        url_text=url_text(web),
        headings=page.headings,
        text=page.text[:MOST_TEXT],
        anchors=[link.anchor for link in page.links],
        furniture=is_furniture(web),
    )
    repeat = repeats.find(work, row, web, page, analysis, landing)
    if not row.visits and not landing.outside:
        rewriting.learn(work, row.id, web, repeat.template, analysis.text_hash)
    return Outcome(row, page, digest, web, landing, analysis, repeat)


def _follow(work: Work, outcome: Outcome) -> Sequence[Added]:
    """The page's links, each with its verdict."""
    page = outcome.page
    if outcome.landing.outside:
        return [rejected(work, link.href, Refusal.OUT_OF_SCOPE) for link in page.links]
    if page.nofollow and not work.settings.follow_nofollow:
        return [rejected(work, link.href, Refusal.NOFOLLOW) for link in page.links]
    try:
        base = read(page.base_url, outcome.web.url) if page.base_url is not None else outcome.web
    except InvalidUrl:
        base = outcome.web  # what browsers do with a base they cannot read
    language = language_of(page)
    segment = language_candidate(outcome.web)
    if language and segment is not None:
        note_language(work, host_of_url(work, outcome.web), segment, language)
    carrier = Carrier(
        outcome.relevance,
        language,
        repeated=not outcome.repeat.first_seen,
        series=series(outcome.web) if outcome.analysis.evidence.hub and outcome.repeat.first_seen else None,
    )
    depth = outcome.row.depth + 1
    return admit(
        work, [_offered(work, link, base, outcome.web, carrier, depth, outcome.row.id) for link in page.links]
    )


def language_of(page: Page) -> str | None:
    """The code of the language that a page declares: `pt` for `pt-BR` and `pt_BR`; None for none, or for nonsense."""
    code = (page.language or "").strip().replace("_", "-").partition("-")[0].lower()
    return code if code.isascii() and code.isalpha() and len(code) in (2, 3) else None


def _offered(
    work: Work, found: FoundLink, base: WebUrl, web: WebUrl, carrier: Carrier, depth: int, parent_id: int
) -> Offer | Added:
    try:
        if found.nofollow and not work.settings.follow_nofollow:
            raise InvalidUrl(found.href, Refusal.NOFOLLOW)
        target = work.memory.rules.reach(found.href, base, page=web)
        return offer(work, target, found, carrier, depth, given=found.score, parent_id=parent_id)
    except InvalidUrl as error:
        return rejected(work, found.href, error.reason)


def _finish(work: Work, outcome: Outcome) -> tuple[LinkState, float | None]:
    """The link is done, or waits for its next visit; the page joins the history."""
    row, page = outcome.row, outcome.page
    known = work.first(pages_sql.last_page(), the_link=row.id) if row.visits else None
    short = short_hash(page.text) if outcome.analysis.text_hash is None else None
    found = (outcome.analysis.text_hash, short)
    changed = known is not None and (known.text_hash, known.short_hash) != found
    interval = revisiting.interval(work, row, known, changed=changed)
    work.run(
        pages_sql.add_page(),
        **pages_sql.EMPTY
        | {
            "link_id": row.id,
            "attempt": row.attempt,
            "digest": outcome.digest,
            "fetched_at": work.now,
            "status": page.status,
            "url": None if outcome.web.url == row.url else outcome.web.url,
            "counted": outcome.counted,
            "relevance": outcome.relevance,
            "hit": outcome.hit,
            "duplicate_of": outcome.repeat.duplicate_of,
            "templated": outcome.repeat.templated,
            "changed": changed,
            "template": outcome.repeat.template,
            "text_hash": outcome.analysis.text_hash,
            "blank_hash": outcome.analysis.blank_hash,
            "short_hash": short,
            "etag": escaped(page.etag),
            "last_modified": escaped(page.last_modified),
            "interval": interval,
            "title": clean(page.title[:MOST_TITLE]),
            "language": page.language and clean(page.language[:35]),
            "evidence": outcome.analysis.evidence.to_json(),
        },
    )
    if not row.visits:
        work.crawl.fetched += 1
    return revisiting.settle(work, row, interval)
