"""Language segments: a leading `/de/` or `/english/` of a path, and when it is a department instead.

How it is decided. Codes and names fall into two classes:

- *certain*: codes that sites use for editions and that mean little else (`en`, `de`, `zh`), names of
  languages in the language itself (`deutsch`, `francais`) and `english`. They are language segments
  wherever they lead a path.
- *doubtful*: all others. Many two-letter codes are also everyday words or departments (`it`, `is`, `no`,
  `id`, `in`, `be`, `hr`, `pr`, `cs`, `my`), and `/german/` at an English-speaking university is the
  department of German. They count only when the site shows it: another, certain language segment was seen
  to lead paths of the same host (a site with `/en/` and `/it/` has editions), or pages below it declare
  that very language. A page below it that declares another language settles the opposite: `/it/` in English
  is the IT department.

Evidence only ever grows, so a doubtful segment changes its reading at most once, towards a language, unless a
declaration speaks against it.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from functools import lru_cache
from urllib.parse import unquote

__all__ = ["DEFAULT_LANGUAGES", "LANGUAGE_WORDS", "Languages", "SiteLanguages", "is_certain", "language_code"]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _code_by_word(words_by_code: dict[str, str]) -> dict[str, str]:
    return {word: code for code, words in words_by_code.items() for word in words.split()}


# ISO 639-1, but for `kr`, which sites use for Korean and never for Kanuri.
_CERTAIN_CODES = _set(
    "ar bg da de el en es fa fi fr hu ja ka kk ko lt lv mk nb nl nn pl pt ro ru sk sl sq sr sv th tr ur "
    "uz vi zh"
)
_DOUBTFUL_CODES = _set(
    "aa ab ae af ak am an as av ay az ba be bi bm bn bo br bs ca ce ch co cr cs cu cv cy dv dz ee eo et "
    "eu ff fj fo fy ga gd gl gn gu gv ha he hi ho hr ht hy hz ia id ie ig ii ik io is it iu jv kg ki kj "
    "kl km kn ks ku kv kw ky la lb lg li ln lo lu mg mh mi ml mn mr ms mt my na nd ne ng no nr nv ny oc "
    "oj om or os pa pi ps qu rm rn rw sa sc sd se sg si sm sn so ss st su sw ta te tg ti tk tl tn to ts "
    "tt tw ty ug uk ve vo wa wo xh yi yo za zu"
)
# Not ISO 639-1, but in use: country codes taken for languages, and codes of three letters.
_CERTAIN_VARIANTS = _code_by_word(
    {
        "ar": "ara",
        "de": "deu",
        "es": "esp",
        "fr": "fra fre",
        "it": "ita",
        "ja": "jp jpn",
        "ko": "kr kor",
        "nl": "nld",
        "pt": "por",
        "ru": "rus",
        "zh": "cn chi zho",
    }
)
_DOUBTFUL_VARIANTS = _code_by_word(
    {"cs": "cz", "da": "dk", "de": "ger", "el": "gr", "en": "eng", "es": "spa", "uk": "ua", "vi": "vn"}
)
_OWN_NAMES = _code_by_word(
    {
        "ar": "العربية",
        "ca": "catala català",
        "cs": "cesky česky cestina čeština",
        "cy": "cymraeg",
        "da": "dansk",
        "de": "deutsch",
        "el": "ελληνικά",
        "en": "english",
        "es": "espanol español castellano",
        "et": "eesti",
        "eu": "euskara",
        "fi": "suomi",
        "fr": "francais français",
        "ga": "gaeilge",
        "gl": "galego",
        "he": "עברית",
        "hr": "hrvatski",
        "hu": "magyar",
        "id": "bahasa bahasa-indonesia",
        "is": "islenska íslenska",
        "it": "italiano",
        "ja": "日本語",
        "ko": "한국어",
        "lt": "lietuviu lietuvių",
        "lv": "latviesu latviešu",
        "nl": "nederlands",
        "no": "norsk",
        "pl": "polski",
        "pt": "portugues português",
        "ro": "romana română",
        "ru": "русский",
        "sk": "slovensky slovencina slovenčina",
        "sl": "slovenscina slovenščina",
        "sr": "srpski",
        "sv": "svenska",
        "tr": "turkce türkçe",
        "uk": "українська",
        "vi": "tieng-viet",
        "zh": "中文",
    }
)
_FOREIGN_NAMES = _code_by_word(
    {
        "ar": "arabic",
        "cs": "czech",
        "cy": "welsh",
        "da": "danish",
        "de": "german",
        "el": "greek",
        "en": "anglais englisch ingles inglés inglese engels",
        "es": "spanish",
        "fi": "finnish",
        "fr": "french",
        "ga": "irish",
        "he": "hebrew",
        "hi": "hindi",
        "hu": "hungarian",
        "id": "indonesian",
        "it": "italian",
        "ja": "japanese",
        "ko": "korean",
        "nl": "dutch",
        "no": "norwegian",
        "pl": "polish",
        "pt": "portuguese",
        "ro": "romanian",
        "ru": "russian",
        "sv": "swedish",
        "th": "thai",
        "tr": "turkish",
        "uk": "ukrainian",
        "vi": "vietnamese",
        "zh": "chinese",
    }
)

_CODES = {code: code for code in _CERTAIN_CODES | _DOUBTFUL_CODES} | _CERTAIN_VARIANTS | _DOUBTFUL_VARIANTS
_NAMES = _OWN_NAMES | _FOREIGN_NAMES
_CERTAIN = _CERTAIN_CODES | _CERTAIN_VARIANTS.keys() | _OWN_NAMES.keys()
LANGUAGE_WORDS = frozenset(word for name in (*_CODES, *_NAMES) for word in name.split("-"))
"""Words, in lower case: every segment without escapes that `language_code` or `is_certain` knows has one of them."""

# A region (`zh-cn`, `en_us`, `es-419`) or a script (`zh-hans`).
_REGIONAL = re.compile(r"([a-z]{2,3})[-_]([a-z]{2}|[0-9]{3}|hans|hant|latn|cyrl)")


@lru_cache(maxsize=4096)
def language_code(segment: str) -> str | None:
    """ISO 639-1 code of a path segment that may name a language; None for any other segment.

    Codes with and without region, common codes outside the standard and names are known; case does not
    matter, and escapes are decoded as UTF-8.
    """
    word = _folded(segment)
    regional = _REGIONAL.fullmatch(word)
    return _CODES.get(regional[1] if regional else word) or _NAMES.get(word)


@lru_cache(maxsize=4096)
def is_certain(segment: str) -> bool:
    """Whether a segment is a language segment without any evidence: see the module's text.

    A region makes a doubtful code certain only when it repeats it (`it-it`): `to-do` and `so-so` are not
    languages.
    """
    word = _folded(segment)
    regional = _REGIONAL.fullmatch(word)
    if regional is None:
        return word in _CERTAIN
    code, region = regional.groups()
    return code in _CERTAIN or (code in _CODES and code == region)


class SiteLanguages(Container[str]):
    """The language segments of one host, as far as the site has shown them; see the module's text.

    `segment in site_languages` says whether a leading path segment is a language segment. Immutable; equal when they
    rest on the same evidence.

    Args:
        seen: leading segments found on the host so far that `language_code` knows; others are ignored.
        declared: segment (in lower case) → language that pages below it declare (a tag such as `en-GB`),
            where that is known. It settles doubtful segments both ways.
    """

    def __init__(self, seen: Iterable[str] = (), declared: dict[str, str] | None = None) -> None:
        self._declared = {key.lower(): tag for key, tag in (declared or {}).items()}
        self._certain = frozenset(language_code(segment) for segment in seen if is_certain(segment))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SiteLanguages):
            return NotImplemented
        return self._certain == other._certain and self._declared == other._declared

    def __hash__(self) -> int:
        return hash((self._certain, frozenset(self._declared.items())))

    def __contains__(self, segment: object) -> bool:
        if not isinstance(segment, str):
            return False
        code = language_code(segment)
        if code is None:
            return False
        if is_certain(segment):
            return True
        declared = self._declared.get(segment.lower())
        if declared:
            return language_code(declared) == code
        return any(other != code for other in self._certain)


DEFAULT_LANGUAGES = SiteLanguages()
"""What is known of a host that has shown nothing yet: only certain segments count."""

Languages = SiteLanguages | frozenset[str]
"""What is asked, in lower case, whether a leading segment names a language: evidence, or a fixed list."""


def _folded(segment: str) -> str:
    """In lower case; escapes decoded, bytes that are no UTF-8 replaced."""
    return (unquote(segment, errors="replace") if "%" in segment else segment).lower()
