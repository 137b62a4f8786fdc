"""What is remembered of a store between transactions: its small tables, and what was made of its URLs and words."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from pagesift_store.focus.model import Posterior
from pagesift_store.focus.score import Weights
from pagesift_store.focus.text import QueryTerms
from pagesift_store.focus.weights import Covers
from pagesift_store.settings import Settings
from pagesift_store.storage.prepared import Runner
from pagesift_store.storage.statements import acts as acts_sql
from pagesift_store.storage.statements import crawl as crawl_sql
from pagesift_store.storage.statements import lanes as lanes_sql
from pagesift_store.storage.statements import pages as pages_sql
from pagesift_store.urls.keys import key_rules
from pagesift_store.urls.languages import DEFAULT_LANGUAGES, SiteLanguages, is_certain
from pagesift_store.urls.parts import bare_host, registered_domain
from pagesift_store.urls.pipeline import UrlRules, key_hash
from pagesift_store.urls.rewrite import RewriteRule, RewriteSet
from pagesift_store.urls.scope import Scope, ScopeEntry, ScopeKind

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from pagesift_store.focus.order import Harvest
    from pagesift_store.urls.reading import WebUrl

AUDITED = 50
"""One in so many URLs that a rewrite rule would change is fetched as found (RULES 1.7)."""

OUTDATED = (-1, -1)
"""A version that no memory of a store has."""

MOST_REMEMBERED = 50_000
"""Lanes, hosts, masks and URLs that are kept at hand; beyond that they are looked up or made again."""


@dataclass(slots=True)
class TermRow:
    """Statistics of one term; see the table `term`."""

    df: int
    occurrences: int
    passages: int
    evidence_pages: int
    weight: float

    def stored(self) -> tuple[float, ...]:
        """The row as it is written."""
        return (self.df, self.occurrences, self.passages, self.evidence_pages, self.weight)


@dataclass(slots=True)
class PairRow:
    """Counts of two neighbouring terms; see the table `pair`."""

    df: int
    occurrences: int


@dataclass(slots=True)
class HostInfo:
    """What admission needs to know of a host.

    Attributes:
        id: its row.
        lanes: lanes that it has.
        seen: leading path segments that are language segments for certain.
        declared: doubtful segments → the language that pages below them declare.
        languages: what these two say about a segment.
        lane_ids: (subtree, cluster) → the id of the lane; all of them.
        part_ids: (kind, key) → the id of the part; all that its lanes have.
    """

    id: int
    lanes: int
    seen: set[str] = field(default_factory=set)
    declared: dict[str, str] = field(default_factory=dict)
    languages: SiteLanguages = DEFAULT_LANGUAGES
    lane_ids: dict[tuple[str, str], int] = field(default_factory=dict)
    part_ids: dict[tuple[str, str], int] = field(default_factory=dict)

    @classmethod
    def stored(cls, row: Any) -> HostInfo:
        """From a row of `host`."""
        info = cls(row.id, row.lanes)
        for item in row.languages.split():
            segment, declares, language = item.partition("=")
            if declares:
                info.declared[segment] = language
            else:
                info.seen.add(segment)
        info.languages = SiteLanguages(info.seen, info.declared)
        return info

    def has(self, lane: Any) -> None:
        """Remember a lane: a row with its id, its parts' ids and their keys."""
        self.lane_ids[lane.subtree, lane.cluster] = lane.id
        self.part_ids["subtree", lane.subtree] = lane.subtree_id
        self.part_ids["cluster", lane.cluster] = lane.cluster_id

    def shows(self, segment: str, language: str | None = None) -> str | None:
        """Take in a language segment, or what pages below a doubtful one declare.

        Returns:
            The text to store when that is news, else None.
        """
        if language is None:
            if segment in self.seen or not is_certain(segment):
                return None
            self.seen.add(segment)
        else:
            if self.declared.get(segment) == language or is_certain(segment):
                return None
            self.declared[segment] = language
        self.languages = SiteLanguages(self.seen, self.declared)
        return " ".join([*sorted(self.seen), *(f"{s}={t}" for s, t in sorted(self.declared.items()))])


class UrlShape(NamedTuple):
    """What a URL alone says of its link, whatever carries it.

    Attributes:
        hits: hit mask of host and path.
        dated: the path carries a date.
        furniture: the path is furniture by itself.
        segment: its leading segment, where that may name a language.
    """

    hits: int
    dated: bool
    furniture: bool
    segment: str | None


@dataclass(slots=True)
class Memory:
    """A copy of the small tables. True as long as no other connection has committed and no rollback happened.

    Attributes:
        fruitful: clusters with a hit, by their harvest; None: not read yet.
        dry: of subtrees marked dry, by hits, one with no more pages than any of them has; None: not read yet.
        ruleless: hosts on which no rewrite rule was ever met; of others nothing is known here.
    """

    version: tuple[int, int]
    crawl: SimpleNamespace
    settings: Settings
    terms: QueryTerms
    term_rows: list[TermRow]
    pair_rows: list[PairRow]
    posterior: Posterior
    weights: Weights
    rules: UrlRules
    demoted: set[int]
    rewrites: dict[str, RewriteSet]
    seed_hosts: set[str]
    stored_terms: list[tuple[float, ...]]
    stored_model: list[tuple[float, float, float | None]]
    covers: Covers = field(init=False)
    hosts: dict[str, HostInfo] = field(default_factory=dict)
    hosts_by_url_host: dict[str, HostInfo] = field(default_factory=dict)
    lanes: int = 0
    last_lane: int = 0
    shapes: dict[str, UrlShape] = field(default_factory=dict)
    fruitful: dict[Harvest, set[int]] | None = None
    dry: list[Harvest] | None = None
    ruleless: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.covers = Covers(self.weights.terms)

    def politeness_of(self, web: WebUrl) -> str:
        """The name of what shares a delay with this URL's host."""
        return self.politeness_name(web.host)

    def politeness_name(self, host: str) -> str:
        """The name of what shares a delay with a host, by the rules of the settings."""
        for pattern in self.settings.host_groups:
            found = re.search(pattern, bare_host(host))
            if found:
                return (found[1] if found.re.groups else found[0]) or bare_host(host)
        return registered_domain(host) if self.settings.politeness == "domain" else bare_host(host)

    def rewritten(self, web: WebUrl, key: str) -> str:
        """The key of a URL under the rewrite rules in force on its host, given the key without them.

        One URL in fifty, always the same ones, keeps its own key: it is fetched as found and so audits the rules.
        """
        rules = self.rewrites.get(bare_host(web.host))
        if rules is None:
            return key
        rewritten = self.rules.key(web, rules)
        audited = rewritten != key and int.from_bytes(key_hash(key)[:4], "big") % AUDITED == 0
        return key if audited else rewritten

    def outdate(self) -> None:
        """What is remembered was changed by other means: the next transaction, here or elsewhere, reads it anew."""
        self.version = OUTDATED
        self.forget_hosts()
        self.crawl.rules += 1

    def has_rules_of(self, crawl: Any) -> bool:
        """Whether the rules and settings remembered are those of a row of `crawl`."""
        own = self.crawl
        same = (own.store_id, own.rules, own.settings) == (crawl.store_id, crawl.rules, crawl.settings)
        return same and self.version != OUTDATED

    def taken_over(self) -> dict[str, Any]:
        """What another memory of the same rules has as well."""
        return {
            name: getattr(self, name)
            for name in (
                "rules",
                "demoted",
                "rewrites",
                "seed_hosts",
                "hosts",
                "hosts_by_url_host",
                "lanes",
                "last_lane",
                "shapes",
            )
        }

    def meet_lanes(self, runner: Runner) -> None:
        """Take in the lanes that others have made of hosts that are known here."""
        last = runner.first(lanes_sql.last_lane()).id or 0
        if last - self.last_lane > MOST_REMEMBERED or last < self.last_lane:
            self.forget_hosts()
        if self.hosts and last > self.last_lane:
            known = {host.id: host for host in self.hosts.values()}
            for row in runner.rows(lanes_sql.lanes_after(), after=self.last_lane):
                if row.host_id in known:
                    known[row.host_id].has(row)
                    known[row.host_id].lanes += 1
                    self.lanes += 1
        self.last_lane = last

    def forget_hosts(self) -> None:
        """Hosts are read anew when they are met."""
        self.hosts.clear()
        self.hosts_by_url_host.clear()
        self.lanes = 0

    def harvested(self, cluster: int, before: Harvest, after: Harvest) -> None:
        """Keep the clusters with a hit, by their harvest, in step with one that was fetched from."""
        if self.fruitful is None:
            return
        if before.hits:
            self.fruitful[before].discard(cluster)
            if not self.fruitful[before]:
                del self.fruitful[before]
        if after.hits:
            self.fruitful.setdefault(after, set()).add(cluster)

    def use(self, weights: Weights) -> None:
        """Score with other weights from now on."""
        self.weights = weights
        self.covers = Covers(weights.terms)

    def trim(self) -> None:
        """Keep what is remembered of hosts, their lanes, their rules, masks and URLs bounded."""
        if self.lanes > MOST_REMEMBERED or len(self.hosts) > MOST_REMEMBERED:
            self.forget_hosts()
        for remembered in (self.covers, self.shapes, self.ruleless):
            if len(remembered) > MOST_REMEMBERED:
                remembered.clear()


def recall(connection: Connection, version: tuple[int, int] = (0, 0), before: Memory | None = None) -> Memory:
    """Read the small tables.

    Args:
        connection: inside a transaction.
        version: what `Database.data_version` says of them, where it will be compared.
        before: what was remembered until others wrote. What they cannot have changed is taken over: the count of rules
            tells of scope, blocks, demotions, rewrite rules, language segments and moved lanes; new lanes are read.
    """
    runner = Runner(connection)
    row = runner.first(crawl_sql.read_crawl())
    last, before = before, before if before is not None and before.has_rules_of(row) else None
    settings = Settings.from_json(row.settings) if before is None else before.settings
    # Whoever has read texts with these terms before this transaction can go on with what was found.
    same = last is not None and (last.crawl.query, last.settings.language) == (row.query, settings.language)
    terms = last.terms if last is not None and same else QueryTerms.parse(row.query, settings.language)
    term_rows = [
        TermRow(t.df, t.occurrences, t.passages, t.evidence_pages, t.weight)
        for t in runner.rows(crawl_sql.read_terms())
    ]
    model = runner.rows(crawl_sql.read_posterior())
    posterior = Posterior(
        mean=tuple(m.mean for m in model),
        precision=tuple(m.precision for m in model),
        used=tuple(m.weight for m in model[:-1]),
    )
    crawl = SimpleNamespace(**row._asdict())
    memory = Memory(
        version=version,
        crawl=crawl,
        settings=settings,
        terms=terms,
        term_rows=term_rows,
        pair_rows=[PairRow(p.df, p.occurrences) for p in runner.rows(crawl_sql.read_pairs())],
        posterior=posterior,
        weights=Weights.of(posterior.used, [t.weight for t in term_rows]),
        stored_terms=[row.stored() for row in term_rows],
        stored_model=posterior.rows(),
        **(_rules(runner, settings) if before is None else before.taken_over()),
    )
    if before is not None and before.weights == memory.weights:
        memory.covers = before.covers
    memory.meet_lanes(runner)
    return memory


def _rules(runner: Runner, settings: Settings) -> dict[str, Any]:
    """What of a memory changes along with the count of rules."""
    entries = [ScopeEntry(entry.host, entry.prefix) for entry in runner.rows(crawl_sql.read_scope())]
    rewrites: dict[str, list[RewriteRule]] = {}
    for row in runner.rows(pages_sql.rules_in_force()):
        rewrites.setdefault(row.host, []).append(RewriteRule.from_id(row.rule))
    return {
        "rules": UrlRules(
            keys=key_rules(settings.key_rules),
            scope=Scope(cast("ScopeKind", settings.scope), entries),
            include=settings.include,
            exclude=settings.exclude,
            blocked=[row.pattern for row in runner.rows(acts_sql.read_blocks())],
            upgrade_https=settings.upgrade_https,
            route_hosts=frozenset(settings.route_hosts),
        ),
        "demoted": {row.hash for row in runner.rows(pages_sql.demoted_templates())},
        "rewrites": {host: RewriteSet(rules) for host, rules in rewrites.items()},
        "seed_hosts": {bare_host(entry.host) for entry in entries},
    }
