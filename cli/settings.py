"""Settings as they are written on a command line: `name=value`."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from pagesift_store.errors import InvalidSettings
from pagesift_store.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["assignments"]


def assignments(texts: Iterable[str]) -> dict[str, Any]:
    """Names and values. A pattern list takes one pattern at each mention, and `none` is no limit.

    Raises:
        InvalidSettings: no `=`, a name that no setting has, or one that is given twice.
    """
    defaults = {spec.name: spec.default for spec in fields(Settings)}
    changes: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise InvalidSettings(f"{text!r} must be name=value")
        if name not in defaults:
            raise InvalidSettings(f"there is no setting {name!r}; there are {', '.join(defaults)}")
        if isinstance(defaults[name], tuple):
            changes[name] = (*changes.get(name, ()), *([value] if value else []))
        elif name in changes:
            raise InvalidSettings(f"{name} is given twice")
        else:
            changes[name] = value if isinstance(defaults[name], str) else _value(value)
    return changes


def _value(text: str) -> Any:
    """A number, true, false or none; what is none of these stays a text, which the setting then refuses."""
    lowered = text.strip().lower()
    if lowered in ("none", "null"):
        return None
    if lowered in ("true", "false"):
        return lowered == "true"
    try:
        number = json.loads(text)
    except ValueError:
        return text
    return number if isinstance(number, int | float) else text
