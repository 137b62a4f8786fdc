"""The words of a query, the words of a text, and which of the one stand in the other.

Text is folded (NFKC, case) and cut into words. A query term hits a word of the same Snowball stem. Scripts
that put no spaces between words (Han, Hiragana, Katakana), and Hangul, whose words carry suffixes, are cut
into runs instead, and a term in one of them hits every run that contains it.
"""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field
from functools import reduce
from itertools import filterfalse, repeat
from operator import or_
from typing import TYPE_CHECKING
from unicodedata import normalize

from pagesift_store.focus.stemming import MAX_STEMMED, stemmer
from pagesift_store.focus.stopwords import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = [
    "MAX_TERMS",
    "QueryTerms",
    "fold",
    "signed",
    "spread",
    "tokeniser",
    "unsigned",
    "word_count",
    "word_count_of",
    "words",
    "written_out",
]

MAX_TERMS = 64
"""Most terms a query may have: one bit each of a 64-bit mask."""

_MAX_REMEMBERED = 1 << 15
"""Words remembered with their mask, some 4 MB. A site's vocabulary seldom exceeds it."""

_MAX_TEXT = 500
"""Longest text whose mask is remembered: anchors and contexts of menus come back with every page."""

# Scripts without spaces between words; then Hangul, which has them.
_UNSPACED = (
    "\u3005\u3007\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
)
_RUN = _UNSPACED + "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb"
# Marks that belong to the letter before them; `\w` does not count them as part of a word. Whole ranges of
# Indic and South-East Asian blocks, where letters and vowel signs alternate; and the two joiners.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f"
    "\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0900-\u0963\u0966-\u0dff\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
    "\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u102b-\u103e\u1056-\u1059\u17b4-\u17d3\u200c\u200d"
)
# Typography that most pages in English have and that parts words anyway. Read as ASCII, it leaves such
# pages to the quick paths, and a page that is reprinted with other quotes is the same text.
_TYPOGRAPHY = tuple(
    (character, plain)
    for characters, plain in (
        ("\xa0\u1680\u200b•·", " "),
        ("‘’", "'"),
        ("“”", '"'),
        ("–—", "-"),
        ("…", "..."),
        ("\xad", ""),
        ("\x85\u2028\u2029", "\n"),
    )
    for character in characters
)
_ASCII_GAPS = bytes(code if chr(code).isalnum() else 32 for code in range(128)) + bytes(128)
_ASCII_LETTERS = bytes(97 if chr(code).isalnum() else 32 for code in range(128)) + bytes(128)
# Small letters and digits as "a", capitals as "A", all else as a blank: humps are found without a regular expression.
_CLASSES = (
    bytes(
        97 if chr(code).islower() or chr(code).isdigit() else 65 if chr(code).isupper() else 32
        for code in range(128)
    )
    + b" " * 128
)
_CAMEL_NAME = re.compile(r"(?<![^\W_])[A-Za-z0-9]*[a-z0-9][A-Z][A-Za-z0-9]*(?![^\W_])")
_BETWEEN_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PLAIN_WORD = re.compile(r"[^\W_]+")
_INTRICATE = re.compile(f"[{_RUN}{_MARKS}]")
_INTRICATE_WORD = re.compile(rf"[{_RUN}]+|[^\W_{_RUN}]+(?:[{_MARKS}]+[^\W_{_RUN}]*)*")
_IN_RUN = re.compile(f"[{_RUN}]")
_FIRST_IN_RUN = "\u1100"
_IN_UNSPACED = re.compile(f"[{_UNSPACED}]")


def fold(text: str) -> str:
    """The text with differences of case and of compatible characters taken out.

    NFKC, full case folding, NFKC again (folding can undo it). Curly quotes, dashes and bullets become ASCII,
    soft hyphens go, and the Turkish dotted capital I becomes a plain i. Line breaks stay.

    Args:
        text: any text, lone surrogates and NULs included.

    Returns:
        The folded text; its length may differ.
    """
    if text.isascii():
        return text.lower()
    for typographic, plain in _TYPOGRAPHY:
        text = text.replace(typographic, plain)
    if text.isascii():
        return text.lower()
    folded = normalize("NFKC", text).casefold().replace("i\u0307", "i")
    return normalize("NFKC", folded)


def spread(text: str) -> str:
    """The text with the parts of every name in camel case written out behind it.

    `ConcurrentHashMap` becomes `ConcurrentHashMap Concurrent Hash Map`: pages of code speak of their subject in such
    names, and a query in words. The whole name stays, for the query may have it (`PostgreSQL`).

    Args:
        text: any text, not folded yet.
    """
    if b"aA" not in text.encode("utf-8", "surrogatepass").translate(_CLASSES):
        return text
    return _CAMEL_NAME.sub(_spread_name, text)


def _spread_name(found: re.Match[str]) -> str:
    name = found[0]
    return f"{name} {_BETWEEN_HUMPS.sub(' ', name)}" if len(name) <= MAX_STEMMED else name


def written_out(text: str, folded: str) -> str:
    """A text with its names written out, then folded: `fold(spread(text))`.

    Args:
        text: any text.
        folded: as `fold` returns it. What that leaves as it is has no capitals, and so no such names.
    """
    if folded == text:
        return folded
    named = spread(text)
    return folded if named is text else fold(named)


def word_count_of(text: str) -> int:
    """How many words a text has, as `word_count` counts them.

    Args:
        text: any text, folded or not.
    """
    if text.isascii():  # without making them all: each begins where a gap ends
        return (b" " + text.encode("ascii").translate(_ASCII_LETTERS)).count(b" a")
    return word_count(words(text))


def tokeniser(folded: str) -> Callable[[str], list[str]]:
    """The quickest function that cuts this text, or any piece of it, into words.

    Args:
        folded: text as `fold` returns it.

    Returns:
        A function from a piece of the text to its words, in order.
    """
    if folded.isascii():
        return _ascii_words
    return _intricate_words if _INTRICATE.search(folded) else _plain_words


def _ascii_words(folded: str) -> list[str]:
    """Three times as fast as a regular expression, and by bytes also on short texts."""
    return folded.encode("ascii").translate(_ASCII_GAPS).decode("ascii").split()


def _plain_words(folded: str) -> list[str]:
    return _ascii_words(folded) if folded.isascii() else _PLAIN_WORD.findall(folded)


def _intricate_words(folded: str) -> list[str]:
    return _ascii_words(folded) if folded.isascii() else _INTRICATE_WORD.findall(folded)


def words(text: str) -> list[str]:
    """The words of a text, folded, in order: letters and digits together, CJK in runs.

    Args:
        text: any text.

    Returns:
        The words; `student's` gives `student` and `s`.
    """
    folded = fold(text)
    return tokeniser(folded)(folded)


def word_count(tokens: list[str]) -> int:
    """How many words the tokens stand for: one each, but n characters of an unspaced script ⌈n/2⌉.

    Two characters are the usual length of a word in Chinese and near it in Japanese; counted as one word
    each, such runs would make a long page look short.

    Args:
        tokens: words as `words` returns them.

    Returns:
        A count of 0 or more.
    """
    extra = 0
    for run in tokens:
        if run >= "\u3005" and _IN_UNSPACED.match(run):
            extra += (len(run) - 1) // 2
    return len(tokens) + extra


def signed(mask: int) -> int:
    """The 64-bit mask as a signed integer, as it is stored: bit 63 makes it negative.

    Args:
        mask: signed or unsigned; bits above 63 are dropped.

    Returns:
        −2⁶³ to 2⁶³ − 1.
    """
    return ((mask + (1 << 63)) & ((1 << 64) - 1)) - (1 << 63)


def unsigned(mask: int) -> int:
    """The 64-bit mask as an unsigned integer, as its bits are counted.

    Args:
        mask: signed or unsigned; bits above 63 are dropped.

    Returns:
        0 to 2⁶⁴ − 1.
    """
    return mask & ((1 << 64) - 1)


class _WordMasks(dict[str, int]):
    """Word → mask of the terms it hits, found once a distinct word and remembered up to a bound.

    Nearly all words of a page hit nothing and were met before. Of many thousands, those are found fastest in a set, by
    one look into memory that no cache holds, where the dictionary takes three.
    """

    __slots__ = ("_bits", "_lock", "_misses", "_runs", "_stem")

    def __init__(self, bits: dict[str, int], stem: Callable[[list[str]], list[str]]) -> None:
        super().__init__()
        self._bits = bits
        self._runs = {term: bit for term, bit in bits.items() if _IN_RUN.match(term)}
        self._misses: set[str] = set()
        self._stem = stem
        self._lock = threading.Lock()  # a Snowball stemmer must not be shared between threads

    def __missing__(self, word: str) -> int:
        if word.isascii() and word.isdigit():
            return self._bits.get(word, 0)  # URLs are full of numbers, and each is its own stem
        if _IN_RUN.match(word):
            mask = reduce(or_, (bit for run, bit in self._runs.items() if run in word), 0)
        else:
            mask = self._bits.get(self._stems([word])[0], 0)
        if len(word) <= MAX_STEMMED:
            self._make_room(1)
            self[word] = mask
        return mask

    def _make_room(self, more: int) -> None:
        if len(self) + more > _MAX_REMEMBERED:
            self.clear()
            self._misses.clear()

    def hitting(self, words: Iterable[str]) -> set[str]:
        """Those of some words that hit a term; the stemmer is called once for all that were not met before."""
        others = set(filterfalse(self._misses.__contains__, words))
        new = list(filterfalse(self.__contains__, others))
        if new:
            self._meet(new)
        hits = set(filter(self.__getitem__, others))
        self._misses.update(filter(self.__contains__, others - hits))  # bounded as the dictionary is
        return hits

    def _meet(self, new: list[str]) -> None:
        new = [word for word in new if word < _FIRST_IN_RUN and len(word) <= MAX_STEMMED]
        self._make_room(len(new))
        self.update(zip(new, map(self._bits.get, self._stems(new), repeat(0)), strict=True))

    def _stems(self, words: list[str]) -> list[str]:
        with self._lock:
            return self._stem(words)


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """The terms of a query. Term i owns bit i of every mask.

    Instances may be shared between threads.

    Attributes:
        words: the terms as folded words, in the order of the query.
        stems: their stems, all distinct.
        language: the language they are stemmed in, an ISO 639-1 code in lower case.
        lookup: folded word → signed mask of the terms it hits; for loops that read many words.
        hitting: folded words → those that hit a term, cheaper than one by one.
        has_runs: whether a term is a run of CJK.
        has_numbers: whether a term is a number.
        remembered: short texts → their masks; bounded.
    """

    words: tuple[str, ...]
    stems: tuple[str, ...]
    language: str
    lookup: Callable[[str], int] = field(repr=False, compare=False)
    hitting: Callable[[Iterable[str]], set[str]] = field(repr=False, compare=False)
    has_runs: bool
    has_numbers: bool
    remembered: dict[str, int] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def parse(cls, query: str, language: str = "en") -> QueryTerms:
        """Read a query.

        Stop words are dropped, unless nothing else would be left, and words of one stem count once.

        Args:
            query: what the user typed; may be empty.
            language: ISO 639-1 code, with or without a region (`pt-BR`). Words of a language without a
                Snowball stemmer match as they are folded.

        Returns:
            0 to 64 terms.

        Raises:
            ValueError: more than 64 terms.
        """
        code = re.split(r"[-_]", language.lower(), maxsplit=1)[0]
        stem = stemmer(code)
        found = words(query)
        stop = STOP_WORDS.get(code, frozenset())
        by_stem: dict[str, str] = {}
        for word in [word for word in found if word not in stop] or found:
            by_stem.setdefault(word if _IN_RUN.match(word) else stem([word])[0], word)
        if len(by_stem) > MAX_TERMS:
            raise ValueError(f"the query has {len(by_stem)} terms; {MAX_TERMS} are the most, shorten it")
        masks = _WordMasks({term: signed(1 << i) for i, term in enumerate(by_stem)}, stem)
        return cls(
            words=tuple(by_stem.values()),
            stems=tuple(by_stem),
            language=code,
            lookup=masks.__getitem__,
            hitting=masks.hitting,
            has_runs=any(map(_IN_RUN.match, by_stem)),
            has_numbers=any(map(str.isdigit, by_stem)),
        )

    def __len__(self) -> int:
        return len(self.words)

    def mask(self, text: str) -> int:
        """Which terms a text holds.

        Args:
            text: any text.

        Returns:
            Signed 64-bit mask, bit i set when term i occurs.
        """
        found = self.remembered.get(text)
        if found is None:
            folded = written_out(text, fold(text))
            found = reduce(or_, map(self.lookup, tokeniser(folded)(folded)), 0)
            if len(text) <= _MAX_TEXT:
                if len(self.remembered) >= _MAX_REMEMBERED:
                    self.remembered.clear()
                self.remembered[text] = found
        return found

    def mask_of_words(self, written: Sequence[str]) -> int:
        """Which terms a URL holds.

        Args:
            written: its words as `urls.words.url_words` gives them: as they are written, without humps.

        Returns:
            Signed 64-bit mask.
        """
        text = " ".join(written)
        if not text.isascii():
            return self.mask(text)
        lower = text.lower()
        words: Iterable[str] = written if lower == text else lower.split()
        if not self.has_numbers:
            words = filter(str.isalpha, words)  # words of URLs are letters or digits, and numbers have no end
        return reduce(or_, map(self.lookup, words), 0)

    def word_mask(self, word: str) -> int:
        """Which term a single word hits.

        Args:
            word: one word as `words` returns it.

        Returns:
            Signed 64-bit mask: 0 or one bit; a run of CJK may hit several terms.
        """
        return self.lookup(word)
