"""Scope: decided on what would really be requested, and as fast with many seeds as with one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagesift_store.errors import InvalidSettings
from pagesift_store.urls.reading import read
from pagesift_store.urls.scope import Scope, ScopeKind

BASE = "https://www.e.edu/docs/guide/page"


def scope(kind: ScopeKind, *seeds: str) -> Scope:
    made = Scope(kind)
    for seed in seeds:
        made.extend(read(seed))
    return made


@pytest.mark.parametrize(
    ("url", "site", "host"),
    [
        ("https://e.edu/", True, True),
        ("http://www.e.edu:8080/x", True, True),
        ("https://WWW.www.E.edu/", True, True),
        ("https://lib.e.edu/", True, False),
        ("https://www.lib.e.edu/", True, False),
        ("https://a.b.e.edu/", True, False),
        ("https://xe.edu/", False, False),
        ("https://edu/", False, False),
        ("https://e.edu.evil.com/", False, False),
        ("https://e.edu./", False, False),
        ("https://other.edu/?u=e.edu", False, False),
        ("https://1.2.3.4/", False, False),
        ("https://[::1]/", False, False),
    ],
)
def test_site_and_host(url: str, site: bool, host: bool) -> None:
    for seed in ("https://e.edu/a/b", "https://www.e.edu/"):
        assert scope("site", seed).admits(read(url)) is site
        assert scope("host", seed).admits(read(url)) is host


@pytest.mark.parametrize(
    "href",
    ["\\\\evil.example\\x", "/\\evil.example/x", "//evil.example/x", "https:\\\\evil.example", "https://www.e.edu@evil.example/",
     "https://www.e.edu:443@evil.example/", "https://www.e.edu%2eevil.example/", "https:///evil.example/www.e.edu",
     "https://evil.example\\@www.e.edu/", "/\t/evil.example/", "http:evil.example"],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["site", "host", "prefix"])
def test_no_way_of_writing_leaves_the_scope(kind: ScopeKind, href: str) -> None:
    made = scope(kind, "https://www.e.edu/")
    web = read(href, BASE)
    assert "evil.example" in web.host
    assert not made.admits(web)


@pytest.mark.parametrize(
    ("href", "admitted"),
    [
        ("/docs/guide/x", True),
        ("/docs/guide", True),
        ("/docs/guide/", True),
        ("/docs/guide?q", True),
        ("/docs/guide2", False),
        ("/docs/", False),
        ("/", False),
        ("../x", False),
        ("%2e%2e/x", False),
        (".%2E/x", False),
        ("/docs/guide/../secret", False),
        ("/docs/guide/..;/x", True),
        ("\\docs\\guide\\x", True),
        ("//docs/guide/x", False),
        ("/docs//guide/x", False),
        ("/Docs/guide/x", False),
        ("https://lib.e.edu/docs/guide/x", False),
        ("https://e.edu/docs/guide/x", True),
    ],
)
def test_prefix(href: str, admitted: bool) -> None:
    for seed in (
        "https://e.edu/docs/guide/",
        "https://e.edu/docs/guide/index.html",
        "https://e.edu/docs/guide",
    ):
        assert scope("prefix", seed).admits(read(href, BASE)) is admitted


def test_a_seed_at_the_root_takes_its_whole_host_into_a_prefix_scope() -> None:
    for seed in ("https://e.edu", "https://e.edu/index.html", "https://e.edu//"):
        made = scope("prefix", seed)
        assert made.admits(read("https://e.edu/any/where"))
        assert not made.admits(read("https://lib.e.edu/"))


def test_any_admits_everything_and_has_no_entries() -> None:
    made = scope("any", "https://e.edu/")
    assert made.admits(read("http://anything.example/"))
    assert list(made) == []
    assert not made.extend(read("https://e.edu/"))


@pytest.mark.parametrize("seed", ["https://www.com/", "https://www.co.uk/"])
def test_a_www_host_below_a_public_suffix_does_not_open_the_suffix(seed: str) -> None:
    made = scope("site", seed)
    assert made.admits(read(seed))
    assert not made.admits(read("https://other.com/"))
    assert not made.admits(read("https://other.co.uk/"))


def test_entries_rebuild_the_scope() -> None:
    seeds = ("https://www.b.edu/x/y", "https://a.edu/", "https://a.edu/z/", "https://b.edu/x/y/")
    made = scope("prefix", *seeds)
    assert list(made) == [("a.edu", ""), ("a.edu", "/z"), ("b.edu", "/x/y")]
    assert list(Scope("prefix", made)) == list(made)
    assert list(scope("site", *seeds)) == [("a.edu", ""), ("b.edu", "")]


def test_extend_says_whether_it_changed_and_entry_changes_nothing() -> None:
    made = Scope("site")
    web = read("https://www.e.edu/a")
    assert not made.admits(web)
    assert made.entry(web) == ("e.edu", "")
    assert not made.admits(web)
    assert made.extend(web)
    assert made.entry(web) is None
    assert not made.extend(read("http://e.edu/b"))


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(InvalidSettings, match="site, host, prefix, any"):
        Scope("everything")  # type: ignore[arg-type]


def test_a_hundred_thousand_seeds() -> None:
    entries = [(f"h{n}.example", "") for n in range(100_000)]
    inside, outside = read("https://a.b.h99999.example/x"), read("https://h100000.example/x")
    assert Scope("site", entries).admits(inside)
    assert not Scope("host", entries).admits(inside)
    assert not Scope("site", entries).admits(outside)


@given(
    st.lists(st.sampled_from(["a", "b", "a.b", ""]), max_size=5),
    st.lists(st.sampled_from(["a", "b", ""]), max_size=5),
)
def test_prefix_equals_its_plain_reading(seed: list[str], path: list[str]) -> None:
    seed_path, link_path = "/" + "/".join(seed), "/" + "/".join(path)
    directory = seed_path if "." not in seed_path.rpartition("/")[2] else seed_path.rpartition("/")[0]
    directory = directory.rstrip("/")
    expected = directory == "" or link_path == directory or link_path.startswith(directory + "/")
    assert scope("prefix", f"http://e.edu{seed_path}").admits(read(f"http://e.edu{link_path}")) is expected
