"""Know which lanes come last; check states one by one; index only links that have a parent.

Revision ID: 0003
Revises: 0002
"""

import json

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

FLAG = "{} BOOLEAN DEFAULT false NOT NULL"
STATES = ("queued", "leased", "waiting", "done", "dead", "skipped")


def upgrade() -> None:
    # Columns that are added so stand in every row with their defaults, and a check that says the same in other words
    # holds for every row: no table has to be written anew, which takes minutes for one of ten million links.
    op.execute("PRAGMA writable_schema=ON")
    _edit("part", "CONSTRAINT pk_part", FLAG.format("dry") + ", \n\tCONSTRAINT pk_part")
    flags = f"{FLAG.format('dry')}, \n\t{FLAG.format('spent')}, \n\tCONSTRAINT pk_lane"
    _edit("lane", "CONSTRAINT pk_lane", flags)
    listed = ", ".join(f"'{state}'" for state in STATES)
    _edit("link", f"state IN ({listed})", " OR ".join(f"state = '{state}'" for state in STATES))
    op.execute("PRAGMA writable_schema=RESET")

    op.drop_index("ix_link_queue", "link")
    op.create_index(
        "ix_link_queue",
        "link",
        ["lane_id", "demoted", sa.literal_column("score DESC")],
        unique=False,
        sqlite_where=sa.text("state = 'queued'"),
        postgresql_where=sa.text("state = 'queued'"),
    )
    op.drop_index("ix_link_parent", "link")
    op.create_index(
        "ix_link_parent",
        "link",
        ["parent_id"],
        unique=False,
        sqlite_where=sa.text("parent_id IS NOT NULL"),
        postgresql_where=sa.text("parent_id IS NOT NULL"),
    )
    op.create_index(
        "ix_part_dry",
        "part",
        ["hits", "pages"],
        unique=False,
        sqlite_where=sa.text("dry = true"),
        postgresql_where=sa.text("dry = true"),
    )
    _mark_spent()
    op.drop_index("ix_lane_order", "lane")
    op.create_index(
        "ix_lane_order",
        "lane",
        ["dry", "spent", "head_demoted", sa.literal_column("head_rank DESC"), "head_id"],
        unique=False,
        sqlite_where=sa.text("head_id IS NOT NULL AND shut = false"),
        postgresql_where=sa.text("head_id IS NOT NULL AND shut = false"),
    )


def _edit(table: str, old: str, new: str) -> None:
    """Write a table's definition, of which `old` must be a part, with `new` in its place."""
    changed = op.get_bind().execute(
        sa.text(
            "UPDATE sqlite_schema SET sql = replace(sql, :old, :new)"
            " WHERE type = 'table' AND name = :name AND instr(sql, :old)"
        ),
        {"name": table, "old": old, "new": new},
    )
    if changed.rowcount != 1:
        raise RuntimeError(f"the definition of the table {table} does not hold {old!r}")


def _mark_spent() -> None:
    settings = op.get_bind().execute(sa.text("SELECT settings FROM crawl")).scalar()
    if settings is None:  # a store that is being made
        return
    op.get_bind().execute(
        sa.text(
            "UPDATE lane SET spent = true WHERE cluster_id IN"
            " (SELECT id FROM part WHERE hits = 0 AND scheduled >= :cap)"
        ),
        {"cap": json.loads(settings).get("cluster_cap", 20)},
    )
