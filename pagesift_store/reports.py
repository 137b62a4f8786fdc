"""What looking after a store reports; frozen records, like those of `records`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["BackedUp", "Checked", "Fault", "Finding", "Upkeep", "Vacuumed"]


class Fault(StrEnum):
    """What is wrong with a store."""

    DAMAGE = "damage"
    """SQLite says that the file is malformed."""
    STRUCTURE = "structure"
    """A table, an index or a view is missing, or there is one that should not be."""
    REFERENCE = "reference"
    """A row refers to one that is not there."""
    STATE = "state"
    """A row is in a state that no call leaves it in."""
    COUNT = "count"
    """A counter differs from the rows that it counts."""
    HEAD = "head"
    """A lane's head is not its best queued link."""
    SCORE = "score"
    """A score is not the one that the weights in use give."""
    KEY = "key"
    """A key, or its hash, is not what the rules make of the URL."""
    CONTENT = "content"
    """A stored value cannot be read."""
    REFUSED = "refused"
    """Today's URL rules would refuse the link: not a fault, but worth knowing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that a check found.

    Attributes:
        fault: its kind.
        where: the row or the object: `link 17`, `host www.example.edu`.
        message: what is stored and what should be.
        mended: whether the repair has put it right.
    """

    fault: Fault
    where: str
    message: str
    mended: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What a check of a store found.

    Attributes:
        findings: at most 100 of a kind, in the order of `Fault`.
        links: links in the store.
        keys: of these, links whose key was made anew and compared.
        sound: nothing is wrong, or all of it was mended; what is merely `refused` does not count.
    """

    findings: Sequence[Finding]
    links: int
    keys: int
    sound: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BackedUp:
    """A backup that was made and read back.

    Attributes:
        path: where it is.
        bytes: its size.
        links: links in it.
        pages: fetches in it.
        previous: the one before it, which has another name now; None: there is none.
    """

    path: str
    bytes: int
    links: int
    pages: int
    previous: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Vacuumed:
    """What became of the free pages of a file.

    Attributes:
        before: bytes of the file.
        after: bytes of the file now.
        free: bytes in free pages that are left.
    """

    before: int
    after: int
    free: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkeep:
    """When something was last done for a store.

    Attributes:
        kind: `check` (with repair), `backup` or `vacuum`.
        at: when.
        detail: what came of it.
    """

    kind: str
    at: float
    detail: Mapping[str, Any]
