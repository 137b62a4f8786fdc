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

__all__ = ["DEFAULT_LANGUAGES", "SiteLanguages", "is_certain", "language_code"]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_CERTAIN_CODES = _set(
    "ar bg ca da de el en es et eu fa fi fr gl hu hy ja ka kk ko lt lv mk ms nb nl nn pl pt ro ru sk sl "
    "sq sr sv sw th tr ur uz vi zh"
)
_DOUBTFUL_CODES = _set(
    "aa ab ae af ak am an as av ay az ba be bh bi bm bn bo br bs ce ch co cr cs cu cv cy dv dz ee eo ff "
    "fj fo fy ga gd gn gu gv ha he hi ho hr ht hz ia id ie ig ii ik in io is it iu iw jv kg ki kj kl km "
    "kn kr ks ku kv kw ky la lb lg li ln lo lu mg mh mi ml mn mo mr mt my na nd ne ng no nr nv ny oc oj "
    "om or os pa pi ps qu rm rn rw sa sc sd se sg sh si sm sn so ss st su ta te tg ti tk tl tn to ts tt "
    "tw ty ug uk ve vo wa wo xh yi yo za zu"
)
# Not ISO 639-1, but in use: country codes taken for languages, and codes of three letters.
_CERTAIN_VARIANTS = {
    "jp": "ja", "cn": "zh", "deu": "de", "fra": "fr", "fre": "fr", "esp": "es", "ita": "it", "por": "pt", "rus": "ru",
    "jpn": "ja", "kor": "ko", "zho": "zh", "chi": "zh", "nld": "nl", "ara": "ar",
}  # fmt: skip
_DOUBTFUL_VARIANTS = {
    "kr": "ko", "cz": "cs", "dk": "da", "gr": "el", "ua": "uk", "vn": "vi", "eng": "en", "ger": "de", "spa": "es",
    "iw": "he", "in": "id",
}  # fmt: skip
_OWN_NAMES = {
    "english": "en", "deutsch": "de", "francais": "fr", "français": "fr", "espanol": "es", "español": "es",
    "castellano": "es", "catala": "ca", "català": "ca", "euskara": "eu", "galego": "gl", "italiano": "it",
    "portugues": "pt", "português": "pt", "nederlands": "nl", "svenska": "sv", "dansk": "da", "norsk": "no",
    "suomi": "fi", "eesti": "et", "latviesu": "lv", "lietuviu": "lt", "polski": "pl", "cesky": "cs", "česky": "cs",
    "cestina": "cs", "čeština": "cs", "slovensky": "sk", "slovencina": "sk", "magyar": "hu", "romana": "ro",
    "română": "ro", "hrvatski": "hr", "srpski": "sr", "turkce": "tr", "türkçe": "tr", "ελληνικά": "el",
    "русский": "ru", "українська": "uk", "中文": "zh", "日本語": "ja", "한국어": "ko", "العربية": "ar", "עברית": "he",
    "bahasa-indonesia": "id", "bahasa": "id", "tieng-viet": "vi", "cymraeg": "cy", "gaeilge": "ga",
}  # fmt: skip
_FOREIGN_NAMES = {
    "german": "de", "french": "fr", "spanish": "es", "italian": "it", "portuguese": "pt", "dutch": "nl",
    "swedish": "sv", "danish": "da", "norwegian": "no", "finnish": "fi", "polish": "pl", "czech": "cs",
    "hungarian": "hu", "romanian": "ro", "greek": "el", "turkish": "tr", "russian": "ru", "ukrainian": "uk",
    "chinese": "zh", "japanese": "ja", "korean": "ko", "arabic": "ar", "hebrew": "he", "hindi": "hi",
    "vietnamese": "vi", "thai": "th", "indonesian": "id", "welsh": "cy", "irish": "ga", "anglais": "en",
    "ingles": "en", "englisch": "en",
}  # fmt: skip

_CODES = {code: code for code in _CERTAIN_CODES | _DOUBTFUL_CODES} | _CERTAIN_VARIANTS | _DOUBTFUL_VARIANTS
_NAMES = _OWN_NAMES | _FOREIGN_NAMES
_CERTAIN = _CERTAIN_CODES | _CERTAIN_VARIANTS.keys() | _OWN_NAMES.keys()
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

    `segment in site_languages` says whether a leading path segment is a language segment.

    Args:
        seen: leading segments found on the host so far that `language_code` knows; others are ignored.
        declared: segment (in lower case) → language that pages below it declare (a tag such as `en-GB`),
            where that is known. It settles doubtful segments both ways.
    """

    def __init__(self, seen: Iterable[str] = (), declared: dict[str, str] | None = None) -> None:
        self._declared = {key.lower(): tag for key, tag in (declared or {}).items()}
        self._certain = frozenset(language_code(segment) for segment in seen if is_certain(segment))

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


def _folded(segment: str) -> str:
    """In lower case; escapes decoded, bytes that are no UTF-8 replaced."""
    return (unquote(segment, errors="replace") if "%" in segment else segment).lower()
