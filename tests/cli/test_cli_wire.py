"""JSON lines: what is read is held to the records, whatever the text; what is written can be read back."""

from __future__ import annotations

import json
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagesift_store import FoundLink, InvalidValue, Lease, Page
from pagesift_store.cli import wire

LEASE = Lease(
    store_id="s",
    link_id=3,
    url="https://a.example/é",
    key="k",
    attempt=2,
    expires=1.5,
    score=0.1 + 0.2,
    depth=1,
)
any_text = st.text(st.characters(exclude_categories=()))  # lone surrogates and NUL included


@pytest.mark.parametrize("kind", [Lease, Page, FoundLink, wire.Fetched, wire.Failure])
def test_every_field_of_a_record_can_be_read(kind: type) -> None:
    assert {str(spec.type) for spec in fields(kind)} <= wire.READERS.keys()


def test_a_lease_comes_back_to_the_bit() -> None:
    assert wire.lease_from_json(wire.parse(wire.dumps(wire.lease_to_json(LEASE)))) == LEASE


@given(title=any_text, href=any_text, anchor=any_text, heading=any_text)
def test_any_text_survives(title: str, href: str, anchor: str, heading: str) -> None:
    sent = {"url": "u", "title": title, "headings": [heading], "links": [{"href": href, "anchor": anchor}]}
    page = wire.page_from_json(wire.parse(wire.dumps(sent).encode()))
    assert page == Page(url="u", title=title, headings=(heading,), links=(FoundLink(href, anchor),))


def test_missing_and_null_fields_have_their_defaults() -> None:
    assert wire.page_from_json({"url": "u", "title": None, "etag": None}) == Page(url="u")


def test_a_link_may_be_its_address_alone() -> None:
    assert wire.page_from_json({"url": "u", "links": ["/a"]}).links == (FoundLink("/a"),)


@pytest.mark.parametrize(
    ("page", "named"),
    [
        ([], "page must be a JSON object"),
        ({}, "page lacks the field 'url'"),
        ({"url": "u", "titel": "x"}, "page has no field 'titel'; it has url, "),
        ({"url": 7}, "page.url=7 must be a text"),
        ({"url": "u", "status": "200"}, 'page.status="200" must be a whole number'),
        ({"url": "u", "status": True}, "page.status=true must be a whole number"),
        (
            {"url": "u", "status": 2**63},
            "page.status=9223372036854775808 must be a whole number of at most 64",
        ),
        ({"url": "u", "noindex": 1}, "page.noindex=1 must be true or false"),
        ({"url": "u", "relevance": "1"}, 'page.relevance="1" must be a finite number'),
        ({"url": "u", "relevance": False}, "page.relevance=false must be a finite number"),
        ({"url": "u", "links": "x"}, 'page.links="x" must be a list'),
        ({"url": "u", "links": [{"href": "x", "score": "y"}]}, 'page.links[0].score="y" must be a finite'),
        ({"url": "u", "links": [{"href": "x"}, {"text": "y"}]}, "page.links[1] has no field 'text'"),
        ({"url": "u", "links": [["x"]]}, "page.links[0] must be a JSON object"),
        ({"url": "u", "retry_after": []}, "page.retry_after=[] must be a finite number"),
    ],
)
def test_a_wrong_field_is_named(page: object, named: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        wire.page_from_json(page)
    assert named in str(caught.value)


@pytest.mark.parametrize(
    ("line", "named"),
    [
        (b'{"score": NaN}', "NaN is not a JSON number"),
        (b"[-Infinity]", "-Infinity is not a JSON number"),
        (b"{", "not JSON: Expecting property name"),
        (b'"\xff"', "byte 2 is not UTF-8"),
        pytest.param(b"[" * 100_000, "nested too deeply", id="deep"),
        pytest.param(b"9" * 5_000, "not JSON that can be read", id="long"),
    ],
)
def test_what_is_not_json_is_refused_by_name(line: bytes, named: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        wire.parse(line)
    assert named in str(caught.value)


@pytest.mark.parametrize("text", ["1e999", "-1e999", pytest.param("9" * 400, id="long")])
def test_a_number_that_no_float_holds_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue, match="finite number"):
        wire.page_from_json({"url": "u", "relevance": json.loads(text)})


def test_bytes_are_written_as_digits_and_nan_never() -> None:
    assert json.loads(wire.dumps({"digest": b"\x00\xff"})) == {"digest": "00ff"}
    with pytest.raises(ValueError, match="JSON compliant"):
        wire.dumps(float("nan"))
