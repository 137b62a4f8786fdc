"""Parts of a site: the golden subtree keys, clusters, templates, and host names."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import ada_url
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagesift_store.errors import InvalidUrl, Refusal
from pagesift_store.urls.languages import SiteLanguages
from pagesift_store.urls.parts import (
    bare_host,
    cluster,
    place,
    registered_domain,
    site_host,
    subtree,
    template,
)
from pagesift_store.urls.query import is_noise
from pagesift_store.urls.reading import WebUrl, read

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "subtree.json").read_text("utf-8"))
LISTED = frozenset(GOLDEN["language_codes"] + GOLDEN["language_names"])


def parsed(text: str) -> WebUrl:
    """As `read`; the few rows of other schemes, which `read` refuses, taken apart by the parser itself."""
    try:
        return read(text)
    except InvalidUrl as error:
        assert error.reason is Refusal.SCHEME  # noqa: PT017
    other = ada_url.URL(text)
    return WebUrl(other.href, other.protocol[:-1], other.hostname, other.port, other.pathname, None, False)


def test_golden_has_all_its_rows() -> None:
    assert len(GOLDEN["cases"]) == 171


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=[case["url"] for case in GOLDEN["cases"]])
def test_golden_subtree(case: dict[str, Any]) -> None:
    web, seeds = parsed(case["url"]), {case["seed_host"]}
    assert subtree(web, seeds, LISTED) == case["subtree"]
    assert place(web, seeds, LISTED) == (case["subtree"], cluster(web, LISTED), template(web))


UNFLAGGED = [case for case in GOLDEN["cases"] if "language_stub" not in case]


@pytest.mark.parametrize("case", UNFLAGGED, ids=[case["url"] for case in UNFLAGGED])
def test_golden_subtree_without_languages_holds_with_our_own_lists(case: dict[str, Any]) -> None:
    assert subtree(parsed(case["url"]), {case["seed_host"]}) == case["subtree"]


def test_subtree_takes_a_department_for_a_language_only_when_the_site_shows_it() -> None:
    web = read("https://e.edu/it/helpdesk/tickets/5")
    assert subtree(web, {"e.edu"}) == "e.edu/it/helpdesk"
    assert subtree(web, {"e.edu"}, SiteLanguages(["en", "it"])) == "e.edu/helpdesk/tickets"
    assert subtree(read("https://e.edu/zh_CN/about/team"), {"e.edu"}) == "e.edu/about"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://www.e.edu/news/2024/x", "e.edu/news"),
        ("https://e.edu/news/", "e.edu/news"),
        ("https://e.edu/post-slug", "e.edu/"),
        ("https://e.edu/", "e.edu/"),
        ("https://e.edu/en/", "e.edu/"),
        ("https://e.edu/en/post-slug", "e.edu/"),
        ("https://e.edu/en/news/x", "e.edu/news"),
        ("https://e.edu/deutsch/news/x", "e.edu/news"),
        ("https://e.edu/it/news/x", "e.edu/it"),
        ("https://e.edu:81//news//x", "e.edu/news"),
        ("https://www.bücher.example/a/b", "xn--bcher-kva.example/a"),
    ],
)
def test_cluster(url: str, expected: str) -> None:
    assert cluster(read(url)) == expected


def test_cluster_with_other_languages() -> None:
    assert cluster(read("https://e.edu/en/news/x"), frozenset()) == "e.edu/en"
    assert cluster(read("https://e.edu/it/news/x"), SiteLanguages(["de"])) == "e.edu/news"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://www.e.edu/a/b", None),
        ("https://e.edu/", None),
        ("https://e.edu/?", None),
        ("https://e.edu/?utm_source=x", None),
        ("https://e.edu/2024/05/title", "e.edu/#/#/title"),
        ("https://www.e.edu/node/123", "e.edu/node/#"),
        ("https://e.edu/v2x3", "e.edu/v#x#"),
        ("https://e.edu/title-of-a-post-7/x", "e.edu/{}/x"),
        ("https://e.edu/elevenchar1", "e.edu/elevenchar#"),
        ("https://e.edu/twelvechars1", "e.edu/{}"),
        ("https://e.edu/a-long-segment-without", None),
        ("https://e.edu/?b=2&a=1&b=3", "e.edu/?a&b"),
        ("https://e.edu/x?id=1&utm_source=x", "e.edu/x?id"),
        ("https://e.edu/x?flag", "e.edu/x?flag"),
        ("https://e.edu/caf%C3%A9", None),
        ("https://e.edu/caf%C3%A92024", "e.edu/caf%C3%A9#"),
        ("https://e.edu/%E7%A0%94%E7%A9%B61/x", "e.edu/%E7%A0%94%E7%A9%B6#/x"),
        ("https://e.edu:8080/1/", "e.edu/#/"),
    ],
)
def test_template(url: str, expected: str | None) -> None:
    assert template(read(url)) == expected


@pytest.mark.parametrize(
    ("host", "bare", "site"),
    [
        ("e.edu", "e.edu", "e.edu"),
        ("www.www.e.edu", "e.edu", "e.edu"),
        ("wwww.e.edu", "wwww.e.edu", "wwww.e.edu"),
        ("www2.e.edu", "www2.e.edu", "www2.e.edu"),
        ("www.", "", "www."),
        ("www.com", "com", "www.com"),
        ("www.co.uk", "co.uk", "www.co.uk"),
        ("www.e.co.uk", "e.co.uk", "e.co.uk"),
        ("www.e.edu.", "e.edu.", "e.edu."),
        ("www.com.", "com.", "www.com."),
        ("[::1]", "[::1]", "[::1]"),
    ],
)
def test_bare_and_site_host(host: str, bare: str, site: str) -> None:
    assert bare_host(host) == bare
    assert site_host(host) == site


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("e.edu", "e.edu"),
        ("a.b.e.edu", "e.edu"),
        ("www.e.co.uk", "e.co.uk"),
        ("a.e.ac.jp", "e.ac.jp"),
        ("co.uk", "co.uk"),
        ("localhost", "localhost"),
        ("a.e.edu.", "e.edu"),
        ("1.2.3.4", "1.2.3.4"),
        ("[2001:db8::1]", "[2001:db8::1]"),
        ("a.com.de", "a.com.de"),
        ("a.b.de", "b.de"),
        ("a.co.info", "co.info"),
        (".", "."),
    ],
)
def test_registered_domain(host: str, domain: str) -> None:
    assert registered_domain(host) == domain


_SEGMENTS = [
    "", "", "a", "B-c", "en", "EN", "it", "2024", "07", "node-7", "a-long-segment", "a-long-segment-8", "%C3%A9", "é1",
    "%c3%a92024", "caf%C3%A9-of-2024", "%E7%A0%94%E7%A9%B61", "%%31", "a%2Fb9", "v2;x=1", "(8)", "~1",
]  # fmt: skip
_QUERIES = ["", "?", "?id=7", "?b=1&a=2&a", "?utm_source=x", "?utm_source=x&p", "?sid=1", "?&", "?=1"]


def plain_template(web: WebUrl) -> str | None:
    blanked = []
    for segment in web.path.split("/"):
        digits = re.sub(r"(?<!%)(?<!%[0-9A-Fa-f])[0-9]+", "#", segment)
        is_long = len(unquote(segment, errors="replace")) >= 12
        blanked.append("{}" if digits != segment and is_long else digits)
    names = {
        field.partition("=")[0] for field in (web.query or "").split("&") if field and not is_noise(field)
    }
    if "/".join(blanked) == web.path and not names:
        return None
    return f"{bare_host(web.host)}{'/'.join(blanked)}{'?' + '&'.join(sorted(names)) if names else ''}"


@given(st.lists(st.sampled_from(_SEGMENTS), max_size=6), st.sampled_from(_QUERIES), st.booleans())
def test_a_place_is_what_its_definition_says(segments: list[str], query: str, evidence: bool) -> None:
    web = read(f"https://www.e.edu/{'/'.join(segments)}{query}")
    languages = SiteLanguages(["en"] if evidence else [])
    *directories, _ = web.path.split("/")
    names = [name for name in directories if name]
    if names and names[0].lower() in languages:
        names = names[1:]
    above = names[:-1] if web.path.endswith("/") else names
    expected = ("/".join(["e.edu", *above[:2]]) if above else "e.edu/", f"e.edu/{names[0] if names else ''}")
    assert place(web, {"e.edu"}, languages) == (*expected, plain_template(web))
    assert place(web, (), languages) == ("e.edu", expected[1], template(web))
    assert (subtree(web, {"e.edu"}, languages), cluster(web, languages)) == expected
