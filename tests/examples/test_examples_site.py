"""The site that ships is the one its script makes, and it holds the traps it is there for."""

from __future__ import annotations

import runpy
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest

from pagesift_store.html import parse_page

EXAMPLES = Path(__file__).parents[2] / "examples"
SITE = EXAMPLES / "site"


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    files: dict[str, str] = runpy.run_path(str(EXAMPLES / "make_site.py"))["site"]()
    return files


def links_of(path: str, text: str) -> set[str]:
    url = f"http://site/{path}"
    return {urlsplit(urljoin(url, link.href)).path.lstrip("/") for link in parse_page(text, url).links}


def test_committed_files_are_what_the_script_makes(made: dict[str, str]) -> None:
    files = (path for path in SITE.rglob("*") if path.is_file())
    committed = {path.relative_to(SITE).as_posix(): path.read_text("utf-8") for path in files}
    assert committed == made


def test_small_and_in_three_languages(made: dict[str, str]) -> None:
    pages = [text for path, text in made.items() if path.endswith(".html")]
    assert len(pages) >= 50
    assert sum(map(len, made.values())) < 300_000
    assert {parse_page(text, "http://site/").language for text in pages} >= {"en", "de", "fr"}


def test_every_page_can_be_reached_and_one_link_is_broken(made: dict[str, str]) -> None:
    reached, waiting, broken = set[str](), ["index.html"], set[str]()
    while waiting:
        path = waiting.pop()
        if path in reached:
            continue
        if path not in made:
            broken.add(path)
            continue
        reached.add(path)
        found = links_of(path, made[path]) if path.endswith(".html") else set()
        waiting += [f"{link}index.html" if not link or link.endswith("/") else link for link in found]
    assert {path for path in made if path.endswith(".html")} <= reached
    assert broken == {"calendar/2027-01.html", "sport"}  # a month too far, and a redirect to the folder


def test_query_of_the_demo_has_pages_that_answer_it(made: dict[str, str]) -> None:
    def answers(text: str) -> bool:
        words = parse_page(text, "http://site/").text.lower()
        return all(word in words for word in ("student", "visa", "fee"))

    assert 10 <= sum(answers(text) for path, text in made.items() if path.endswith(".html")) <= 25
