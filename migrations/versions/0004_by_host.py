"""Find the best lane of each host; leave the numbers of links to the crawl's row.

A lease need not pass all lanes of hosts that rest. And a link is always written with its number, which the crawl's row
counts: to have SQLite keep the highest a second time wrote one row more for each.

Revision ID: 0004
Revises: 0003
"""

import sqlalchemy as sa
from alembic import op

from pagesift_store.migrations.editing import edit

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
    edit(
        "link",
        {
            "NOT NULL PRIMARY KEY AUTOINCREMENT": "NOT NULL",
            "CONSTRAINT ck_link_lease": "CONSTRAINT pk_link PRIMARY KEY (id), \n\tCONSTRAINT ck_link_lease",
        },
    )
