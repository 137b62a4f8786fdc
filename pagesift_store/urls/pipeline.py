"""The rules of one crawl put together: from a link as found to a URL that may be fetched, and to its key."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from pagesift_store.errors import InvalidSettings, InvalidUrl, Refusal
from pagesift_store.urls.filters import refusal
from pagesift_store.urls.parts import bare_host
from pagesift_store.urls.reading import WebUrl, assemble, new_tuple, read, resolve
from pagesift_store.urls.rewrite import RewriteRule, RewriteSet

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from pagesift_store.urls.keys import KeyRules
    from pagesift_store.urls.scope import Scope

__all__ = ["Target", "UrlRules", "key_hash"]

MOST_TARGETS = 20_000
"""Links whose targets are remembered; navigation repeats its links on every page."""

MOST_HREF = 300
"""Characters of a link, with its origin or directory, up to which its target is remembered."""


# A relative link that leads to the same target from every page of a directory.
_BELOW = re.compile("[A-Za-z0-9][^:]*")


class Target(NamedTuple):
    """Where a link leads.

    Attributes:
        web: the URL as it will be requested.
        key: its key, learned rules apart.
        hash: 16 bytes of the key.
    """

    web: WebUrl
    key: str
    hash: bytes


class UrlRules:
    """What a crawl does with links.

    Args:
        keys: what makes two URLs one page.
        scope: which URLs belong to the crawl; it may grow while this object is in use.
        include: regular expressions, searched in the fetch URL; when there are any, one must match.
        exclude: regular expressions; a fetch URL in which one matches is refused.
        blocked: the same, set by the operator while the crawl goes on; they hold for seeds, too.
        upgrade_https: read http links to the same site, found on an https page, as https.
        route_hosts: hosts of single-page sites, see `read`.

    Raises:
        InvalidSettings: a pattern is not a regular expression.
    """

    def __init__(
        self,
        keys: KeyRules,
        scope: Scope,
        *,
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
        blocked: Iterable[str] = (),
        upgrade_https: bool = True,
        route_hosts: Container[str] = (),
    ) -> None:
        self._keys = keys
        self.scope = scope
        self.upgrade_https = upgrade_https
        self._include = tuple(_compiled(pattern) for pattern in include)
        self._exclude = tuple(_compiled(pattern) for pattern in exclude)
        self.blocked = tuple(_compiled(pattern) for pattern in blocked)
        self._patterned = bool(self._include or self._exclude)
        self._route_hosts = route_hosts
        self._targets: dict[tuple[str, str] | None, Target] = {}
        self._base: WebUrl | None = None
        self._origin = self._directory = ""

    @property
    def keys(self) -> KeyRules:
        """What makes two URLs one page."""
        return self._keys

    @keys.setter
    def keys(self, keys: KeyRules) -> None:
        self._keys = keys
        self._targets.clear()

    def read(self, text: str, base: str | None = None) -> WebUrl:
        """A URL as this crawl reads it, whatever the rules say of it: for those that are stored or were fetched.

        Raises:
            InvalidUrl: it is none.
        """
        return read(text, base, route_hosts=self._route_hosts)

    def admit(self, href: str, base: WebUrl | None = None, *, page: WebUrl | None = None) -> WebUrl:
        """The URL that a link leads to.

        Args:
            href: as found.
            base: what relative links are resolved against. None: `href` must be absolute.
            page: the page that carries the link, where its `<base>` names another URL. None: the base.

        Raises:
            InvalidUrl: the link cannot or shall not be followed; its reason says which rule refused it.
        """
        web = self.parse(href, base, page=page)
        if self._patterned or not self.scope.admits(web):
            self._check(web)
        return web

    def reach(self, href: str, base: WebUrl, *, page: WebUrl) -> Target:
        """As `admit`, with the key; links that come back with every page are remembered.

        Raises:
            InvalidUrl: as for `admit`.
        """
        if base is not self._base:
            self._turn_to(base)
        at = None
        if page is base:
            if href.startswith(("/", "https://", "http://")):
                at = self._origin, href
            elif _BELOW.fullmatch(href):
                at = self._directory, href
        known = self._targets.get(at)
        if known is None:
            known = new_tuple(Target, self.target(self.parse(href, base, page=page)))
            if at is not None and len(at[0]) + len(href) <= MOST_HREF:
                if len(self._targets) >= MOST_TARGETS:
                    self._targets.clear()
                self._targets[at] = known
        elif self.blocked and self.is_blocked(known.web.url):
            raise InvalidUrl(known.web.url, Refusal.BLOCKED, "blocked by the operator")
        if self._patterned or not self.scope.admits(known.web):
            self._check(known.web)
        return known

    def _turn_to(self, base: WebUrl) -> None:
        """Know what the targets of links depend on that this page, or one beside it, carries.

        That is its origin, for a link that is absolute or begins at the root. It is its directory for one that begins
        with a letter or a digit, unless that is a scheme: `http:` resolves against the base's very file.
        """
        self._base = base
        self._origin = f"{base.scheme}://{'@' if base.userinfo else ''}{base.host}:{base.port}"
        self._directory = f"{self._origin}{base.path.rpartition('/')[0]}/"

    def target(self, web: WebUrl) -> tuple[WebUrl, str, bytes]:
        """A URL with its key, and the hash of it; a plain tuple, for most are taken apart at once."""
        key = self._keys.key(web)
        return web, key, key_hash(key)

    def _check(self, web: WebUrl) -> None:
        """Raise what scope and patterns say against a URL."""
        if not self.scope.admits(web):
            raise InvalidUrl(web.url, Refusal.OUT_OF_SCOPE, "outside the scope of this crawl")
        if self._patterned and not self._patterns_admit(web.url):
            raise InvalidUrl(web.url, Refusal.EXCLUDED, "refused by the include and exclude patterns")

    def parse(self, href: str, base: WebUrl | None = None, *, page: WebUrl | None = None) -> WebUrl:
        """As `admit`, without scope and patterns: what a seed must pass."""
        web = resolve(href, base, route_hosts=self._route_hosts)
        if web.userinfo:
            raise InvalidUrl(
                web.url, Refusal.USERINFO, "it carries a user name or a password; leave them out"
            )
        if web.scheme == "http" and self.upgrade_https:
            web = _upgraded(web, page or base)
        reason = refusal(web)
        if reason is not None:
            raise InvalidUrl(web.url, reason)
        if self.blocked and self.is_blocked(web.url):
            raise InvalidUrl(web.url, Refusal.BLOCKED, "blocked by the operator")
        return web

    def is_blocked(self, url: str) -> bool:
        """Whether the operator blocked a fetch URL."""
        return any(pattern.search(url) for pattern in self.blocked)

    def key(self, web: WebUrl, rewrite_rules: RewriteSet | Iterable[RewriteRule] = ()) -> str:
        """The key of a URL.

        Args:
            web: as `admit` gave it.
            rewrite_rules: the learned rules in force on its host.
        """
        web = self._keys.apply(web)
        if not rewrite_rules:
            return web.url
        learned = rewrite_rules if isinstance(rewrite_rules, RewriteSet) else RewriteSet(rewrite_rules)
        # Each may leave what the other drops, as in `/print/index.html/print`. Both only shorten, so this ends.
        while (rewritten := learned.apply(web)) is not web:
            web = self._keys.apply(rewritten)
        return web.url

    def _patterns_admit(self, url: str) -> bool:
        if any(pattern.search(url) for pattern in self._exclude):
            return False
        return not self._include or any(pattern.search(url) for pattern in self._include)


# To copy it is cheaper than to make another.
_NOTHING_HASHED = blake2b(digest_size=16)


def key_hash(key: str) -> bytes:
    """16 bytes that stand for a key in an index. Two keys may share them, if rarely: compare the text too."""
    hashed = _NOTHING_HASHED.copy()
    hashed.update(key.encode())
    return hashed.digest()


def _upgraded(web: WebUrl, page: WebUrl | None) -> WebUrl:
    """An http link to the site of an https page, as https; not one with a port, which serves one scheme."""
    if page is None or page.scheme != "https" or web.port or bare_host(web.host) != bare_host(page.host):
        return web
    return assemble(web, "https", web.host, web.path, web.query)


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise InvalidSettings(f"the pattern {pattern!r} is not a regular expression: {error}") from None
