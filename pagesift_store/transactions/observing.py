"""One observation: all of it or nothing, in the order of the design (DESIGN 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pagesift_store.errors import InvalidUrl, LeaseLost, Refusal
from pagesift_store.focus.analysis import Analysis, analyse
from pagesift_store.focus.fingerprint import short_hash
from pagesift_store.records import Added, FailKind, Lease, LinkState, Observation, Page
from pagesift_store.storage.statements import hosts as hosts_sql
from pagesift_store.storage.statements import pages as pages_sql
from pagesift_store.transactions import (
    ending,
    failing,
    history,
    learning,
    moves,
    redirects,
    repeats,
    revisiting,
    rewriting,
)
from pagesift_store.transactions.adding import rejected
from pagesift_store.transactions.admission import Offer, admit, offer, settle_heads
from pagesift_store.transactions.leasing import accept
from pagesift_store.transactions.places import host_of_url, note_language
from pagesift_store.transactions.signals import Carrier
from pagesift_store.transactions.texts import clean, escaped
from pagesift_store.urls.reading import WebUrl, read
from pagesift_store.urls.shapes import is_furniture, language_candidate, series
from pagesift_store.urls.words import url_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pagesift_store.transactions.reported import Report
    from pagesift_store.transactions.work import Work

MOST_TITLE = 300
"""Characters of a title that are kept."""


@dataclass(slots=True)
class Outcome:
    """What is being concluded about one page, step by step.

    Attributes:
        row: the link as it was before.
        report: what was reported.
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
    report: Report
    web: WebUrl
    landing: redirects.Landing
    analysis: Analysis
    repeat: repeats.Repeat
    relevance: float = 0.0
    hit: bool = False
    counted: bool = False
    rescored: int = 0

    @property
    def page(self) -> Page:
        """The page that was reported."""
        return self.report.page


def observe(work: Work, lease: Lease, report: Report) -> Observation:
    """The body of `Frontier.observe`."""
    row = accept(work, lease)
    page, digest = report.page, report.digest
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
    outcome = _read(work, row, report, landing)
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


def observe_or_lost(work: Work, lease: Lease, report: Report) -> Observation | LeaseLost:
    """As `observe`; a lost lease, which is found out before anything is changed, is returned."""
    try:
        return observe(work, lease, report)
    except LeaseLost as lost:
        return lost


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
    of_this: dict[str, Any] = {"status": 304, "counted": 0, "changed": 0, "interval": interval}
    if page.etag is not None:
        of_this["etag"] = escaped(page.etag)
    if page.last_modified is not None:
        of_this["last_modified"] = escaped(page.last_modified)
    history.add(work, row, digest, kept | of_this)
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
    error = f"{FailKind.CONTENT.value}: {why}"
    history.add(work, row, digest, {"status": page.status, "error": error})
    moves.leave(work, row, answered=True)
    failing.settle(work, row, LinkState.DEAD, reason=why, failures=row.failures + 1)
    return Observation(state=LinkState.DEAD)


def _read(work: Work, row: Any, report: Report, landing: redirects.Landing) -> Outcome:
    web, page, terms = landing.web, report.page, work.memory.terms
    analysis = analyse(
        terms,
        report.main(terms),
        title=page.title,
        url_text=url_text(web),
        headings=page.headings,
        furniture=is_furniture(web),
    )
    repeat = repeats.find(work, row, web, page, analysis, landing)
    if not row.visits and not landing.outside:
        rewriting.learn(
            work,
            row.id,
            web,
            repeat.template,
            analysis.text_hash,
            repeats=repeat.duplicate_of is not None,
        )
    return Outcome(row, report, web, landing, analysis, repeat)


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
        outcome.row.depth + 1,
        outcome.row.id,
        outcome.relevance,
        language,
        repeated=not outcome.repeat.first_seen,
        series=series(outcome.web) if outcome.analysis.evidence.hub and outcome.repeat.first_seen else None,
    )
    offers, refused = _offers(work, outcome, base, carrier.depth)
    added = admit(work, offers, refused, carrier, outcome.report.nearby(work.memory.terms))
    settle_heads(work)
    return added


def language_of(page: Page) -> str | None:
    """The code of the language that a page declares: `pt` for `pt-BR` and `pt_BR`; None for none, or for nonsense."""
    code = (page.language or "").strip().replace("_", "-").partition("-")[0].lower()
    return code if code.isascii() and code.isalpha() and len(code) in (2, 3) else None


def _offers(work: Work, outcome: Outcome, base: WebUrl, depth: int) -> tuple[list[Offer], dict[int, Added]]:
    """What becomes of each link before the store is asked: an offer, or its refusal, by its place among the links."""
    reach, follow = work.memory.rules.reach, work.settings.follow_nofollow
    web = outcome.web
    offers: list[Offer] = []
    refused: dict[int, Added] = {}
    for place, found in enumerate(outcome.page.links):
        try:
            if found.nofollow and not follow:
                raise InvalidUrl(found.href, Refusal.NOFOLLOW)
            target = reach(found.href, base, page=web)
            offers.append(offer(work, target, found, depth, found.score))
        except InvalidUrl as error:
            refused[place] = rejected(work, found.href, error.reason)
    return offers, refused


def _finish(work: Work, outcome: Outcome) -> tuple[LinkState, float | None]:
    """The link is done, or waits for its next visit; the page joins the history."""
    row, page = outcome.row, outcome.page
    known = work.first(pages_sql.last_page(), the_link=row.id) if row.visits else None
    short = short_hash(page.text) if outcome.analysis.text_hash is None else None
    found = (outcome.analysis.text_hash, short)
    changed = known is not None and (known.text_hash, known.short_hash) != found
    interval = revisiting.interval(work, row, known, changed=changed)
    history.add(
        work,
        row,
        outcome.report.digest,
        {
            "status": page.status,
            "url": None if outcome.web.url == row.url else outcome.web.url,
            "counted": int(outcome.counted),
            "relevance": outcome.relevance,
            "hit": int(outcome.hit),
            "duplicate_of": outcome.repeat.duplicate_of,
            "templated": int(outcome.repeat.templated),
            "changed": int(changed),
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
