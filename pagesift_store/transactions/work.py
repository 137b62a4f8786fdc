"""One write transaction at work."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from pagesift_store.focus.order import Harvest
from pagesift_store.storage.prepared import Runner
from pagesift_store.storage.statements import crawl as crawl_sql
from pagesift_store.transactions.texts import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import SimpleNamespace

    from sqlalchemy import Connection, Executable

    from pagesift_store.errors import Refusal
    from pagesift_store.records import LinkState
    from pagesift_store.settings import Settings
    from pagesift_store.transactions.memory import HostInfo, Memory


class NewLane(NamedTuple):
    """A lane that is still to be written.

    Attributes:
        id: that it will have.
        host: what its links queue with.
        subtree: key of the part that decides dryness.
        cluster: key of the part that decides proof.
    """

    id: int
    host: HostInfo
    subtree: str
    cluster: str


class Work:
    """One write transaction.

    Attributes:
        connection: inside `BEGIN IMMEDIATE`.
        memory: what is remembered of the store; changed along with the rows.
        now: the moment of the call.
        runner: runs prepared statements on the same connection.
        refused: URLs refused in this transaction: reason → (count, an example).
        new_lanes: lanes made and not written yet.
    """

    __slots__ = (
        "_saved",
        "connection",
        "memory",
        "new_lanes",
        "now",
        "refused",
        "runner",
    )

    def __init__(self, connection: Connection, memory: Memory, now: float) -> None:
        self.connection = connection
        self.memory = memory
        self.now = now
        self.runner = Runner(connection)
        self.refused: dict[Refusal, tuple[int, str]] = {}
        self.new_lanes: list[NewLane] = []
        self._saved = _counters(memory.crawl)

    @property
    def crawl(self) -> SimpleNamespace:
        """The crawl's row; changes are written by `save`."""
        return self.memory.crawl

    @property
    def settings(self) -> Settings:
        """The crawl's settings."""
        return self.memory.settings

    @property
    def total(self) -> Harvest:
        """Pages that count and hits among them, over the whole crawl."""
        return Harvest(self.crawl.pages, self.crawl.hits)

    def rows(self, statement: Executable, **parameters: Any) -> Sequence[Any]:
        """All rows of a question."""
        return self.runner.rows(statement, parameters)

    def rows_in(
        self, statement_of: Callable[[int], Executable], names: Sequence[str], values: Sequence[Any]
    ) -> Sequence[Any]:
        """All rows of a question about a list of 1 to 500 values; see `storage.prepared`."""
        return self.runner.rows_in(statement_of, names, values)

    def first(self, statement: Executable, **parameters: Any) -> Any:
        """The first row of a question; None when there is none."""
        return self.runner.first(statement, parameters)

    def run(self, statement: Executable, **parameters: Any) -> int:
        """Run a change; returns the rows it touched."""
        return self.runner.run(statement, parameters)

    def insert(self, statement: Executable, **parameters: Any) -> int:
        """Insert one row; returns its id."""
        return self.runner.insert(statement, parameters)

    def run_many(self, statement: Executable, parameters: Sequence[Mapping[str, Any]]) -> None:
        """Run a change for each set of parameters; none at all for none."""
        if parameters:
            self.runner.run_many(statement, parameters)

    def run_all(self, statement: Executable, objects: Sequence[object]) -> None:
        """Run a change for each object, whose attributes are its parameters; none at all for none."""
        if objects:
            self.runner.run_all(statement, objects)

    def moved(self, before: LinkState | None, after: LinkState | None, links: int = 1) -> None:
        """Count links that went from one state to another; None is "not in the store"."""
        if before is not None:
            setattr(self.crawl, before.value, getattr(self.crawl, before.value) - links)
        if after is not None:
            setattr(self.crawl, after.value, getattr(self.crawl, after.value) + links)

    def refuse(self, reason: Refusal, url: str) -> None:
        """Count a refused URL."""
        count, example = self.refused.get(reason, (0, clean(url[:200])))
        self.refused[reason] = (count + 1, example)

    def save(self) -> None:
        """Write the counters back, as the last step before the commit."""
        self.run_many(
            crawl_sql.count_refusal(),
            [
                {"reason": reason.value, "refused": count, "example": example}
                for reason, (count, example) in self.refused.items()
            ],
        )
        counters = _counters(self.crawl)
        if counters != self._saved:
            self.crawl.moment = self.now  # along with a change only: looking in vain must not write
            counters = _counters(self.crawl)
            self.run(crawl_sql.save_counters(), **dict(zip(crawl_sql.COUNTERS, counters, strict=True)))
        self.memory.trim()


_counters: Callable[[SimpleNamespace], tuple[Any, ...]] = attrgetter(*crawl_sql.COUNTERS)
