"""Reading links as browsers read them: text in, the parts of one http(s) URL out.

The parser is Ada, which follows the WHATWG URL standard (https://url.spec.whatwg.org/). It returns a
serialised URL whose grammar is so narrow that one regular expression takes it apart; that is several times
cheaper than asking the parser for each part.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import yarl
from ada_url import join_url, normalize_url

from pagesift_store.errors import InvalidUrl, Refusal

if TYPE_CHECKING:
    from collections.abc import Container

__all__ = ["MAX_BYTES", "WebUrl", "assemble", "new_tuple", "read", "resolve"]

MAX_BYTES = 8192
"""Longest URL, in bytes, as found and as parsed. Longer ones are refused, never cut."""

# Of a serialised http(s) URL. User info holds no raw "/" or "@", and a path is never empty. User info is so
# rare that it must not slow down the rest, hence two patterns.
_REST = r"(\[[^\]]*\]|[^/:@]*)(?::([0-9]+))?(/[^?#]*)(?:\?([^#]*))?"
_WITHOUT_USERINFO = re.compile(r"(https?)://()" + _REST)
_WITH_USERINFO = re.compile(r"(https?)://[^/@]*(@)" + _REST)


# A link that the standard takes as it stands: absolute or from the root, of characters that need no escape, with no
# escapes in the path, no port, and a host that is not an address (its last label begins with a letter). Most links are
# like that. Empty segments, dot segments and international hosts it lets pass: to look for them apart takes half the
# time.
_PLAIN_LINK = re.compile(
    r"((?:(https?)://((?:[a-z0-9-]++\.)*+[a-z][a-z0-9-]*+))?(/[A-Za-z0-9_.~/-]*+)(?:\?([A-Za-z0-9_.~=&%+-]*+))?)"
    r"(?:#[A-Za-z0-9_.~-]*+)?"
)


class WebUrl(NamedTuple):
    """An http or https URL in the form of the WHATWG standard. Every part is ASCII and escaped as found.

    Attributes:
        url: the fetch URL: what is sent to the server, without the fragment (but see `route`).
        scheme: `http` or `https`.
        host: lower case, punycode, without port; an IPv6 address in brackets. Never empty.
        port: decimal digits; "" for the default port of the scheme.
        path: begins with `/`.
        query: what follows `?`; None when there is no `?`, "" when nothing follows it.
        userinfo: whether a user name or a password stands before the host. Such URLs can be read, not
            crawled.
        route: a fragment that chooses content, with its `#`; "" unless `read` was told to keep it.
    """

    url: str
    scheme: str
    host: str
    port: str
    path: str
    query: str | None
    userinfo: bool
    route: str = ""

    def as_yarl(self) -> yarl.URL:
        """The URL as yarl's type, unchanged (`encoded=True`), to edit its parts or to hand to aiohttp.

        yarl writes an empty query (`/x?`) without its `?`.
        """
        return yarl.URL(self.url, encoded=True)


new_tuple = tuple.__new__
"""What the constructor of a `NamedTuple` does, without its detour through Python: for what is made of every link."""


def read(text: str, base: str | None = None, *, route_hosts: Container[str] = ()) -> WebUrl:
    """Read a link: resolve it, parse it, drop the fragment.

    Args:
        text: the link as found; any text at all.
        base: absolute URL that relative links are resolved against. None: only absolute links can be read.
        route_hosts: hosts (`WebUrl.host`) of single-page sites, whose fragments that begin with `#/` or
            `#!` are kept.

    Raises:
        InvalidUrl: with the reason `INVALID` (the standard refuses it, or it is relative and there is no
            base), `SCHEME` (neither http nor https) or `TOO_LONG` (over `MAX_BYTES`). Nothing else is raised.
    """
    given = text
    size = len(text)
    if not text.isascii():
        text = _scalar_text(text)
        size = len(text.encode())
    if size > MAX_BYTES:
        raise InvalidUrl(given, Refusal.TOO_LONG, f"longer than {MAX_BYTES} bytes")
    if base is not None and not base.isascii():
        base = _scalar_text(base)
    try:
        href = normalize_url(text) if base is None else join_url(base, text)
    except ValueError:
        raise InvalidUrl(given, Refusal.INVALID, _why_invalid(base)) from None
    found = _WITHOUT_USERINFO.match(href) or _WITH_USERINFO.match(href)
    if found is None:
        raise InvalidUrl(given, Refusal.SCHEME, "neither http nor https")
    scheme, at, host, port, path, query = found.groups()
    end = found.end()
    route = ""
    if end != len(href):
        if route_hosts and host in route_hosts and href.startswith(("#/", "#!"), end):
            route = href[end:]
        else:
            href = href[:end]
    if len(href) > MAX_BYTES:
        raise InvalidUrl(given, Refusal.TOO_LONG, f"longer than {MAX_BYTES} bytes once it is escaped")
    return new_tuple(WebUrl, (href, scheme, host, port or "", path, query, bool(at), route))


def resolve(text: str, base: WebUrl | None, *, route_hosts: Container[str] = ()) -> WebUrl:
    """As `read`, on a page that was read before: the same answers, several times faster for everyday links.

    Without a base (None) it reads absolute links only, as `read` does.
    """
    found = _PLAIN_LINK.fullmatch(text)
    if found is not None and len(text) <= MAX_BYTES:
        url, scheme, host, path, query = found.groups()
        if "//" not in path and "/." not in path and "xn--" not in text:
            if host is not None:
                return new_tuple(WebUrl, (url, scheme, host, "", path, query, False, ""))
            if base is not None and not base.userinfo:
                origin = base.url[: base.url.index("/", len(base.scheme) + 3)]
                url = origin + url
                if len(url) <= MAX_BYTES:
                    return new_tuple(WebUrl, (url, base.scheme, base.host, base.port, path, query, False, ""))
    return read(text, None if base is None else base.url, route_hosts=route_hosts)


def assemble(web: WebUrl, scheme: str, host: str, path: str, query: str | None) -> WebUrl:
    """A `WebUrl` with these parts; port, user info and route are those of `web`.

    The parts must be escaped already; nothing is encoded or checked.
    """
    _, _, _, port, _, _, userinfo, route = web
    url = path if query is None else f"{path}?{query}"
    if port or userinfo or route:
        user = web.url[len(web.scheme) + 3 : web.url.index("@") + 1] if userinfo else ""
        url = f"{scheme}://{user}{host}{f':{port}' if port else ''}{url}{route}"
    else:
        url = f"{scheme}://{host}{url}"
    return new_tuple(WebUrl, (url, scheme, host, port, path, query, userinfo, route))


def _scalar_text(text: str) -> str:
    """Text with lone surrogates as U+FFFD and pairs as one character, which is how the standard reads it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _why_invalid(base: str | None) -> str:
    if base is None:
        return "not an absolute URL by the URL standard"
    return f"the URL standard does not accept it (found on {base[:200]!r})"
