"""The rules of a crawl together: one verdict with one reason for each link, and one key."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagesift_store.errors import InvalidSettings, InvalidUrl, Refusal
from pagesift_store.urls import pipeline
from pagesift_store.urls.keys import key_rules
from pagesift_store.urls.pipeline import UrlRules, key_hash
from pagesift_store.urls.reading import read
from pagesift_store.urls.rewrite import RewriteRule, RewriteSet
from pagesift_store.urls.scope import Scope

PAGE = read("https://www.e.edu/a/b")


def rules(keys: str = "standard", **options: Any) -> UrlRules:
    return UrlRules(key_rules(keys), Scope("site", [("e.edu", "")]), **options)


def verdict(href: str, made: UrlRules | None = None, page: Any = PAGE) -> str:
    try:
        return (made or rules()).admit(href, page).url
    except InvalidUrl as error:
        return error.reason


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("c", "https://www.e.edu/a/c"),
        ("?x#y", "https://www.e.edu/a/b?x"),
        ("https://lib.e.edu/?utm_source=x&b&a", "https://lib.e.edu/?utm_source=x&b&a"),
        ("http://[::1", Refusal.INVALID),
        ("http://a.example:80:80/", Refusal.INVALID),
        ("http://a.example:99999/", Refusal.INVALID),
        ("mailto:a@e.edu", Refusal.SCHEME),
        ("https://u:p@e.edu/", Refusal.USERINFO),
        ("https://e.edu@evil.example/", Refusal.USERINFO),
        ("/" + "a" * 9000, Refusal.TOO_LONG),
        ("/a.png", Refusal.EXTENSION),
        ("/a/a/a", Refusal.REPEATED_SEGMENT),
        ("/a/b/a/b/a/b", Refusal.SEGMENT_CYCLE),
        ("/x" + "/y/z" * 10, Refusal.TOO_DEEP),
        ("?x=%252525", Refusal.NESTED_ESCAPES),
        ("?x&amp;amp;y", Refusal.AMP_CHAIN),
        ("\\\\evil.example\\x", Refusal.OUT_OF_SCOPE),
        ("//e.edu.evil.example/", Refusal.OUT_OF_SCOPE),
    ],
)
def test_admit(href: str, expected: str) -> None:
    """C54, C55, C66, C70: one bad link is one refusal with a reason."""
    assert verdict(href) == expected


def test_c51_the_rules_take_what_they_are_given() -> None:
    assert verdict("/page?x=1&amp;y=2") == "https://www.e.edu/page?x=1&amp;y=2"
    assert verdict("/?q=AT%26amp") == "https://www.e.edu/?q=AT%26amp"


def test_include_and_exclude_see_the_fetch_url() -> None:
    made = rules(include=[r"/a/", r"\?ok"], exclude=[r"/a/private\b"])
    assert verdict("/a/x", made) == "https://www.e.edu/a/x"
    assert verdict("/b?ok", made) == "https://www.e.edu/b?ok"
    assert verdict("/b", made) == Refusal.EXCLUDED
    assert verdict("/a/%2e%2e/b", made) == Refusal.EXCLUDED
    assert verdict("/a/./private", made) == Refusal.EXCLUDED
    assert verdict("//other.edu/a/x", made) == Refusal.OUT_OF_SCOPE
    assert verdict("/b", rules(exclude=["x$"])) == "https://www.e.edu/b"


def test_a_pattern_that_is_none_is_refused_by_name() -> None:
    with pytest.raises(InvalidSettings, match=r"the pattern '\(' is not"):
        rules(include=["("])


@pytest.mark.parametrize(
    ("href", "page", "expected"),
    [
        ("http://e.edu/x?%e9", "https://www.e.edu/", "https://e.edu/x?%e9"),
        ("http://www.e.edu/x", "https://e.edu/", "https://www.e.edu/x"),
        ("http://e.edu/x", "http://e.edu/", "http://e.edu/x"),
        ("http://e.edu/x", None, "http://e.edu/x"),
        ("http://lib.e.edu/x", "https://e.edu/", "http://lib.e.edu/x"),
        ("http://e.edu:8080/x", "https://e.edu/", "http://e.edu:8080/x"),
        ("http://e.edu:80/x?", "https://e.edu/", "https://e.edu/x?"),
    ],
)
def test_http_links_to_the_same_site_on_https_pages_are_upgraded(
    href: str, page: str | None, expected: str
) -> None:
    base = None if page is None else read(page)
    assert verdict(href, page=base) == expected
    assert verdict(href, rules(upgrade_https=False), base) == read(href).url


def test_the_page_decides_about_https_and_its_base_about_the_rest() -> None:
    base = read("http://www.e.edu/d/")
    assert rules().admit("x", base).url == "http://www.e.edu/d/x"
    assert rules().admit("x", base, page=PAGE).url == "https://www.e.edu/d/x"


def test_patterns_see_the_upgraded_url() -> None:
    assert verdict("http://e.edu/x", rules(include=["^https:"])) == "https://e.edu/x"


def test_a_seed_passes_without_scope() -> None:
    assert rules().parse("https://other.edu/").url == "https://other.edu/"
    with pytest.raises(InvalidUrl) as caught:
        rules().parse("https://u@other.edu/")
    assert caught.value.reason is Refusal.USERINFO


def test_a_scope_that_grows_is_seen() -> None:
    made = rules()
    assert verdict("https://other.edu/", made) == Refusal.OUT_OF_SCOPE
    made.scope.extend(read("https://other.edu/"))
    assert verdict("https://other.edu/", made) == "https://other.edu/"


def test_c61_hash_routes_reach_key_and_fetch_url() -> None:
    made = rules(route_hosts={"www.e.edu"})
    webs = [made.admit(href, PAGE) for href in ("/#/one", "/#/two", "/#section")]
    assert [web.url for web in webs] == [
        "https://www.e.edu/#/one",
        "https://www.e.edu/#/two",
        "https://www.e.edu/",
    ]
    assert len({made.key(web) for web in webs}) == 3


def test_key_with_learned_rules() -> None:
    made = rules()
    learned = [RewriteRule("drop_param_value", "print", "1"), RewriteRule("drop_last_segment", "index.html")]
    web = read("https://www.e.edu//a/index.html?b&print=1&a&utm_source=x")
    assert made.key(web) == "https://e.edu/a/index.html?a&b&print=1"
    assert made.key(web, learned) == made.key(web, RewriteSet(learned)) == "https://e.edu/a/?a&b"
    assert made.key(web, RewriteSet()) == made.key(web)
    assert web.url == "https://www.e.edu//a/index.html?b&print=1&a&utm_source=x"


LEARNED = [
    RewriteRule("drop_last_segment", "/print"),
    RewriteRule("drop_last_segment", "index.html"),
    RewriteRule("drop_param", "a"),
]
paths = st.lists(st.sampled_from(["print", "index.html", "x", "", ";jsessionid=1"]), max_size=6).map("/".join)


@given(
    st.sampled_from(["strict", "standard", "loose"]),
    paths,
    st.sampled_from(["", "?a=1", "?b&a", "?sid=0123456789abcdef&a"]),
)
def test_a_rewritten_key_is_its_own_key(keys: str, path: str, query: str) -> None:
    made = rules(keys)
    key = made.key(read(f"https://www.e.edu/{path}{query}"), LEARNED)
    assert made.key(read(key), LEARNED) == key
    assert made.key(read(key), RewriteSet(LEARNED)) == key


def test_c23_hashes_are_sixteen_bytes_and_tell_keys_apart() -> None:
    hashes = {key_hash(f"https://e.edu/{n}") for n in range(10_000)}
    assert len(hashes) == 10_000
    assert {len(some) for some in hashes} == {16}
    # Half of them would not fit a signed integer of 64 bits; as bytes they all do.
    assert any(some[0] >= 0x80 for some in hashes)
    # Stored in files: a change of the function would orphan every key.
    assert key_hash("https://e.edu/").hex() == "6a6134ba9525ebd16c96247b383e1b53"


@given(st.text(), st.sampled_from([None, PAGE, read("http://b.example/x?y")]))
def test_admit_raises_nothing_but_invalid_url_and_admits_only_the_scope(href: str, page: Any) -> None:
    made = rules()
    try:
        web = made.admit(href, page)
    except InvalidUrl as error:
        assert isinstance(error.reason, Refusal)  # noqa: PT017
        return
    assert web.host == "e.edu" or web.host.endswith(".e.edu")
    assert read(web.url) == web
    assert key_hash(made.key(web)) == key_hash(made.key(read(made.key(web))))


HREFS = st.one_of(
    st.sampled_from(
        [
            "/c", "c", "c/../d", "../c", "?x", "#y", "", " /c", "\t?x", "https://lib.e.edu/x", "http://www.e.edu/c",
            "http://e.edu:8080/c", "https:c", "https:/c", "//lib.e.edu/c", "/\\lib.e.edu/c", "\\c", "/\n/lib.e.edu/c",
            "ht\ntp://e.edu/c", "/c?utm_source=x&b=1", "c;jsessionid=1", "/c#!/route", "mailto:a@e.edu", "/c.pdf",
            "https://u@e.edu/", "u/ftp://mirror/file", "http:", "https:", "http:c", "7", "é", "/%7Ec", "/blocked/c", "https://elsewhere.example/c",
        ]
    ),
    st.text(max_size=12),
    st.text("/.?#:\\ abc7%", max_size=12),
)  # fmt: skip
BASES = [
    "https://www.e.edu/a/b", "https://www.e.edu/a/c?q=/x/", "https://www.e.edu/", "http://www.e.edu/a/b",
    "http://www.e.edu:8080/a/b", "https://www.e.edu/a/d/", "https://lib.e.edu/a/b", "https://www.e.edu/a/b/",
]  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from(BASES), HREFS), max_size=30))
def test_what_is_remembered_of_a_link_is_what_it_comes_to(links: list[tuple[str, str]]) -> None:
    bases = {url: read(url) for url in BASES}

    def options() -> dict[str, Any]:
        return {"blocked": ["/blocked/"], "exclude": ["7$"], "route_hosts": {"www.e.edu"}}

    remembering = rules(**options())
    for url, href in links:
        plain, base = rules(**options()), bases[url]
        expected = verdict(href, plain, base)
        for _ in range(2):
            try:
                found = remembering.reach(href, base, page=base)
            except InvalidUrl as error:
                came_to: str = error.reason
            else:
                came_to = found.web.url
                assert found == (plain.admit(href, base), plain.key(found.web), key_hash(found.key))
            assert came_to == expected


def test_what_is_remembered_on_a_page_does_not_hold_for_a_base_with_user_info() -> None:
    made = rules()
    for _ in range(2):
        for href in ("/c", "c"):
            assert made.reach(href, PAGE, page=PAGE).web.host == PAGE.host
            base = read(PAGE.url.replace("//", "//user:secret@"))
            with pytest.raises(InvalidUrl, match="user name"):
                made.reach(href, base, page=base)


def test_what_is_remembered_bows_to_other_rules() -> None:
    made = rules()
    assert made.reach("/c/index.html", PAGE, page=PAGE).key == "https://e.edu/c/index.html"
    made.keys = key_rules("loose")
    assert made.reach("/c/index.html", PAGE, page=PAGE).key == "http://e.edu/c"
    made.scope = Scope("site", [("lib.e.edu", "")])
    with pytest.raises(InvalidUrl):
        made.reach("/c/index.html", PAGE, page=PAGE)
    made.scope, made.blocked = Scope("any"), (re.compile("index"),)
    with pytest.raises(InvalidUrl):
        made.reach("/c/index.html", PAGE, page=PAGE)


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "MOST_TARGETS", 10)
    made = rules()
    for number in range(100):
        made.reach(f"/c{number}", PAGE, page=PAGE)
        made.reach(f"/{'x' * 400}{number}", PAGE, page=PAGE)
    assert 0 < len(made._targets) <= 10
