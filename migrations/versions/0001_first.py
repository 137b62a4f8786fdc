"""The first schema.

Revision ID: 0001
Revises:
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "block",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "pattern", sa.Text(), nullable=False, comment="regular expression: URLs that match are refused"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_block")),
        sa.UniqueConstraint("pattern", name=op.f("uq_block_pattern")),
    )
    op.create_table(
        "crawl",
        sa.Column(
            "id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column(
            "store_id", sa.Text(), nullable=False, comment="identity of this store; every lease carries it"
        ),
        sa.Column("created_at", sa.Float(precision=53), nullable=False),
        sa.Column("query", sa.Text(), nullable=False, comment="as given; may be empty"),
        sa.Column("settings", sa.Text(), nullable=False, comment="JSON object"),
        sa.Column("key_rules", sa.Text(), nullable=False, comment="name of the key preset"),
        sa.Column("key_version", sa.Integer(), nullable=False, comment="version of that preset's rules"),
        sa.Column("seed", sa.BigInteger(), nullable=False, comment="seed of all jitter"),
        sa.Column(
            "links",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="the last link id given out; ids never come back",
        ),
        sa.Column(
            "queued",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="links in this state",
        ),
        sa.Column(
            "leased",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="links in this state",
        ),
        sa.Column(
            "waiting",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="links in this state",
        ),
        sa.Column(
            "done",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="links in this state",
        ),
        sa.Column(
            "dead",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="links in this state",
        ),
        sa.Column(
            "skipped",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="links in this state",
        ),
        sa.Column(
            "fetched",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="links whose page was fetched, however often",
        ),
        sa.Column(
            "pages",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="of these, links whose page counts in the statistics",
        ),
        sa.Column(
            "hits",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="of the pages that count, those that brought new on-topic content",
        ),
        sa.Column(
            "relevant",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="of the pages that count, those with a relevance of 0.15 or more",
        ),
        sa.Column(
            "relevance",
            sa.Float(precision=53),
            server_default=sa.text("0"),
            nullable=False,
            comment="sum of the relevance of these pages",
        ),
        sa.Column(
            "texts",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="pages whose text took part in the statistics of the terms",
        ),
        sa.Column(
            "words",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="words in the main texts of these pages",
        ),
        sa.Column(
            "leases",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="leases given, ever",
        ),
        sa.Column(
            "revisits",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="of these, leases of links that had been fetched before",
        ),
        sa.Column(
            "rescores",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="rescoring updates, ever",
        ),
        sa.Column(
            "rescored",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="rows that they changed",
        ),
        sa.Column(
            "rules",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="changes of scope, demotions and rewrite rules: who caches them compares this",
        ),
        sa.Column(
            "moment",
            sa.Float(precision=53),
            server_default=sa.text("0"),
            nullable=False,
            comment="the clock at the last change: tells a clock that went back",
        ),
        sa.Column(
            "stop_state",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="JSON: the counters of the stop rules",
        ),
        sa.Column(
            "stop_reason", sa.Text(), nullable=True, comment="why the crawl ended last; history, never a gate"
        ),
        sa.Column("stop_detail", sa.Text(), nullable=True, comment="JSON: the numbers behind it"),
        sa.Column("stop_at", sa.Float(precision=53), nullable=True),
        sa.CheckConstraint("id = 1", name=op.f("ck_crawl_one_row")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_crawl")),
    )
    op.create_table(
        "host",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False, comment="what shares one delay: a host, or a domain"),
        sa.Column(
            "ready_at",
            sa.Float(precision=53),
            server_default=sa.text("0"),
            nullable=False,
            comment="no lease before",
        ),
        sa.Column(
            "blocked_until",
            sa.Float(precision=53),
            nullable=True,
            comment="no lease before, by the operator or a rule; NULL: not blocked",
        ),
        sa.Column(
            "delay",
            sa.Float(precision=53),
            nullable=True,
            comment="seconds between two leases; NULL: the default",
        ),
        sa.Column("max_in_flight", sa.Integer(), nullable=True, comment="NULL: the default"),
        sa.Column(
            "in_flight", sa.BigInteger(), server_default=sa.text("0"), nullable=False, comment="leases now"
        ),
        sa.Column(
            "pages", sa.BigInteger(), server_default=sa.text("0"), nullable=False, comment="pages fetched"
        ),
        sa.Column(
            "failures",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="host-wide failures in a row",
        ),
        sa.Column(
            "lanes", sa.BigInteger(), server_default=sa.text("0"), nullable=False, comment="lanes it has"
        ),
        sa.Column(
            "robots_status",
            sa.Integer(),
            nullable=True,
            comment="status of the last robots.txt; NULL: never asked",
        ),
        sa.Column("robots_until", sa.Float(precision=53), nullable=True, comment="when that outcome expires"),
        sa.Column(
            "robots_failures",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="times in a row that robots.txt could not be had",
        ),
        sa.Column(
            "crawl_delay",
            sa.Float(precision=53),
            nullable=True,
            comment="as robots.txt asks, clamped; NULL: it does not",
        ),
        sa.Column(
            "group_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=True,
            comment="the host that its links queue with, sharing one delay; NULL: they queue by themselves",
        ),
        sa.Column(
            "languages",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="leading language segments seen",
        ),
        sa.Column("note", sa.Text(), nullable=True, comment="what was clamped or ignored last"),
        sa.CheckConstraint("in_flight >= 0", name=op.f("ck_host_in_flight")),
        sa.ForeignKeyConstraint(["group_id"], ["host.id"], name=op.f("fk_host_group_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_host")),
        sa.UniqueConstraint("name", name=op.f("uq_host_name")),
    )
    op.create_table(
        "owner",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "name",
            sa.Text(),
            nullable=True,
            comment="worker name; NULL: the lease belongs to the process below",
        ),
        sa.Column("boot", sa.Text(), nullable=True, comment="boot id of its machine"),
        sa.Column("namespace", sa.Text(), nullable=True, comment="its pid namespace"),
        sa.Column("pid", sa.Integer(), nullable=True),
        sa.Column(
            "started",
            sa.BigInteger(),
            nullable=True,
            comment="clock ticks after boot: tells a reused pid apart",
        ),
        sa.Column("opened_at", sa.Float(precision=53), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_owner")),
    )
    op.create_table(
        "pair",
        sa.Column(
            "bit",
            sa.Integer(),
            autoincrement=False,
            nullable=False,
            comment="the pair of terms bit and bit + 1",
        ),
        sa.Column(
            "df",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="pages where the two stand side by side in the main text",
        ),
        sa.Column(
            "occurrences",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="how often they do in all main texts",
        ),
        sa.PrimaryKeyConstraint("bit", name=op.f("pk_pair")),
    )
    op.create_table(
        "part",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column(
            "pages",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="pages fetched that count",
        ),
        sa.Column(
            "hits", sa.BigInteger(), server_default=sa.text("0"), nullable=False, comment="of these, hits"
        ),
        sa.Column(
            "fetched",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="of a subtree: links whose page was fetched",
        ),
        sa.Column(
            "scheduled",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="leases given, those that came back not counted",
        ),
        sa.CheckConstraint("kind IN ('subtree', 'cluster')", name=op.f("ck_part_kind")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_part")),
        sa.UniqueConstraint("kind", "key", name=op.f("uq_part_kind_key")),
    )
    op.create_index(
        "ix_part_fruitful",
        "part",
        ["kind", "hits"],
        unique=False,
        sqlite_where=sa.text("hits > 0"),
        postgresql_where=sa.text("hits > 0"),
    )
    op.create_table(
        "passage",
        sa.Column(
            "hash", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_passage")),
    )
    op.create_table(
        "posterior",
        sa.Column("feature", sa.Text(), nullable=False),
        sa.Column(
            "position", sa.Integer(), nullable=False, comment="order of the features; the intercept is last"
        ),
        sa.Column("mean", sa.Float(precision=53), server_default=sa.text("0"), nullable=False, comment=""),
        sa.Column(
            "precision",
            sa.Float(precision=53),
            server_default=sa.text("0"),
            nullable=False,
            comment="1 / variance",
        ),
        sa.Column(
            "weight", sa.Float(precision=53), nullable=True, comment="weight in use; NULL for the intercept"
        ),
        sa.PrimaryKeyConstraint("feature", name=op.f("pk_posterior")),
    )
    op.create_table(
        "refusal",
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column(
            "refused",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="URLs refused for it",
        ),
        sa.Column("example", sa.Text(), nullable=False, comment="one of them, cut"),
        sa.PrimaryKeyConstraint("reason", name=op.f("pk_refusal")),
    )
    op.create_table(
        "rewrite_rule",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("rule", sa.Text(), nullable=False, comment="canonical text of the rule"),
        sa.Column(
            "confirmed",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="distinct pairs of pages that confirm it",
        ),
        sa.Column(
            "refuted",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="a pair with other texts was found: it never applies",
        ),
        sa.Column("in_force", sa.Boolean(), server_default=sa.text("false"), nullable=False, comment=""),
        sa.Column(
            "applied", sa.BigInteger(), server_default=sa.text("0"), nullable=False, comment="keys it rewrote"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rewrite_rule")),
        sa.UniqueConstraint("host", "rule", name=op.f("uq_rewrite_rule_host_rule")),
    )
    op.create_table(
        "scope",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("prefix", sa.Text(), nullable=False, comment="path that it begins with"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scope")),
        sa.UniqueConstraint("host", "prefix", name=op.f("uq_scope_host_prefix")),
    )
    op.create_table(
        "template",
        sa.Column(
            "hash", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column(
            "fetched", sa.BigInteger(), server_default=sa.text("0"), nullable=False, comment="pages fetched"
        ),
        sa.Column(
            "repeated",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="of these, duplicates and templated ones",
        ),
        sa.Column(
            "demoted",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="its links come last",
        ),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_template")),
    )
    op.create_table(
        "term",
        sa.Column(
            "bit",
            sa.Integer(),
            autoincrement=False,
            nullable=False,
            comment="its bit in every hit mask, 0 to 63",
        ),
        sa.Column("word", sa.Text(), nullable=False, comment="as the query has it, folded"),
        sa.Column("stem", sa.Text(), nullable=False),
        sa.Column(
            "df",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="pages that hold it in the main text",
        ),
        sa.Column(
            "occurrences",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="its occurrences in all main texts",
        ),
        sa.Column(
            "passages",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="distinct relevant passages that hold it",
        ),
        sa.Column(
            "evidence_pages",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="pages that brought such a passage",
        ),
        sa.Column(
            "weight",
            sa.Float(precision=53),
            server_default=sa.text("1"),
            nullable=False,
            comment="weight in use: every cached score was computed with it",
        ),
        sa.PrimaryKeyConstraint("bit", name=op.f("pk_term")),
    )
    op.create_table(
        "lane",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("host_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("subtree_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("cluster_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "pages",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="pages fetched that count",
        ),
        sa.Column(
            "relevance",
            sa.Float(precision=53),
            server_default=sa.text("0"),
            nullable=False,
            comment="sum of their relevance",
        ),
        sa.Column(
            "head_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=True,
            comment="best queued link; NULL: nothing is queued",
        ),
        sa.Column(
            "lift",
            sa.Float(precision=53),
            server_default=sa.text("0"),
            nullable=False,
            comment="what its fetched pages add to the rank of its links, as of the last of them",
        ),
        sa.Column("head_score", sa.Float(precision=53), nullable=True, comment=""),
        sa.Column("head_rank", sa.Float(precision=53), nullable=True, comment="head_score + lift"),
        sa.Column("head_demoted", sa.Boolean(), nullable=True),
        sa.Column(
            "shut",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="its host or subtree has all the pages that a limit allows: nothing new is leased of it",
        ),
        sa.Column(
            "again_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=True,
            comment="its fetched page that is to be visited first",
        ),
        sa.Column("again_due", sa.Float(precision=53), nullable=True, comment="when that is due"),
        sa.ForeignKeyConstraint(["cluster_id"], ["part.id"], name=op.f("fk_lane_cluster_id")),
        sa.ForeignKeyConstraint(["host_id"], ["host.id"], name=op.f("fk_lane_host_id")),
        sa.ForeignKeyConstraint(["subtree_id"], ["part.id"], name=op.f("fk_lane_subtree_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_lane")),
        sa.UniqueConstraint(
            "host_id", "subtree_id", "cluster_id", name=op.f("uq_lane_host_id_subtree_id_cluster_id")
        ),
    )
    op.create_index(
        "ix_lane_again",
        "lane",
        ["again_due", "again_id"],
        unique=False,
        sqlite_where=sa.text("again_id IS NOT NULL"),
        postgresql_where=sa.text("again_id IS NOT NULL"),
    )
    op.create_index("ix_lane_cluster_id", "lane", ["cluster_id"], unique=False)
    op.create_index(
        "ix_lane_order",
        "lane",
        ["head_demoted", sa.literal_column("head_rank DESC"), "head_id"],
        unique=False,
        sqlite_where=sa.text("head_id IS NOT NULL AND shut = false"),
        postgresql_where=sa.text("head_id IS NOT NULL AND shut = false"),
    )
    op.create_index("ix_lane_subtree_id", "lane", ["subtree_id"], unique=False)
    op.create_table(
        "rewrite_pair",
        sa.Column(
            "rule_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column(
            "pair",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="hash of the text that the pair shares",
        ),
        sa.ForeignKeyConstraint(
            ["rule_id"], ["rewrite_rule.id"], name=op.f("fk_rewrite_pair_rule_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("rule_id", "pair", name=op.f("pk_rewrite_pair")),
    )
    op.create_table(
        "link",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            comment="discovery number",
        ),
        sa.Column("url", sa.Text(), nullable=False, comment="fetch URL, byte for byte"),
        sa.Column(
            "key",
            sa.Text(),
            nullable=True,
            comment="only where a learned rule rewrote it; else the key rules give it",
        ),
        sa.Column("key_hash", sa.LargeBinary(length=16), nullable=False),
        sa.Column(
            "n",
            sa.Integer(),
            server_default=sa.text("0"),
            nullable=False,
            comment="tells keys of one hash apart",
        ),
        sa.Column("lane_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("parent_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column(
            "alias_of",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=True,
            comment="the link whose page this URL led to",
        ),
        sa.Column(
            "depth",
            sa.Integer(),
            server_default=sa.text("0"),
            nullable=False,
            comment="least clicks from a seed",
        ),
        sa.Column(
            "anchor_hits", sa.BigInteger(), server_default=sa.text("0"), nullable=False, comment="hit mask"
        ),
        sa.Column(
            "url_hits", sa.BigInteger(), server_default=sa.text("0"), nullable=False, comment="hit mask"
        ),
        sa.Column(
            "context_hits", sa.BigInteger(), server_default=sa.text("0"), nullable=False, comment="hit mask"
        ),
        sa.Column(
            "phrase",
            sa.Integer(),
            server_default=sa.text("0"),
            nullable=False,
            comment="1: two terms in the anchor",
        ),
        sa.Column(
            "parent_relevance",
            sa.Float(precision=53),
            server_default=sa.text("0"),
            nullable=False,
            comment="",
        ),
        sa.Column("floor", sa.Float(precision=53), server_default=sa.text("0"), nullable=False, comment=""),
        sa.Column("factor", sa.Float(precision=53), server_default=sa.text("1"), nullable=False, comment=""),
        sa.Column("decay", sa.Float(precision=53), server_default=sa.text("1"), nullable=False, comment=""),
        sa.Column("score", sa.Float(precision=53), nullable=False),
        sa.Column(
            "given",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="the score was given, by the caller or as a seed: never rescored",
        ),
        sa.Column("seed", sa.Boolean(), server_default=sa.text("false"), nullable=False, comment=""),
        sa.Column(
            "demoted",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="its template repeats itself",
        ),
        sa.Column(
            "on_repeats",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="only pages whose text was there before carry it",
        ),
        sa.Column(
            "template", sa.BigInteger(), nullable=True, comment="hash of its template; NULL: it has none"
        ),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column(
            "reason",
            sa.Text(),
            nullable=True,
            comment="why it is dead or skipped; the last error of a waiting one",
        ),
        sa.Column(
            "attempt",
            sa.Integer(),
            server_default=sa.text("0"),
            nullable=False,
            comment="leases so far; the fence",
        ),
        sa.Column(
            "visits", sa.Integer(), server_default=sa.text("0"), nullable=False, comment="pages observed"
        ),
        sa.Column(
            "failures", sa.Integer(), server_default=sa.text("0"), nullable=False, comment="failures in a row"
        ),
        sa.Column("failures_total", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column(
            "due_at",
            sa.Float(precision=53),
            nullable=True,
            comment="when a waiting link comes up again; kept while it is leased for that",
        ),
        sa.Column(
            "revisit",
            sa.Float(precision=53),
            nullable=True,
            comment="seconds between visits; 0: never again; NULL: as the store's rule says",
        ),
        sa.Column(
            "owner_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=True,
            comment="who holds the lease",
        ),
        sa.Column("lease_expires", sa.Float(precision=53), nullable=True, comment=""),
        sa.Column("found_at", sa.Float(precision=53), nullable=False),
        sa.CheckConstraint("(state = 'leased') = (lease_expires IS NOT NULL)", name=op.f("ck_link_lease")),
        sa.CheckConstraint("state <> 'waiting' OR due_at IS NOT NULL", name=op.f("ck_link_due")),
        sa.CheckConstraint(
            "state IN ('queued', 'leased', 'waiting', 'done', 'dead', 'skipped')", name=op.f("ck_link_state")
        ),
        sa.CheckConstraint("score >= -1.7e308 AND score <= 1.7e308", name=op.f("ck_link_score")),
        sa.ForeignKeyConstraint(
            ["alias_of"], ["link.id"], name=op.f("fk_link_alias_of"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(["lane_id"], ["lane.id"], name=op.f("fk_link_lane_id")),
        sa.ForeignKeyConstraint(["owner_id"], ["owner.id"], name=op.f("fk_link_owner_id")),
        sa.ForeignKeyConstraint(
            ["parent_id"], ["link.id"], name=op.f("fk_link_parent_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_link")),
        sa.UniqueConstraint("key_hash", "n", name=op.f("uq_link_key_hash_n")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_link_again",
        "link",
        ["lane_id", "due_at", "id"],
        unique=False,
        sqlite_where=sa.text("state = 'waiting' AND visits > 0"),
        postgresql_where=sa.text("state = 'waiting' AND visits > 0"),
    )
    op.create_index(
        "ix_link_alias",
        "link",
        ["alias_of"],
        unique=False,
        sqlite_where=sa.text("alias_of IS NOT NULL"),
        postgresql_where=sa.text("alias_of IS NOT NULL"),
    )
    op.create_index(
        "ix_link_due",
        "link",
        ["due_at"],
        unique=False,
        sqlite_where=sa.text("state = 'waiting' AND visits = 0"),
        postgresql_where=sa.text("state = 'waiting' AND visits = 0"),
    )
    op.create_index(
        "ix_link_lease",
        "link",
        ["lease_expires"],
        unique=False,
        sqlite_where=sa.text("state = 'leased'"),
        postgresql_where=sa.text("state = 'leased'"),
    )
    op.create_index("ix_link_parent", "link", ["parent_id"], unique=False)
    op.create_index(
        "ix_link_queue",
        "link",
        ["lane_id", "demoted", sa.literal_column("score DESC"), "id"],
        unique=False,
        sqlite_where=sa.text("state = 'queued'"),
        postgresql_where=sa.text("state = 'queued'"),
    )
    op.create_table(
        "page",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("link_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False, comment="attempt of the lease that brought it"),
        sa.Column(
            "digest",
            sa.LargeBinary(length=16),
            nullable=False,
            comment="of the outcome as reported: knows a repeat",
        ),
        sa.Column("fetched_at", sa.Float(precision=53), nullable=False),
        sa.Column(
            "status", sa.Integer(), nullable=True, comment="HTTP status; NULL when there was no answer"
        ),
        sa.Column(
            "error", sa.Text(), nullable=True, comment="kind and message of a failure; NULL for a page"
        ),
        sa.Column("url", sa.Text(), nullable=True, comment="final URL, where it is another than the link's"),
        sa.Column(
            "counted",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="it took part in the statistics",
        ),
        sa.Column(
            "relevance", sa.Float(precision=53), server_default=sa.text("0"), nullable=False, comment=""
        ),
        sa.Column("hit", sa.Boolean(), server_default=sa.text("false"), nullable=False, comment=""),
        sa.Column(
            "duplicate_of",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=True,
            comment="link whose page had this text first",
        ),
        sa.Column(
            "templated",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="the same text but for digits as an earlier page of its template",
        ),
        sa.Column(
            "changed",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="a revisit brought another text",
        ),
        sa.Column("template", sa.BigInteger(), nullable=True),
        sa.Column("text_hash", sa.BigInteger(), nullable=True, comment="NULL: too short to compare"),
        sa.Column("blank_hash", sa.BigInteger(), nullable=True, comment="the same with digits left out"),
        sa.Column(
            "short_hash",
            sa.BigInteger(),
            nullable=True,
            comment="of a text too short for that; tells changes only",
        ),
        sa.Column("etag", sa.Text(), nullable=True),
        sa.Column("last_modified", sa.Text(), nullable=True),
        sa.Column(
            "interval",
            sa.Float(precision=53),
            nullable=True,
            comment="seconds to the next visit; NULL: none is planned",
        ),
        sa.Column("title", sa.Text(), server_default="", nullable=False),
        sa.Column("language", sa.Text(), nullable=True),
        sa.Column("evidence", sa.Text(), nullable=True, comment="JSON: what its relevance was computed from"),
        sa.ForeignKeyConstraint(["link_id"], ["link.id"], name=op.f("fk_page_link_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_page")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_page_blank",
        "page",
        ["template", "blank_hash"],
        unique=False,
        sqlite_where=sa.text("blank_hash IS NOT NULL"),
        postgresql_where=sa.text("blank_hash IS NOT NULL"),
    )
    op.create_index("ix_page_link", "page", ["link_id", "id"], unique=False)
    op.create_index(
        "ix_page_text",
        "page",
        ["text_hash"],
        unique=False,
        sqlite_where=sa.text("text_hash IS NOT NULL"),
        postgresql_where=sa.text("text_hash IS NOT NULL"),
    )
    op.execute("""CREATE VIEW v_queue AS
        SELECT link.id, link.score, link.url, host.name AS host, subtree.key AS subtree, cluster.key AS cluster,
               link.depth, link.demoted, host.ready_at, parent.url AS parent
        FROM link JOIN lane ON lane.id = link.lane_id JOIN host ON host.id = lane.host_id
             JOIN part AS subtree ON subtree.id = lane.subtree_id JOIN part AS cluster ON cluster.id = lane.cluster_id
             LEFT JOIN link AS parent ON parent.id = link.parent_id
        WHERE link.state = 'queued'""")
    op.execute("""CREATE VIEW v_parts AS SELECT id, kind, key, pages, hits, scheduled FROM part""")
    op.execute(
        """CREATE VIEW v_terms AS SELECT bit, word, stem, df, occurrences, passages, evidence_pages, weight FROM term"""
    )
    op.execute("""CREATE VIEW v_hosts AS
        SELECT id, name, ready_at, blocked_until, delay, max_in_flight, in_flight, pages, failures, lanes,
               robots_status, robots_until, crawl_delay, note FROM host""")
    op.execute("""CREATE VIEW v_pages AS
        SELECT page.id, page.link_id, link.url, page.fetched_at, page.status, page.relevance, page.hit,
               page.duplicate_of, page.templated, page.title, page.error
        FROM page JOIN link ON link.id = page.link_id""")
