"""Remember when a store was last checked, backed up and vacuumed; forget what pages repeat that are gone.

Revision ID: 0002
Revises: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "upkeep",
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(53), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False, comment="JSON object: what came of it"),
        sa.CheckConstraint("kind IN ('check', 'backup', 'vacuum')", name=op.f("ck_upkeep_kind")),
        sa.PrimaryKeyConstraint("kind", name=op.f("pk_upkeep")),
    )
    op.execute(
        "UPDATE page SET duplicate_of = NULL"
        " WHERE duplicate_of IS NOT NULL AND duplicate_of NOT IN (SELECT id FROM link)"
    )
