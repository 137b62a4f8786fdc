"""Language editions wherever a path names them, their entries, and sections of sites without directories."""

from __future__ import annotations

import pytest

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
