"""Changes of a table's definition that leave every row as it is."""

from collections.abc import Mapping

import sqlalchemy as sa
from alembic import op


def edit(table: str, changes: Mapping[str, str]) -> None:
    """Have other words in the definition of a table, each in the place of those that stand there once.

    Columns that are added so stand in every row with their defaults, and a check that says the same in other words
    holds for every row. So the text alone is written: to write the rows anew takes minutes for ten million links.
    """
    connection = op.get_bind()
    sql = connection.execute(
        sa.text("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = :name"), {"name": table}
    ).scalar_one()
    edited = sql
    for old, new in changes.items():
        if sql.count(old) != 1:
            raise RuntimeError(f"the definition of the table {table} does not hold {old!r} once")
        edited = edited.replace(old, new)
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
