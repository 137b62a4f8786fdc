"""Used by the `alembic` command of a checkout only; the library hands its own connection to the revisions.

`alembic -x store=PATH revision --autogenerate -m "..."` compares a store with the tables.
"""

from contextlib import closing

from alembic import context
from sqlalchemy import Connection

from pagesift_store.storage import schema, tables
from pagesift_store.storage.engine import Database, path_of

store = context.get_x_argument(as_dictionary=True).get("store")
if store is None:
    raise SystemExit("name a store: alembic -x store=PATH …")


def run(connection: Connection) -> None:
    """Do what the command says."""
    context.configure(
        connection=connection,
        target_metadata=tables.metadata,
        version_table=schema.VERSION_TABLE,
        render_as_batch=True,
        transactional_ddl=False,
    )
    context.run_migrations()


with closing(Database(path_of(store))) as database:
    database.write(run)
