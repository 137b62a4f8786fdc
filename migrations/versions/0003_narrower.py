"""Check states one by one, and index what is looked for only.

Revision ID: 0003
Revises: 0002
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

STATES = ("queued", "leased", "waiting", "done", "dead", "skipped")


def upgrade() -> None:
    # A check that says the same in other words holds for every row: the table has not to be written anew, which takes
    # minutes for one of ten million links.
    op.execute("PRAGMA writable_schema=ON")
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
