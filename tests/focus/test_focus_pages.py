"""Fingerprints, passages, relevance, and the one pass that gives them all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagesift_store.focus.analysis import Analysis, read_main
from pagesift_store.focus.analysis import analyse as analyse_page
from pagesift_store.focus.fingerprint import blank_hash, is_demoted, text_hash
from pagesift_store.focus.passages import passages
from pagesift_store.focus.relevance import PageEvidence, SiteStatistics, relevance
from pagesift_store.focus.text import QueryTerms

if TYPE_CHECKING:
    from collections.abc import Sequence

TERMS = QueryTerms.parse("student visa fees")
LONG = "The university has a long text about the calendar of 2024 and its 12 months. " * 4
PASSAGE = "The visa of a student costs as much as the embassy says."

page_text = st.text(st.sampled_from("studen vifx \n\t1é签"), max_size=400)


def test_hashes_fold_case_and_white_space() -> None:
    assert text_hash(LONG) == text_hash(f"\n {LONG.upper().replace(' ', '  ')}\u3000") is not None
    assert text_hash(LONG) != text_hash(LONG + "x")
    assert -(2**63) <= text_hash(LONG) < 2**63  # type: ignore[operator]


def test_blank_hash_forgets_digits() -> None:
    other = LONG.replace("2024", "1999").replace("12", "1")
    assert text_hash(LONG) != text_hash(other)
    assert blank_hash(LONG) == blank_hash(other)
    accented = LONG.replace("months", "é")
    assert blank_hash(accented) == blank_hash(accented.replace("12", "٣"))


def test_short_texts_have_no_hash() -> None:
    assert text_hash("x" * 199) is None
    assert blank_hash("é" * 199) is None
    assert text_hash("é" * 200) is not None
    assert text_hash(f"a{' ' * 500}b") is None, "white space is squeezed before it is measured"
    assert text_hash("\ud800\x00" * 100) is not None


@pytest.mark.parametrize(
    ("fetched", "repeated", "demoted"),
    [(0, 0, False), (3, 3, False), (4, 4, True), (10, 8, False), (20, 15, True)],
)
def test_demotion_needs_a_sure_majority(fetched: int, repeated: int, demoted: bool) -> None:
    assert is_demoted(fetched, repeated, 0.05) is demoted


def test_passages_are_relevant_blocks_of_some_length() -> None:
    off_topic, too_short = "A long line about something else altogether, really.", "fees " * 8
    found = passages(TERMS, f"{PASSAGE}\nvisa\n{off_topic}\n{too_short}")
    assert [(passage.mask, passage.tokens) for passage in found] == [(0b011, 12)]
    assert [passage.mask for passage in passages(TERMS, "fees " * 9)] == [0b100]


def test_passages_are_distinct_and_at_most_64() -> None:
    assert len(passages(TERMS, f"{PASSAGE}\n  {PASSAGE.upper()}  \n{PASSAGE}")) == 1
    many = "\n".join(f"{PASSAGE} {i}" for i in range(100))
    found = passages(TERMS, many)
    assert len(found) == 64
    assert found == passages(TERMS, "\n".join(many.split("\n")[:64]))


def analyse(terms: QueryTerms, *, text: str, anchors: Sequence[str] = (), **page: Any) -> Analysis:
    return analyse_page(terms, read_main(terms, text, anchors), **page)


def evidence_of(text: str, **kwargs: Any) -> PageEvidence:
    return analyse(TERMS, text=text, **kwargs).evidence


def test_analyse_counts() -> None:
    found = analyse(
        TERMS,
        title="Student visa",
        url_text="example edu fees",
        headings=["Visa fees", "Contact"],
        text=f"{PASSAGE}\nStudent visa fees: visas, fees. Student\nvisa.",
    )
    assert found.mask == 0b111
    assert found.evidence == PageEvidence(
        words=19,
        counts=(3, 4, 2),
        pairs=(1, 2),
        title=0b111,
        title_pairs=0b01,
        headings=0b110,
        heading_pairs=0b10,
    )
    assert [passage.tokens for passage in found.passages] == [12]
    assert (found.text_hash, found.blank_hash) == (None, None)


def test_pairs_of_cjk_stand_in_one_run_or_in_two() -> None:
    terms = QueryTerms.parse("学生 签证", "zh")
    found = analyse(terms, text="我的学生签证\n学生 签证\n签证学生").evidence
    assert found.counts == (3, 3)
    assert found.pairs == (2,)


def test_relevance_of_the_first_page() -> None:
    # tf/(tf + 1 + 1) with the page's own length as average: 1/3 each.
    page = evidence_of("student visa fees")
    empty = SiteStatistics.empty(3)
    assert relevance(page, empty) == pytest.approx(1 / 9)
    assert relevance(evidence_of("student visa fees", title="visa"), empty) == pytest.approx(1 / 9 + 1 / 9)
    assert relevance(evidence_of("nothing"), empty) == 0.0
    assert relevance(evidence_of(""), empty) == 0.0
    every = evidence_of("", title="student visa fees", headings=["student visa fees"])
    assert relevance(every, empty) == pytest.approx(2 / 3)
    assert relevance(analyse(QueryTerms.parse(""), text="x").evidence, SiteStatistics.empty(0)) == 0.0


def test_relevance_discounts_hubs_and_furniture() -> None:
    stats = SiteStatistics.empty(3)
    text = "student visa fees"
    plain = relevance(evidence_of(text), stats)
    assert relevance(evidence_of(text, furniture=True), stats) == plain * 0.2
    assert relevance(evidence_of(text, anchors=["visa fees"]), stats) == plain * 0.5
    assert relevance(evidence_of(text, anchors=["visa fees"], furniture=True), stats) == plain * 0.5 * 0.2


@pytest.mark.parametrize(
    ("text", "anchors", "hub"),
    [
        ("one two three four", ["one two"], False),
        ("one two three four", ["one two", "three"], True),
        ("one two three four", ["elsewhere"] * 4, False),  # left out of the text: 4 words against 4
        ("one two three four", ["elsewhere"] * 5, True),
        ("one two three four five", ["one", *["menu entry"] * 9], False),  # menus stand outside the main text
        ("", [], False),
        ("", ["visa"], True),
        ("fees", ["", "…"], False),
    ],
)
def test_hub(text: str, anchors: list[str], hub: bool) -> None:
    assert evidence_of(text, anchors=anchors).hub is hub


def test_average_length_is_that_of_the_pages_before() -> None:
    stats = SiteStatistics.empty(3).including(evidence_of("word " * 100))
    assert relevance(evidence_of(f"visa {'word ' * 49}"), stats) == pytest.approx(1 / (1 + 1 + 0.5) / 3 / 3)


def test_rare_terms_weigh_more_from_the_third_page_on() -> None:
    stats = SiteStatistics.empty(3)
    rare, common = evidence_of("", title="visa"), evidence_of("", title="fees")
    for _ in range(3):
        assert relevance(rare, stats) == relevance(common, stats)
        stats = stats.including(evidence_of("fees and more"))
    assert stats.df == (0, 0, 3)
    assert relevance(rare, stats) > relevance(common, stats)


def test_collocations_are_pairs_beyond_chance() -> None:
    stats = SiteStatistics.empty(3)
    together = evidence_of(f"student visa {'word ' * 50} fees {'word ' * 50} visa")
    for page in range(6):
        assert stats.collocations(0.05) == [page >= 3, False]
        stats = stats.including(together)
    assert stats.pair_counts == (6, 0)
    assert stats.pair_df == (6, 0)
    apart = evidence_of(f"visa student {'word ' * 50} fees {'word ' * 50} visa")
    assert relevance(together, stats) > relevance(apart, stats)


def test_statistics_of_another_query_are_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        SiteStatistics.empty(2).including(evidence_of("x"))
    with pytest.raises(ValueError, match="zip"):
        relevance(evidence_of("x"), SiteStatistics.empty(2))


def test_sixteen_terms_are_ranked() -> None:
    query = " ".join(f"zq{i}x" for i in range(64))
    terms = QueryTerms.parse(query)
    found = analyse(terms, text=query, title=query, headings=[query])
    assert found.mask == -1
    assert found.evidence.counts == (1,) * 16
    assert found.evidence.pairs == (1,) * 15
    assert found.evidence.title == 2**16 - 1
    assert found.evidence.title_pairs == found.evidence.heading_pairs == 2**15 - 1
    assert SiteStatistics.empty(64).including(found.evidence).df == (1,) * 16
    far = analyse(terms, text="zq63x")
    assert far.mask == -(2**63)
    assert relevance(far.evidence, SiteStatistics.empty(64)) == 0.0


@given(page_text, page_text, st.lists(page_text, max_size=3), st.lists(page_text, max_size=3), st.booleans())
def test_a_page_read_once_is_a_page_read_apart(
    text: str, title: str, headings: list[str], anchors: list[str], furniture: bool
) -> None:
    terms = QueryTerms.parse("student visit 签")
    found = analyse(terms, text=text, title=title, headings=headings, anchors=anchors, furniture=furniture)
    assert found.mask == terms.mask(text)
    assert list(found.passages) == passages(terms, text)
    assert (found.text_hash, found.blank_hash) == (text_hash(text), blank_hash(text))
    assert [count > 0 for count in found.evidence.counts] == [bool(found.mask >> i & 1) for i in range(3)]
    assert PageEvidence.from_json(found.evidence.to_json()) == found.evidence


@given(st.lists(page_text, max_size=8), page_text)
def test_relevance_is_a_share(pages: list[str], last: str) -> None:
    terms = QueryTerms.parse("student visit 签")
    stats = SiteStatistics.empty(3)
    for text in pages:
        stats = stats.including(analyse(terms, text=text).evidence)
    evidence = analyse(terms, text=last, title=last).evidence
    assert 0.0 <= relevance(evidence, stats) < 1.0
    assert SiteStatistics.from_json(stats.to_json()) == stats
    assert relevance(evidence, SiteStatistics.from_json(stats.to_json())) == relevance(evidence, stats)


def test_evidence_is_compact() -> None:
    query = " ".join(f"zq{i}x" for i in range(64))
    stored = analyse(QueryTerms.parse(query), text=query * 20).evidence.to_json()
    assert len(stored) < 150
    assert isinstance(json.loads(stored), list)
