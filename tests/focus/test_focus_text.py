"""Query terms and hit masks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagesift_store.focus import text as text_module
from pagesift_store.focus.stopwords import STOP_WORDS
from pagesift_store.focus.text import QueryTerms, fold, signed, unsigned, word_count, word_count_of, words
from pagesift_store.urls.reading import read
from pagesift_store.urls.words import url_words

any_text = st.text(st.characters(), max_size=60)  # lone surrogates and NULs included


def test_a_query_is_folded_stopped_stemmed_and_made_distinct() -> None:
    terms = QueryTerms.parse("What are the Fees for a student's VISA, and the fee of students?")
    assert terms.words == ("fees", "student", "visa")
    assert terms.stems == ("fee", "student", "visa")
    assert len(terms) == 3


@pytest.mark.parametrize(
    ("text", "mask"),
    [
        ("Apply for VISAS", 0b100),
        ("student fee", 0b011),
        ("visage, studentship", 0),
        ("the ﬁne FEE", 0b001),
        ("", 0),
        ("\ud800fee\x00visa\udfff", 0b101),
        ("stu\xaddent", 0b010),
        ("student’s “visa” — fee…", 0b111),
        ("student_visa/fee", 0b111),
        ("étudiant visa", 0b100),
    ],
)
def test_masks(text: str, mask: int) -> None:
    assert QueryTerms.parse("fees student visa").mask(text) == mask


def test_sixty_four_terms_fit_and_the_last_is_the_sign() -> None:
    query = " ".join(f"zq{i}x" for i in range(64))
    terms = QueryTerms.parse(query)
    assert terms.mask("ZQ63X") == -(2**63)
    assert terms.mask(query) == -1
    assert unsigned(terms.mask("zq63x zq0x")) == 2**63 + 1
    assert terms.word_mask("zq63x") == -(2**63)


def test_a_sixty_fifth_term_is_refused() -> None:
    with pytest.raises(ValueError, match="65 terms"):
        QueryTerms.parse(" ".join(f"zq{i}x" for i in range(65)))


def test_queries_of_nothing() -> None:
    assert len(QueryTerms.parse("")) == 0
    assert QueryTerms.parse("").mask("anything") == 0
    assert len(QueryTerms.parse("… !")) == 0
    assert QueryTerms.parse("the who").words == ("the", "who"), "kept, since nothing else would be left"


def test_cjk_matches_inside_runs() -> None:
    terms = QueryTerms.parse("签证 유학 ビザ iPhone手机", language="zh")
    assert terms.words == ("签证", "유학", "ビザ", "iphone", "手机")
    assert terms.mask("我的学生签证很好") == 0b00001
    assert terms.mask("유학생은") == 0b00010
    assert terms.mask("学生ﾋﾞｻﾞ申請") == 0b00100, "half-width kana are the same kana"
    assert terms.mask("买iPhone手机壳") == 0b11000
    assert terms.mask("签 证") == 0


@pytest.mark.parametrize(
    ("query", "language", "page"),
    [
        ("die Straßen", "de", "STRASSE"),
        ("les universités", "fr-FR", "l'université"),
        ("университеты", "ru", "Университета"),
        ("İstanbul", "tr", "istanbul"),
        ("विश्वविद्यालय", "hi", "यह विश्वविद्यालय है"),
        ("มหาวิทยาลัย", "th", "มหาวิทยาลัย"),
        ("klingon", "tlh", "Klingon"),
    ],
)
def test_languages(query: str, language: str, page: str) -> None:
    terms = QueryTerms.parse(query, language)
    assert len(terms) == 1
    assert terms.mask(page) == 1


def test_without_a_stemmer_words_match_as_folded() -> None:
    assert QueryTerms.parse("fees", "xx").mask("fee") == 0


def test_stop_words_are_as_the_tokeniser_gives_them() -> None:
    assert len(STOP_WORDS["en"]) >= 120
    for code, listed in STOP_WORDS.items():
        assert all(words(word) == [word] for word in listed), code


def test_memory_is_bounded_and_forgetting_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_module, "_MAX_REMEMBERED", 4)
    terms = QueryTerms.parse("fees visa")
    page = " ".join(f"word{i} fee" for i in range(20))
    assert terms.mask(page) == terms.mask(page) == 0b01
    long = "x" * 10_000
    assert terms.mask(long) == 0
    assert QueryTerms.parse(long).mask(long) == 1


def test_words_of_unspaced_scripts_count_by_length() -> None:
    assert word_count(words("a student visa")) == 3
    assert word_count(words("学生签证 fee")) == 3
    assert word_count(words("유학생은 간다")) == 2


@given(any_text | st.text(st.characters(max_codepoint=127)))
def test_words_are_counted_without_being_made(text: str) -> None:
    assert word_count_of(text) == word_count(words(text))


@given(any_text)
def test_any_text_can_be_read(text: str) -> None:
    terms = QueryTerms.parse("fees visa 签证 유학")
    assert 0 <= terms.mask(text) < 16
    assert all(words(text))
    fold(text)


@given(any_text)
def test_a_query_finds_itself(query: str) -> None:
    terms = QueryTerms.parse(query)
    assert terms.mask(query) == signed((1 << len(terms)) - 1)


@given(any_text, any_text)
def test_mask_of_two_texts_is_the_union(left: str, right: str) -> None:
    terms = QueryTerms.parse("a1 b c d e f 签证")
    assert terms.mask(f"{left}\n{right}") == terms.mask(left) | terms.mask(right)


@given(st.text(st.characters(max_codepoint=127)))
def test_the_ascii_path_agrees_with_the_general_one(text: str) -> None:
    with_accent = words(f"{text} é")
    assert with_accent == [*words(text), "é"]


@given(st.integers(0, 2**64 - 1))
def test_signed_and_unsigned_are_inverse(mask: int) -> None:
    assert unsigned(signed(mask)) == mask
    assert -(2**63) <= signed(mask) < 2**63
    assert signed(signed(mask)) == signed(mask)


@given(
    st.sampled_from(("student visa", "visa 2024", "2024", "3d 42", "größe 7")),
    st.text(st.sampled_from("visaVISAstudenDgrö2024743/-_.%"), max_size=40),
)
def test_a_url_hits_by_words_what_it_hits_by_text(query: str, path: str) -> None:
    terms = QueryTerms.parse(query)
    written = url_words(read(f"https://www.visa-2024.example/{path}"))
    assert terms.mask_of_words(written) == terms.mask(" ".join(written))
