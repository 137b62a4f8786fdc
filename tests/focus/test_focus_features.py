"""Context, phrase and shape of links."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagesift_store.focus import features
from pagesift_store.focus.text import QueryTerms

TERMS = QueryTerms.parse("student visa fees")
STUDENT, VISA, FEES = 1, 2, 4


@pytest.mark.parametrize(
    ("context", "anchor", "mask"),
    [
        ("Fees for the visa", "visa", FEES),
        ("visa and fees for a visa", "visa", VISA | FEES),
        ("student visas: the visa", "visa", STUDENT | VISA),  # not the one inside `visas`
        ("fees", "fees", 0),
        ("", "fees", 0),
        ("fees of students", "", STUDENT | FEES),
        ("fees of students", "not there", STUDENT | FEES),
        ("student", "", STUDENT),
        ("vis\ud800a fees", "\ud800", FEES),
    ],
)
def test_context_leaves_the_anchor_out(context: str, anchor: str, mask: int) -> None:
    assert features.context_mask(TERMS, context, anchor) == mask


def test_context_is_centred_on_the_anchor() -> None:
    def around(gap: int) -> int:
        return features.context_mask(TERMS, f"fees {'.' * gap} here {'.' * gap} visa", "here")

    assert around(190) == FEES | VISA
    assert around(193) == 0, "a word that the cut divides is no word"
    assert around(1000) == 0


def test_context_at_an_end_gives_no_byte_away() -> None:
    assert features.context_mask(TERMS, f"here {'.' * 380} visa {'.' * 500}", "here") == VISA
    assert features.context_mask(TERMS, f"{'.' * 500} visa {'.' * 380} here", "here") == VISA
    assert features.context_mask(TERMS, f"here {'.' * 400} visa {'.' * 500}", "here") == 0


def test_context_counts_bytes() -> None:
    assert features.context_mask(TERMS, f"here {'.' * 300} visa {'.' * 300}", "here") == VISA
    assert features.context_mask(TERMS, f"here {'é' * 300} visa {'é' * 300}", "here") == 0


def test_an_anchor_inside_a_word_does_not_make_words() -> None:
    assert features.context_mask(TERMS, "See our prefees offers", "pre") == 0
    assert features.context_mask(TERMS, "See our prefees and fees", "pre") == FEES


def test_a_cut_does_not_make_words() -> None:
    # 400 bytes end inside `visage`, after `visa`.
    text = f"here {'.' * 390} visage {'.' * 500}"
    assert text.encode()[:400].endswith(b"visa")
    assert features.context_mask(TERMS, text, "here") == 0


@given(st.text(st.characters(), max_size=900), st.text(st.characters(), max_size=20))
def test_any_context_can_be_read(context: str, anchor: str) -> None:
    assert 0 <= features.context_mask(TERMS, context, anchor) < 8


@given(st.text("visa fees.", max_size=900), st.integers(0, 900), st.integers(0, 30))
def test_context_finds_nothing_that_is_not_there(context: str, start: int, length: int) -> None:
    whole = TERMS.mask(context)
    assert features.context_mask(TERMS, context, "") & ~whole == 0
    assert 0 <= features.context_mask(TERMS, context, context[start : start + length]) < 8


@pytest.mark.parametrize(
    ("mask", "wanted"), [(0, 0), (1, 0), (3, 1), (-(2**63), 0), (-(2**63) + 1, 1), (-1, 1)]
)
def test_phrase_needs_two_terms(mask: int, wanted: int) -> None:
    assert features.phrase(mask) == wanted


def test_factor() -> None:
    assert features.factor() == 1.0
    assert features.factor(furniture=True) == 0.2
    assert features.factor(dated=True) == features.factor(furniture=True, dated=True) == 0.1
    assert features.factor(foreign=True) == 0.3
    assert features.factor(furniture=True, dated=True, foreign=True) == pytest.approx(0.03)


def test_floor_is_the_highest_that_applies() -> None:
    assert features.floor() == 0.0
    assert features.floor(section=True) == features.floor(subsite=True) == 0.3
    assert features.floor(edition=True, section=True) == 0.6
    assert features.floor(continuation=True) == 0.2
    assert features.floor(continuation=True, section=True) == 0.3


def test_decay_multiplies_level_by_level() -> None:
    assert features.decay(0) == 1.0
    assert features.decay(1) == 0.9
    for depth in range(1, 60):
        assert features.decay(depth) == features.decay(depth - 1) * 0.9
    assert features.decay(10**9) == features.decay(1000) > 0.0
    with pytest.raises(ValueError, match="depth=-1"):
        features.decay(-1)
