"""A crawl made of numbers: URLs, links with their texts, and pages, each a pure function of its number.

Nothing is stored and nothing is fetched, so every process sees the same web without a file outside this folder.

- 2,000 hosts by Zipf's law, twelve sections each; URLs are canonical and of about 80 characters.
- A tenth of the sections is about the query. Links into them carry its words in anchor, context and path more
  often than others, and their pages are relevant more often, so that there is something to learn.
- Page number p of a crawl carries 30 links: 18 to URLs known by then, the early ones preferred as navigation
  prefers them, and 12 to new ones, whichever URL is fetched as page p. Every store thus does the same work.
- A page has 600 words in lines of 40, and a title.
- A web of many millions is one of a million and copies of it: the same words, other numbers, three in four on hosts
  of their own. So a store of it can be made of one that a crawl made; see `multiply.py`.
"""

from __future__ import annotations

import random
import re
from bisect import bisect_left
from hashlib import blake2b
from itertools import accumulate

from pagesift_store import FoundLink, Page

QUERY = "student visa fees"
QUERY_WORDS = tuple(QUERY.split())

HOSTS = 2_000
LINKS = 30
KNOWN = 18
NEW = LINKS - KNOWN
MENU = 1_000
"""Links of all menus, the first of the web: a page of a real site carries most of its known links as all others do."""
WORDS_PER_PAGE = 600
WORDS_PER_LINE = 40
MENTIONED = (0.8, 0.5, 0.35)
"""How often a page about the query mentions its words."""
RARELY = (0.1, 0.03, 0.02)
"""How often any other page does."""

_NAMES = (
    "amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "haven", "inlet", "juniper", "kestrel",
    "linden", "meadow", "north", "orchard", "prairie", "quarry", "ridge", "summit", "timber", "upland",
    "valley", "willow", "yarrow",
)  # fmt: skip
_SECTIONS = (
    "admissions", "research", "library", "campus", "courses", "services",
    "faculty", "guides", "students", "international", "news", "projects",
)  # fmt: skip
_SLUGS = (
    "annual", "building", "calendar", "degree", "economics", "exchange", "geology", "handbook", "history",
    "housing", "language", "lecture", "letter", "machine", "medicine", "membership", "music", "office",
    "partner", "physics", "program", "report", "science", "seminar", "series", "society", "statistics",
    "summer", "support", "theatre", "thesis", "training", "transport", "winter", "workshop", "writing",
)  # fmt: skip
_DOMAINS = ("edu", "org", "net", "ac.uk", "info")
_NUMBER = re.compile(r"n(\d{8})")

BASE = 1_000_000
"""Seeds of a web that is made one by one; one with more has copies of them."""
COPY = 10_000_000
"""Numbers from here on belong to the first copy, from twice that on to the second, and so on, to the ninth."""
SPREAD_BASE = 100_000
SPREAD_COPY = 1_000_000
"""The same of `spread_url`, which may be copied up to 99 times."""
FAMILIES = 4
"""Copies on hosts of their own, the original among them; the fifth shares the hosts of the first."""


def _shares(count: int) -> list[float]:
    """Zipf's law: the n-th gets a share of 1/n; summed up, the last is 1."""
    sums = list(accumulate(1 / rank for rank in range(1, count + 1)))
    return [share / sums[-1] for share in sums]


def _invented(count: int) -> list[str]:
    """Words that look like words."""
    rng = random.Random(1)
    heads = [a + b for a in "bdfgklmnprstvw" for b in "aeiou"]
    tails = ("", "n", "r", "s", "l", "t")
    return ["".join(rng.choices(heads, k=rng.choice((1, 2, 2, 3)))) + rng.choice(tails) for _ in range(count)]


_HOST_SHARES = _shares(HOSTS)
_VOCABULARY = _invented(20_000)
_WORD_SHARES = _shares(len(_VOCABULARY))


class _Draw:
    """Reproducible choices: a hash of a purpose and a number, used up bit by bit."""

    __slots__ = ("_left",)

    def __init__(self, purpose: str, number: int) -> None:
        digest = blake2b(b"%d" % number, digest_size=64, person=purpose.encode()).digest()
        self._left = int.from_bytes(digest, "big")

    def below(self, limit: int) -> int:
        self._left, value = divmod(self._left, limit)
        return value

    def share(self) -> float:
        return self.below(1 << 32) / (1 << 32)

    def word(self) -> str:
        """A word, the first ones of the vocabulary most often."""
        return _VOCABULARY[int((self.below(1 << 16) / (1 << 16)) ** 4 * len(_VOCABULARY))]

    def one(self, choices: tuple[str, ...]) -> str:
        return choices[self.below(len(choices))]


def _host(rank: int, family: int) -> str:
    draw = _Draw("host", rank)
    name = f"{draw.one(('www.', 'www.', ''))}{draw.one(_NAMES)}-{draw.one(_NAMES)}{rank}"
    return f"{name}{f'x{family}' if family else ''}.{draw.one(_DOMAINS)}"


_HOST_NAMES = [[_host(rank, family) for rank in range(HOSTS)] for family in range(FAMILIES)]


def on_topic(number: int) -> bool:
    """Whether the page of this number is about the query: most of a tenth of the sections, few of the others."""
    draw = _Draw("url", number % COPY)
    host = bisect_left(_HOST_SHARES, draw.share())
    section = draw.below(len(_SECTIONS))
    chance = 0.6 if _Draw("topic", host * len(_SECTIONS) + section).below(10) == 0 else 0.02
    return draw.share() < chance


def url(number: int) -> str:
    """The URL of this number."""
    draw = _Draw("url", number % COPY)
    host = _HOST_NAMES[number // COPY % FAMILIES][bisect_left(_HOST_SHARES, draw.share())]
    section = _SECTIONS[draw.below(len(_SECTIONS))]
    draw.share()
    words = [draw.one(_SLUGS) for _ in range(4)]
    if draw.share() < (0.4 if on_topic(number) else 0.01):
        words[0] = draw.one(QUERY_WORDS)
    base = f"https://{host}/{section}"
    kind = draw.below(10)
    if section == "news":
        return f"{base}/{2005 + draw.below(20)}/{1 + draw.below(12):02d}/{'-'.join(words)}-n{number:08d}"
    if kind < 6:
        return f"{base}/{words[0]}-{words[1]}/{words[2]}-{words[3]}/n{number:08d}"
    if kind < 8:
        return f"{base}/{words[0]}-{words[1]}/{words[2]}?id=n{number:08d}&page={1 + draw.below(9)}"
    return f"{base}/{words[0]}/{words[1]}/{words[2]}-{words[3]}-n{number:08d}.html"


def number_of(text: str) -> int:
    """The number of a URL made by `url`."""
    return int(_NUMBER.findall(text)[-1])


def given_score(number: int) -> float:
    """A score for stores that compute none: uniform, 0 to 1."""
    return _Draw("score", number).share()


def found_link(number: int, *, finder: int = 0, hitting: bool = False) -> FoundLink:
    """A link to the URL of this number, as a page shows it.

    Args:
        number: of the URL.
        finder: the page that shows it; other pages choose other words.
        hitting: put one to three words of the query into the anchor, always.
    """
    draw = _Draw("link", number * 1_000_003 + finder)
    words = [draw.one(_SLUGS) for _ in range(4)]
    around = [draw.word() for _ in range(14)]
    topical = on_topic(number)
    if hitting:
        first = draw.below(3)
        words[: 1 + draw.below(3)] = [QUERY_WORDS[(first + i) % 3] for i in range(3)]
    elif draw.share() < (0.5 if topical else 0.02):
        words[0] = draw.one(QUERY_WORDS)
    if draw.share() < (0.5 if topical else 0.05):
        around[3] = draw.one(QUERY_WORDS)
    anchor = " ".join(words)
    return FoundLink(url(number), anchor, f"{' '.join(around[:7])} {anchor} {' '.join(around[7:])}")


def linked_numbers(page: int, seeds: int, *, menus: bool = False) -> list[int]:
    """The URLs that page number `page` of a crawl links to, when `seeds` URLs were known before the first page.

    Beyond `BASE`, seeds are a multiple of it.

    Args:
        page: its number.
        seeds: known before the first page.
        menus: the known ones are of the first `MENU`, so that they come back again and again.
    """
    known = seeds + NEW * page
    rng = random.Random(page)
    old: dict[int, None] = {}
    while len(old) < KNOWN:
        share = rng.random()
        early = share * share if rng.random() < 0.5 else share
        old[int(early * (MENU if menus else known))] = None
    numbers = [number_at(place, seeds) for place in (*old, *range(known, known + NEW))]
    rng.shuffle(numbers)
    return numbers


def number_at(place: int, seeds: int) -> int:
    """The number of the URL that is found as the `place`-th of a web: its seeds, then what its pages bring."""
    if place >= seeds:
        return min(seeds, BASE) + place - seeds
    copy, number = divmod(place, BASE)
    return copy * COPY + number


def links(page: int, seeds: int, *, menus: bool = False) -> list[FoundLink]:
    """The links of page number `page` of a crawl; see `linked_numbers`. Links of menus have one text everywhere."""
    return [
        found_link(number, finder=0 if menus and number < MENU else page)
        for number in linked_numbers(page, seeds, menus=menus)
    ]


def text(number: int) -> str:
    """600 words in lines of 40, with words of the query among them when the page is about it."""
    rng = random.Random(number)
    words = rng.choices(_VOCABULARY, cum_weights=_WORD_SHARES, k=WORDS_PER_PAGE)
    topical = on_topic(number)
    for word, chance in zip(QUERY_WORDS, MENTIONED if topical else RARELY, strict=True):
        if rng.random() < chance:
            for _ in range(rng.randint(1, 6 if topical else 2)):
                words[rng.randrange(WORDS_PER_PAGE)] = word
    lines = (words[start : start + WORDS_PER_LINE] for start in range(0, WORDS_PER_PAGE, WORDS_PER_LINE))
    return "\n".join(" ".join(line) for line in lines)


def title(number: int) -> str:
    """Five words; those of the query when the page is about it."""
    draw = _Draw("title", number)
    words = [draw.one(_SLUGS) for _ in range(5)]
    if on_topic(number):
        words[1:3] = QUERY_WORDS[:2]
    return " ".join(words).capitalize()


def page(number: int, found: list[FoundLink]) -> Page:
    """What fetching the URL of this number brings, with the links given."""
    return Page(url=url(number), title=title(number), text=text(number), links=found, language="en")


def spread_url(number: int, hosts: int, lanes: int) -> str:
    """A URL of some 80 characters on one of `hosts` hosts, all URLs together in `lanes` lanes of one size.

    Copies queue in the lanes of what they copy: `lanes` divides `SPREAD_BASE`.
    """
    lane = number % lanes
    draw = _Draw("url", number % SPREAD_COPY)
    words = "-".join(draw.one(_SLUGS) for _ in range(3))
    return f"https://{_HOST_NAMES[0][lane % hosts]}/area{lane // hosts:04d}/{words}/n{number:08d}"
