"""Which piece of a site a page belongs to: subtree, cluster, template, and the host names in them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote

from pagesift_store.urls.languages import DEFAULT_LANGUAGES, Languages, language_code
from pagesift_store.urls.query import is_noise

if TYPE_CHECKING:
    from collections.abc import Container

    from pagesift_store.urls.reading import WebUrl

__all__ = [
    "bare_host",
    "blank_digits",
    "cluster",
    "place",
    "registered_domain",
    "site_host",
    "subtree",
    "template",
]

_SUBTREE_DEPTH = 2
_LONG_SEGMENT = 12

_DIGITS = re.compile("[0-9]+")
# Digits of an escape (`%C3`) are not digits of the text.
_DIGITS_AMONG_ESCAPES = re.compile(r"(?<!%)(?<!%[0-9A-Fa-f])[0-9]+")
_BLANK_DIGITS = "#"
_MARKS = re.compile("#+")
_MARKING_DIGITS = bytes.maketrans(b"0123456789", b"#" * 10)
_BLANK_SEGMENT = "{}"

# Second-level labels under which countries register names. A label of two letters at the end is always a
# country.
_REGISTRY_LABELS = frozenset([
    "ac", "co", "com", "edu", "gen", "go", "gob", "gouv", "gov", "govt", "gr", "id", "in", "ltd",
    "me", "mil", "ne", "net", "nhs", "nom", "or", "org", "plc", "sch", "web",
])  # fmt: skip


@lru_cache(maxsize=4096)
def bare_host(host: str) -> str:
    """The host with every leading `www.` put aside, in lower case. "" for the host `www.`."""
    while host.startswith("www."):
        host = host[4:]
    return host.lower()


@lru_cache(maxsize=4096)
def site_host(host: str) -> str:
    """The host that stands for its site: `bare_host`, unless what is left cannot be a site of its own.

    `www.com` and `www.co.uk` keep their `www.`: to take `com` for their site would take half the web for it.
    """
    bare = bare_host(host)
    return bare if bare.strip(".").count(".") and not _is_public_suffix(bare) else host


@lru_cache(maxsize=4096)
def registered_domain(host: str) -> str:
    """The name that was registered, by rule of thumb: what shares a delay under `politeness="domain"`.

    The last two labels; three where the last two look like a public suffix, that is, a country code after a
    label such as `co` or `ac`. There are more suffixes than this rule knows: where it errs, it joins hosts
    of different owners (`a.github.io`, `b.github.io`), which costs time and harms nobody. Addresses stay as
    they are, and a final dot is put aside.
    """
    name = host.rstrip(".") or host
    if name.startswith("[") or name.rpartition(".")[2].isdigit():
        return name
    labels = name.split(".")
    size = 3 if _is_public_suffix(".".join(labels[-2:])) else 2
    return ".".join(labels[-size:])


def place(
    web: WebUrl, seed_hosts: Container[str], languages: Languages = DEFAULT_LANGUAGES
) -> tuple[str, str, str | None]:
    """Where a page belongs: subtree, cluster and template in one go; arguments as for `subtree`."""
    host = bare_host(web.host)
    path, _, last = web.path.rpartition("/")
    first, _, below = path.lstrip("/").partition("/")
    # Asked first, it spares most links a call of Python code.
    if language_code(first) and first.lower() in languages:
        first, _, below = below.lstrip("/").partition("/")
    part = host
    if host in seed_hosts:
        names = [first, *filter(None, below.split("/"))]
        # Of a directory's own page, whose path ends with a slash, the last segment is the directory.
        above = names[:_SUBTREE_DEPTH] if last else names[:-1][:_SUBTREE_DEPTH]
        part = f"{host}/{'/'.join(above)}"
    return part, f"{host}/{first}", _template(host, path, last, web.query)


def subtree(web: WebUrl, seed_hosts: Container[str], languages: Languages = DEFAULT_LANGUAGES) -> str:
    """The part of the site that decides dryness.

    Args:
        web: the URL.
        seed_hosts: hosts of the seeds, as `bare_host` gives them.
        languages: asked, in lower case, whether the leading segment names a language; such a one is not counted.

    Returns:
        For a host that is no seed's: the bare host. For a seed host: host, `/` and up to two parent directories,
        the last segment of the path always dropped.
    """
    return place(web, seed_hosts, languages)[0]


def cluster(web: WebUrl, languages: Languages = DEFAULT_LANGUAGES) -> str:
    """The part of the site that decides proof: bare host, `/` and the first directory of the path.

    A leading language segment is put aside; a path without a directory (`/post-slug`) has the cluster host + `/`.

    Args:
        web: the URL.
        languages: as for `subtree`.
    """
    return place(web, (), languages)[1]


def template(web: WebUrl) -> str | None:
    """The URL with numbers and ids blanked: pages of one template are likely made by one program.

    Bare host and path, runs of digits as `#`, segments of twelve characters or more that contain a digit as `{}`, and
    the sorted names of the query parameters (tracking and session names apart). Neither sign can stand unescaped in a
    path.

    Returns:
        None when nothing was blanked and there is no query: such a template can hold one page only.
    """
    path, _, last = web.path.rpartition("/")
    return _template(bare_host(web.host), path, last, web.query)


def _template(host: str, path: str, last: str, query: str | None) -> str | None:
    names = _names(query) if query else ""
    directory = _blanked_directory(path)
    end = _blanked_segment(last)
    if not names and end == last and directory == path:
        return None
    return f"{host}{directory}/{end}{names}"


def _names(query: str) -> str:
    names = {field.partition("=")[0] for field in query.split("&") if field and not is_noise(field)}
    return f"?{'&'.join(sorted(names))}" if names else ""


def blank_digits(text: str) -> str:
    """A part of a URL with every run of digits as `#`; those of an escape (`%C3`) are none."""
    return (_DIGITS_AMONG_ESCAPES if "%" in text else _DIGITS).sub(_BLANK_DIGITS, text)


def _blanked_directory(path: str) -> str:
    written = path.encode()
    if written.translate(_MARKING_DIGITS) == written:
        return path
    return "/".join(map(_blanked_segment, path.split("/")))


def _blanked_segment(segment: str) -> str:
    if "%" in segment:
        blanked = blank_digits(segment)
        if blanked == segment:
            return segment
        size = len(unquote(segment, errors="replace"))
        return _BLANK_SEGMENT if size >= _LONG_SEGMENT else blanked
    written = segment.encode()
    marked = written.translate(_MARKING_DIGITS)  # by bytes, half the price of a regular expression
    if marked == written:
        return segment
    return _BLANK_SEGMENT if len(written) >= _LONG_SEGMENT else _MARKS.sub(_BLANK_DIGITS, marked.decode())


def _is_public_suffix(name: str) -> bool:
    second, _, country = name.partition(".")
    return len(country) == 2 and second in _REGISTRY_LABELS
