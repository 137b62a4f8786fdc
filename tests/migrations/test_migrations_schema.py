"""The migrations make exactly the tables that the code works with."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import create_engine

from pagesift_store.storage import schema, tables
from pagesift_store.storage.engine import Database

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlalchemy import Connection


@pytest.fixture
def migrated(store: Path) -> Iterator[Connection]:
    """An empty store at the head."""
    schema.create(store, lambda _: None)
    with Database(store).reading() as connection:
        yield connection


def ddl(connection: Connection, *kinds: str) -> dict[str, str]:
    """Name → definition of what a database holds of ours."""
    rows = connection.exec_driver_sql("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    ours = {name: sql for kind, name, sql in rows if kind in kinds}
    return {name: sql for name, sql in ours.items() if name not in {schema.VERSION_TABLE, "sqlite_sequence"}}


def unordered(sql: str) -> list[str]:
    """The lines of a definition, those of constraints last and sorted: their order means nothing."""
    lines = [line.strip(" \t,") for line in sql.splitlines()]
    constraints = sorted(line for line in lines if line.startswith("CONSTRAINT"))
    return [line for line in lines if not line.startswith("CONSTRAINT")] + constraints


def test_there_is_one_head_and_the_code_knows_it() -> None:
    assert schema._script().get_heads() == [schema.HEAD]
    assert schema.revisions()[-1] == schema.HEAD


def test_a_new_store_is_at_the_head(migrated: Connection) -> None:
    assert schema.current(migrated) == schema.HEAD


def test_migrated_tables_equal_those_of_the_code(migrated: Connection) -> None:
    """As DDL: Alembic's own comparison sees neither checks nor the conditions of partial indexes."""
    engine = create_engine("sqlite://")
    with engine.connect() as declared:
        tables.metadata.create_all(declared)
        expected = ddl(declared, "table", "index")
    engine.dispose()
    found = ddl(migrated, "table", "index")
    assert sorted(found) == sorted(expected)
    for name, sql in expected.items():
        assert unordered(found[name]) == unordered(sql)


def test_a_bounded_queue_has_one_index_more_and_no_other_difference(
    migrated: Connection, store: Path
) -> None:
    unbounded = ddl(migrated, "table", "index")
    with closing(Database(store)) as database:
        database.write(lambda connection: schema.follow_bound(connection, bounded=True))
        with database.reading() as connection:
            bounded = ddl(connection, "table", "index")
            context = MigrationContext.configure(connection, opts={"version_table": schema.VERSION_TABLE})
            differences = compare_metadata(context, tables.metadata)
    worst = "CREATE INDEX ix_link_worst ON link (score DESC) WHERE state = 'queued'"
    assert bounded == unbounded | {"ix_link_worst": worst}
    assert [(change[0], change[1].name) for change in differences] == [("remove_index", "ix_link_worst")]


def test_migrated_views_equal_those_of_the_code(migrated: Connection) -> None:
    expected = {name: f"CREATE VIEW {name} AS {body}".split() for name, body in tables.VIEWS.items()}
    assert {name: sql.split() for name, sql in ddl(migrated, "view").items()} == expected


@pytest.mark.parametrize("view", sorted(tables.VIEWS))
def test_a_view_can_be_read(migrated: Connection, view: str) -> None:
    assert migrated.exec_driver_sql(f"SELECT * FROM {view}").all() == []


def test_alembic_finds_no_difference(migrated: Connection) -> None:
    context = MigrationContext.configure(migrated, opts={"version_table": schema.VERSION_TABLE})
    assert compare_metadata(context, tables.metadata) == []


def test_there_is_no_other_version_table(migrated: Connection) -> None:
    """A host program that uses Alembic itself has an `alembic_version` of its own."""
    names = migrated.exec_driver_sql("SELECT name FROM sqlite_master WHERE name LIKE '%version%'").scalars()
    assert list(names) == []
    assert (
        migrated.exec_driver_sql(f"SELECT version_num FROM {schema.VERSION_TABLE}").scalar_one()
        == schema.HEAD
    )
