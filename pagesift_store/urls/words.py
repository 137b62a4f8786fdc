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

# Small letters first: most words have no others.
_ASCII_WORDS = re.compile(r"[a-z]+|[0-9]+|[A-Z]+(?![a-z])|[A-Z][a-z]+")
_SMALL_LETTERS = bytes(code if chr(code).islower() else 32 for code in range(128)) + b" " * 128
_DIGITS = bytes(code if chr(code).isdigit() else 32 for code in range(128)) + b" " * 128
# Elsewhere only ASCII separates: combining signs of other scripts are no letters, yet parts of words.
_OTHER_WORDS = re.compile(r"[0-9]+|(?:[A-Za-z]|[^\x00-\x7f])+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def url_text(web: WebUrl) -> str:
    """Host and path as words, separated by single spaces.

    Split at punctuation, between letters and digits, and at camel case. Escapes are decoded as UTF-8, bytes
    that are none become U+FFFD; punycode labels are decoded. Scheme, a leading `www.`, port and query are
    left out.
    """
    return " ".join(_words_in_order(web))


def url_words(web: WebUrl) -> list[str]:
    """The words of `url_text`, as they are written; where the path has small letters only, its numbers come last."""
    written = web.path.encode()
    if written.islower() and "%" not in web.path:  # by bytes, half the price of a regular expression
        letters = written.translate(_SMALL_LETTERS).decode().split()
        return [*_host_words(web.host), *letters, *written.translate(_DIGITS).decode().split()]
    return _words_in_order(web)


def _words_in_order(web: WebUrl) -> list[str]:
    path = unquote(web.path, errors="replace") if "%" in web.path else web.path
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
