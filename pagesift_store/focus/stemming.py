"""The stems of words, by Snowball."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import Stemmer

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["MAX_STEMMED", "stemmer"]

MAX_STEMMED = 64
"""Longest word, in characters, that is stemmed and remembered. Longer ones are data, not language."""

_ALGORITHMS = {
    "ar": "arabic",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "eo": "esperanto",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "nb": "norwegian",
    "ne": "nepali",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "st": "sesotho",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}


def stemmer(code: str) -> Callable[[list[str]], list[str]]:
    """The stemming function of a language; the identity where Snowball has none. Long words stay as they are."""
    algorithm = _ALGORITHMS.get(code)
    if algorithm not in Stemmer.algorithms():  # which languages there are depends on the release
        return lambda words: words
    snowball: Any = Stemmer.Stemmer(algorithm, 0)

    def stems(words: list[str]) -> list[str]:
        found: list[str] = snowball.stemWords(words)
        return [stem if len(word) <= MAX_STEMMED else word for word, stem in zip(words, found, strict=True)]

    return stems
