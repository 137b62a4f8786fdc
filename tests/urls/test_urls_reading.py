"""Reading links: the standard's answers, refusals with reasons, and nothing else, whatever the text."""

from __future__ import annotations

import json
import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pagesift_store.errors import InvalidUrl, Refusal
from pagesift_store.urls.reading import MAX_BYTES, WebUrl, assemble, read, resolve

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "urls.jsonl").read_text("utf-8").splitlines()
]
WPT = Path(__file__).parents[2].parent / "shared" / "wpt" / "urltestdata.json"

BASE = "https://base.example/dir/page?y=2"


def outcome(text: str, base: str | None = None) -> str | Refusal:
    """The fetch URL, or the reason for which there is none."""
    try:
        return read(text, base).url
    except InvalidUrl as error:
        return error.reason


def is_web(href: str) -> bool:
    return href.startswith(("http:", "https:"))


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_cases_read_as_the_standard_demands(case: dict[str, Any]) -> None:
    """C22, C55, C66, C67, C68, C70, C71 among them; the standard's href, but for the fragment."""
    expected = case["whatwg"]
    if expected is None:
        assert outcome(case["in"], case.get("base")) is Refusal.INVALID
    elif is_web(expected):
        assert outcome(case["in"], case.get("base")) == expected.partition("#")[0]
    else:
        assert outcome(case["in"], case.get("base")) is Refusal.SCHEME


def wpt_rows() -> list[dict[str, Any]]:
    if not WPT.exists():
        return []
    rows = [row for row in json.loads(WPT.read_text("utf-8")) if isinstance(row, dict)]
    return [row for row in rows if row.get("failure") or is_web(row["href"])]


@pytest.mark.skipif(not WPT.exists(), reason="the standard's own test table is not beside the repository")
def test_the_table_of_the_standard_agrees_row_by_row() -> None:
    rows = wpt_rows()
    assert len(rows) > 500
    wrong = []
    for row in rows:
        got = outcome(row["input"], row.get("base"))
        right = isinstance(got, Refusal) if row.get("failure") else got == row["href"].partition("#")[0]
        if not right:
            wrong.append((row["input"], row.get("base"), got))
    assert wrong == []


@pytest.mark.skipif(not WPT.exists(), reason="the standard's own test table is not beside the repository")
def test_parts_agree_with_the_table_of_the_standard() -> None:
    for row in wpt_rows():
        if row.get("failure"):
            continue
        web = read(row["input"], row.get("base"))
        assert (f"{web.scheme}:", web.host, web.port, web.path) == (
            row["protocol"], row["hostname"], row["port"], row["pathname"],
        )  # fmt: skip
        assert f"?{web.query}" == row["search"] if web.query else row["search"] == ""
        assert web.userinfo == bool(row["username"] or row["password"])


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("HTTP://EXAMPLE.com:80/a", ("http", "example.com", "", "/a", None, False)),
        ("https://e.edu:8443?x=1", ("https", "e.edu", "8443", "/", "x=1", False)),
        ("http://e.edu/?", ("http", "e.edu", "", "/", "", False)),
        ("http://e.edu/#?x", ("http", "e.edu", "", "/", None, False)),
        ("http://[0:0:0:0:0:0:0:1]:81/", ("http", "[::1]", "81", "/", None, False)),
        ("http://u:p@e.edu:81/a@b:c", ("http", "e.edu", "81", "/a@b:c", None, True)),
        ("http://u@[::1]:81/", ("http", "[::1]", "81", "/", None, True)),
        ("http://:@e.edu/", ("http", "e.edu", "", "/", None, False)),
        ("http://e.edu/a@b", ("http", "e.edu", "", "/a@b", None, False)),
    ],
)
def test_parts(text: str, parts: tuple[object, ...]) -> None:
    web = read(text)
    assert (web.scheme, web.host, web.port, web.path, web.query, web.userinfo) == parts


@pytest.mark.parametrize(
    "text",
    [
        "http://e.edu/?X-Sig=a%2Bb%2f%3D&t=it%27s",
        "http://e.edu/?t=application%2Fgzip",
        "http://e.edu/f?sig=a%2Bb%2f%3D",
        "http://e.edu/?a=1&a=2&b&utm_source=x",
        "http://e.edu/a//b///c;jsessionid=1/..;/x",
        "http://e.edu/%7e%e9/100%",
    ],
)
def test_c22_signed_urls_survive_byte_for_byte(text: str) -> None:
    assert read(text).url == text
    assert str(read(text).as_yarl()) == text


@pytest.mark.parametrize(
    "text", ["http://", "https:", "http:", "//", "http://?x", "http:///", "http://#x", ""]
)
def test_c71_no_url_has_an_empty_host(text: str) -> None:
    assert outcome(text) is Refusal.INVALID
    for base in ("http://b.example/", "https://b.example/"):
        got = outcome(text, base)
        assert got is Refusal.INVALID or read(str(got)).host == "b.example"


@pytest.mark.parametrize(
    "text",
    [
        "JavaScript:alert(1)",
        "java\nscript:alert(1)",
        "MAILTO:a@b",
        "tel:1",
        "DATA:text/html,x",
        "ftp://e.edu/",
        "urn:x:y",
    ],
)
def test_c70_other_schemes_are_refused_after_parsing(text: str) -> None:
    assert outcome(text, BASE) is Refusal.SCHEME


def test_c68_lone_surrogates_become_the_replacement_character() -> None:
    assert outcome("http://e.edu/\ud83dx") == "http://e.edu/%EF%BF%BDx"
    assert outcome("/\udcc3", "http://e.edu/\ud800/") == "http://e.edu/%EF%BF%BD"
    assert outcome("http://e.edu/\ud83d\ude00") == "http://e.edu/%F0%9F%98%80"
    assert outcome("http://\ud83d/") is Refusal.INVALID


def test_c55_long_urls_are_refused_and_never_cut() -> None:
    head = "http://e.edu/"
    longest = head + "a" * (MAX_BYTES - len(head))
    assert outcome(longest) == longest
    assert outcome(longest + "a") is Refusal.TOO_LONG
    assert outcome("é" * (MAX_BYTES // 2 + 1), head) is Refusal.TOO_LONG
    # Short as found, long once it is escaped.
    assert outcome("é" * 2000, head) is Refusal.TOO_LONG
    assert outcome("/" + "a" * MAX_BYTES, head) is Refusal.TOO_LONG
    assert outcome("a", head + "a/" * MAX_BYTES) is Refusal.TOO_LONG
    # A fragment is not part of the fetch URL, however long it grows when it is escaped.
    assert outcome(head + "#" + "é" * 2000) == head


def test_errors_name_the_value_and_the_reason() -> None:
    with pytest.raises(InvalidUrl, match="not an absolute URL") as caught:
        read("/relative")
    assert caught.value.url == "/relative"
    with pytest.raises(InvalidUrl, match=r"found on 'https://base\.example"):
        read("http://[::1", BASE)
    with pytest.raises(InvalidUrl, match="neither http nor https"):
        read("mailto:a@e.edu")


def test_c61_fragments_are_dropped_unless_the_host_has_hash_routes() -> None:
    texts = ["https://a.example/#/one", "https://a.example/#!two", "https://a.example/#section"]
    assert {read(text).url for text in texts} == {"https://a.example/"}
    kept = [read(text, route_hosts={"a.example"}) for text in texts]
    assert [web.url for web in kept] == [
        "https://a.example/#/one",
        "https://a.example/#!two",
        "https://a.example/",
    ]
    assert [web.route for web in kept] == ["#/one", "#!two", ""]
    assert read("https://b.example/#/one", route_hosts={"a.example"}).route == ""
    assert (
        resolve("/#/one", read("https://a.example/x"), route_hosts={"a.example"}).url
        == "https://a.example/#/one"
    )


def test_c54_dot_segments_vanish_and_the_base_counts() -> None:
    assert outcome("/./././x", "https://a.example/d/") == "https://a.example/x"
    assert outcome("x", "https://a.example/d/") == "https://a.example/d/x"
    assert outcome("%2e%2E/x", "https://a.example/d/e/") == "https://a.example/d/x"


def test_assemble_keeps_port_userinfo_and_route() -> None:
    web = read("https://u:p@e.edu:81/a?b#/r", route_hosts={"e.edu"})
    assert assemble(web, web.scheme, web.host, web.path, web.query) == web
    assert assemble(web, "http", "x.edu", "/", None).url == "http://u:p@x.edu:81/#/r"


texts = st.one_of(
    st.text(st.characters(), max_size=80),
    st.text(st.sampled_from("htps:/\\@?#%.[]1ax2e \t\n&=;\ud800é。"), max_size=40),
    st.builds("http://{}".format, st.text(st.characters(), max_size=60)),
    st.builds("https://e.edu/{}".format, st.text(st.characters(), max_size=60)),
)


@given(texts, st.none() | texts)
@example("http://\x00", None)
@example("x", "mailto:x")
def test_no_text_raises_anything_but_invalid_url(text: str, base: str | None) -> None:
    try:
        web = read(text, base)
    except InvalidUrl as error:
        assert error.reason in {Refusal.INVALID, Refusal.SCHEME, Refusal.TOO_LONG}  # noqa: PT017
        return
    assert web.url.isascii()
    assert web.scheme in {"http", "https"}
    assert web.host
    assert web.path.startswith("/")
    assert "#" not in web.url


@given(texts)
def test_reading_is_idempotent(text: str) -> None:
    try:
        web = read(text, BASE)
    except InvalidUrl:
        return
    assert read(web.url) == web
    assert assemble(web, web.scheme, web.host, web.path, web.query) == web


PLAIN = string.ascii_letters + string.digits + "/._~-?=&%+#"
plain_links = st.one_of(
    st.text(PLAIN, max_size=30),
    st.builds("/{}".format, st.text(PLAIN, max_size=30)),
    st.builds("https://base.example{}".format, st.text(PLAIN, max_size=30)),
    st.builds("http://{}/{}".format, st.text("abcxn019-.:@_", max_size=12), st.text(PLAIN, max_size=9)),
    texts,
)
bases = st.sampled_from(
    ["https://base.example/dir/page?y=2", "http://b.example:81/", "https://u@b.example/a", "http://[::1]/x"]
)


@given(plain_links, bases, st.sampled_from([(), ("base.example",)]))
@example("/a?", "https://base.example/dir/page?y=2", ())
@example("/a#/b", "https://base.example/dir/page?y=2", ("base.example",))
@example("https://base.example", "https://base.example/dir/page?y=2", ())
@example("https://base.example.evil/x", "https://base.example/dir/page?y=2", ())
@example("http://1.2/x", "https://base.example/dir/page?y=2", ())
@example("http://a.0x1/x", "https://base.example/dir/page?y=2", ())
@example("http://a.b1/x", "https://base.example/dir/page?y=2", ())
@example("http://xn--a.example/x", "https://base.example/dir/page?y=2", ())
@example("http://xn--bcher-kva.example/x", "https://base.example/dir/page?y=2", ())
@example("http://a.xn--0/x", "https://base.example/dir/page?y=2", ())
@example("https://a.example./x", "https://base.example/dir/page?y=2", ())
@example("https://a..example/x", "https://base.example/dir/page?y=2", ())
@example("https:/a.example/x", "https://base.example/dir/page?y=2", ())
@example("https://-a-.example-/x", "https://base.example/dir/page?y=2", ())
@example(f"https://{'a' * 300}.example/x", "https://base.example/dir/page?y=2", ())
@example("/.%2e/x", "https://base.example/dir/page?y=2", ())
@example("/..", "https://base.example/dir/page?y=2", ())
@example("/a\n", "https://base.example/dir/page?y=2", ())
def test_resolving_on_a_page_equals_reading(text: str, base: str, routes: tuple[str, ...]) -> None:
    """The short way that plain links take gives the parser's answers."""
    page = read(base)
    expected: WebUrl | Refusal
    try:
        expected = read(text, base, route_hosts=routes)
    except InvalidUrl as error:
        expected = error.reason
    got: WebUrl | Refusal
    try:
        got = resolve(text, page, route_hosts=routes)
    except InvalidUrl as error:
        got = error.reason
    assert got == expected


@given(st.one_of(plain_links, st.builds("https://{}".format, st.text("a.-1/xn", max_size=12))))
@example("https://xn--a.example/x")
@example("https://a.example//x")
@example("https://a.example/./x")
def test_resolving_without_a_base_equals_reading(text: str) -> None:
    try:
        expected: WebUrl | Refusal = read(text)
    except InvalidUrl as error:
        expected = error.reason
    try:
        got: WebUrl | Refusal = resolve(text, None)
    except InvalidUrl as error:
        got = error.reason
    assert got == expected


@pytest.mark.parametrize("size", [MAX_BYTES - 20, MAX_BYTES - 19, MAX_BYTES, MAX_BYTES + 1])
def test_resolving_keeps_the_limit_of_reading(size: int) -> None:
    page = read("https://base.example/")
    for text in ("/" + "a" * (size - 1), "https://base.example/" + "a" * (size - 21)):
        try:
            assert resolve(text, page).url == outcome(text, page.url)
        except InvalidUrl as error:
            assert error.reason is outcome(text, page.url)  # noqa: PT017
