"""Stores of older revisions, with rows in them, brought up and worked with; killed at every statement on the way."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import killing
import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from racing import race
from sqlalchemy import (
    CheckConstraint,
    Column,
    Engine,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    create_engine,
    event,
    text,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable
from store_invariants import violations

from pagesift_store import (
    Frontier,
    Inspector,
    LinkState,
    NotAStore,
    Page,
    SchemaTooNew,
    SchemaTooOld,
    StoreDamaged,
    StoreEmpty,
    StoreMissing,
    upkeep,
)
from pagesift_store.storage import schema, tables
from pagesift_store.storage.engine import APPLICATION_ID, Database

if TYPE_CHECKING:
    from collections.abc import Callable

STORES = sorted((Path(__file__).parent / "stores").glob("*.sql"))


def load(dump: Path, store: Path) -> Path:
    """A store out of its SQL text; what is not in the text is what `schema._prepare` says."""
    with closing(sqlite3.connect(store, isolation_level=None)) as connection:
        for pragma in ("auto_vacuum=INCREMENTAL", f"application_id={APPLICATION_ID}", "journal_mode=WAL"):
            connection.execute(f"PRAGMA {pragma}")
        connection.executescript(dump.read_text())
    return store


@pytest.fixture(params=STORES, ids=lambda dump: dump.stem)
def older(request: pytest.FixtureRequest, store: Path) -> Path:
    return load(request.param, store)


def rows(store: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every table but Alembic's."""
    with closing(sqlite3.connect(store)) as connection:
        names = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        )
        return {
            name: connection.execute(f"SELECT * FROM {name}").fetchall()
            for (name,) in names.fetchall()
            if name != schema.VERSION_TABLE
        }


def begins(rows: list[tuple[Any, ...]], old: list[tuple[Any, ...]] | None) -> bool:
    """Whether each row begins with the old one in its place."""
    return (
        old is not None
        and len(rows) == len(old)
        and all(row[: len(one)] == one for row, one in zip(rows, old, strict=True))
    )


def revision(store: Path) -> str:
    with closing(sqlite3.connect(store)) as connection:
        found: str = connection.execute(f"SELECT version_num FROM {schema.VERSION_TABLE}").fetchone()[0]
        return found


def test_there_is_a_store_of_every_older_revision() -> None:
    assert [dump.stem for dump in STORES] == schema.revisions()[:-1]


def test_a_store_of_a_revision_has_the_tables_of_that_revision(older: Path, tmp_path: Path) -> None:
    """While a revision is not released it may still change; then `make_store.py` has to be run again."""

    def ddl(path: Path) -> set[str]:
        with closing(sqlite3.connect(path)) as connection:
            found = connection.execute(
                "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"
            )
            return {" ".join(sql.replace('"', "").split()) for (sql,) in found}

    made = tmp_path / "made.db"
    made.touch()
    with closing(Database(made, upgrading=True)) as database:
        database.write(lambda connection: schema.upgrade(connection, revision(older)))
    assert ddl(older) == ddl(made)


def test_an_older_store_is_refused_with_the_command_to_run_and_left_alone(older: Path) -> None:
    before = older.read_bytes()
    for act in (Frontier.open, Inspector.open, upkeep.check, lambda store: list(upkeep.export_lines(store))):
        with pytest.raises(SchemaTooOld, match=rf"run `pagesift-store migrate {older}`"):
            act(older)
    assert older.read_bytes() == before


def test_an_older_store_is_brought_up_and_worked_with(older: Path, clock: Callable[[], float]) -> None:
    before = rows(older)
    from_revision = revision(older)
    assert schema.migrate(older)[-1] == schema.HEAD
    after = rows(older)
    # Columns are added behind those that were there, so that old rows are the beginnings of new ones.
    changed = {name for name, found in after.items() if not begins(found, before.get(name))}
    assert changed == ({"page", "upkeep"} if from_revision == "0001" else set())
    assert upkeep.check(older, all_keys=True).findings == ()
    assert violations(older) == []
    with Frontier.open(older, clock=clock) as frontier:
        assert frontier.recover("w") == 2
        for lease in frontier.lease(3):
            frontier.observe(lease, Page(url=lease.url, text="student visa fees " * 30, links=[]))
        assert frontier.status().counts[LinkState.DONE] == 7
        assert frontier.add(["https://a.example/new"])[0].link_id == 32
    assert upkeep.check(older).sound
    assert rows(older.with_name(f"{older.name}.{from_revision}")) == before


def test_an_older_store_with_a_bounded_queue_gets_the_index_that_it_needs(
    older: Path, clock: Callable[[], float]
) -> None:
    with closing(sqlite3.connect(older)) as connection:
        connection.execute("UPDATE crawl SET settings = json_set(settings, '$.max_queue', 10)")
        if revision(older) >= "0003":  # whose release makes the index itself
            connection.execute(str(CreateIndex(tables.WORST).compile(dialect=sqlite.dialect())))
        connection.commit()
    schema.migrate(older)
    with closing(sqlite3.connect(older)) as connection:
        (migrated,) = connection.execute(
            "SELECT sql FROM sqlite_master WHERE name = 'ix_link_worst'"
        ).fetchone()
    assert migrated == str(CreateIndex(tables.WORST).compile(dialect=sqlite.dialect()))
    assert upkeep.check(older).findings == ()
    with Frontier.open(older, clock=clock) as frontier:
        frontier.add(["https://a.example/new"])
        assert frontier.status().counts[LinkState.QUEUED] == 10
    assert violations(older) == []


def test_an_older_backup_is_restored_and_brought_up(older: Path, tmp_path: Path) -> None:
    upkeep.backup(older, tmp_path / "backup.db")
    upkeep.restore(tmp_path / "backup.db", tmp_path / "restored.db")
    assert revision(tmp_path / "restored.db") == revision(older)
    schema.migrate(tmp_path / "restored.db")
    assert upkeep.check(tmp_path / "restored.db").sound


def test_an_open_store_whose_schema_others_change_is_refused_until_it_fits_again(
    older: Path, tmp_path: Path, clock: Callable[[], float]
) -> None:
    """By an older backup that takes its place, or by a newer release that brings it up."""
    upkeep.backup(older, tmp_path / "backup.db")
    schema.migrate(older)
    with Frontier.open(older, clock=clock) as opened:
        opened.add(["https://a.example/before"])
        upkeep.restore(tmp_path / "backup.db", older, force=True)
        before = rows(older)
        for act in (lambda: opened.add(["https://a.example/new"]), lambda: opened.lease(1)):
            with pytest.raises(SchemaTooOld, match=rf"run `pagesift-store migrate {older}`"):
                act()
        assert rows(older) == before
        schema.migrate(older)
        assert opened.add(["https://a.example/new"])[0].link_id == 32
        with closing(sqlite3.connect(older)) as other:
            other.execute(f"UPDATE {schema.VERSION_TABLE} SET version_num = '9999'")
            other.commit()
        with pytest.raises(SchemaTooNew, match="schema 9999, newer than"):
            opened.lease(1)


QUESTIONS: dict[str, Callable[[Frontier | Inspector], object]] = {
    "status": lambda opened: opened.status(),
    "explain": lambda opened: opened.explain("https://a.example/before"),
    "robots": lambda opened: opened.robots("a.example"),
    "dump": lambda opened: list(opened.dump()),
}
LISTINGS: dict[str, Callable[[Inspector], object]] = {
    name: getattr(Inspector, name)
    for name in (
        "last_stop", "settings", "totals", "queue", "parts", "terms", "model", "hosts", "blocks", "leases", "pages",
        "refusals", "templates", "traps",
    )
} | {"each": lambda opened: list(opened.each("queue"))}  # fmt: skip


@pytest.mark.parametrize("question", [*QUESTIONS, *LISTINGS])
def test_an_open_store_whose_schema_others_change_answers_no_question_until_it_fits_again(
    store: Path, tmp_path: Path, clock: Callable[[], float], question: str
) -> None:
    """What the oldest schema lacks would end a question in an error of the database, or in half an answer."""
    load(STORES[0], store)
    upkeep.backup(store, tmp_path / "backup.db")
    schema.migrate(store)
    with Inspector.open(store, clock=clock) as inspector, Frontier.open(store, clock=clock) as frontier:
        frontier.add(["https://a.example/before"])
        upkeep.restore(tmp_path / "backup.db", store, force=True)
        ask = (QUESTIONS | LISTINGS)[question]
        for opened in (inspector, frontier) if question in QUESTIONS else (inspector,):
            with pytest.raises(SchemaTooOld, match=rf"run `pagesift-store migrate {store}`"):
                ask(opened)
        schema.migrate(store)
        frontier.add(["https://a.example/before"])
        for opened in (inspector, frontier) if question in QUESTIONS else (inspector,):
            ask(opened)


def test_an_open_store_that_another_file_took_the_place_of_answers_no_question(
    store: Path, frontier: Callable[..., Frontier]
) -> None:
    frontier().close()
    with Inspector.open(store) as opened:
        store.unlink()
        with pytest.raises(StoreMissing, match="any more; restore a backup"):
            opened.status()
        store.touch()
        with pytest.raises(StoreEmpty, match="is empty; remove it"):
            opened.status()
        with closing(sqlite3.connect(store)) as other:
            other.execute("CREATE TABLE crawl (id INTEGER)")
        with pytest.raises(NotAStore, match="database of another program"):
            opened.status()


def test_c07_an_upgrade_killed_at_every_statement_leaves_the_older_store(older: Path, tmp_path: Path) -> None:
    kept, before = older.read_bytes(), rows(older)
    statements = killing.run(lambda: schema.migrate(older)).statements
    after = rows(older)
    assert statements > 15
    for at in range(1, statements + 1):
        for entry in tmp_path.iterdir():
            entry.unlink()
        older.write_bytes(kept)
        assert killing.run(lambda: schema.migrate(older), kill_at=at).killed
        assert rows(older) in (before, after)
        schema.migrate(older)
        assert rows(older) == after
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.startswith(".")] == []
    assert upkeep.check(older).sound


def test_c07_what_a_broken_upgrade_left_is_recognised_and_dropped(older: Path) -> None:
    with closing(sqlite3.connect(older)) as connection:
        connection.execute("CREATE TABLE _alembic_tmp_link (id INTEGER)")
        connection.execute("INSERT INTO _alembic_tmp_link VALUES (1)")
        connection.commit()
    schema.migrate(older)
    assert "_alembic_tmp_link" not in rows(older)
    assert upkeep.check(older).findings == ()


def test_c08_eight_processes_bring_one_store_up(older: Path) -> None:
    from_revision = revision(older)
    applied = race(
        """
from pagesift_store.storage import schema
applied = schema.migrate(arguments["store"])
with Frontier.open(arguments["store"]) as frontier:
    frontier.add([f"https://a.example/by/{arguments['number']}"])
print(json.dumps(applied))
""",
        [{"store": older, "number": i} for i in range(8)],
    )
    later = schema.revisions()[schema.revisions().index(from_revision) + 1 :]
    assert sorted(applied) == [[]] * 7 + [later]
    assert upkeep.check(older).sound
    assert [entry.name for entry in older.parent.glob(f"{older.name}.*")] == [f"{older.name}.{from_revision}"]


def test_a_rebuilt_parent_keeps_its_children(store: Path, next_revision: Callable[[str], Path]) -> None:
    """With foreign keys on, dropping the old table empties what refers to it, without an error."""
    load(STORES[0], store)
    schema.migrate(store)
    before = rows(store)
    next_revision(
        "batch = op.batch_alter_table('link', recreate='always')\n"
        "    with batch as table:\n"
        "        table.add_column(sa.Column('more', sa.Text(), nullable=True))"
    )
    assert schema.migrate(store) == ["9999"]
    after = rows(store)
    assert [row[:-1] for row in after.pop("link")] == before.pop("link")
    assert after == before
    with closing(sqlite3.connect(store)) as connection:
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert len(connection.execute("SELECT * FROM v_queue").fetchall()) > 5
        connection.execute("PRAGMA foreign_keys=ON")
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute("DELETE FROM lane")


def test_an_upgrade_that_breaks_a_reference_is_undone(
    store: Path, next_revision: Callable[[str], Path]
) -> None:
    load(STORES[0], store)
    schema.migrate(store)
    before = rows(store)
    next_revision("op.execute('DELETE FROM lane WHERE id = 1')")
    with pytest.raises(StoreDamaged, match="refers to a row of lane that is not there; nothing was changed"):
        schema.migrate(store)
    assert rows(store) == before


def test_what_autogenerate_does_not_see_the_comparison_as_text_does() -> None:
    """Why `test_migrations_schema` compares definitions: Alembic sees neither a check nor the condition of an index."""
    engine = create_engine("sqlite://")
    declared = MetaData()
    state = Column("state", Text, nullable=False)
    table = Table(
        "t",
        declared,
        Column("id", Integer, primary_key=True),
        state,
        CheckConstraint("state <> ''", name="c"),
    )
    Index("ix", state, sqlite_where=text("state = 'queued'"))
    with engine.connect() as connection:
        connection.execute(text("CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, state TEXT NOT NULL)"))
        connection.execute(text("CREATE INDEX ix ON t (state) WHERE state = 'waiting'"))
        assert compare_metadata(MigrationContext.configure(connection), declared) == []
        stored = " ".join(connection.execute(text("SELECT sql FROM sqlite_master")).scalars())
    for wanted in (CreateTable(table), CreateIndex(next(iter(table.indexes)))):
        assert str(wanted.compile(engine)).strip() not in stored
    engine.dispose()


def test_where_nobody_may_edit_a_definition_tables_are_written_anew(older: Path, tmp_path: Path) -> None:
    """Some systems build SQLite so that the schema cannot be written; there every table is made and filled again."""
    shutil.copyfile(older, tmp_path / "edited.db")
    schema.migrate(tmp_path / "edited.db")

    def refused(
        _connection: object, _cursor: object, statement: str, values: Any, *_: object
    ) -> tuple[str, Any]:
        return statement.replace("UPDATE sqlite_schema", "UPDATE what_is_not_there"), values

    event.listen(Engine, "before_cursor_execute", refused, retval=True)
    try:
        assert schema.migrate(older)[-1] == schema.HEAD
    finally:
        event.remove(Engine, "before_cursor_execute", refused)
    assert rows(older) == rows(tmp_path / "edited.db") | {"upkeep": rows(older)["upkeep"]}
    assert upkeep.check(older, all_keys=True).findings == ()
