"""Keys: what makes two URLs the same page.

A key is made from the fetch URL by named rules, and the fetch URL itself is never touched. The rules of a
preset are stored with the crawl by name and version; a change of what any of them does is a new version of
each preset that holds it.

Every rule maps a `WebUrl` to itself when there is nothing to do, which is the common case and costs one look.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from pagesift_store.errors import InvalidSettings
from pagesift_store.urls.parts import site_host
from pagesift_store.urls.query import is_noise
from pagesift_store.urls.reading import WebUrl, assemble

__all__ = ["PRESETS", "RULES", "KeyRules", "key_rules"]

Rule = Callable[[WebUrl], WebUrl]

_PATH_SESSION = re.compile(r";jsessionid=[^/;]*", re.IGNORECASE)
_SLASHES = re.compile(r"//+")
# Several in a row, so that a key is its own key.
_INDEX = re.compile(
    r"(?:/(?:index|default|home)\.(?:html?|xhtml|shtml|php|aspx?|jsp|cfm))+/?$", re.IGNORECASE
)


def drop_noise(web: WebUrl) -> WebUrl:
    """Drop tracking and session parameters; the `?` goes with the last of them."""
    if not web.query:
        return web
    fields = web.query.split("&")
    kept = [field for field in fields if not is_noise(field)]
    if len(kept) == len(fields):
        return web
    return assemble(web, web.scheme, web.host, web.path, "&".join(kept) if kept else None)


def sort_query(web: WebUrl) -> WebUrl:
    """Sort the query parameters by name; equal names keep their order, for it may carry meaning."""
    if not web.query or "&" not in web.query:
        return web
    query = "&".join(sorted(web.query.split("&"), key=_name))
    return web if query == web.query else assemble(web, web.scheme, web.host, web.path, query)


def drop_path_session(web: WebUrl) -> WebUrl:
    """Drop `;jsessionid=…` from every segment of the path."""
    if ";" not in web.path:
        return web
    path = _PATH_SESSION.sub("", web.path)
    return web if path == web.path else assemble(web, web.scheme, web.host, path, web.query)


def merge_slashes(web: WebUrl) -> WebUrl:
    """Take runs of slashes in the path as one."""
    if "//" not in web.path:
        return web
    return assemble(web, web.scheme, web.host, _SLASHES.sub("/", web.path), web.query)


def drop_www(web: WebUrl) -> WebUrl:
    """Take the bare host and its `www.` as one."""
    if not web.host.startswith("www."):
        return web
    host = site_host(web.host)
    return web if host == web.host else assemble(web, web.scheme, host, web.path, web.query)


def drop_index(web: WebUrl) -> WebUrl:
    """Drop the file name of a directory's index page: `/a/index.html` is `/a/`."""
    path = _INDEX.sub("/", web.path)
    return web if path == web.path else assemble(web, web.scheme, web.host, path, web.query)


def drop_trailing_slash(web: WebUrl) -> WebUrl:
    """Take a path with and without trailing slashes as one."""
    if not web.path.endswith("/") or web.path == "/":
        return web
    return assemble(web, web.scheme, web.host, web.path.rstrip("/") or "/", web.query)


def drop_scheme(web: WebUrl) -> WebUrl:
    """Take http and https as one, on their default ports; one other port serves one scheme."""
    if web.scheme == "http" or web.port:
        return web
    return assemble(web, "http", web.host, web.path, web.query)


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "noise": drop_noise,
        "path_session": drop_path_session,
        "sort_query": sort_query,
        "www": drop_www,
        "slashes": merge_slashes,
        "index": drop_index,
        "trailing_slash": drop_trailing_slash,
        "scheme": drop_scheme,
    }
)
"""Every key rule by the name under which it is stored."""

_STANDARD = ("noise", "path_session", "sort_query", "www", "slashes")

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
        self._steps = tuple(RULES[rule] for rule in rules)

    def __repr__(self) -> str:
        return f"KeyRules({self.name!r}, version={self.version})"

    def apply(self, web: WebUrl) -> WebUrl:
        """The URL as the rules leave it: for comparing only, since the server need not know it."""
        for step in self._steps:
            web = step(web)
        return web

    def key(self, web: WebUrl) -> str:
        """The key: two URLs with one key are one page. The key of a key is the key."""
        for step in self._steps:
            web = step(web)
        return web.url


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
