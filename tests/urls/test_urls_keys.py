"""Keys: what must be one page, what must not, and that the fetch URL stays out of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagesift_store.errors import InvalidSettings, InvalidUrl
from pagesift_store.urls.keys import PRESETS, RULES, KeyRules, key_rules
from pagesift_store.urls.query import is_noise
from pagesift_store.urls.reading import read

STRICT, STANDARD, LOOSE = key_rules("strict"), key_rules("standard"), key_rules("loose")
SITE = "http://example.com"


def strict(text: str) -> str:
    return STRICT.key(read(text))


def standard(text: str) -> str:
    return STANDARD.key(read(text))


def loose(text: str) -> str:
    return LOOSE.key(read(text))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("HTTP://EXAMPLE.com:80/a", "http://example.com/a"),
        ("http://example.com", "http://example.com/#top"),
        ("http://example.com/a/../b", "http://example.com/b"),
        ("http://bücher.example/", "http://XN--BCHER-KVA.example/"),
        ("http://127.1/", "http://127.0.0.1/"),
        ("http://[0:0:0:0:0:0:0:1]/", "http://[::1]/"),
        ("http://example.com/a b", "http://example.com/a%20b"),
        ("http://example.com\\x", "http://example.com/x"),
        ("  http://example.com/\t", "http://example.com/"),
    ],
)
def test_strict_keys_that_must_be_one(a: str, b: str) -> None:
    assert strict(a) == strict(b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("/Report", "/report"),
        ("/Report.pdf", "/report.pdf"),
        ("/?id=A", "/?id=a"),
        ("/a%2Fb", "/a/b"),
        ("/x", "/x/"),
        ("/a//b", "/a/b"),
        ("/?k", "/?k="),
        ("/?a=1&a=2", "/?a=2&a=1"),
        ("/?a=1&b=2", "/?b=2&a=1"),
        ("/?q=a+b", "/?q=a%2Bb"),
        ("/caf%C3%A9", "/cafe%CC%81"),
        ("/100%", "/100%25"),
        ("/%7e", "/~"),
        ("/%c3", "/%C3"),
        ("/?", "/"),
    ],
)
def test_c10_strict_keys_that_must_differ(a: str, b: str) -> None:
    assert strict(SITE + a) != strict(SITE + b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("http://example.com/", "https://example.com/"),
        ("http://example.com/", "http://www.example.com/"),
        ("http://example.com/", "http://example.com./"),
        ("http://faß.example/", "http://fass.example/"),
        ("http://example.com/", "http://example.com:8080/"),
    ],
)
def test_c10_c58_strict_keys_of_different_origins_differ(a: str, b: str) -> None:
    assert strict(a) != strict(b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("/Report", "/report"),
        ("/x", "/x/"),
        ("/?k", "/?k="),
        ("/?a=1&a=2", "/?a=2&a=1"),
        ("/?id=A", "/?id=a"),
        ("/?ref=a", "/"),
        ("/?source=a", "/?source=b"),
        ("/?sid=12", "/?sid=13"),
        ("/a/index.html", "/a/"),
        ("/a%2F%2Fb", "/a%2Fb"),
        ("/?", "/"),
        ("/?utmost=1", "/"),
        ("/?a=1;b=2", "/?b=2;a=1"),
    ],
)
def test_c10_standard_keeps_apart_what_may_be_two_pages(a: str, b: str) -> None:
    assert standard(SITE + a) != standard(SITE + b)


@pytest.mark.parametrize(
    ("found", "key"),
    [
        ("/?utm_source=a&id=1&UTM_Medium=b", "/?id=1"),
        ("/?utm_source=a", "/"),
        ("/?utm%5Fsource=a", "/"),
        ("/?b=2&a=1&a=0", "/?a=1&a=0&b=2"),
        ("/?fbclid=x&b&a=", "/?a=&b"),
        ("/x;jsessionid=AB12?p=1", "/x?p=1"),
        ("/x;JSESSIONID=AB12/y;v=1;jsessionid=2", "/x/y;v=1"),
        ("/?PHPSESSID=1&CFID=2&CFTOKEN=3&zenid=4&osCsid=5&sessionid=6&session_id=7&jsessionid=8", "/"),
        ("/?sid=0123456789abcdef", "/"),
        ("/?sid=abcdefghijklmnop", "/?sid=abcdefghijklmnop"),
        ("/?sid=0123456789abcde", "/?sid=0123456789abcde"),
        ("/?sid=0123456789%2Babcde", "/"),
        ("//a///b//", "/a/b/"),
        ("/a/;jsessionid=1/b", "/a/b"),
        ("/?b=%e9&a=it%27s", "/?a=it%27s&b=%e9"),
        ("/?&utm_source=a", "/"),
        ("/?&", "/?&"),
    ],
)
def test_standard_keys(found: str, key: str) -> None:
    assert standard(SITE + found) == SITE + key


@pytest.mark.parametrize(
    ("host", "key"),
    [
        ("www.example.com", "example.com"),
        ("www.www.example.com", "example.com"),
        ("WWW.Example.com:8080", "example.com:8080"),
        ("www2.example.com", "www2.example.com"),
        ("www.com", "www.com"),
        ("www.co.uk", "www.co.uk"),
        ("www.localhost", "www.localhost"),
        ("www.", "www."),
        ("[::1]:81", "[::1]:81"),
    ],
)
def test_c58_standard_takes_www_and_the_bare_host_as_one(host: str, key: str) -> None:
    assert standard(f"http://{host}/") == f"http://{key}/"


@pytest.mark.parametrize(
    ("found", "key"),
    [
        ("https://example.com/a/", "http://example.com/a"),
        ("https://example.com/", "http://example.com/"),
        ("https://example.com:8443/a", "https://example.com:8443/a"),
        ("http://example.com/a/index.html", "http://example.com/a"),
        ("http://example.com/a/Index.PHP?id=1", "http://example.com/a?id=1"),
        ("http://example.com/default.aspx", "http://example.com/"),
        ("http://example.com/index.html/index.html/", "http://example.com/"),
        ("http://example.com/a-index.html", "http://example.com/a-index.html"),
        ("http://example.com/index.html5", "http://example.com/index.html5"),
        ("http://example.com/Report", "http://example.com/Report"),
    ],
)
def test_loose_keys(found: str, key: str) -> None:
    assert loose(found) == key


def test_c58_four_twins_have_one_loose_key() -> None:
    twins = [
        f"{scheme}://{host}/a" for scheme in ("http", "https") for host in ("a.example", "www.a.example")
    ]
    assert len({strict(twin) for twin in twins}) == 4
    assert len({standard(twin) for twin in twins}) == 2
    assert len({loose(twin) for twin in twins}) == 1


def test_c61_hash_routes_are_part_of_the_key_where_they_are_kept() -> None:
    routes = {"a.example"}
    keys = {
        STANDARD.key(read(f"https://a.example/?b&a#/{name}", route_hosts=routes)) for name in ("one", "two")
    }
    assert keys == {"https://a.example/?a&b#/one", "https://a.example/?a&b#/two"}


TRACKING = """
gclid gclsrc dclid gbraid wbraid srsltid _ga _gl fbclid igshid igsh msclkid yclid ysclid _openstat twclid
ttclid li_fat_id mc_cid mc_eid _hsenc _hsmi __hstc __hssc __hsfp hsCtaTracking mkt_tok oly_anon_id oly_enc_id
vero_id vero_conv wt_mc pk_campaign pk_kwd pk_source pk_medium pk_content rb_clickid s_cid spm scm
utm_x mtm_x itm_x internal_x elqTrackId
"""


@pytest.mark.parametrize("name", TRACKING.split())
def test_every_tracking_name_is_noise(name: str) -> None:
    assert is_noise(f"{name}=1")
    assert is_noise(name.upper())


@pytest.mark.parametrize(
    "field", ["ref=1", "source=1", "id=1", "q=utm_source", "x", "", "=", "gclids=1", "ga=1"]
)
def test_what_may_choose_content_is_no_noise(field: str) -> None:
    assert not is_noise(field)


def test_presets_are_named_and_versioned() -> None:
    assert {name: key_rules(name).version for name in PRESETS} == {"strict": 1, "standard": 1, "loose": 1}
    assert STRICT.rules == ()
    assert LOOSE.rules == (*STANDARD.rules, "index", "trailing_slash", "scheme")
    assert set(LOOSE.rules) == set(RULES)
    with pytest.raises(InvalidSettings, match="strict, standard, loose"):
        key_rules("sloppy")


segments = st.sampled_from(
    [
        "",
        "a",
        "index.html",
        "Index.php",
        "default.asp",
        "x;jsessionid=1",
        ";jsessionid=",
        "a;v=1",
        "..",
        "%2e",
        "é",
        "-",
    ]
)
fields = st.sampled_from(
    [
        "",
        "a=1",
        "a=2",
        "b",
        "b=",
        "utm_source=x",
        "sid=0123456789abcdef0",
        "sid=1",
        "=",
        "%61=1",
        "é=1",
        "'=1",
    ]
)
urls = st.builds(
    lambda scheme, host, port, path, query: f"{scheme}://{host}{port}/{'/'.join(path)}{query}",
    st.sampled_from(["http", "https"]),
    st.sampled_from(
        [
            "e.edu",
            "www.e.edu",
            "www.www.e.edu",
            "www.com",
            "www.",
            "www..",
            "[::1]",
            "1.2.3.4",
            "u:p@www.e.edu",
        ]
    ),
    st.sampled_from(["", ":80", ":443", ":8080"]),
    st.lists(segments, max_size=6),
    st.one_of(st.just(""), st.lists(fields, max_size=5).map(lambda some: "?" + "&".join(some))),
)
anything = st.one_of(urls, st.builds("http://www.e.edu/{}".format, st.text(max_size=40)))
presets = st.sampled_from([STRICT, STANDARD, LOOSE])


@given(presets, anything)
def test_the_key_of_a_key_is_the_key(rules: KeyRules, text: str) -> None:
    try:
        web = read(text)
    except InvalidUrl:
        return
    key = rules.key(web)
    assert rules.key(read(key)) == key


@given(presets, anything)
def test_no_key_rule_touches_the_fetch_url(rules: KeyRules, text: str) -> None:
    try:
        web = read(text)
    except InvalidUrl:
        return
    before = tuple(web)
    rules.key(web)
    assert tuple(web) == before
    assert read(web.url) == web


@given(anything, anything)
def test_equal_fetch_urls_have_equal_keys_and_looser_rules_only_merge(a: str, b: str) -> None:
    try:
        first, second = read(a), read(b)
    except InvalidUrl:
        return
    for tighter, looser in ((STRICT, STANDARD), (STANDARD, LOOSE)):
        if tighter.key(first) == tighter.key(second):
            assert looser.key(first) == looser.key(second)
    assert STRICT.key(first) == first.url


crooked = st.one_of(
    anything,
    st.builds(
        "{}{}?{}".format,
        st.sampled_from(["https://www.e.edu", "http://e.edu:81"]),
        st.text("/;(.%2fA", max_size=12),
        st.text("&=a;%", max_size=6),
    ),
    st.builds(
        "https://www.e.edu/{}/(S(abcdefghijklmnop0))/{}".format,
        st.text("/;a", max_size=4),
        st.text("/;(", max_size=4),
    ),
)


@given(presets, crooked)
def test_a_key_is_what_all_rules_come_to_one_by_one(rules: KeyRules, text: str) -> None:
    """Whatever was found to have nothing to edit is what the edits leave as it is."""
    try:
        web = read(text, route_hosts={"www.e.edu"})
    except InvalidUrl:
        return
    parts = {"scheme": web.scheme, "host": web.host, "path": web.path, "query": web.query}
    for part, edit, _ in (RULES[name] for name in rules.rules):
        value = parts[part]
        if value and (part != "scheme" or not web.port):
            parts[part] = edit(value) or (None if part == "query" else "")
    applied = rules.apply(web)
    assert (applied.scheme, applied.host, applied.path, applied.query) == tuple(parts.values())
    assert rules.key(web) == applied.url
