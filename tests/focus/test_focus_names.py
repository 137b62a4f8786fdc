"""Names in camel case: their parts are found, and so is the whole."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pagesift_store.focus.analysis import read_main
from pagesift_store.focus.text import QueryTerms, fold, spread, written_out


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ConcurrentHashMap", "ConcurrentHashMap Concurrent Hash Map"),
        ("the HTTPServer class", "the HTTPServer class"),
        ("the myHTTPServer", "the myHTTPServer my HTTP Server"),
        ("PostgreSQL", "PostgreSQL Postgre SQL"),
        ("plain words, ALL CAPS", "plain words, ALL CAPS"),
        ("éCamelCase", "éCamelCase"),
        ("", ""),
    ],
)
def test_the_parts_stand_behind_the_name(text: str, expected: str) -> None:
    assert spread(text) == expected


@given(
    st.lists(st.sampled_from(["Hash", "Map", "HTTP", "map", "2", "é", "ß", "İ", "ﬁ", "’", " ", "-"])).map(
        "".join
    )
)
@example("")
def test_written_out_is_spread_and_then_folded(text: str) -> None:
    assert written_out(text, fold(text)) == fold(spread(text))


def test_a_query_in_words_finds_a_name_and_a_name_finds_itself() -> None:
    terms = QueryTerms.parse("memory pool usage")
    assert terms.mask("MemoryPoolMXBean") == 0b011
    assert QueryTerms.parse("postgresql").mask("PostgreSQL") == 0b1


def test_names_count_in_the_body_and_leave_the_fingerprint_alone() -> None:
    terms = QueryTerms.parse("memory pool")
    body = "The class MemoryPoolMXBean has a threshold, and what is said here is long enough. " * 4
    assert read_main(terms, body).body.mask == 0b11
    assert read_main(terms, body).text_hash == read_main(QueryTerms.parse("x"), body).text_hash
