"""Owners of leases: processes, which may be provably gone, and named workers, which outlive processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pagesift_store.errors import InvalidValue
from pagesift_store.storage.process import Process
from pagesift_store.storage.statements import crawl as crawl_sql
from pagesift_store.storage.statements import links as links_sql
from pagesift_store.transactions import moves
from pagesift_store.transactions.texts import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from pagesift_store.transactions.work import Work


def register(work: Work, name: str | None) -> int:
    """The owner of leases taken from now on; rows of owners that are gone and hold nothing go too."""
    free(work, orphaned(work.connection))
    if name is not None:
        name = clean(name)
        known = work.connection.execute(crawl_sql.find_owner(), {"name": name}).scalar()
        if known is not None:
            return int(known)
    me = Process.own()
    if name is None:
        owner: dict[str, Any] = {
            "name": None,
            "boot": me.boot,
            "namespace": me.namespace,
            "pid": me.pid,
            "started": me.started,
        }
    else:
        owner = {"name": name, "boot": None, "namespace": None, "pid": None, "started": None}
    return work.insert(crawl_sql.add_owner(), **owner, opened_at=work.now)


def orphaned(connection: Connection) -> list[int]:
    """Owners whose process is provably no longer there."""
    return [
        row.id
        for row in connection.execute(crawl_sql.read_owners())
        if row.name is None and Process(row.boot, row.namespace, row.pid, row.started).is_gone()
    ]


def named(work: Work, name: str) -> list[int]:
    """The owner of a name.

    Raises:
        InvalidValue: nobody of that name has ever leased.
    """
    known = work.connection.execute(crawl_sql.find_owner(), {"name": clean(name)}).scalar()
    if known is None:
        raise InvalidValue(f"there is no worker {name!r} in this store; see `inspect leases`")
    return [int(known)]


def free(work: Work, owners: Sequence[int]) -> int:
    """Give back the leases of some owners, and forget those that are processes; returns the links freed."""
    if not owners:
        return 0
    freed = sum(
        moves.give_back(work, work.rows(links_sql.owned_links(), the_owner=owner)) for owner in owners
    )
    work.run_many(crawl_sql.drop_owner(), [{"the_id": owner} for owner in owners])
    return freed
