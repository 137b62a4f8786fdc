"""Everything that is read off a page, in one pass over its text."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pagesift_store.focus.fingerprint import hashes
from pagesift_store.focus.passages import Body, Passage, read_body
from pagesift_store.focus.relevance import PageEvidence
from pagesift_store.focus.text import fold, tokeniser, word_count, word_count_of, words, written_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pagesift_store.focus.text import QueryTerms

__all__ = ["Analysis", "MainText", "analyse", "read_main"]


class Analysis(NamedTuple):
    """What a page holds.

    Attributes:
        mask: signed 64-bit hit mask of the body.
        evidence: the summary that relevance is computed from.
        passages: the relevant passages, distinct, at most 64.
        text_hash: hash of the text; None below 200 characters.
        blank_hash: hash of the text without digits; None below 200 characters.
    """

    mask: int
    evidence: PageEvidence
    passages: tuple[Passage, ...]
    text_hash: int | None
    blank_hash: int | None


class MainText(NamedTuple):
    """What the main text of a page holds.

    Attributes:
        body: its length, hits, pairs and passages.
        hub: more of the page's words stand in links than outside.
        text_hash: hash of the text; None below 200 characters.
        blank_hash: hash of the text without digits; None below 200 characters.
    """

    body: Body
    hub: bool
    text_hash: int | None
    blank_hash: int | None


def read_main(terms: QueryTerms, text: str, anchors: Sequence[str] = ()) -> MainText:
    """Read a main text.

    Args:
        terms: the query.
        text: the main text, blocks separated by line breaks.
        anchors: texts of the page's links.
    """
    folded = fold(text)
    body = read_body(terms, written_out(text, folded))
    return MainText(body, _is_hub(body.words, folded, anchors), *hashes(folded))


def analyse(
    terms: QueryTerms,
    main: MainText,
    *,
    title: str = "",
    url_text: str = "",
    headings: Sequence[str] = (),
    furniture: bool = False,
) -> Analysis:
    """Read a page.

    Args:
        terms: the query.
        main: its main text, read with the same terms.
        title: text of the title.
        url_text: host and path as words.
        headings: texts of the headings.
        furniture: the page is furniture by its URL.

    Returns:
        Hits, evidence, passages and hashes.
    """
    body = main.body
    evidence = PageEvidence.of(
        terms, body, title=title, url_text=url_text, headings=headings, hub=main.hub, furniture=furniture
    )
    return Analysis(body.mask, evidence, body.passages, main.text_hash, main.blank_hash)


def _is_hub(length: int, folded: str, anchors: Sequence[str]) -> bool:
    """Whether more words of a page stand in links than outside.

    What counts is the main text: of the links, those whose anchors stand in it. Callers that leave anchors
    out of the text have none there; then all their words are compared with all of the text's.
    """
    in_links = word_count_of("\n".join(anchors))
    if 2 * in_links <= length:
        return False  # whatever part of them stands in the text
    joined = f" {' '.join(tokeniser(folded)(folded))} "
    inside = 0
    for anchor in anchors:
        own = words(anchor)
        if own and f" {' '.join(own)} " in joined:
            inside += word_count(own)
    if inside:
        return inside > length - inside
    return in_links > length
