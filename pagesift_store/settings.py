"""Settings: stored with the crawl, so that a resume uses the same ones."""

from __future__ import annotations

import json
import math
import re
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from pagesift_store.errors import InvalidSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Settings"]

_HOST = re.compile(r"[a-z0-9._-]+|\[[0-9a-f:.]+\]")


def _setting(
    default: Any,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
    operational: bool = False,
) -> Any:
    """A field with its range (both ends included) and whether `Frontier.configure` may change it."""
    return field(
        default=default,
        metadata={
            "low": low,
            "high": high,
            "choices": choices,
            "operational": operational,
        },
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a crawl behaves. Those marked *operational* may be changed later by `Frontier.configure`.

    Attributes:
        language: language of the query, an ISO 639-1 code; chooses stemmer and stop words.
        key_rules: what makes two URLs the same page: `strict`, `standard` or `loose`. Changed by `rekey` only.
        scope: which hosts belong to the crawl: `site` (seed hosts and their sub-domains), `host` (seed hosts
            alone), `prefix` (the seeds' directories) or `any`.
        include: regular expressions; when there are any, a URL must match one of them. Empty: no such condition.
        exclude: regular expressions; a URL that matches one is refused. Empty: none is.
        route_hosts: hosts (as in their URLs, in lower case) of single-page sites, where a fragment that begins with
            `#/` or `#!` is part of URL and key. Empty: fragments go, as everywhere.
        durability: `full` (a commit survives a power cut) or `normal` (the last commits may not; the store stays
            whole). Both survive the death of the process. Operational.
        politeness: what shares one delay: `host` (a host name) or `domain` (the last two labels of it, three where
            the last two are a public suffix such as `co.uk`).
        host_groups: regular expressions, tried in turn on a host name (`www.` put aside) before `politeness` is asked:
            what the first to match captures in its first group (without groups, its whole match) names what shares
            one delay, be it a name or an address. Empty: none.
        default_delay: seconds between two leases of a host, 0 to 300. 0: none. Operational.
        max_in_flight: leases of one host at the same time, 1 or more. Operational.
        max_pages: pages fetched in all. None: no limit. Operational.
        max_pages_per_host: pages fetched per host. None: no limit. Operational.
        max_pages_per_part: pages fetched per subtree. None: no limit. Operational.
        max_depth: clicks from a seed; deeper links are refused. None: no limit. Operational.
        max_queue: queued links kept; a better newcomer evicts the worst. None: no limit. A bound has an index of its
            own, made when it is set: a second per million links. Operational.
        max_failures: failures in a row after which a link is dead, 1 to 100. Operational.
        cluster_cap: leases after which a cluster without a hit (`reference`: one that is not proven) gives way to
            others. Operational.
        rescore_drift: how far a term weight may drift (absolute, 0 to 1) before the queue is rescored; 0: any
            change. Operational.
        focus: `full`, or `reference`: the five features, their priors and the link model alone.
        learn: whether the link model learns from fetched pages.
        upgrade_https: read http links to the same host on an https page as https.
        follow_nofollow: follow links and pages that ask not to be followed. Operational.
        adaptive: stop when a stop rule holds. Operational.
        patience: stale pages in a row that stop rules wait for, 1 or more. The default is the reference's and ends
            crawls of documentation with half of what is relevant unseen; with 120 a twentieth was. Operational.
        coverage_threshold: share of the terms that must be covered, 0 to 1. Operational.
        evidence_per_term: passages that cover a term, 1 or more. Operational.
        min_gain: new relevant tokens below this share of the mean make a page stale, 0 to 1. Operational.
        delta: the error level of every statistical decision, 0 < δ < 1.
        revisit: fetch pages again when they are due. Operational.
        revisit_min: shortest time between two visits, seconds. Operational.
        revisit_max: longest time between two visits, seconds. Operational.
        revisit_share: share of leases that go to due revisits before new links, 0 to 1. Operational.
    """

    language: str = _setting("en")
    key_rules: str = _setting("standard", choices=("strict", "standard", "loose"))
    scope: str = _setting("site", choices=("site", "host", "prefix", "any"))
    include: tuple[str, ...] = _setting(())
    exclude: tuple[str, ...] = _setting(())
    route_hosts: tuple[str, ...] = _setting(())
    durability: str = _setting("full", choices=("full", "normal"), operational=True)
    politeness: str = _setting("host", choices=("host", "domain"))
    host_groups: tuple[str, ...] = _setting(())
    default_delay: float = _setting(1.0, low=0, high=300, operational=True)
    max_in_flight: int = _setting(2, low=1, operational=True)
    max_pages: int | None = _setting(None, low=0, operational=True)
    max_pages_per_host: int | None = _setting(None, low=0, operational=True)
    max_pages_per_part: int | None = _setting(None, low=0, operational=True)
    max_depth: int | None = _setting(None, low=0, operational=True)
    max_queue: int | None = _setting(None, low=1, operational=True)
    max_failures: int = _setting(5, low=1, high=100, operational=True)
    cluster_cap: int = _setting(20, low=1, operational=True)
    rescore_drift: float = _setting(0.05, low=0, high=1, operational=True)
    focus: str = _setting("full", choices=("full", "reference"))
    learn: bool = _setting(True)
    upgrade_https: bool = _setting(True)
    follow_nofollow: bool = _setting(False, operational=True)
    adaptive: bool = _setting(False, operational=True)
    patience: int = _setting(5, low=1, operational=True)
    coverage_threshold: float = _setting(1.0, low=0, high=1, operational=True)
    evidence_per_term: int = _setting(5, low=1, operational=True)
    min_gain: float = _setting(0.05, low=0, high=1, operational=True)
    delta: float = _setting(0.05, low=1e-6, high=0.5)
    revisit: bool = _setting(False, operational=True)
    revisit_min: float = _setting(3600.0, low=1, operational=True)
    revisit_max: float = _setting(90 * 86400.0, low=1, operational=True)
    revisit_share: float = _setting(0.5, low=0, high=1, operational=True)

    def __post_init__(self) -> None:
        for spec in fields(self):
            value = _checked(spec.name, getattr(self, spec.name), spec.default, spec.metadata)
            object.__setattr__(self, spec.name, value)
        if self.revisit_min > self.revisit_max:
            raise InvalidSettings(
                f"revisit_min={self.revisit_min!r} is above revisit_max={self.revisit_max!r}; lower one of them"
            )

    @classmethod
    def operational(cls) -> frozenset[str]:
        """Names of the settings that `Frontier.configure` may change."""
        return frozenset(spec.name for spec in fields(cls) if spec.metadata["operational"])

    def differences(self, other: Settings) -> dict[str, tuple[Any, Any]]:
        """Name → (own value, the other's value) of every setting that differs."""
        return {
            spec.name: (getattr(self, spec.name), getattr(other, spec.name))
            for spec in fields(self)
            if getattr(self, spec.name) != getattr(other, spec.name)
        }

    def changed(self, changes: Mapping[str, Any]) -> Settings:
        """A copy with operational changes applied.

        Raises:
            InvalidSettings: an unknown name, one that is fixed for the life of a store, or a value out of range.
        """
        for name in changes:
            if name not in self.operational():
                known = any(spec.name == name for spec in fields(self))
                raise InvalidSettings(
                    f"{name} is fixed for the life of a store"
                    if known
                    else f"there is no setting {name!r}; see Settings"
                )
        return replace(self, **dict(changes))

    def to_json(self) -> str:
        """As stored: a JSON object with sorted names."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Settings:
        """Read what `to_json` wrote. A setting that is missing, as in an older store, has its default.

        Raises:
            InvalidSettings: a name that this release does not know, or a value out of range.
        """
        stored: dict[str, Any] = json.loads(text)
        names = {spec.name for spec in fields(cls)}
        unknown = sorted(set(stored) - names)
        if unknown:
            raise InvalidSettings(
                f"stored settings {', '.join(unknown)} are unknown to this release; update it"
            )
        return cls(**stored)


def _checked(name: str, value: Any, default: Any, meta: Mapping[str, Any]) -> Any:
    """The value in the type of its field, or `InvalidSettings` naming it and its range."""
    if value is None and default is None:
        return None
    if isinstance(default, tuple):
        return _hosts(name, value) if name == "route_hosts" else _patterns(name, value)
    if isinstance(default, bool):
        if isinstance(value, bool):
            return value
        raise InvalidSettings(f"{name}={value!r} must be true or false")
    if isinstance(default, str):
        if not isinstance(value, str) or (meta["choices"] and value not in meta["choices"]):
            allowed = " or ".join(meta["choices"]) or "a text"
            raise InvalidSettings(f"{name}={value!r} must be {allowed}")
        return value
    return _number(name, value, default, meta)


def _number(name: str, value: Any, default: Any, meta: Mapping[str, Any]) -> float | int:
    low, high = meta["low"], meta["high"]
    whole = not isinstance(default, float)
    kind = "a whole number" if whole else "a number"
    limits = f"{'' if low is None else f' from {low:g}'}{'' if high is None else f' to {high:g}'}"
    good = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not good or (whole and value != int(value)):
        raise InvalidSettings(f"{name}={value!r} must be {kind}{limits}")
    if (low is not None and value < low) or (high is not None and value > high):
        raise InvalidSettings(f"{name}={value!r} must be {kind}{limits}")
    return int(value) if whole else float(value)


def _patterns(name: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise InvalidSettings(f"{name}={value!r} must be a list of regular expressions")
    for pattern in value:
        try:
            re.compile(pattern)
        except re.error as error:
            raise InvalidSettings(f"{name}: {pattern!r} is not a regular expression: {error}") from error
    return tuple(value)


def _hosts(name: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise InvalidSettings(f"{name}={value!r} must be a list of host names")
    for host in value:
        if not _HOST.fullmatch(host):
            raise InvalidSettings(
                f"{name}: {host!r} is not a host as it stands in a URL: lower case, punycode, no scheme, no port"
            )
    return tuple(value)
