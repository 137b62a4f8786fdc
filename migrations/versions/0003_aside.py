"""Know which lanes come last; check states one by one; index only links that have a parent, and bounded queues.

Revision ID: 0003
Revises: 0002
"""

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

from pagesift_store.migrations.editing import edit

revision = "0003"
down_revision = "0002"

FLAG = "{} BOOLEAN DEFAULT false NOT NULL"
STATES = ("queued", "leased", "waiting", "done", "dead", "skipped")


def upgrade() -> None:
    flags = f"{FLAG.format('dry')}, \n\t{FLAG.format('spent')}, \n\tCONSTRAINT pk_lane"
    listed = ", ".join(f"'{state}'" for state in STATES)
    edit("part", {"CONSTRAINT pk_part": FLAG.format("dry") + ", \n\tCONSTRAINT pk_part"})
    edit("lane", {"CONSTRAINT pk_lane": flags})
    edit("link", {f"state IN ({listed})": " OR ".join(f"state = '{state}'" for state in STATES)})

    op.drop_index("ix_link_queue", "link")
    _index(
        "ix_link_queue", "link", ["lane_id", "demoted", sa.literal_column("score DESC")], "state = 'queued'"
    )
    op.drop_index("ix_link_parent", "link")
    _index("ix_link_parent", "link", ["parent_id"], "parent_id IS NOT NULL")
    _index("ix_part_dry", "part", ["hits", "pages"], "dry = true")
    stored = op.get_bind().execute(sa.text("SELECT settings FROM crawl")).scalar()
    settings = None if stored is None else json.loads(stored)  # None: a store that is being made
    if settings is not None:
        _mark_spent(settings)
    op.drop_index("ix_lane_order", "lane")
    ordered = ["dry", "spent", "head_demoted", sa.literal_column("head_rank DESC"), "head_id"]
    _index("ix_lane_order", "lane", ordered, "head_id IS NOT NULL AND shut = false")
    if settings is not None and settings.get("max_queue") is not None:
        _index("ix_link_worst", "link", [sa.literal_column("score DESC")], "state = 'queued'")


def _index(name: str, table: str, columns: list[Any], where: str) -> None:
    condition = sa.text(where)
    op.create_index(name, table, columns, unique=False, sqlite_where=condition, postgresql_where=condition)


def _mark_spent(settings: dict[str, Any]) -> None:
    op.get_bind().execute(
        sa.text(
            "UPDATE lane SET spent = true WHERE cluster_id IN"
            " (SELECT id FROM part WHERE hits = 0 AND scheduled >= :cap)"
        ),
        {"cap": settings.get("cluster_cap", 20)},
    )
