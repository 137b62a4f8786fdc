"""Scope: which URLs belong to the crawl, decided on the parsed URL: on what would really be requested."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from pagesift_store.errors import InvalidSettings
from pagesift_store.urls.parts import site_host

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pagesift_store.urls.reading import WebUrl

__all__ = ["Scope", "ScopeEntry", "ScopeKind"]

ScopeKind = Literal["site", "host", "prefix", "any"]


class ScopeEntry(NamedTuple):
    """One thing that a seed has brought into the scope; what the store keeps.

    Attributes:
        host: as `site_host` gives it: without `www.` and port.
        prefix: directory of the seed without its final slash; "" for the root, and in other kinds of scope.
    """

    host: str
    prefix: str = ""


class Scope:
    """Hosts, or directories of hosts, that belong to the crawl.

    A question costs one look-up per label of the host (and, for `prefix`, per segment of the path), however
    many seeds there are. Scheme and port play no part.

    Args:
        kind: `site`: the seeds' hosts and their sub-domains, `www.` put aside; `host`: those hosts alone;
            `prefix`: the seeds' directories on those hosts; `any`: everything.
        entries: as iterating over an earlier scope gave them.

    Raises:
        InvalidSettings: there is no such kind.
    """

    def __init__(self, kind: ScopeKind, entries: Iterable[tuple[str, str]] = ()) -> None:
        if kind not in get_args(ScopeKind):
            raise InvalidSettings(
                f"there is no scope {kind!r}; choose one of {', '.join(get_args(ScopeKind))}"
            )
        self.kind = kind
        self._prefixes: dict[str, set[str]] = {}
        for host, prefix in entries:
            self._add(ScopeEntry(host, prefix))

    def __iter__(self) -> Iterator[ScopeEntry]:
        """Every entry, in a fixed order, to store and to build the same scope from."""
        for host in sorted(self._prefixes):
            for prefix in sorted(self._prefixes[host]):
                yield ScopeEntry(host, prefix)

    def entry(self, web: WebUrl) -> ScopeEntry | None:
        """What this seed would bring into the scope; None when that is in it already, or the kind is `any`.

        A caller whose transaction may still fail stores the entry first and calls `extend` after the commit.
        """
        if self.kind == "any":
            return None
        entry = ScopeEntry(site_host(web.host), _directory(web) if self.kind == "prefix" else "")
        return None if entry.prefix in self._prefixes.get(entry.host, ()) else entry

    def extend(self, web: WebUrl) -> bool:
        """Take a seed into the scope.

        Returns:
            Whether that changed the entries.
        """
        entry = self.entry(web)
        if entry is None:
            return False
        self._add(entry)
        return True

    def admits(self, web: WebUrl) -> bool:
        """Whether a URL belongs to the crawl."""
        if self.kind == "any":
            return True
        host = site_host(web.host)
        if self.kind == "site":
            return self._has_host_or_parent(host)
        prefixes = self._prefixes.get(host)
        if prefixes is None:
            return False
        return self.kind == "host" or _is_below(web.path, prefixes)

    def _has_host_or_parent(self, host: str) -> bool:
        hosts = self._prefixes
        while host not in hosts:
            _, dot, host = host.partition(".")
            if not dot:
                return False
        return True

    def _add(self, entry: ScopeEntry) -> None:
        self._prefixes.setdefault(entry.host, set()).add(entry.prefix)


def _directory(web: WebUrl) -> str:
    """The seed's directory without its final slash.

    A final slash: that directory. A last segment with a dot is a file: its parent. Else the path itself.
    """
    parsed = web.as_yarl()
    path = parsed.raw_path
    if "." in parsed.raw_name:
        path = path.rpartition("/")[0]
    return path.rstrip("/")


def _is_below(path: str, prefixes: set[str]) -> bool:
    """Whether the path is one of the directories or below one. `/docs2` is not below `/docs`."""
    if "" in prefixes or path in prefixes:
        return True
    end = path.rfind("/")
    while end > 0:
        if path[:end] in prefixes:
            return True
        end = path.rfind("/", 0, end)
    return False
