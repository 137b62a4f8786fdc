"""The tables of a store, the same on every engine.

Times are UTC epoch seconds. Scores and statistics are 8-byte reals, read and written exactly. Hit masks and
hashes are signed 64-bit integers; the hash of a key is 16 bytes. A column that does not say otherwise is never
NULL. Only migrations create these tables; a test holds both against each other.

Which rows an index takes in is said here for SQLite alone, and by the migrations for PostgreSQL too: an index that
names the option of an engine loads all that SQLAlchemy has for it, a tenth of what it takes to start a process.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    literal_column,
    text,
)

from pagesift_store.records import LinkState

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

ID = BigInteger().with_variant(Integer, "sqlite")
"""Row ids: SQLite wants the very word INTEGER for its row id."""

FINITE = "{0} >= -1.7e308 AND {0} <= 1.7e308"
"""NaN arrives as NULL, which NOT NULL refuses; infinities lie outside this range."""


def _real(name: str, default: str = "0", *, nullable: bool = False, comment: str = "") -> Column[float]:
    default_text = None if nullable else text(default)
    return Column(name, Float(53), nullable=nullable, server_default=default_text, comment=comment)


def _count(name: str, comment: str) -> Column[int]:
    return Column(name, BigInteger, nullable=False, server_default=text("0"), comment=comment)


def _flag(name: str, comment: str) -> Column[bool]:
    return Column(name, Boolean, nullable=False, server_default=text("false"), comment=comment)


crawl = Table(
    "crawl",
    metadata,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("store_id", Text, nullable=False, comment="identity of this store; every lease carries it"),
    Column("created_at", Float(53), nullable=False),
    Column("query", Text, nullable=False, comment="as given; may be empty"),
    Column("settings", Text, nullable=False, comment="JSON object"),
    Column("key_rules", Text, nullable=False, comment="name of the key preset"),
    Column("key_version", Integer, nullable=False, comment="version of that preset's rules"),
    Column("seed", BigInteger, nullable=False, comment="seed of all jitter"),
    _count("links", "the last link id given out; ids never come back"),
    _count("queued", "links in this state"),
    _count("leased", "links in this state"),
    _count("waiting", "links in this state"),
    _count("done", "links in this state"),
    _count("dead", "links in this state"),
    _count("skipped", "links in this state"),
    _count("fetched", "links whose page was fetched, however often"),
    _count("pages", "of these, links whose page counts in the statistics"),
    _count("hits", "of the pages that count, those that brought new on-topic content"),
    _count("relevant", "of the pages that count, those with a relevance of 0.15 or more"),
    _real("relevance", comment="sum of the relevance of these pages"),
    _count("texts", "pages whose text took part in the statistics of the terms"),
    _count("words", "words in the main texts of these pages"),
    _count("leases", "leases given, ever"),
    _count("revisits", "of these, leases of links that had been fetched before"),
    _count("rescores", "rescoring updates, ever"),
    _count("rescored", "rows that they changed"),
    _count("rules", "changes of scope, demotions and rewrite rules: who caches them compares this"),
    _real("moment", comment="the clock at the last change: tells a clock that went back"),
    Column(
        "stop_state", Text, nullable=False, server_default="", comment="JSON: the counters of the stop rules"
    ),
    Column("stop_reason", Text, nullable=True, comment="why the crawl ended last; history, never a gate"),
    Column("stop_detail", Text, nullable=True, comment="JSON: the numbers behind it"),
    Column("stop_at", Float(53), nullable=True),
    CheckConstraint("id = 1", name="one_row"),
)

term = Table(
    "term",
    metadata,
    Column(
        "bit", Integer, primary_key=True, autoincrement=False, comment="its bit in every hit mask, 0 to 63"
    ),
    Column("word", Text, nullable=False, comment="as the query has it, folded"),
    Column("stem", Text, nullable=False),
    _count("df", "pages that hold it in the main text"),
    _count("occurrences", "its occurrences in all main texts"),
    _count("passages", "distinct relevant passages that hold it"),
    _count("evidence_pages", "pages that brought such a passage"),
    _real("weight", "1", comment="weight in use: every cached score was computed with it"),
)

pair = Table(
    "pair",
    metadata,
    Column(
        "bit", Integer, primary_key=True, autoincrement=False, comment="the pair of terms bit and bit + 1"
    ),
    _count("df", "pages where the two stand side by side in the main text"),
    _count("occurrences", "how often they do in all main texts"),
)

posterior = Table(
    "posterior",
    metadata,
    Column("feature", Text, primary_key=True),
    Column("position", Integer, nullable=False, comment="order of the features; the intercept is last"),
    _real("mean"),
    _real("precision", comment="1 / variance"),
    _real("weight", nullable=True, comment="weight in use; NULL for the intercept"),
)

host = Table(
    "host",
    metadata,
    Column("id", ID, primary_key=True),
    Column("name", Text, nullable=False, unique=True, comment="what shares one delay: a host, or a domain"),
    _real("ready_at", comment="no lease before"),
    _real(
        "blocked_until",
        nullable=True,
        comment="no lease before, by the operator or a rule; NULL: not blocked",
    ),
    _real("delay", nullable=True, comment="seconds between two leases; NULL: the default"),
    Column("max_in_flight", Integer, nullable=True, comment="NULL: the default"),
    _count("in_flight", "leases now"),
    _count("pages", "pages fetched"),
    _count("failures", "host-wide failures in a row"),
    _count("lanes", "lanes it has"),
    Column(
        "robots_status", Integer, nullable=True, comment="status of the last robots.txt; NULL: never asked"
    ),
    _real("robots_until", nullable=True, comment="when that outcome expires"),
    _count("robots_failures", "times in a row that robots.txt could not be had"),
    _real("crawl_delay", nullable=True, comment="as robots.txt asks, clamped; NULL: it does not"),
    Column(
        "group_id",
        ID,
        ForeignKey("host.id"),
        nullable=True,
        comment="the host that its links queue with, sharing one delay; NULL: they queue by themselves",
    ),
    Column("languages", Text, nullable=False, server_default="", comment="leading language segments seen"),
    Column("note", Text, nullable=True, comment="what was clamped or ignored last"),
    CheckConstraint("in_flight >= 0", name="in_flight"),
)

scope = Table(
    "scope",
    metadata,
    Column("id", ID, primary_key=True),
    Column("host", Text, nullable=False),
    Column("prefix", Text, nullable=False, comment="path that it begins with"),
    UniqueConstraint("host", "prefix"),
)

part = Table(
    "part",
    metadata,
    Column("id", ID, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("key", Text, nullable=False),
    _count("pages", "pages fetched that count"),
    _count("hits", "of these, hits"),
    _count("fetched", "of a subtree: links whose page was fetched"),
    _count("scheduled", "leases given, those that came back not counted"),
    _flag("dry", "a subtree that was dry when it was last looked at; some that are dry were not met yet"),
    CheckConstraint("kind IN ('subtree', 'cluster')", name="kind"),
    UniqueConstraint("kind", "key"),
)

_FRUITFUL = part.c.hits > literal_column("0")
Index("ix_part_fruitful", part.c.kind, part.c.hits, sqlite_where=_FRUITFUL)

DRY = part.c.dry == literal_column("true")
"""Subtrees known to be dry."""
Index("ix_part_dry", part.c.hits, part.c.pages, sqlite_where=DRY)

lane = Table(
    "lane",
    metadata,
    Column("id", ID, primary_key=True),
    Column("host_id", ID, ForeignKey("host.id"), nullable=False),
    Column("subtree_id", ID, ForeignKey("part.id"), nullable=False),
    Column("cluster_id", ID, ForeignKey("part.id"), nullable=False),
    _count("pages", "pages fetched that count"),
    _real("relevance", comment="sum of their relevance"),
    Column("head_id", ID, nullable=True, comment="best queued link; NULL: nothing is queued"),
    _real("lift", comment="what its fetched pages add to the rank of its links, as of the last of them"),
    _real("head_score", nullable=True),
    _real("head_rank", nullable=True, comment="head_score + lift"),
    Column("head_demoted", Boolean, nullable=True),
    _flag("shut", "its host or subtree has all the pages that a limit allows: nothing new is leased of it"),
    Column("again_id", ID, nullable=True, comment="its fetched page that is to be visited first"),
    _real("again_due", nullable=True, comment="when that is due"),
    _flag("dry", "its subtree is known to be dry: its links come last"),
    _flag("spent", "its cluster has been given `cluster_cap` leases without a hit: it gives way"),
    UniqueConstraint("host_id", "subtree_id", "cluster_id"),
)
HAS_HEAD = lane.c.head_id.is_not(None) & (lane.c.shut == literal_column("false"))
"""Lanes with something new to lease."""

Index(
    "ix_lane_order",
    lane.c.dry,
    lane.c.spent,
    lane.c.head_demoted,
    lane.c.head_rank.desc(),
    lane.c.head_id,
    sqlite_where=HAS_HEAD,
)
Index(
    "ix_lane_host",
    lane.c.host_id,
    lane.c.dry,
    lane.c.spent,
    lane.c.head_demoted,
    lane.c.head_rank.desc(),
    lane.c.head_id,
    sqlite_where=HAS_HEAD,
)

Index(
    "ix_lane_again",
    lane.c.again_due,
    lane.c.again_id,
    sqlite_where=lane.c.again_id.is_not(None),
)
Index("ix_lane_cluster_id", lane.c.cluster_id)
Index("ix_lane_subtree_id", lane.c.subtree_id)

owner = Table(
    "owner",
    metadata,
    Column("id", ID, primary_key=True),
    Column("name", Text, nullable=True, comment="worker name; NULL: the lease belongs to the process below"),
    Column("boot", Text, nullable=True, comment="boot id of its machine"),
    Column("namespace", Text, nullable=True, comment="its pid namespace"),
    Column("pid", Integer, nullable=True),
    Column("started", BigInteger, nullable=True, comment="clock ticks after boot: tells a reused pid apart"),
    Column("opened_at", Float(53), nullable=False),
)

_STATES = " OR ".join(f"state = '{state}'" for state in LinkState)
"""Not `IN`: for a list SQLite builds a table of its values with each row that is written, at a third of its cost."""

link = Table(
    "link",
    metadata,
    Column("id", ID, primary_key=True, comment="discovery number"),
    Column("url", Text, nullable=False, comment="fetch URL, byte for byte"),
    Column(
        "key", Text, nullable=True, comment="only where a learned rule rewrote it; else the key rules give it"
    ),
    Column("key_hash", LargeBinary(16), nullable=False),
    Column("n", Integer, nullable=False, server_default=text("0"), comment="tells keys of one hash apart"),
    Column("lane_id", ID, ForeignKey("lane.id"), nullable=False),
    Column("parent_id", ID, ForeignKey("link.id", ondelete="SET NULL"), nullable=True),
    Column(
        "alias_of",
        ID,
        ForeignKey("link.id", ondelete="SET NULL"),
        nullable=True,
        comment="the link whose page this URL led to",
    ),
    Column("depth", Integer, nullable=False, server_default=text("0"), comment="least clicks from a seed"),
    Column("anchor_hits", BigInteger, nullable=False, server_default=text("0"), comment="hit mask"),
    Column("url_hits", BigInteger, nullable=False, server_default=text("0"), comment="hit mask"),
    Column("context_hits", BigInteger, nullable=False, server_default=text("0"), comment="hit mask"),
    Column("phrase", Integer, nullable=False, server_default=text("0"), comment="1: two terms in the anchor"),
    _real("parent_relevance"),
    _real("floor"),
    _real("factor", "1"),
    _real("decay", "1"),
    Column("score", Float(53), nullable=False),
    _flag("given", "the score was given, by the caller or as a seed: never rescored"),
    _flag("seed", ""),
    _flag("demoted", "its template repeats itself"),
    _flag("on_repeats", "only pages whose text was there before carry it"),
    Column("template", BigInteger, nullable=True, comment="hash of its template; NULL: it has none"),
    Column("state", Text, nullable=False),
    Column(
        "reason", Text, nullable=True, comment="why it is dead or skipped; the last error of a waiting one"
    ),
    Column("attempt", Integer, nullable=False, server_default=text("0"), comment="leases so far; the fence"),
    Column("visits", Integer, nullable=False, server_default=text("0"), comment="pages observed"),
    Column("failures", Integer, nullable=False, server_default=text("0"), comment="failures in a row"),
    Column("failures_total", Integer, nullable=False, server_default=text("0")),
    _real(
        "due_at",
        nullable=True,
        comment="when a waiting link comes up again; kept while it is leased for that",
    ),
    _real(
        "revisit",
        nullable=True,
        comment="seconds between visits; 0: never again; NULL: as the store's rule says",
    ),
    Column("owner_id", ID, ForeignKey("owner.id"), nullable=True, comment="who holds the lease"),
    _real("lease_expires", nullable=True),
    Column("found_at", Float(53), nullable=False),
    CheckConstraint(_STATES, name="state"),
    CheckConstraint(FINITE.format("score"), name="score"),
    CheckConstraint("(state = 'leased') = (lease_expires IS NOT NULL)", name="lease"),
    CheckConstraint("state <> 'waiting' OR due_at IS NOT NULL", name="due"),
    UniqueConstraint("key_hash", "n"),
)


QUEUED = link.c.state == literal_column("'queued'")
WAITING = link.c.state == literal_column("'waiting'")
LEASED = link.c.state == literal_column("'leased'")
RETRY = WAITING & (link.c.visits == literal_column("0"))
"""Waiting for another try; queued again when it is due."""
REVISIT = WAITING & (link.c.visits > literal_column("0"))
"""Fetched before and waiting for the next visit; leased from this state."""

Index(
    "ix_link_queue",
    link.c.lane_id,
    link.c.demoted,
    link.c.score.desc(),
    sqlite_where=QUEUED,
)
Index("ix_link_due", link.c.due_at, sqlite_where=RETRY)
Index("ix_link_again", link.c.lane_id, link.c.due_at, link.c.id, sqlite_where=REVISIT)
Index("ix_link_lease", link.c.lease_expires, sqlite_where=LEASED)
_HAS_PARENT = link.c.parent_id.is_not(None)
Index("ix_link_parent", link.c.parent_id, sqlite_where=_HAS_PARENT)
Index(
    "ix_link_alias",
    link.c.alias_of,
    sqlite_where=link.c.alias_of.is_not(None),
)

WORST = Index("ix_link_worst", link.c.score.desc(), sqlite_where=QUEUED)
"""Only where the queue is bounded (`max_queue`), for it makes every new link dearer; see `schema.follow_bound`.

Read backwards it gives the worst link first and, as ids are appended in ascending order, of equals the latest first.
"""
link.indexes.discard(WORST)  # the metadata is what every store has

page = Table(
    "page",
    metadata,
    Column("id", ID, primary_key=True),
    Column("link_id", ID, ForeignKey("link.id", ondelete="CASCADE"), nullable=False),
    Column("attempt", Integer, nullable=False, comment="attempt of the lease that brought it"),
    Column("digest", LargeBinary(16), nullable=False, comment="of the outcome as reported: knows a repeat"),
    Column("fetched_at", Float(53), nullable=False),
    Column("status", Integer, nullable=True, comment="HTTP status; NULL when there was no answer"),
    Column("error", Text, nullable=True, comment="kind and message of a failure; NULL for a page"),
    Column("url", Text, nullable=True, comment="final URL, where it is another than the link's"),
    _flag("counted", "it took part in the statistics"),
    _real("relevance"),
    _flag("hit", ""),
    Column("duplicate_of", ID, nullable=True, comment="link whose page had this text first"),
    _flag("templated", "the same text but for digits as an earlier page of its template"),
    _flag("changed", "a revisit brought another text"),
    Column("template", BigInteger, nullable=True),
    Column("text_hash", BigInteger, nullable=True, comment="NULL: too short to compare"),
    Column("blank_hash", BigInteger, nullable=True, comment="the same with digits left out"),
    Column(
        "short_hash", BigInteger, nullable=True, comment="of a text too short for that; tells changes only"
    ),
    Column("etag", Text, nullable=True),
    Column("last_modified", Text, nullable=True),
    Column("interval", Float(53), nullable=True, comment="seconds to the next visit; NULL: none is planned"),
    Column("title", Text, nullable=False, server_default=""),
    Column("language", Text, nullable=True),
    Column("evidence", Text, nullable=True, comment="JSON: what its relevance was computed from"),
    sqlite_autoincrement=True,  # for who reads on from the last page read: ids of forgotten pages never come back
)
Index("ix_page_link", page.c.link_id, page.c.id)
Index(
    "ix_page_text",
    page.c.text_hash,
    sqlite_where=page.c.text_hash.is_not(None),
)
Index(
    "ix_page_blank",
    page.c.template,
    page.c.blank_hash,
    sqlite_where=page.c.blank_hash.is_not(None),
)

template = Table(
    "template",
    metadata,
    Column("hash", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("text", Text, nullable=False),
    _count("fetched", "pages fetched"),
    _count("repeated", "of these, duplicates and templated ones"),
    _flag("demoted", "its links come last"),
)

rewrite_rule = Table(
    "rewrite_rule",
    metadata,
    Column("id", ID, primary_key=True),
    Column("host", Text, nullable=False),
    Column("rule", Text, nullable=False, comment="canonical text of the rule"),
    _count("confirmed", "distinct pairs of pages that confirm it"),
    _flag("refuted", "a pair with other texts was found: it never applies"),
    _flag("in_force", ""),
    _count("applied", "keys it rewrote"),
    UniqueConstraint("host", "rule"),
)

rewrite_pair = Table(
    "rewrite_pair",
    metadata,
    Column(
        "rule_id",
        ID,
        ForeignKey("rewrite_rule.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    Column(
        "pair",
        BigInteger,
        primary_key=True,
        autoincrement=False,
        comment="hash of the text that the pair shares",
    ),
)

passage = Table(
    "passage",
    metadata,
    Column("hash", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
)

refusal = Table(
    "refusal",
    metadata,
    Column("reason", Text, primary_key=True),
    _count("refused", "URLs refused for it"),
    Column("example", Text, nullable=False, comment="one of them, cut"),
)

block = Table(
    "block",
    metadata,
    Column("id", ID, primary_key=True),
    Column(
        "pattern",
        Text,
        nullable=False,
        unique=True,
        comment="regular expression: URLs that match are refused",
    ),
)

upkeep = Table(
    "upkeep",
    metadata,
    Column("kind", Text, primary_key=True),
    Column("at", Float(53), nullable=False),
    Column("detail", Text, nullable=False, comment="JSON object: what came of it"),
    CheckConstraint("kind IN ('check', 'backup', 'vacuum')", name="kind"),
)

LASTING: tuple[Table, ...] = (
    crawl,
    term,
    pair,
    posterior,
    host,
    scope,
    part,
    lane,
    link,
    page,
    template,
    rewrite_rule,
    rewrite_pair,
    passage,
    refusal,
    block,
)
"""What a crawl is made of, in an order in which what is referred to comes first.

Left out: the owners of leases, which belong to one machine, and the upkeep of one file.
"""

VIEWS = {
    "v_queue": """
        SELECT link.id, link.score, link.url, host.name AS host, subtree.key AS subtree, cluster.key AS cluster,
               link.depth, link.demoted, host.ready_at, parent.url AS parent
        FROM link JOIN lane ON lane.id = link.lane_id JOIN host ON host.id = lane.host_id
             JOIN part AS subtree ON subtree.id = lane.subtree_id JOIN part AS cluster ON cluster.id = lane.cluster_id
             LEFT JOIN link AS parent ON parent.id = link.parent_id
        WHERE link.state = 'queued'""",
    "v_parts": "SELECT id, kind, key, pages, hits, scheduled FROM part",
    "v_terms": "SELECT bit, word, stem, df, occurrences, passages, evidence_pages, weight FROM term",
    "v_hosts": """
        SELECT id, name, ready_at, blocked_until, delay, max_in_flight, in_flight, pages, failures, lanes,
               robots_status, robots_until, crawl_delay, note FROM host""",
    "v_pages": """
        SELECT page.id, page.link_id, link.url, page.fetched_at, page.status, page.relevance, page.hit,
               page.duplicate_of, page.templated, page.title, page.error
        FROM page JOIN link ON link.id = page.link_id""",
}
"""Views with stable names, for people with a SQL shell. Only migrations create them."""
