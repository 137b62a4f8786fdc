"""Language editions wherever a path names them, their entries, and sections of sites without directories."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagesift_store.urls.languages import (
    _CODES,
    _NAMES,
    DEFAULT_LANGUAGES,
    LANGUAGE_WORDS,
    Languages,
    SiteLanguages,
    is_certain,
    language_code,
)
from pagesift_store.urls.reading import read
from pagesift_store.urls.shapes import edition_language, is_edition_entry, is_section


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("/fr/guide/", "fr"),
        ("/handbook/fr-FR/apt.html", "fr"),
        ("/handbook/ca-ES/apt.html", "ca"),
        ("/translations/zh_CN/mm.html", "zh"),
        ("/install/de/ch01.html", "de"),
        ("/faq/choosing.en.html", "en"),
        ("/faq/choosing.html", None),
        ("/en/cpp/io/print.html", "en"),
        ("/std/io/struct.html", None),
        ("/guide/to-do/list.html", None),
        ("/os/linux/id/", None),
        ("/a.b.html", None),
        ("/", None),
    ],
)
def test_the_language_of_an_edition(path: str, language: str | None) -> None:
    assert edition_language(read(f"https://site.example{path}")) == language


@pytest.mark.parametrize(
    ("path", "entry"),
    [
        ("/fr/", True),
        ("/handbook/fr-FR/", True),
        ("/handbook/fr-FR/index.html", True),
        ("/faq/index.fr.html", True),
        ("/handbook/fr-FR/apt.html", False),
        ("/faq/choosing.fr.html", False),
        ("/handbook/", False),
        ("/index.html", False),
    ],
)
def test_an_entry_ends_at_the_language_it_names(path: str, entry: bool) -> None:
    assert is_edition_entry(read(f"https://site.example{path}")) is entry


@pytest.mark.parametrize(
    ("path", "section"),
    [
        ("/library/", True),
        ("/library", True),
        ("/", True),
        ("/index.html", True),
        ("/sql-vacuum.html", False),
    ],
)
def test_a_page_of_a_site_without_directories_is_no_section(path: str, section: bool) -> None:
    assert is_section(read(f"https://site.example{path}"), "Some words") is section


_SEGMENTS = [
    "", "en", "DE", "it", "it-it", "to-to", "to-do", "how-to-apply", "fr-FR", "ca-ES", "en_US", "zh-Hans", "es-419",
    "xx-YY", "deutsch", "German", "bahasa-indonesia", "tieng-viet", "tieng_viet", "fran%C3%A7ais", "%64e", "%FF",
    "%E4%B8%AD%E6%96%87", "about", "index.html", "index.fr.html", "install.de.html", "x.it-it.y", "it.b.c", "de.",
    ".de.x", "visa2024",
]  # fmt: skip
_EVIDENCE = [
    DEFAULT_LANGUAGES,
    SiteLanguages(["en"]),
    SiteLanguages([], {"it": "it", "to": "en"}),
    frozenset({"it", "xx-yy"}),
]


@given(st.lists(st.sampled_from(_SEGMENTS), max_size=4), st.sampled_from(_EVIDENCE))
def test_a_glance_at_the_words_misses_no_edition(segments: list[str], languages: Languages) -> None:
    web = read(f"https://site.example/{'/'.join(segments)}")
    *directories, name = web.path.split("/")
    leading = next((segment for segment in web.path.split("/") if segment), "").lower()
    found = [language_code(leading)] if language_code(leading) and leading in languages else []
    found += [
        language_code(segment)
        for segment in directories
        if re.fullmatch(r"[a-z]{2}[-_][A-Z]{2}", segment) or is_certain(segment)
    ]
    if name.count(".") >= 2 and is_certain(name.split(".")[-2]):
        found.append(language_code(name.split(".")[-2]))
    assert edition_language(web, languages) == next((code for code in found if code is not None), None)


@given(st.one_of(st.sampled_from(_SEGMENTS), st.from_regex(r"\A[a-zA-Z]{1,4}([-_.][a-zA-Z0-9]{1,4})?\Z")))
def test_a_segment_that_names_a_language_has_a_word_that_does(segment: str) -> None:
    if "%" not in segment and (language_code(segment) is not None or is_certain(segment)):
        assert not LANGUAGE_WORDS.isdisjoint(re.split(r"[\W_]", segment.lower()))


def test_every_language_has_a_word_that_names_it() -> None:
    for name in (*_CODES, *_NAMES):
        assert not LANGUAGE_WORDS.isdisjoint(re.split(r"[\W_]", name))
