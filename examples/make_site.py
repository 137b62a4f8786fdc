"""Make `examples/site/`, the small site that the demo crawls where no larger one is installed.

    python examples/make_site.py [folder]

A university in three languages, as such sites are: the same navigation on every page, news, a calendar that
leads from month to month, print views (`?print=1`) and index twins (`/visa/` and `/visa/index.html`) with the
same text, a redirect, a broken link, a page that robots.txt forbids. The texts of the lasting pages are in
`site_source/`; news and calendar are put together from a small vocabulary. Every run makes the same files.

Source format: `== path | title`, paragraphs with `[text](path)` links, `-> path path` for related pages.
"""

from __future__ import annotations

import hashlib
import re
import sys
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HERE = Path(__file__).parent
PRINTED = ("visa/apply.html", "visa/documents.html", "fees/payment.html", "library/borrowing.html")
"""Pages with a print view. The address differs, the text does not."""
CALENDAR_YEARS = (2025, 2026)
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


@dataclass(frozen=True)
class Language:
    """One edition of the site."""

    code: str
    root: str
    related: str


LANGUAGES = (
    Language("en", "/", "See also"),
    Language("de", "/de/", "Siehe auch"),
    Language("fr", "/fr/", "Voir aussi"),
)


@dataclass(frozen=True)
class Entry:
    """One page before it is laid out; `related` are paths within its edition."""

    path: str
    title: str
    paragraphs: Sequence[str]
    related: Sequence[str] = ()

    @property
    def summary(self) -> str:
        """The first paragraph, without links."""
        return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", self.paragraphs[0])


def pick(options: Sequence[str], *key: object) -> str:
    """One of the options, by hash: the same on every machine and every version of Python."""
    digest = hashlib.sha256(repr(key).encode()).digest()
    return options[int.from_bytes(digest[:8], "big") % len(options)]


def entries_of(source: str) -> Iterator[Entry]:
    """Read the source format."""
    for part in source.split("== ")[1:]:
        head, _, body = part.partition("\n")
        path, _, title = head.partition(" | ")
        blocks = [block.strip() for block in re.split(r"\n(?:\n|(?=->))", body) if block.strip()]
        related = [block[2:].split() for block in blocks if block.startswith("->")]
        texts = [block for block in blocks if not block.startswith("->")]
        yield Entry(path, title, texts, related[0] if related else ())


WHO = (
    "The rowing club",
    "A team of the marine laboratory",
    "The students' choir",
    "The school of nursing",
    "The chess society",
    "A group of second-year historians",
)
DID = (
    "has won the regional prize",
    "opened its doors to the town",
    "looks for new members",
    "found something unexpected in the harbour",
    "celebrates its fiftieth year",
    "is back from a long tour",
)
AND = (
    "Tea was served.",
    "More than two hundred people came.",
    "Photographs hang in the hall until Friday.",
    "The rector called it a good day for the town.",
    "Whoever wants to help is asked to write to the office.",
)
HEADLINES = {
    3: (
        "Student visa fees rise in April",
        "The government raises the fee for a student visa by seven per cent from April.",
        "Students who apply before the date pay the present [visa fee](visa/fees.html). The international "
        "office holds an additional advice session on Monday. Tuition fees are not concerned.",
    ),
    7: (
        "University keeps international fees unchanged",
        "Tuition fees for international students stay what they are for the next intake.",
        "The council decided so on Thursday. Who starts in autumn pays the same "
        "[fees](fees/international.html) as now, and the deposit that a student visa needs stays at 4,000.",
    ),
}


def news() -> Iterator[Entry]:
    """Twelve news items and their list; two of them are worth reading for whoever asks about fees."""
    items = []
    for number in range(1, 13):
        path = f"news/2025/{number:02}/item.html"
        if number in HEADLINES:
            title, *paragraphs = HEADLINES[number]
        else:
            title = f"{pick(WHO, 'who', number)} {pick(DID, 'did', number)}"
            paragraphs = [
                f"{title}, as was announced in {MONTHS[number - 1]}.",
                " ".join(dict.fromkeys(pick(AND, number, turn) for turn in range(4))),
            ]
        items.append(Entry(path, title, paragraphs, ("news/index.html",)))
    yield Entry(
        "news/index.html",
        "News",
        ("What happened at Northmoor this year, month by month.",),
        [item.path for item in items],
    )
    yield from items


WHAT = (
    "Open lecture: tides and time",
    "Film night in the old chapel",
    "Meeting of the senate",
    "Market of used books",
    "Concert of the chamber orchestra",
    "Guided walk along the cliffs",
    "Rowing against the town",
)


def calendar() -> Iterator[Entry]:
    """The trap: every month leads to the next, and nobody who looks for anything else is helped by one."""
    months = [(year, month) for year in CALENDAR_YEARS for month in range(1, 13)]
    for index, (year, month) in enumerate(months):
        days = sorted({int(pick([str(day) for day in range(1, 29)], year, month, turn)) for turn in range(4)})
        lines = [f"{day} {MONTHS[month - 1]}: {pick(WHAT, year, month, day)}." for day in days]
        after = months[index + 1] if index + 1 < len(months) else (CALENDAR_YEARS[-1] + 1, 1)
        turn = f"[next month](calendar/{after[0]}-{after[1]:02}.html)"
        if index:
            before = months[index - 1]
            turn = f"[previous month](calendar/{before[0]}-{before[1]:02}.html) {turn}"
        title = f"Calendar {MONTHS[month - 1]} {year}"
        yield Entry(f"calendar/{year}-{month:02}.html", title, [*lines, turn])


def item(address: str, title: str, rest: str = "") -> str:
    """An item of a list of links."""
    return f'<li><a href="{address}">{title}</a>{escape(rest, quote=False)}</li>'


def linked(text: str, root: str) -> str:
    """A paragraph with its links as HTML."""
    anchor = rf'<a href="{root}\2">\1</a>'
    return re.sub(r"\[([^]]*)\]\(([^)]*)\)", anchor, escape(text, quote=False))


def layout(entry: Entry, language: Language, pages: dict[str, Entry]) -> str:
    """The whole page."""
    root = language.root
    sections = [page for path, page in pages.items() if path.endswith("/index.html")]
    menu = [item(root + page.path.removesuffix("index.html"), page.title) for page in sections]
    editions = " ".join(f'<a href="{other.root}">{other.code}</a>' for other in LANGUAGES)
    related = [item(root + path, pages[path].title, f": {pages[path].summary}") for path in entry.related]
    lines = [
        f'<!DOCTYPE html>\n<html lang="{language.code}">',
        '<head><meta charset="utf-8">',
        f"<title>{entry.title} - Northmoor</title></head>",
        "<body>",
        f'<header><a href="{root}">Northmoor</a> {editions}</header>',
        "<nav><ul>",
        *menu,
        "</ul></nav>",
        "<main>",
        f"<h1>{entry.title}</h1>",
        *(f"<p>{linked(text, root)}</p>" for text in entry.paragraphs),
    ]
    if related:
        lines += [f"<h2>{language.related}</h2>", "<ul>", *related, "</ul>"]
    lines += ["</main>", f"<footer>{footer(entry, language)}</footer>", "</body>", "</html>", ""]
    return "\n".join(lines)


def footer(entry: Entry, language: Language) -> str:
    """What stands below every page of an edition."""
    if language.root != "/":
        return '<a href="/about/contact.html">Contact</a>'
    links = [
        '<a href="/calendar/2025-01.html">Calendar</a>',
        '<a href="/about/contact.html">Contact</a>',
        '<a href="/about/privacy.html">Privacy</a>',
        '<a href="/internal/visa-desk.html">Visa desk</a>',
    ]
    if entry.path in PRINTED:
        links.insert(0, f'<a href="/{entry.path}?print=1">Print view</a>')
    return " ".join(links)


def extras() -> dict[str, str]:
    """Files beside the pages."""
    return {
        "robots.txt": "User-agent: *\nDisallow: /internal/\n",
        "visa/checklist.txt": "Passport\nConfirmation of studies\nBank statements\nCertificates\n",
        "internal/visa-desk.html": "<!DOCTYPE html>\n<title>Visa desk</title>\n<p>Who sits where.</p>\n",
    }


def site() -> dict[str, str]:
    """The whole site: path → contents."""
    files = extras()
    for language in LANGUAGES:
        source = HERE / "site_source" / f"{language.code}.txt"
        entries = list(entries_of(source.read_text("utf-8")))
        if language.code == "en":
            entries += [*news(), *calendar()]
        pages = {entry.path: entry for entry in entries}
        for entry in entries:
            files[language.root.lstrip("/") + entry.path] = layout(entry, language, pages)
    return files


def main(folder: Path) -> None:
    """Write the site; files of the same names are replaced, others are left alone."""
    files = site()
    for name, text in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8", newline="\n")
    print(f"{len(files)} files in {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "site")
