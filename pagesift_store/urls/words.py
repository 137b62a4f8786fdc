"""A URL read as words, for query terms to be found in."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote

from pagesift_store.urls.parts import bare_host

if TYPE_CHECKING:
    from pagesift_store.urls.reading import WebUrl

__all__ = ["url_text", "url_words"]

_ASCII_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
# Elsewhere only ASCII separates: combining signs of other scripts are no letters, yet parts of words.
_OTHER_WORDS = re.compile(r"[0-9]+|(?:[A-Za-z]|[^\x00-\x7f])+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def url_text(web: WebUrl) -> str:
    """Host and path as words, separated by single spaces.

    Split at punctuation, between letters and digits, and at camel case. Escapes are decoded as UTF-8, bytes
    that are none become U+FFFD; punycode labels are decoded. Scheme, a leading `www.`, port and query are
    left out.
    """
    return " ".join(url_words(web))


def url_words(web: WebUrl) -> list[str]:
    """The words of `url_text`, as they are written."""
    path = web.path
    if "%" in path:
        path = unquote(path, errors="replace")
    return [*_host_words(web.host), *_words(path)]


@lru_cache(maxsize=4096)
def _host_words(host: str) -> tuple[str, ...]:
    return tuple(_words(".".join([_decoded(label) for label in bare_host(host).split(".")])))


def _decoded(label: str) -> str:
    if not label.startswith("xn--"):
        return label
    try:
        return label[4:].encode().decode("punycode")
    except UnicodeError:
        # The standard lets broken punycode pass; it names no words.
        return label


def _words(text: str) -> list[str]:
    if text.isascii():
        return _ASCII_WORDS.findall(text)
    return _OTHER_WORDS.findall(_CAMEL.sub(" ", text))
