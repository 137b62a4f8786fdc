"""Languages, furniture, dates, sections, and URLs as words."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagesift_store.errors import InvalidUrl
from pagesift_store.urls.languages import DEFAULT_LANGUAGES, SiteLanguages, is_certain, language_code
from pagesift_store.urls.reading import WebUrl, read
from pagesift_store.urls.shapes import (
    FURNITURE,
    has_furniture_path,
    is_dated,
    is_furniture,
    is_furniture_anchor,
    is_section,
    language_candidate,
    path_language,
    series,
)
from pagesift_store.urls.words import url_text, url_words


def page(path: str) -> WebUrl:
    return read(f"https://www.e.edu{path}")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("/list?page=2", "/list?page=3", True),
        ("/mail9.html", "/mail10.html", True),
        ("/list/2/", "/list/3", False),
        ("/list?page=2&sort=a", "/list?page=2&sort=b", False),
        ("/list?page=2", "/list?p=2", False),
        ("/a1/list", "/b1/list", False),
    ],
)
def test_pages_of_one_list_differ_in_numbers_only(one: str, other: str, same: bool) -> None:
    assert (series(page(one)) == series(page(other))) is same


def test_without_a_number_there_is_no_list_to_go_on_with() -> None:
    assert series(page("/list?page=next")) is None
    assert series(page("/ваза")) is None, "the digits of an escape are none of the text"


def test_a_list_goes_on_with_and_without_www() -> None:
    assert series(read("https://www.e.edu/list-1")) == series(read("https://e.edu/list-2"))


@pytest.mark.parametrize(
    ("segment", "code"),
    [
        ("en", "en"), ("DE", "de"), ("zh-cn", "zh"), ("en_US", "en"), ("es-419", "es"), ("zh-Hans", "zh"),
        ("jp", "ja"), ("kr", "ko"), ("cn", "zh"), ("it", "it"), ("cs", "cs"), ("eng", "en"),
        ("english", "en"), ("Deutsch", "de"), ("francais", "fr"), ("fran%C3%A7ais", "fr"), ("german", "de"),
        ("%E4%B8%AD%E6%96%87", "zh"),
        ("xx", None), ("us", None), ("about", None), ("en-", None), ("en-about", None), ("enx", None), ("", None),
        ("%FF", None), ("en;v=1", None),
    ],
)  # fmt: skip
def test_language_code(segment: str, code: str | None) -> None:
    assert language_code(segment) == code


@pytest.mark.parametrize(
    "segment", ["en", "de", "fr", "zh", "jp", "kr", "en-gb", "pt_br", "deutsch", "english", "it-it"]
)
def test_certain_segments_need_no_evidence(segment: str) -> None:
    assert is_certain(segment)
    assert segment in DEFAULT_LANGUAGES


@pytest.mark.parametrize(
    "segment", ["it", "is", "no", "id", "be", "hr", "my", "cs", "so", "to-do", "so-do", "german", "eng"]
)
def test_everyday_words_and_departments_need_evidence(segment: str) -> None:
    assert segment not in DEFAULT_LANGUAGES
    assert segment not in SiteLanguages([segment])
    assert segment not in SiteLanguages([segment, "hr", "news", "is"])
    assert segment in SiteLanguages(["zh-cn"])
    assert segment in SiteLanguages([], {segment: f"{language_code(segment)}-XX"})
    assert segment not in SiteLanguages(["zh"], {segment: "ja"})


def test_a_german_site_with_a_german_segment_has_shown_no_other_language() -> None:
    assert "german" not in SiteLanguages(["de"])
    assert "german" in SiteLanguages(["de", "en"])


@pytest.mark.parametrize("segment", ["pr", "about", "us", "", "xx", 7])
def test_what_is_no_language_never_becomes_one(segment: object) -> None:
    assert segment not in SiteLanguages(["en", "de"], {"pr": "en"})


def test_languages_with_the_same_evidence_are_equal() -> None:
    assert SiteLanguages(["en", "news"]) == SiteLanguages(["en-GB", "english"])
    assert hash(SiteLanguages(["en"], {"it": "it"})) == hash(SiteLanguages(["en"], {"IT": "it"}))
    assert SiteLanguages(["en"]) != SiteLanguages(["de"])
    assert SiteLanguages([]) != SiteLanguages([], {"it": "en"})
    assert SiteLanguages([]) == DEFAULT_LANGUAGES
    assert frozenset() != DEFAULT_LANGUAGES


def test_a_declaration_does_not_unmake_a_certain_segment() -> None:
    assert "de" in SiteLanguages([], {"de": "en"})


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/en/x", "en"),
        ("/Deutsch", "de"),
        ("//fr/x", "fr"),
        ("/it/x", None),
        ("/x/en", None),
        ("/", None),
        ("/en.html", None),
    ],
)
def test_path_language(path: str, code: str | None) -> None:
    assert path_language(page(path)) == code


def test_path_language_with_evidence() -> None:
    assert path_language(page("/IT/x"), SiteLanguages(["en"])) == "it"
    assert path_language(page("/xx/x"), frozenset({"xx"})) is None
    assert language_candidate(page("/IT/x")) == "it"
    assert language_candidate(page("/news/x")) is None
    assert language_candidate(page("/")) is None


@pytest.mark.parametrize(
    "path",
    ["/news", "/x/Events/y", "/media-centre/", "/blog/my-first-post-about-visas", "/tag/visa", "/search?q=x",
     "/login.php", "/privacy-policy", "/about-us", "/2024/05/x", "/cookies.html", "/archive_2012"],
)  # fmt: skip
def test_furniture_paths(path: str) -> None:
    assert is_furniture(page(path), "Visa fees")


@pytest.mark.parametrize(
    "anchor", ["News", "latest NEWS", "News & Events", "Terms and conditions", "Log in / Login", "Cart (0)"]
)
def test_furniture_anchors(anchor: str) -> None:
    assert is_furniture(page("/x"), anchor)


@pytest.mark.parametrize(
    ("path", "anchor"),
    [
        ("/newsletters-of-old", ""),
        ("/admissions", "Apply"),
        ("/visa/how-to-search-for-student-housing", ""),
        ("/x", "What you need to know about visas"),
        ("/mediaeval", "Eventsourcing"),
        ("/?news", ""),
        ("/", ""),
    ],
)
def test_no_furniture(path: str, anchor: str) -> None:
    assert not is_furniture(page(path), anchor)


def test_the_furniture_of_the_rules_is_all_there() -> None:
    rules = (
        "news events media blog tag category search archive feed about leadership governance brand awards login cart "
        "privacy terms cookies imprint"
    )
    assert FURNITURE.issuperset(rules.split())


@pytest.mark.parametrize(
    ("path", "dated"),
    [
        ("/2024/05/12/title", True), ("/2024/5/title", True), ("/1999/12", True), ("/2024/may/x", True),
        ("/2024/September/", True), ("/2024-05-12-title", True), ("/x/20240512.html", True), ("/12.05.2024", True),
        ("/2024_05_12", True),
        ("/2024/title", False), ("/2024/13/x", False), ("/2011-12/x", False), ("/2024", False), ("/20240512345", False),
        ("/2024-05.12", False), ("/1820/05/x", False), ("/x?d=2024-05-12", False), ("/2024/marching/x", False),
    ],
)  # fmt: skip
def test_dated(path: str, dated: bool) -> None:
    assert is_dated(page(path)) is dated


@pytest.mark.parametrize(
    ("path", "anchor", "section"),
    [
        ("/admissions", "Admissions", True),
        ("/admissions/", "For new students here", True),
        ("/", "Home", True),
        ("/en/", "English", True),
        ("/en/admissions", "Admissions", True),
        ("/it/admissions", "Admissions", False),
        ("/admissions?", "Admissions", True),
        ("/admissions?x=1", "Admissions", False),
        ("/a/b", "Admissions", False),
        ("/admissions", "", False),
        ("/admissions", "all you ever wanted here", False),
    ],
)
def test_section(path: str, anchor: str, section: bool) -> None:
    assert is_section(page(path), anchor) is section


def test_section_below_a_language_that_the_site_has_shown() -> None:
    assert is_section(page("/it/admissions"), "Admissions", SiteLanguages(["en"]))


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("https://www.e.edu/student-visa/Fees_2024.html", "e edu student visa Fees 2024 html"),
        ("http://www.www.e.edu:8080/?q=visa#fees", "e edu"),
        ("https://e.edu/studentVisaFees/HTMLPage", "e edu student Visa Fees HTML Page"),
        ("https://e.edu/ielts7b", "e edu ielts 7 b"),
        ("https://e.edu/caf%C3%A9/%C3%9Cber", "e edu café Über"),
        ("https://e.edu/stra%C3%9FenNamen%2fx", "e edu straßen Namen x"),
        ("https://e.edu/caf%e9", "e edu caf\ufffd"),
        ("https://bücher.example/x", "bücher example x"),
        ("https://xn--a.example/", None),
        ("https://e.edu/%E7%A0%94%E7%A9%B62024", "e edu 研究 2024"),
        ("https://[2001:db8::1]/x", "2001 db 8 1 x"),
        ("https://e.edu/%E0%A4%B9%E0%A4%BF%E0%A4%82%E0%A4%A6%E0%A5%80", "e edu हिंदी"),
    ],
)
def test_url_text(url: str, text: str | None) -> None:
    got = url_text(read(url))
    assert text is None or got == text


@given(st.text(max_size=60), st.text(max_size=12))
def test_shapes_and_words_take_any_url(path: str, anchor: str) -> None:
    try:
        web = read(f"https://e.edu/{path}")
    except InvalidUrl:
        return
    assert url_text(web).startswith("e edu")
    assert isinstance(is_furniture(web, anchor), bool)
    assert isinstance(is_section(web, anchor), bool)
    assert path_language(web) is None or is_certain(web.path.strip("/").partition("/")[0])


_LABELS = st.one_of(
    st.sampled_from(
        ["", "News", "news-room", "about_us", "Über Events", "NEWS", "a b c d", "blog2", "2 blog"]
    ),
    st.sampled_from(["ſ tags", "\u212a tags", "rss\x1cx", "rss–x", "x²rss", "a b c d rss"]),
    st.text(max_size=12),
)


@given(_LABELS, _LABELS, _LABELS)
def test_furniture_is_what_its_definition_says(one: str, other: str, anchor: str) -> None:
    def is_label(text: str) -> bool:
        words = re.findall(r"[^\W_]+", text.lower())
        return len(words) <= 4 and any(word in FURNITURE for word in words)

    web = read(f"https://e.edu/{one}/{other}")
    assert has_furniture_path(web) == any(is_label(segment) for segment in web.path.split("/"))
    assert is_furniture_anchor(anchor) == is_label(anchor)


@given(st.one_of(st.text(max_size=30), st.text("aBC7/-.%2é", max_size=30)))
def test_the_words_of_a_url_are_those_of_its_text(path: str) -> None:
    try:
        web = read(f"https://e.edu/{path}")
    except InvalidUrl:
        return
    text = url_text(web)
    assert sorted(url_words(web)) == sorted(text.split(" "))
    if "%" not in web.path:
        assert ["e", "edu", *re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", web.path)] == text.split(" ")
