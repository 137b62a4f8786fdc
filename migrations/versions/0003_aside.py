"""Know which lanes come last; check states one by one; index only links that have a parent, and bounded queues.

Revision ID: 0003
Revises: 0002
"""

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

FLAG = "{} BOOLEAN DEFAULT false NOT NULL"
STATES = ("queued", "leased", "waiting", "done", "dead", "skipped")


def upgrade() -> None:
    flags = f"{FLAG.format('dry')}, \n\t{FLAG.format('spent')}, \n\tCONSTRAINT pk_lane"
    listed = ", ".join(f"'{state}'" for state in STATES)
    _edit("part", "CONSTRAINT pk_part", FLAG.format("dry") + ", \n\tCONSTRAINT pk_part")
    _edit("lane", "CONSTRAINT pk_lane", flags)
    _edit("link", f"state IN ({listed})", " OR ".join(f"state = '{state}'" for state in STATES))

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


def _edit(table: str, old: str, new: str) -> None:
    """Have `new` in the place of `old` in the definition of a table.

    Columns that are added so stand in every row with their defaults, and a check that says the same in other words
    holds for every row. So the text alone is written: to write the rows anew takes minutes for ten million links.
    """
    connection = op.get_bind()
    sql = connection.execute(
        sa.text("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = :name"), {"name": table}
    ).scalar_one()
    if sql.count(old) != 1:
        raise RuntimeError(f"the definition of the table {table} does not hold {old!r}")
    edited = sql.replace(old, new)
    is_empty = connection.exec_driver_sql(f"SELECT 1 FROM {table} LIMIT 1").first() is None  # noqa: S608
    if is_empty:
        _remake(table, edited)
        return
    op.execute("PRAGMA writable_schema=ON")
    try:
        connection.execute(
            sa.text("UPDATE sqlite_schema SET sql = :sql WHERE type = 'table' AND name = :name"),
            {"name": table, "sql": edited},
        )
    except sa.exc.DatabaseError:  # some systems build SQLite so that nobody may
        _remake(table, edited)
    finally:
        op.execute("PRAGMA writable_schema=RESET")


def _remake(table: str, sql: str) -> None:
    """Make a table anew by this definition, with its rows and its indexes."""
    connection = op.get_bind()
    columns = ", ".join(f'"{column["name"]}"' for column in sa.inspect(connection).get_columns(table))
    indexes = (
        connection.execute(
            sa.text(
                "SELECT sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = :name AND sql IS NOT NULL"
            ),
            {"name": table},
        )
        .scalars()
        .all()
    )
    # Nothing that refers to the table follows it to its other name: upgrades run with the old way of renaming.
    op.rename_table(table, f"_alembic_tmp_{table}")
    op.execute(sql)
    op.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM _alembic_tmp_{table}")  # noqa: S608
    op.drop_table(f"_alembic_tmp_{table}")
    for index in indexes:
        op.execute(index)


def _mark_spent(settings: dict[str, Any]) -> None:
    op.get_bind().execute(
        sa.text(
            "UPDATE lane SET spent = true WHERE cluster_id IN"
            " (SELECT id FROM part WHERE hits = 0 AND scheduled >= :cap)"
        ),
        {"cap": settings.get("cluster_cap", 20)},
    )
