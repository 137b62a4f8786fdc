"""Records as JSON and back: what the command reads and writes, one object per line.

What is read is held to the fields of the records themselves: an unknown field is an error that names it, a field
that has a default may be missing or null. Text may be any text that JSON can write, lone surrogates included.
"""

from __future__ import annotations

import json
import math
from dataclasses import MISSING, asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar

from pagesift_store.errors import InvalidValue
from pagesift_store.records import FoundLink, Lease, Page

from .text import OBEYED, escape, takes_utf8

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pagesift_store.records import Added, Explanation, LinkOutcome, Observation, Status, Stop

    Reader = Callable[[Any, str], Any]

__all__ = [
    "Failure",
    "Fetched",
    "added_to_json",
    "dumps",
    "explanation_to_json",
    "failure_from_json",
    "fetched_from_json",
    "lease_from_json",
    "lease_to_json",
    "observation_to_json",
    "outcome_to_json",
    "page_from_json",
    "parse",
    "status_to_json",
    "stop_to_json",
]

Record = TypeVar("Record")

_LARGEST = 2**63 - 1
"""Whole numbers are stored in 64 bits."""

_SHOWN = 60
"""Characters of a wrong value that an error shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """One line for `observe`.

    Attributes:
        lease: as `lease` printed it.
        page: what the fetch brought.
    """

    lease: Lease
    page: Page


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One line for `fail`.

    Attributes:
        lease: as `lease` printed it.
        kind: what went wrong.
        message: for people.
        retry_after: the header as sent, or seconds; None when absent.
        retry_in: seconds until the next try, in place of the back-off. None: the back-off.
        permanent: do not try again.
    """

    lease: Lease
    kind: str
    message: str = ""
    retry_after: str | float | None = None
    retry_in: float | None = None
    permanent: bool = False


# -- writing -----------------------------------------------------------------------------------------------------


def dumps(value: Any, *, indent: int | None = None) -> str:
    """JSON text that standard output can carry and no terminal obeys: what is risky is escaped, nothing is lost.

    ASCII, unless standard output takes UTF-8. Bytes become hexadecimal digits. Floats keep every bit.
    """
    text = json.dumps(value, ensure_ascii=not takes_utf8(), allow_nan=False, default=_other, indent=indent)
    return text if text.isascii() else OBEYED.sub(escape, text)


def _other(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    raise TypeError(f"{value!r} has no form in JSON")


def lease_to_json(lease: Lease) -> dict[str, Any]:
    """All fields: whoever reads it back has the lease."""
    return asdict(lease)


def added_to_json(added: Added) -> dict[str, Any]:
    """The verdict on one URL."""
    return asdict(added)


def observation_to_json(lease: Lease, observation: Observation) -> dict[str, Any]:
    """What one page changed, led by the link it belongs to."""
    return {"link_id": lease.link_id, "url": lease.url} | asdict(observation)


def outcome_to_json(lease: Lease, outcome: LinkOutcome) -> dict[str, Any]:
    """The state of a link after a failure, led by the link it belongs to."""
    return {"link_id": lease.link_id, "url": lease.url} | asdict(outcome)


def status_to_json(status: Status) -> dict[str, Any]:
    """The crawl at one moment, the mappings of states and reasons keyed by their names."""
    return asdict(status) | {
        "counts": {str(state): count for state, count in status.counts.items()},
        "rejected": {str(reason): count for reason, count in status.rejected.items()},
    }


def stop_to_json(stop: Stop) -> dict[str, Any]:
    """Why a crawl ended, with the numbers behind it."""
    return asdict(stop)


def explanation_to_json(explanation: Explanation) -> dict[str, Any]:
    """Everything about one URL; the terms of its score by name."""
    terms = {
        feature: {"value": value, "weight": weight, "product": product}
        for feature, (value, weight, product) in explanation.terms.items()
    }
    return asdict(explanation) | {"terms": terms}


# -- reading -----------------------------------------------------------------------------------------------------


def parse(line: bytes | str) -> Any:
    """One JSON text.

    Raises:
        InvalidValue: not UTF-8, not JSON, nested too deeply, or it holds NaN or Infinity, which are not JSON.
    """
    try:
        text = line if isinstance(line, str) else line.decode()
        return json.loads(text, parse_constant=_refuse_constant)
    except InvalidValue:
        raise
    except UnicodeDecodeError as error:
        raise InvalidValue(
            f"byte {error.start + 1} is not UTF-8; JSON must be, or escape what is not ASCII"
        ) from error
    except json.JSONDecodeError as error:
        raise InvalidValue(f"not JSON: {error.msg} at character {error.pos + 1}") from error
    except ValueError as error:
        raise InvalidValue(f"not JSON that can be read: {error}") from error
    except RecursionError as error:
        raise InvalidValue("nested too deeply") from error


def _refuse_constant(name: str) -> None:
    raise InvalidValue(f"{name} is not a JSON number; leave the field out, or give a finite one")


def lease_from_json(value: Any) -> Lease:
    """What `lease` printed."""
    return _record(Lease, value, "lease")


def page_from_json(value: Any) -> Page:
    """A page; its links may be objects or, for the address alone, texts."""
    return _record(Page, value, "page")


def fetched_from_json(value: Any) -> Fetched:
    """A line for `observe`."""
    return _record(Fetched, value, "")


def failure_from_json(value: Any) -> Failure:
    """A line for `fail`."""
    return _record(Failure, value, "")


def _record(kind: type[Record], value: Any, where: str) -> Record:
    """A record of a JSON object with its fields.

    Raises:
        InvalidValue: names the field and what it must be.
    """
    name = where or "the line"
    if not isinstance(value, dict):
        raise InvalidValue(f"{name} must be a JSON object, not {_shown(value)}")
    specs = {spec.name: spec for spec in fields(kind)}  # type: ignore[arg-type]  # every kind is a dataclass
    unknown = sorted(value.keys() - specs.keys())
    if unknown:
        raise InvalidValue(f"{name} has no field {unknown[0][:_SHOWN]!r}; it has {', '.join(specs)}")
    given: dict[str, Any] = {}
    for field, spec in specs.items():
        if value.get(field) is not None:
            path = f"{where}.{field}" if where else field
            given[field] = READERS[str(spec.type)](value[field], path)
        elif spec.default is MISSING and spec.default_factory is MISSING:
            raise InvalidValue(f"{name} lacks the field {field!r}")
    return kind(**given)


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _text(value: Any, path: str) -> str:
    if not isinstance(value, str):
        raise InvalidValue(f"{path}={_shown(value)} must be a text")
    return value


def _whole(value: Any, path: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > _LARGEST:
        raise InvalidValue(f"{path}={_shown(value)} must be a whole number of at most 64 bits")
    return value


def _number(value: Any, path: str) -> float:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _LARGEST:
        return float(value)
    if not isinstance(value, float) or not math.isfinite(value):
        raise InvalidValue(f"{path}={_shown(value)} must be a finite number")
    return value


def _flag(value: Any, path: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidValue(f"{path}={_shown(value)} must be true or false")
    return value


def _text_or_number(value: Any, path: str) -> str | float:
    return value if isinstance(value, str) else _number(value, path)


def _list_of(reader: Reader) -> Reader:
    def read(value: Any, path: str) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise InvalidValue(f"{path}={_shown(value)} must be a list")
        return tuple(reader(entry, f"{path}[{place}]") for place, entry in enumerate(value))

    return read


def _link(value: Any, path: str) -> FoundLink:
    return FoundLink(value) if isinstance(value, str) else _record(FoundLink, value, path)


READERS: Mapping[str, Reader] = {
    "str": _text,
    "str | None": _text,
    "int": _whole,
    "float": _number,
    "float | None": _number,
    "bool": _flag,
    "bool | None": _flag,
    "str | float | None": _text_or_number,
    "Sequence[str]": _list_of(_text),
    "Sequence[FoundLink]": _list_of(_link),
    "Lease": lambda value, path: _record(Lease, value, path),
    "Page": lambda value, path: _record(Page, value, path),
}
"""How a field is read, by its annotation: the records alone say what their fields are."""
