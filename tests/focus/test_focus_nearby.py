"""The texts of links read together say what each says alone."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from pagesift_store.focus.features import context_mask
from pagesift_store.focus.nearby import MOST_ANCHOR, MOST_CONTEXT, Nearby
from pagesift_store.focus.text import QueryTerms, words

QUERIES = ("student visa fees", "HashMap iteration", "größe straße", "訪問 学生", "")

pieces = st.sampled_from(
    [
        "student", "Students", "visa", "VISA", "fees", "fee", "HashMap", "ConcurrentHashMap", "iteration",
        "iterating", "Größe", "GROESSE", "straße", "STRASSE", "学生訪問", "news", "a", "1999", " ", "\n", "\r\n",
        "\x85", "\u2028", "\xa0", "\xad", "’", "-", ".", "\x00", "İ", "ﬁ",
    ]
)  # fmt: skip
texts = st.lists(pieces | st.text(max_size=5), max_size=12).map("".join)
links = st.lists(st.tuples(texts, texts), max_size=8)


@given(st.sampled_from(QUERIES), links)
@example("student visa fees", [("visa", "visa"), ("", "a\nvisa"), ("visa", "\n")])
@example("student visa fees", [("x" * MOST_ANCHOR + " visa", "y" * MOST_CONTEXT + " fees")])
@example("student visa fees", [("x " * 498 + "visaxyz", "")])
@example("student visa fees", [("x" * 994 + " newsxyz", "")])
@example("student visa fees", [("v" * MOST_ANCHOR + " visa", "v" * MOST_ANCHOR + " visa")])
def test_read_together(query: str, found: list[tuple[str, str]]) -> None:
    terms = QueryTerms.parse(query)
    nearby = Nearby(terms, [text for link in found for text in link], frozenset({"news"}))
    for anchor, context in found:
        cut = anchor[:MOST_ANCHOR]
        alone = context_mask(terms, context[:MOST_CONTEXT], cut) if context != cut else 0
        assert nearby.hits(anchor, context) == (terms.mask(cut), alone)
        if "news" in words(cut) or "news" in words(context):
            assert nearby.watched


@given(st.sampled_from(QUERIES), st.lists(texts, max_size=8))
def test_words_that_hit(query: str, found: list[str]) -> None:
    terms = QueryTerms.parse(query)
    read = [word for text in found for word in words(text)]
    assert terms.hitting(read) == {word for word in read if QueryTerms.parse(query).lookup(word)}
