"""Sites with a trap: 200 real pages each, and links among them that lead a crawler around in circles.

A site is a pure function of the URL: the same request gets the same answer, whoever asks and how often.
"""

from __future__ import annotations

import random
from hashlib import blake2b
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, urlsplit

ORIGIN = "https://www.college.example"
REAL_PAGES = 200


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


TOPIC = _words("student visa fees permit embassy payment residence deadline tuition application")
OTHER = _words(
    "garden river concert library football laboratory seminar canteen poster museum travel engine "
    "history chemistry lecture notebook harbour painting theatre forest"
)
SECTIONS = _words("visa fees admission housing library sport research music alumni campus")
MONTHS = _words("January February March April May June July August September October November December")
_ON_TOPIC = 3
"""Sections, of the first, that the query is about."""
_SENTENCES = 5

Link = tuple[str, str]
"""An href as it stands in the page, and its anchor."""


class Answer(NamedTuple):
    """What the server sends.

    Attributes:
        real: path of the real page that it shows; None for a page of the trap.
        title: of the page.
        text: its main text.
        links: hrefs and anchors, in order of appearance.
    """

    real: str | None
    title: str
    text: str
    links: list[Link]


def _chain(number: int) -> list[str]:
    """The pages of a section in their order; every other section numbers them, the rest name them."""
    section = SECTIONS[number]
    pages = 18 + (number < REAL_PAGES - 1 - 19 * len(SECTIONS))
    names = (
        [f"note-{k}" for k in range(1, pages + 1)]
        if number % 2
        else [f"on-{word}s" for word in OTHER[:pages]]
    )
    return [f"/{section}/", *(f"/{section}/{name}" for name in names)]


CHAINS = [_chain(number) for number in range(len(SECTIONS))]
REAL = frozenset(["/", *(path for chain in CHAINS for path in chain)])
_ONWARD = {path: chain[at + 1 : at + 3] for chain in CHAINS for at, path in enumerate(chain)}


def prose(seed: str, words: tuple[str, ...], sentences: int = _SENTENCES) -> str:
    """Sentences that are always the same for one seed, and differ from those of any other."""
    rng = random.Random(seed)
    made = [" ".join(rng.choices(words, k=11)).capitalize() + "." for _ in range(sentences)]
    return "\n".join(made)


def token(seed: str, size: int = 24) -> str:
    """What looks random and is a function of the seed; letters and at least one digit."""
    return blake2b(seed.encode(), digest_size=size // 2).hexdigest()[:-1] + "7"


class Site:
    """The real pages alone: navigation, ten sections, chains of pages in each.

    A page leads to the next two of its section only, so that the site is about ten clicks deep.
    """

    name = "no trap"

    def answer(self, url: str) -> Answer | None:
        """What a request gets; None is a 404."""
        real = self.real_path(url)
        if real in REAL:
            own = self.page(real)
            return own._replace(links=self.links(url, real, own.links))
        return self.trap(url)

    def page(self, path: str) -> Answer:
        """A real page, without any trap."""
        section = path.split("/")[1]
        on_topic = section in SECTIONS[:_ON_TOPIC] or random.Random(path).random() < 0.1
        words = TOPIC + OTHER[:4] if on_topic else OTHER
        links = [("/", "Home"), *((f"/{name}/", name.capitalize()) for name in SECTIONS)]
        links += [(found, prose(found, words, 1)[:30]) for found in _ONWARD.get(path, ())]
        return Answer(path, f"{section or 'college'} {path}", f"{path}\n{prose(path, words)}", links)

    def real_path(self, url: str) -> str | None:
        """The real page that a URL shows; what is not among `REAL` is a page of the trap or a 404."""
        parts = urlsplit(url)
        return None if parts.query else parts.path

    def links(self, url: str, path: str, links: list[Link]) -> list[Link]:
        """The links of a real page as this site writes them."""
        return links

    def trap(self, url: str) -> Answer | None:
        """Any other page."""
        return None


class Calendar(Site):
    """Months without end: next and previous, and each day of them; names of months are spelled out."""

    name = "endless calendar"

    def links(self, url: str, path: str, links: list[Link]) -> list[Link]:
        return [*links[:2], ("/calendar?y=2026&m=5", "Calendar"), *links[2:]]

    def trap(self, url: str) -> Answer | None:
        parts = urlsplit(url)
        fields = dict(parse_qsl(parts.query))
        if parts.path != "/calendar" or "y" not in fields:
            return None
        year, month, day = int(fields["y"]), int(fields["m"]), fields.get("d", "")
        before = (year, month - 1) if month > 1 else (year - 1, 12)
        after = (year, month + 1) if month < 12 else (year + 1, 1)
        around = [(f"/calendar?y={y}&m={m}", MONTHS[m - 1]) for y, m in (before, after)]
        days = [(f"/calendar?y={year}&m={month}&d={d}", str(d)) for d in range(1, 29)]
        title = f"{day} {MONTHS[month - 1]} {year}"
        text = f"Events: {title}\n" + "There is nothing on this day. Choose another day or month. " * 5
        return Answer(None, title, text, [*around, *days])


class PathSession(Site):
    """`;jsessionid=` in every link, another one on every page."""

    name = "session in the path, ;jsessionid="

    def real_path(self, url: str) -> str | None:
        return urlsplit(url).path.partition(";")[0]

    def links(self, url: str, path: str, links: list[Link]) -> list[Link]:
        return [(f"{href};jsessionid={token(url).upper()}", anchor) for href, anchor in links]


class CookielessSession(Site):
    """`/(S(…))/` in front of every path, another one on every page."""

    name = "session in the path, /(S(…))/"

    def real_path(self, url: str) -> str | None:
        path = urlsplit(url).path
        return path[path.index("))") + 2 :] if path.startswith("/(S(") else path

    def links(self, url: str, path: str, links: list[Link]) -> list[Link]:
        return [(f"/(S({token(url)})){href}", anchor) for href, anchor in links]


class SegmentSession(Site):
    """A session id as the first segment of every path, another one on every page, in a form that no list knows."""

    name = "session in the path, unknown form"

    def real_path(self, url: str) -> str | None:
        path = urlsplit(url).path
        return "/" + path.split("/", 3)[3] if path.startswith("/v/") else path

    def links(self, url: str, path: str, links: list[Link]) -> list[Link]:
        return [(f"/v/{token(url)}{href}", anchor) for href, anchor in links]


class QuerySession(Site):
    """A parameter that no list knows, with another random value on every page."""

    name = "session in the query, unknown name"

    def real_path(self, url: str) -> str | None:
        return urlsplit(url).path

    def links(self, url: str, path: str, links: list[Link]) -> list[Link]:
        return [(f"{href}?zx={token(url)}", anchor) for href, anchor in links]


class Facets(Site):
    """A catalogue with six parameters of four values each; every listing shows other courses in another order."""

    name = "sort and filter, 6 parameters"
    _NAMES = ("sort", "order", "level", "type", "place", "view")

    def links(self, url: str, path: str, links: list[Link]) -> list[Link]:
        return [*links[:2], ("/catalogue/list?sort=0", "Courses"), *links[2:]]

    def trap(self, url: str) -> Answer | None:
        parts = urlsplit(url)
        if parts.path != "/catalogue/list":
            return None
        chosen = dict(parse_qsl(parts.query))
        links = []
        for name in self._NAMES:
            for value in "0123":
                fields = {**chosen, name: value}
                query = "&".join(f"{key}={fields[key]}" for key in self._NAMES if key in fields)
                links.append((f"/catalogue/list?{query}", f"{name} {value}"))
        courses = [f"{name} with {other}, term {k}" for k, name in enumerate(OTHER) for other in OTHER[:2]]
        rng = random.Random(parts.query)
        text = "\n".join(rng.sample(courses, 12))
        return Answer(None, "Courses", text, links)


class PilingPath(Site):
    """Links that lack their first slash, on a server that looks at the end of a path only."""

    name = "path that piles up"

    def real_path(self, url: str) -> str | None:
        path = urlsplit(url).path
        segments = path.split("/")
        return path if len(segments) < 3 else "/" + "/".join(segments[-2:])

    def links(self, url: str, path: str, links: list[Link]) -> list[Link]:
        return [*links, *((f"{section}/", section.capitalize()) for section in SECTIONS[:4])]


class Echo(Site):
    """Each page links to a log-in that names the page, and the log-in to itself, naming itself."""

    name = "query that echoes itself"

    def links(self, url: str, path: str, links: list[Link]) -> list[Link]:
        return [*links[:2], (f"/login?next={path}", "Log in"), *links[2:]]

    def trap(self, url: str) -> Answer | None:
        parts = urlsplit(url)
        if parts.path != "/login":
            return None
        own = f"{parts.path}?{parts.query}"
        text = "Log in with the name and the password that the office gave you. " * 5
        return Answer(
            None, "Log in", text, [(f"/login?next={quote(own)}", "Log in"), (f"/login?next={own}", "Help")]
        )


class SelfEcho(Site):
    """Every page takes `next` and ignores it; its links to other languages carry it on, longer each time."""

    name = "every page echoes its own address"

    def real_path(self, url: str) -> str | None:
        return urlsplit(url).path

    def links(self, url: str, path: str, links: list[Link]) -> list[Link]:
        own = url.removeprefix(ORIGIN)
        return [*links, (f"{path}?next={own}", "Switch"), (f"{path}?next={quote(own)}", "Top of the page")]


class AmpChains(Site):
    """Entities that nobody decodes: every fetch finds one more `amp;`."""

    name = "&amp; chains"

    def links(self, url: str, path: str, links: list[Link]) -> list[Link]:
        return [*links, (f"/list?about={path.strip('/')}&amp;page=1", "List")]

    def trap(self, url: str) -> Answer | None:
        parts = urlsplit(url)
        if parts.path != "/list":
            return None
        more = [
            (f"/list?{parts.query.replace('&', '&amp;')}&amp;page={page}", str(page)) for page in (1, 2, 3)
        ]
        return Answer(None, "List", "A list of all that there is to say about this and more. " * 5, more)


class PrintQuery(Site):
    """Each page once more with `?print=1`."""

    name = "print views, ?print=1"

    def real_path(self, url: str) -> str | None:
        return urlsplit(url).path

    def links(self, url: str, path: str, links: list[Link]) -> list[Link]:
        return [(f"{path}?print=1", "Print"), *links]


class PrintSegment(Site):
    """Each page once more below itself, and once more below `/print/`."""

    name = "print views, /print/"

    def real_path(self, url: str) -> str | None:
        path = urlsplit(url).path
        if path.startswith("/print/"):
            path = path.removeprefix("/print")
        path = path.removesuffix("print/")
        return path if path in REAL else path.rstrip("/")

    def links(self, url: str, path: str, links: list[Link]) -> list[Link]:
        if urlsplit(url).path != path:
            return links  # a print view offers no other
        return [(f"{path.rstrip('/')}/print/", "Print"), (f"/print{path}", "Printable"), *links]


class IndexTwins(Site):
    """Each page is a directory, linked with and without `index.html`."""

    name = "index.html twins"

    def real_path(self, url: str) -> str | None:
        path = urlsplit(url).path.removesuffix("index.html")
        return path if path in REAL else path.rstrip("/")

    def links(self, url: str, path: str, links: list[Link]) -> list[Link]:
        dirs = [(href if href.endswith("/") else f"{href}/", anchor) for href, anchor in links]
        return [*((f"{href}index.html", anchor) for href, anchor in dirs), *dirs]


class SoftNotFound(Site):
    """Any unknown address answers 200 with the same page, and with links to five addresses that nobody has seen."""

    name = "soft 404 with new links"

    def links(self, url: str, path: str, links: list[Link]) -> list[Link]:
        return [*links[:2], *self._broken(path, 1), *links[2:]]

    def trap(self, url: str) -> Answer | None:
        text = "We could not find what you are looking for. Perhaps one of these pages will help you. " * 4
        return Answer(None, "Sorry", text, self._broken(urlsplit(url).path, 5))

    @staticmethod
    def _broken(path: str, how_many: int) -> list[Link]:
        rng = random.Random(path)
        return [
            (f"/{rng.choice(OTHER)}-{rng.choice(OTHER)}/{rng.choice(OTHER)}-{rng.choice(OTHER)}", "Related")
            for _ in range(how_many)
        ]


GALLERY: tuple[type[Site], ...] = (
    Calendar,
    PathSession,
    CookielessSession,
    SegmentSession,
    QuerySession,
    Facets,
    PilingPath,
    Echo,
    SelfEcho,
    AmpChains,
    PrintQuery,
    PrintSegment,
    IndexTwins,
    SoftNotFound,
)
