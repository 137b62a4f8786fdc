"""What the shape of a link says before a fetch: furniture, dated article, section, language edition."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from pagesift_store.urls.languages import (
    DEFAULT_LANGUAGES,
    LANGUAGE_WORDS,
    Languages,
    is_certain,
    language_code,
)
from pagesift_store.urls.parts import bare_host, blank_digits

if TYPE_CHECKING:
    from pagesift_store.urls.reading import WebUrl

__all__ = [
    "FURNITURE",
    "edition_language",
    "has_furniture_path",
    "is_dated",
    "is_edition_entry",
    "is_furniture",
    "is_furniture_anchor",
    "is_section",
    "language_candidate",
    "path_language",
    "series",
]

_FURNITURE_GROUPS = {
    "what is new": "news newsroom press event events calendar media blog blogs podcast podcasts gallery",
    "ways to list": "tag tags category categories search archive archives feed feeds rss sitemap",
    "the house itself": (
        "about leadership governance brand branding award awards careers jobs vacancies donate "
        "donors sponsors partners testimonials"
    ),
    "the visitor's account": (
        "login logout signin signup register account cart basket checkout wishlist subscribe unsubscribe "
        "newsletter password"
    ),
    "the small print": "privacy terms cookie cookies imprint impressum disclaimer copyright legal gdpr",
}

FURNITURE = frozenset(word for words in _FURNITURE_GROUPS.values() for word in words.split())
"""Words, in lower case, that mark pages every site has and few queries ask for."""

_TELLING_WORDS = FURNITURE | LANGUAGE_WORDS

# A longer segment or anchor is a title, and titles use these words as words: "how-to-search-for-housing".
_LABEL_WORDS = 4
_SECTION_WORDS = 4
# A region in capitals is a region: `ca-ES`, but not `to-do`.
_REGIONAL = re.compile(r"[a-z]{2}[-_][A-Z]{2}")
_WORDS = re.compile(r"[^\W_]+")
_LOWER_OR_GAP = (
    bytes(ord(chr(code).lower()) if chr(code).isalnum() else 32 for code in range(128)) + b" " * 128
)

_YEAR = r"(?:19|20)[0-9]{2}"
_MONTH = r"(?:0[1-9]|1[0-2])"
_DAY = r"(?:0[1-9]|[12][0-9]|3[01])"
_MONTH_NAME = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?)"
)
# A year alone is a course catalogue as often as an article, and `2011-12` an academic year: neither is a
# date.
_DATE = re.compile(
    rf"/{_YEAR}/(?:0?[1-9]|1[0-2]|{_MONTH_NAME})(?:/|$)"
    rf"|(?<![0-9]){_YEAR}([-_.]?){_MONTH}\1{_DAY}(?![0-9])"
    rf"|(?<![0-9]){_DAY}([-_.]){_MONTH}\2{_YEAR}(?![0-9])",
    re.IGNORECASE,
)


def is_furniture(web: WebUrl, anchor: str = "") -> bool:
    """Whether a link leads to what every site has: news, lists, the house itself, accounts, small print.

    A word of `FURNITURE` must stand, whole, in a path segment or in the anchor; of segments and anchors
    with more than four words nothing is concluded, for these are titles.
    """
    return is_dated(web) or is_furniture_anchor(anchor) or has_furniture_path(web)


def is_furniture_anchor(anchor: str) -> bool:
    """Whether an anchor by itself says furniture; see `is_furniture`."""
    return _is_label(anchor)


def has_furniture_path(web: WebUrl) -> bool:
    """Whether a path by itself, its dates apart, says furniture; see `is_furniture`."""
    if FURNITURE.isdisjoint(_telling_words(web.path)):
        return False  # the segments have no other words than the path
    return any(_is_label(segment) for segment in web.path.split("/") if segment)


def is_dated(web: WebUrl) -> bool:
    """Whether the path carries a date: year and month as segments, or year, month and day in one segment."""
    return ("20" in web.path or "19" in web.path) and _DATE.search(web.path) is not None


def is_section(web: WebUrl, anchor: str, languages: Languages = DEFAULT_LANGUAGES) -> bool:
    """Whether a link looks like the entry to a section of a site.

    The path has one segment, or none, after a leading language segment; there is no query; the anchor has
    one to four words. A file name other than `index.…` is a page, not a section: on a site without directories
    every page has one segment.
    """
    if web.query or not 1 <= len(anchor.split()) <= _SECTION_WORDS:
        return False
    segments = list(filter(None, web.path.split("/")))
    if segments and segments[0].lower() in languages:
        segments = segments[1:]
    return not segments or (len(segments) == 1 and not _is_file(web.path))


def _is_file(path: str) -> bool:
    """Whether a path ends in a file name that is no directory's index."""
    name = path.rpartition("/")[2]
    return "." in name and not name.lower().startswith("index.")


def path_language(web: WebUrl, languages: Languages = DEFAULT_LANGUAGES) -> str | None:
    """ISO 639-1 code of the language edition that the path leads to; None when it names none.

    Args:
        web: the URL.
        languages: what is a language segment on this host; see `pagesift_store.urls.languages`.
    """
    candidate = language_candidate(web)
    return language_code(candidate) if candidate is not None and candidate in languages else None


def edition_language(web: WebUrl, languages: Languages = DEFAULT_LANGUAGES) -> str | None:
    """ISO 639-1 code of the language edition that any part of the path names; None when none does.

    Beyond `path_language`: a code with its region in capitals (`/handbook/fr-FR/`, `/translations/zh_CN/`) or one that
    is a language for certain, as a directory at any depth; and a code between a file's name and its extension
    (`install.de.html`).

    Args:
        web: the URL.
        languages: what is a language segment at the head of a path on this host.
    """
    path = web.path
    if "%" not in path and LANGUAGE_WORDS.isdisjoint(_telling_words(path)):
        return None
    leading = path_language(web, languages)
    return leading if leading is not None else _language_within(path)


def _language_within(path: str) -> str | None:
    directory, _, name = path.rpartition("/")
    found = _language_of_directory(directory)
    if found is not None or name.count(".") < 2:
        return found
    code = name.split(".")[-2]
    return language_code(code) if is_certain(code) else None


# The links of one page lead to few directories.
@lru_cache(maxsize=8192)
def _language_of_directory(directory: str) -> str | None:
    for segment in directory.split("/"):
        if segment and (_REGIONAL.fullmatch(segment) or is_certain(segment)):
            code = language_code(segment)
            if code is not None:
                return code
    return None


def is_edition_entry(web: WebUrl) -> bool:
    """Whether a path ends at the language that it names: `/fr/`, `/handbook/fr-FR/index.html`, `/faq/index.fr.html`."""
    directory, _, name = web.path.rpartition("/")
    if name and not name.lower().startswith("index."):
        return False
    last = directory.rpartition("/")[2]
    return _language_within(f"/{last}/{name}") is not None or language_code(last) is not None


def series(web: WebUrl) -> str | None:
    """The URL with its runs of digits blanked: the pages of one list differ in nothing else.

    Returns:
        None when there is no digit in path or query.
    """
    target = web.path if web.query is None else f"{web.path}?{web.query}"
    blanked = blank_digits(target)
    return None if blanked == target else f"{bare_host(web.host)}{blanked}"


def language_candidate(web: WebUrl) -> str | None:
    """The leading segment, in lower case, when it may name a language: evidence for `SiteLanguages`."""
    segment = web.path.lstrip("/").partition("/")[0]
    return segment.lower() if language_code(segment) else None


def _is_label(text: str) -> bool:
    words = _words(text)
    return len(words) <= _LABEL_WORDS and not FURNITURE.isdisjoint(words)


# Asked for twice of every new link, at once.
@lru_cache(maxsize=64)
def _telling_words(path: str) -> frozenset[str]:
    """Which words of a path may say furniture or name a language; none for most paths."""
    return _TELLING_WORDS.intersection(_words(path))


def _words(text: str) -> list[str]:
    """The words of a text in lower case, letters and digits together."""
    if text.isascii():  # by bytes, a fifth of the price
        return text.encode().translate(_LOWER_OR_GAP).decode().split()
    return _WORDS.findall(text.lower())
