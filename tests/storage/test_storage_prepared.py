"""Statements that the driver runs itself: their values in order, and their rows."""

from __future__ import annotations

import pytest
from sqlalchemy import bindparam, create_engine, insert, literal_column, select, update

from pagesift_store.storage.prepared import Prepared, Runner
from pagesift_store.storage.statements import links as links_sql
from pagesift_store.storage.tables import host

NAMED = select(host.c.id, host.c.name)


@pytest.mark.parametrize(
    ("statement", "given", "values"),
    [
        (NAMED, {}, []),
        (NAMED.where(host.c.id == bindparam("the_host")), {"the_host": 7}, [7]),
        (update(host).values(name=bindparam("name"), lanes=bindparam("n")), {"n": 3, "name": "a"}, ["a", 3]),
        (NAMED.where(host.c.id == bindparam("the_host")).limit(1), {"the_host": 7}, [7]),
        (update(host).values(lanes=host.c.lanes + 1, note=None), {}, []),
        (update(host).values(lanes=literal_column("1")), {}, []),
    ],
)
def test_values_stand_in_the_order_of_the_statement(
    statement: object, given: dict[str, object], values: list[object]
) -> None:
    ready = Prepared(statement)  # type: ignore[arg-type]
    assert list(ready.bound(given)) == values
    assert len(ready.names) == len(values)


def test_constants_stand_in_the_text() -> None:
    statement = (
        update(host)
        .where(host.c.name == "it's")
        .values(lanes=host.c.lanes + 1, note=None, delay=bindparam("d"))
    )
    ready = Prepared(statement)
    assert ready.sql == "UPDATE host SET delay=?, lanes=(host.lanes + 1), note=NULL WHERE host.name = 'it''s'"
    assert ready.names == ("d",)


def test_a_real_is_no_constant() -> None:
    """SQLite may read the text of a real as its neighbour, and a resume would not equal the run that was killed."""
    assert "delay=0.0" in Prepared(update(host).values(delay=0.0)).sql
    with pytest.raises(TypeError, match=r"0\.1 is a constant"):
        Prepared(update(host).values(delay=0.1))


def test_a_missing_value_is_an_error() -> None:
    with pytest.raises(KeyError, match="the_host"):
        Prepared(NAMED.where(host.c.id == bindparam("the_host"))).bound({"the_other": 7})


def test_rows_are_named_tuples() -> None:
    row = Prepared(NAMED).row((7, "a.example"))
    assert (row.id, row.name) == (7, "a.example")
    assert row == (7, "a.example")
    assert row._replace(id=8)._asdict() == {"id": 8, "name": "a.example"}


@pytest.mark.parametrize("names", [("id", "name"), ("name", "id")])
def test_rows_are_written_whatever_the_order_of_their_values(names: tuple[str, ...]) -> None:
    statement = insert(host).values(id=bindparam("id"), name=bindparam("name"))
    values = {"id": 7, "name": "a.example"}
    with create_engine("sqlite://").begin() as connection:
        connection.exec_driver_sql("CREATE TABLE host (id INTEGER, name TEXT)")
        runner = Runner(connection)
        runner.run_rows(statement, names, [tuple(values[name] for name in names)])
        runner.run_rows(statement, names, [])
        assert runner.rows(select(host.c.id, host.c.name)) == [(7, "a.example")]


@pytest.mark.parametrize("names", [links_sql.ON_PAGES, links_sql.BY_HAND, links_sql.GIVEN])
def test_the_rows_of_new_links_stand_in_the_order_of_their_statement(names: tuple[str, ...]) -> None:
    assert Prepared(links_sql.add_queued_links(names)).names == names
