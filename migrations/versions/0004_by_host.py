"""Find the best lane of each host, so that a lease need not pass all lanes of those that rest.

Revision ID: 0004
Revises: 0003
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    condition = sa.text("head_id IS NOT NULL AND shut = false")
    op.create_index(
        "ix_lane_host",
        "lane",
        ["host_id", "dry", "spent", "head_demoted", sa.literal_column("head_rank DESC"), "head_id"],
        unique=False,
        sqlite_where=condition,
        postgresql_where=condition,
    )
