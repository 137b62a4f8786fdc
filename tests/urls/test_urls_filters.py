"""What is not worth a fetch, and what looks so and is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagesift_store.errors import Refusal
from pagesift_store.urls.filters import EXTENSIONS, MAX_SEGMENTS, refusal
from pagesift_store.urls.reading import read


def refused(path: str) -> Refusal | None:
    return refusal(read(f"https://e.edu{path}"))


@pytest.mark.parametrize(
    "path",
    ["/a.png", "/a.SVG", "/favicon.ico", "/a.psd", "/a.heic", "/a.mp3", "/a.mp4", "/a.zip", "/a.tar.gz", "/a.woff2",
     "/a.js", "/a.css", "/a.exe", "/a.iso", "/a.dmg", "/a.zip;jsessionid=1", "/a.jpg?w=100", "/x/.hidden.png"],
)  # fmt: skip
def test_files_that_cannot_become_text_are_refused(path: str) -> None:
    assert refused(path) is Refusal.EXTENSION


@pytest.mark.parametrize(
    "path",
    ["/", "/a.pdf", "/a.html", "/a.txt", "/a.xml", "/feed.rss", "/a.docx", "/a.xlsx", "/a.odt", "/a.pptx", "/a.csv",
     "/a.php", "/a.aspx", "/a.json", "/png", "/.png", "/a.zip/", "/a.zip/b", "/?file=a.zip", "/site/example.com",
     "/wiki/File:Map.png", "/v1.2", "/a.zipper"],
)  # fmt: skip
def test_what_may_become_text_is_not_refused(path: str) -> None:
    assert refused(path) is None


def test_no_text_format_is_among_the_extensions() -> None:
    assert EXTENSIONS.isdisjoint(
        {
            "pdf",
            "html",
            "htm",
            "xhtml",
            "txt",
            "xml",
            "rss",
            "atom",
            "doc",
            "docx",
            "xls",
            "xlsx",
            "ppt",
            "pptx",
        }
        | {"odt", "ods", "odp", "rtf", "csv", "md", "json", "php", "asp", "aspx", "jsp", "cgi", "epub", "com"}
    )


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/a/a/a", Refusal.REPEATED_SEGMENT),
        ("/x/a/a/a/y", Refusal.REPEATED_SEGMENT),
        ("/a/a/a/", Refusal.REPEATED_SEGMENT),
        ("/a//a/a", Refusal.REPEATED_SEGMENT),
        ("/a/a/b/b", None),
        ("/a/a/b/a", None),
        ("/a/a/ab", None),
        ("/ba/a/a", None),
        ("/a/b/a/b/a", None),
        ("/infra/www/infra/www/infra/www/", Refusal.SEGMENT_CYCLE),
        ("/x/a/b/a/b/a/b/y", Refusal.SEGMENT_CYCLE),
        ("/a/b/c/a/b/c/a/b/c", Refusal.SEGMENT_CYCLE),
        ("/a/b/c/a/b/c/a/b", None),
        ("/a/b/a/b/x/a/b", None),
        ("/a/b//a/b//a/b", Refusal.SEGMENT_CYCLE),
    ],
)
def test_c54_paths_that_pile_up_are_refused(path: str, reason: Refusal | None) -> None:
    assert refused(path) is reason


def test_paths_of_more_than_twenty_segments_are_refused() -> None:
    path = "".join(f"/s{n}" for n in range(MAX_SEGMENTS))
    assert refused(path) is None
    assert refused(path + "/") is None
    assert refused(path + "/x") is Refusal.TOO_DEEP
    assert refused(path + "/x/") is Refusal.TOO_DEEP


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/a%20b", None),
        ("/a%2520b", None),
        ("/100%2525", None),
        ("/a%252520b", Refusal.NESTED_ESCAPES),
        ("/?next=/p%252Fq", None),
        ("/?next=/p%25252Fq", Refusal.NESTED_ESCAPES),
        ("/?next=%2525252525", Refusal.NESTED_ESCAPES),
    ],
)
def test_c55_escapes_nested_more_than_twice_are_refused(path: str, reason: Refusal | None) -> None:
    assert refused(path) is reason


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/page?x=1&amp;y=2", None),
        ("/page?x=1&amp;y=2&amp;z=3", None),
        ("/page?x=1&amp;amp;y=2", Refusal.AMP_CHAIN),
        ("/page?x=1&amp%3Bamp%3By=2", Refusal.AMP_CHAIN),
        ("/page?x=1&amp;&amp;y=2", Refusal.AMP_CHAIN),
        ("/page?x=1%26amp%3B%26AMP%3By=2", Refusal.AMP_CHAIN),
        ("/?q=AT%26amp", None),
        ("/example/campus", None),
    ],
)
def test_c51_growing_amp_chains_are_refused(path: str, reason: Refusal | None) -> None:
    assert refused(path) is reason


def test_a_page_that_echoes_its_own_address_ends() -> None:
    """C55: each round puts the last URL, escaped, into a parameter."""
    url, rounds = "https://e.edu/p", 0
    while refusal(read(url)) is None:
        url = "https://e.edu/p?next=" + url.partition("e.edu")[2].replace("%", "%25").replace("?", "%3F")
        rounds += 1
        assert rounds < 6


@given(st.lists(st.sampled_from("ab"), max_size=MAX_SEGMENTS))
def test_cycles_are_found_as_by_plain_comparison(segments: list[str]) -> None:
    def cycles(period: int) -> bool:
        return any(
            segments[at : at + period] * 3 == segments[at : at + 3 * period]
            for at in range(len(segments) - 3 * period + 1)
        )

    expected = None
    if cycles(1):
        expected = Refusal.REPEATED_SEGMENT
    elif any(cycles(period) for period in range(2, 7)):
        expected = Refusal.SEGMENT_CYCLE
    assert refused("/" + "/".join(segments)) is expected


# Few slashes and many are looked at in two ways, and parts of segments are none.
@given(st.lists(st.sampled_from(["", "", "a", "aa", "b", "A", "%61", "a;v", "é"]), max_size=2 * MAX_SEGMENTS))
def test_a_glance_at_a_path_lets_nothing_through(parts: list[str]) -> None:
    web = read(f"https://e.edu/{'/'.join(parts)}")
    segments = [segment for segment in web.path.split("/") if segment]
    runs = [
        (start, period)
        for period in range(1, len(segments) // 3 + 1)
        for start in range(len(segments) - 3 * period + 1)
        if segments[start : start + period] * 3 == segments[start : start + 3 * period]
    ]
    expected = None
    if len(segments) > MAX_SEGMENTS:
        expected = Refusal.TOO_DEEP
    elif runs:
        once = any(period == 1 for _, period in runs)
        expected = Refusal.REPEATED_SEGMENT if once else Refusal.SEGMENT_CYCLE
    assert refusal(web) == expected
