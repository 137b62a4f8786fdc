"""Keys: what makes two URLs the same page.

A key is made from the fetch URL by named rules, and the fetch URL itself is never touched. The rules of a
preset are stored with the crawl by name and version; a change of what any of them does is a new version of
each preset that holds it.

Every rule edits one part of the URL, as text, and gives back the same text when there is nothing to do; so
a key is put together once, however many rules had a hand in it.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

from pagesift_store.errors import InvalidSettings
from pagesift_store.urls.parts import site_host
from pagesift_store.urls.query import is_noise
from pagesift_store.urls.reading import WebUrl, assemble

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["PRESETS", "RULES", "KeyRule", "KeyRules", "key_rules"]

# The second is ASP.NET's, which puts one or more marked ids between parentheses, as a segment of its own.
_PATH_SESSION = re.compile(r";jsessionid=[^/;]*|/\((?:[A-Z]\([A-Za-z0-9_-]{16,}\))+\)(?=/)", re.IGNORECASE)
_SLASHES = re.compile(r"//+")
# Several in a row, so that a key is its own key.
_INDEX = re.compile(
    r"(?:/(?:index|default|home)\.(?:html?|xhtml|shtml|php|aspx?|jsp|cfm))+/?$", re.IGNORECASE
)


def drop_noise(query: str) -> str:
    """Drop tracking and session parameters."""
    fields = query.split("&")
    kept = [field for field in fields if not is_noise(field)]
    if len(kept) == len(fields):
        return query
    return "&".join(kept)


def sort_query(query: str) -> str:
    """Sort the parameters by name; equal names keep their order, for it may carry meaning."""
    return "&".join(sorted(query.split("&"), key=_name)) if "&" in query else query


def drop_path_session(path: str) -> str:
    """Drop `;jsessionid=…` from every segment, and the segments `(S(…))` of cookieless ASP.NET sessions."""
    return _PATH_SESSION.sub("", path) if ";" in path or "/(" in path else path


def merge_slashes(path: str) -> str:
    """Take runs of slashes as one."""
    return _SLASHES.sub("/", path) if "//" in path else path


def drop_index(path: str) -> str:
    """Drop the file name of a directory's index page: `/a/index.html` is `/a/`."""
    return _INDEX.sub("/", path)


def drop_trailing_slash(path: str) -> str:
    """Take a path with and without trailing slashes as one; the root keeps its own."""
    return path.rstrip("/") or "/"


def drop_scheme(scheme: str) -> str:
    """Take http and https as one."""
    return "http"


class KeyRule(NamedTuple):
    """A named rule.

    Attributes:
        part: what it edits. A query is edited when it is not empty, and goes with its `?` when nothing is left of it; a
            scheme is edited on its default port, since a port of its own serves one scheme.
        edit: old text to new text.
        signs: of a rule for paths: one of these stands in every path that it changes. Most paths have none, and to look
            is far cheaper than to edit.
    """

    part: Literal["scheme", "host", "path", "query"]
    edit: Callable[[str], str]
    signs: tuple[str, ...] = ()


RULES: Mapping[str, KeyRule] = MappingProxyType(
    {
        "noise": KeyRule("query", drop_noise),
        "sort_query": KeyRule("query", sort_query),
        "path_session": KeyRule("path", drop_path_session, signs=(";", "/(")),
        "slashes": KeyRule("path", merge_slashes, signs=("//",)),
        "index": KeyRule("path", drop_index, signs=(".",)),
        "trailing_slash": KeyRule("path", drop_trailing_slash, signs=("/",)),
        "www": KeyRule("host", site_host),
        "scheme": KeyRule("scheme", drop_scheme),
    }
)
"""Every key rule by the name under which it is stored."""

_STANDARD = ("noise", "sort_query", "path_session", "slashes", "www")

PRESETS: Mapping[str, tuple[int, tuple[str, ...]]] = MappingProxyType(
    {
        "strict": (1, ()),
        "standard": (1, _STANDARD),
        "loose": (1, (*_STANDARD, "index", "trailing_slash", "scheme")),
    }
)
"""Preset → (version, names of its rules in the order they are applied)."""


class KeyRules:
    """A preset, ready to make keys.

    Attributes:
        name: of the preset.
        version: of what its rules do; keys of different versions are not comparable.
        rules: names of the rules, in the order they are applied.
    """

    def __init__(self, name: str, version: int, rules: tuple[str, ...]) -> None:
        self.name = name
        self.version = version
        self.rules = rules
        chosen = [RULES[rule] for rule in rules]
        self._scheme, self._host, self._path, self._query = (
            tuple(rule.edit for rule in chosen if rule.part == part)
            for part in ("scheme", "host", "path", "query")
        )
        self._path_signs = tuple(sign for rule in chosen for sign in rule.signs)

    def __repr__(self) -> str:
        return f"KeyRules({self.name!r}, version={self.version})"

    def apply(self, web: WebUrl) -> WebUrl:
        """The URL as the rules leave it: for comparing only, since the server need not know it."""
        _, scheme, host, port, path, query, _, _ = web
        if query:
            for edit in self._query:
                query = edit(query)
            query = query or None
        for sign in self._path_signs:
            if sign in path:
                for edit in self._path:
                    path = edit(path)
                break
        for edit in self._host:
            host = edit(host)
        if not port:
            for edit in self._scheme:
                scheme = edit(scheme)
        if host == web.host and path == web.path and query == web.query and scheme == web.scheme:
            return web
        return assemble(web, scheme, host, path, query)

    def key(self, web: WebUrl) -> str:
        """The key: two URLs with one key are one page. The key of a key is the key.

        It is the text of `apply`, made without the rest where the host alone may change: that is, for most links.
        """
        url, scheme, host, port, path, query, userinfo, route = web
        if query is not None or port or userinfo or route or self._scheme:
            return self.apply(web).url
        for sign in self._path_signs:
            if sign in path:
                return self.apply(web).url
        for edit in self._host:
            host = edit(host)
        return url if host == web.host else f"{scheme}://{host}{path}"


def key_rules(name: str) -> KeyRules:
    """The rules of a preset: `strict`, `standard` or `loose`.

    Raises:
        InvalidSettings: there is no preset of that name.
    """
    if name not in PRESETS:
        raise InvalidSettings(f"there are no key rules {name!r}; choose one of {', '.join(PRESETS)}")
    version, rules = PRESETS[name]
    return KeyRules(name, version, rules)


def _name(field: str) -> str:
    return field.partition("=")[0]
