"""The larger of two values has one name in each engine."""

from __future__ import annotations

from sqlalchemy import literal_column
from sqlalchemy.dialects import postgresql, sqlite

from pagesift_store.storage.statements.links import Larger


def test_the_larger_of_two_is_asked_for_by_the_engine_s_own_name() -> None:
    both = Larger(literal_column("a"), literal_column("b"))
    assert str(both.compile(dialect=sqlite.dialect())) == "max(a, b)"
    assert str(both.compile(dialect=postgresql.dialect())) == "greatest(a, b)"
