"""Learned rewrite rules: differences between URLs of one host that make no difference to the text.

After Bar-Yossef, Keidar and Schonfeld, *Do not crawl in the DUST* (2007), and Dasgupta, Kumar and
Sasturkar, *De-duping URLs via rewrite rules* (KDD 2008). Pure: which pairs were seen, and what they
confirm, is kept by the store.

URLs are compared as the key rules leave them, so pass `KeyRules.apply(url)`; tracking parameters are no
candidates then.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Literal, NamedTuple, cast, get_args

from pagesift_store.errors import InvalidValue
from pagesift_store.urls.reading import WebUrl, assemble

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "RewriteKind",
    "RewriteRule",
    "RewriteSet",
    "apply",
    "candidates",
    "differs_by",
    "generalised",
    "needed_confirmations",
]

RewriteKind = Literal["drop_param_value", "drop_param", "drop_last_segment"]


class RewriteRule(NamedTuple):
    """One thing to leave out of the URLs of a host.

    Attributes:
        kind: `drop_param_value`: a parameter where it has one value; `drop_param`: a parameter whatever its
            value; `drop_last_segment`: the end of a path.
        name: of the parameter, as it stands in the query; or the end of the path: a segment (`index.html`),
            which leaves the directory with its slash, or a segment and the slash before it (`/print`),
            which leaves none.
        value: of the parameter, as it stands; None for a parameter without `=`, and for the other kinds.
    """

    kind: RewriteKind
    name: str
    value: str | None = None

    @property
    def id(self) -> str:
        """The rule as one line of text, to store: `drop_param_value print=1`. `from_id` reads it back."""
        return f"{self.kind} {self.name}" if self.value is None else f"{self.kind} {self.name}={self.value}"

    @classmethod
    def from_id(cls, text: str) -> RewriteRule:
        """The rule whose `id` is this text.

        Raises:
            InvalidValue: it is the id of no rule.
        """
        kind, space, rest = text.partition(" ")
        if not space or kind not in get_args(RewriteKind):
            raise InvalidValue(f"{text[:200]!r} is not the id of a rewrite rule")
        name, equals, value = rest.partition("=")
        if kind != "drop_param_value":
            return cls(cast("RewriteKind", kind), rest)
        return cls("drop_param_value", name, value if equals else None)


class RewriteSet:
    """The rules in force on one host, ready to apply: two look-ups per parameter, however many rules."""

    def __init__(self, rules: Iterable[RewriteRule] = ()) -> None:
        fields: set[str] = set()
        names: set[str] = set()
        ends: set[str] = set()
        for rule in rules:
            if rule.kind == "drop_param_value":
                fields.add(rule.name if rule.value is None else f"{rule.name}={rule.value}")
            elif rule.kind == "drop_param":
                names.add(rule.name)
            else:
                ends.add(rule.name)
        self._fields = frozenset(fields)
        self._names = frozenset(names)
        # In a fixed order, so that the result does not depend on the order in which the rules were learned.
        self._ends = tuple(sorted(ends))

    def apply(self, web: WebUrl) -> WebUrl:
        """The URL without what the rules leave out; the same object when they leave out nothing."""
        path = self._shortened(web.path) if self._ends else web.path
        query = self._filtered(web.query) if web.query else web.query
        if path == web.path and query == web.query:
            return web
        return assemble(web, web.scheme, web.host, path, query)

    def _filtered(self, query: str) -> str | None:
        fields = query.split("&")
        kept = [
            field
            for field in fields
            if field not in self._fields and field.partition("=")[0] not in self._names
        ]
        if len(kept) == len(fields):
            return query
        return "&".join(kept) if kept else None

    def _shortened(self, path: str) -> str:
        # Until nothing more goes, so that applying the rules twice changes nothing.
        shorter = next((cut for end in self._ends if (cut := _without_end(path, end)) is not None), None)
        while shorter is not None:
            path = shorter
            shorter = next((cut for end in self._ends if (cut := _without_end(path, end)) is not None), None)
        return path


def apply(rules: RewriteSet | Iterable[RewriteRule], web: WebUrl) -> WebUrl:
    """A URL without what the rules leave out, for making keys; never for fetching.

    A host with many rules, or many URLs, is better served by one `RewriteSet` kept.
    """
    return (rules if isinstance(rules, RewriteSet) else RewriteSet(rules)).apply(web)


def candidates(a: WebUrl, b: WebUrl) -> list[RewriteRule]:
    """The rules each of which would, by itself, turn one of two URLs into the other.

    Args:
        a: a URL.
        b: a URL of the same host that gave the same text.

    Returns:
        At most one `drop_param_value`, or at most one `drop_last_segment`; none when the two differ
        otherwise, or not.
    """
    if (a.scheme, a.host, a.port) != (b.scheme, b.host, b.port):
        return []
    if a.path == b.path:
        rule = _extra_field(a.query, b.query) or _extra_field(b.query, a.query)
    elif _fields(a.query) == _fields(b.query):
        rule = _extra_end(a.path, b.path) or _extra_end(b.path, a.path)
    else:
        rule = None
    return [] if rule is None else [rule]


def generalised(confirmed: Iterable[RewriteRule]) -> list[RewriteRule]:
    """The `drop_param` rules that follow from confirmed `drop_param_value` rules of one host.

    A parameter may go whatever its value once two different values of it were each confirmed. Sorted by name.
    """
    values: defaultdict[str, set[str | None]] = defaultdict(set)
    for rule in confirmed:
        if rule.kind == "drop_param_value":
            values[rule.name].add(rule.value)
    return [RewriteRule("drop_param", name) for name in sorted(values) if len(values[name]) > 1]


def differs_by(rule: RewriteRule, a: WebUrl, b: WebUrl) -> bool:
    """Whether two different URLs become one under this rule: whether their texts confirm or refute it.

    The order of the query parameters does not count.
    """
    if _identity(a) == _identity(b):
        return False
    rules = RewriteSet([rule])
    return _identity(rules.apply(a)) == _identity(rules.apply(b))


def needed_confirmations(delta: float, chance: float | None = None) -> int:
    """Distinct confirming pairs after which a rule is in force: k* = ⌈ln δ / ln p₀ − 1e-9⌉, at least 1.

    Were a pair to agree by chance with probability p₀, k* pairs in a row would do so with probability δ at
    most.

    Args:
        delta: the error level, 0 < δ < 1.
        chance: p₀, 0 < p₀ < 1. None: √δ, which makes k* = 2.

    Raises:
        InvalidValue: one of them is out of its range.
    """
    p0 = math.sqrt(delta) if chance is None and delta > 0 else chance
    if not 0 < delta < 1 or p0 is None or not 0 < p0 < 1:
        raise InvalidValue(f"delta={delta!r} and chance={chance!r} must lie between 0 and 1")
    # The last term keeps a quotient that is whole, but for rounding, from being taken one too high.
    return max(1, math.ceil(math.log(delta) / math.log(p0) - 1e-9))


def _fields(query: str | None) -> Counter[str]:
    return Counter(query.split("&")) if query else Counter()


def _identity(web: WebUrl) -> tuple[str, str, str, str, list[str]]:
    return web.scheme, web.host, web.port, web.path, sorted(_fields(web.query).elements())


def _extra_field(longer: str | None, shorter: str | None) -> RewriteRule | None:
    more, fewer = _fields(longer), _fields(shorter)
    extra = more - fewer
    if fewer - more or extra.total() != 1:
        return None
    (field,) = extra
    # Every field equal to it goes with the rule, so one of two equal fields is no candidate; nor is an
    # empty one.
    if not field or field in fewer:
        return None
    name, equals, value = field.partition("=")
    return RewriteRule("drop_param_value", name, value if equals else None)


def _extra_end(longer: str, shorter: str) -> RewriteRule | None:
    end = longer[len(shorter) :]
    if not longer.startswith(shorter) or not end.strip("/") or "/" in end.strip("/"):
        return None
    return RewriteRule("drop_last_segment", end) if _without_end(longer, end) == shorter else None


def _without_end(path: str, end: str) -> str | None:
    """The path without this end; None when it does not end so at the border of a segment."""
    if not path.endswith(end):
        return None
    rest = path[: -len(end)]
    return rest if rest and (rest.endswith("/") or end.startswith("/")) else None
