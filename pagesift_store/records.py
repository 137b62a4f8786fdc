"""The records and enums that cross the border of the package. All are frozen; none holds a connection.

Times are UTC epoch seconds (float). Scores are finite; higher is better. None means what its field says.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pagesift_store.errors import Refusal

__all__ = [
    "Added",
    "CrawlState",
    "Explanation",
    "FailKind",
    "FoundLink",
    "Lease",
    "LinkOutcome",
    "LinkState",
    "Observation",
    "Page",
    "Rekeyed",
    "Robots",
    "Status",
    "Stop",
    "StopReason",
    "Verdict",
]


class LinkState(StrEnum):
    """What a link is waiting for, if anything."""

    QUEUED = "queued"
    """May be leased as soon as its host allows."""
    LEASED = "leased"
    """Held by a worker until it reports or the lease runs out."""
    WAITING = "waiting"
    """Due later: a retry or a revisit."""
    DONE = "done"
    """Fetched, or an alias of a fetched page."""
    DEAD = "dead"
    """Given up, with a reason."""
    SKIPPED = "skipped"
    """A rule that was learned or set later refused it."""


class Verdict(StrEnum):
    """What became of a URL that was offered."""

    NEW = "new"
    KNOWN = "known"
    REJECTED = "rejected"


class CrawlState(StrEnum):
    """What a worker should do now; the first that holds."""

    READY = "ready"
    """Lease: something can be fetched at once."""
    COOLING = "cooling"
    """Wait: links are queued, but their hosts need a rest until `next_due`."""
    LEASED_OUT = "leased_out"
    """Wait: other workers hold what is left, until `next_due` at the latest."""
    WAITING = "waiting"
    """Come back at `next_due`: only retries or revisits are left."""
    BLOCKED = "blocked"
    """All that is left belongs to blocked hosts."""
    FINISHED = "finished"
    """Nothing left to do, or a limit or stop rule holds (see `stop`)."""


class FailKind(StrEnum):
    """Why a fetch failed."""

    DNS = "dns"
    CONNECT = "connect"
    TIMEOUT = "timeout"
    HTTP_5XX = "http_5xx"
    HTTP_429 = "http_429"
    HTTP_4XX = "http_4xx"
    ROBOTS = "robots"
    CONTENT = "content"
    OTHER = "other"


class StopReason(StrEnum):
    """Why a crawl ended, or would end."""

    COVERAGE_REACHED = "coverage_reached"
    SATURATED = "saturated"
    NO_RELEVANT_PAGES = "no_relevant_pages"
    LIMIT_REACHED = "limit_reached"
    EXHAUSTED = "exhausted"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class FoundLink:
    """A link as it was found on a page.

    Attributes:
        href: the reference as written, HTML entities decoded once; relative ones need a base.
        anchor: the text of the link.
        context: the text of the line or block around it, the anchor included or not.
        nofollow: the link carries `rel=nofollow`.
        score: a score of the caller's own. It takes the place of the computed one, is never rescored and never
            trains the link model. None: the score is computed.
        revisit: seconds between two visits, if the link is new; 0: fetch it once. None: as the store's rule says.
    """

    href: str
    anchor: str = ""
    context: str = ""
    nofollow: bool = False
    score: float | None = None
    revisit: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What one fetch brought.

    Attributes:
        url: the final URL, after redirects.
        redirects: the URLs of the hops before `url`, in order, the leased one first. Empty without redirects.
        status: HTTP status, 100 to 599.
        title: text of the title.
        headings: texts of the headings, in order.
        text: the main text; blocks (paragraphs, list items, table rows) separated by line breaks.
        links: the links, in order of appearance.
        language: language of the page as declared (`en`, `pt-BR`); None when unknown.
        base_url: what relative links resolve against (`<base href>`); None: `url`.
        content_type: media type as sent; None when unknown.
        nofollow: robots meta or header says nofollow.
        noindex: robots meta or header says noindex; the page is fetched, yet counts for nothing.
        canonical: `rel=canonical` as written; None when absent.
        etag: as sent, byte for byte; None when absent.
        last_modified: as sent, byte for byte; None when absent.
        retry_after: the header as sent, or seconds; None when absent.
        relevance: the caller's own judgement, 0 to 1, in place of ours. None: ours.
        new: the caller's own verdict whether the page brought new content. None: ours.
    """

    url: str
    status: int = 200
    redirects: Sequence[str] = ()
    title: str = ""
    headings: Sequence[str] = ()
    text: str = ""
    links: Sequence[FoundLink] = ()
    language: str | None = None
    base_url: str | None = None
    content_type: str | None = None
    nofollow: bool = False
    noindex: bool = False
    canonical: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    retry_after: str | float | None = None
    relevance: float | None = None
    new: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A claim on one link. Valid until the link is leased again, expired or not.

    Attributes:
        store_id: id of the store it was taken from.
        link_id: discovery number of the link.
        url: what to fetch, byte for byte.
        key: what decides "the same page".
        attempt: counts the leases of this link; the fence.
        expires: when the link may be given to another worker.
        score: the score it was chosen by.
        depth: clicks from the nearest seed.
        parent_url: the page it was found on; None for seeds and when that page is gone.
        etag: validator of the earlier fetch, for If-None-Match; None on a first visit.
        last_modified: validator of the earlier fetch, for If-Modified-Since; None on a first visit.
        host_delay: seconds between two leases of this host.
    """

    store_id: str
    link_id: int
    url: str
    key: str
    attempt: int
    expires: float
    score: float
    depth: int
    parent_url: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    host_delay: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """The verdict on one URL.

    Attributes:
        verdict: new, known or rejected.
        url: the fetch URL; the text as given when it was rejected.
        key: the key; empty when it was rejected.
        link_id: discovery number; None when rejected.
        reason: why it was rejected; None otherwise.
    """

    verdict: Verdict
    url: str
    key: str = ""
    link_id: int | None = None
    reason: Refusal | None = None


_set_verdict, _set_url, _set_key, _set_link_id, _set_reason = (
    Added.__dict__[each.name].__set__ for each in fields(Added)
)


def accepted(verdict: Verdict, url: str, key: str, link_id: int) -> Added:
    """The verdict on a URL that is in the store, made of every link.

    It takes half as long as the constructor: that one, of a frozen class, has to look up how to set each field.
    """
    made = object.__new__(Added)
    _set_verdict(made, verdict)
    _set_url(made, url)
    _set_key(made, key)
    _set_link_id(made, link_id)
    _set_reason(made, None)
    return made


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Why the crawl ended, with the numbers behind it.

    Attributes:
        reason: the rule.
        detail: the numbers, for people and for machines.
        at: when it was decided.
    """

    reason: StopReason
    detail: Mapping[str, Any] = field(default_factory=dict)
    at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What one observed page changed.

    Attributes:
        relevance: 0 to 1; for a 304 that of the earlier fetch; 0 for a failed fetch.
        hit: the page brought new on-topic content.
        duplicate_of: link id of the page that had the same text first; None when there is none.
        added: one verdict per link of the page, in order.
        rescored: rows whose score this page changed.
        stop: the stop rule that holds now; None while none does.
        repeated: this outcome was recorded before; nothing was changed.
        state: the state of the link now.
        due: when the link comes up again; None when it does not.
    """

    relevance: float = 0.0
    hit: bool = False
    duplicate_of: int | None = None
    added: Sequence[Added] = ()
    rescored: int = 0
    stop: Stop | None = None
    repeated: bool = False
    state: LinkState = LinkState.DONE
    due: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkOutcome:
    """The state of a link after `fail`.

    Attributes:
        state: waiting, queued or dead.
        due: when it will be tried again; None when it will not.
        failures: failures in a row, this one included.
        reason: why it is dead; None otherwise.
    """

    state: LinkState
    due: float | None = None
    failures: int = 0
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Robots:
    """What a host's robots.txt came to when it was asked last.

    Attributes:
        host: its name.
        status: HTTP status; None when there was no answer, or nobody asked.
        until: when that outcome expires; None when nobody asked.
        crawl_delay: seconds between two fetches, as it asks; None when it does not.
        holds: the outcome is known and not older than it may be: there is no need to ask again. Never for a host that
            shares its delay with others, because their outcomes share one place.
    """

    host: str
    status: int | None = None
    until: float | None = None
    crawl_delay: float | None = None
    holds: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Rekeyed:
    """What other key rules make of a store.

    Attributes:
        preset: name of the rules.
        version: their version.
        links: links in the store before.
        merged: of these, links that another one takes in.
        examples: up to ten merges, each the URL that stays and those that go.
    """

    preset: str
    version: int
    links: int
    merged: int
    examples: Sequence[Sequence[str]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The crawl at one moment.

    Attributes:
        counts: links by state, every state present.
        state: what a worker should do now.
        next_due: when that may change by itself; None when it will not.
        pages: pages fetched, repeats not counted.
        hits: pages that brought new on-topic content.
        relevant: pages with a relevance of 0.15 or more.
        stop: why the crawl ended; None while it goes on.
        hosts: hosts known.
        rejected: refused URLs by reason.
        query: the query of the crawl.
        wal_bytes: size of the write-ahead log; 0 where there is none.
        store_bytes: size of the store's file; 0 where it is not a file.
        free_bytes: of these, bytes in pages that hold nothing; `vacuum` gives them back.
    """

    counts: Mapping[LinkState, int]
    state: CrawlState
    next_due: float | None = None
    pages: int = 0
    hits: int = 0
    relevant: int = 0
    stop: Stop | None = None
    hosts: int = 0
    rejected: Mapping[Refusal, int] = field(default_factory=dict)
    query: str = ""
    wal_bytes: int = 0
    store_bytes: int = 0
    free_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Everything known about one URL.

    Attributes:
        url: the fetch URL.
        key: the key.
        link_id: discovery number.
        state: the link's state.
        why: one sentence on why it is not being fetched, or that it will be.
        score: the stored score.
        terms: the score term by term: feature → (value, weight, product).
        signal: what the score is computed from.
        lane: host, subtree, cluster and the harvest of both.
        history: the fetches so far, latest last.
        facts: the rest: depth, parent, attempts, failures, due time, times.
    """

    url: str
    key: str
    link_id: int
    state: LinkState
    why: str
    score: float
    terms: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)
    signal: Mapping[str, Any] = field(default_factory=dict)
    lane: Mapping[str, Any] = field(default_factory=dict)
    history: Sequence[Mapping[str, Any]] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
