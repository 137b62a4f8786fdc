"""Everything that this package raises on purpose.

PagesiftError
├── InvalidValue (ValueError)        a value that no call accepts, named with the remedy
│   ├── InvalidUrl                   not a URL that can be crawled; carries the reason
│   ├── InvalidQuery                 more terms than a query may have
│   ├── InvalidSettings              a setting out of its range
│   └── InvalidExport                lines that no export of a store has, or not all of them
├── SettingsDiffer                   opened with another query or other settings than the stored ones
├── LeaseLost                        the link was leased again since; nothing was changed
├── WrongStore                       a lease of another store
├── UnknownUrl                       a URL that the store has never seen
├── NestedCall (RuntimeError)        a call inside another one of the same store that is not finished
└── StoreError                       the file (or server) behind the store
    ├── StoreMissing                 there is nothing there, and nothing says to create it
    ├── StoreUnreachable             a directory, a missing folder, no permission
    ├── NotAStore                    a text file, another program's database
    ├── StoreEmpty                   a file of zero bytes
    ├── SchemaTooOld                 made by an older release; `pagesift-store migrate` brings it up
    ├── SchemaTooNew                 made by a newer release
    ├── StoreBusy                    another process kept the write lock for longer than the timeout
    ├── StoreFull                    no room left on the disk
    ├── StoreReadOnly                the file or its folder cannot be written
    ├── StoreDamaged                 the file, or the backup, is malformed or contradicts itself
    ├── StoreExists                  a store is in the way of one that is to be made
    └── StoreReplaced                the file was deleted, moved or exchanged while it was open

UnknownFileSystem (UserWarning)      it may be one of a network, where a store would be damaged

Whatever is raised, the transaction it ended was rolled back whole; `NestedCall` ends none.
"""

from __future__ import annotations

from enum import StrEnum

__all__ = [
    "InvalidExport",
    "InvalidQuery",
    "InvalidSettings",
    "InvalidUrl",
    "InvalidValue",
    "LeaseLost",
    "NestedCall",
    "NotAStore",
    "PagesiftError",
    "Refusal",
    "SchemaTooNew",
    "SchemaTooOld",
    "SettingsDiffer",
    "StoreBusy",
    "StoreDamaged",
    "StoreEmpty",
    "StoreError",
    "StoreExists",
    "StoreFull",
    "StoreMissing",
    "StoreReadOnly",
    "StoreReplaced",
    "StoreUnreachable",
    "UnknownFileSystem",
    "UnknownUrl",
    "WrongStore",
]


class Refusal(StrEnum):
    """Why a URL is not crawled. The store counts refusals by these names; `inspect` shows them."""

    INVALID = "invalid"
    """The URL standard does not accept it."""
    SCHEME = "scheme"
    """Neither http nor https."""
    USERINFO = "userinfo"
    """It carries a user name or a password."""
    TOO_LONG = "too_long"
    """Longer than 8 KiB."""
    EXTENSION = "extension"
    """Its file name says that it cannot become text: image, audio, archive, …"""
    REPEATED_SEGMENT = "repeated_segment"
    """The same path segment three times in a row."""
    SEGMENT_CYCLE = "segment_cycle"
    """A cycle of path segments, three times: `/a/b/a/b/a/b/`."""
    TOO_DEEP = "too_deep"
    """More than 20 path segments."""
    NESTED_ESCAPES = "nested_escapes"
    """Percent-escapes nested more than twice: `%252525`."""
    AMP_CHAIN = "amp_chain"
    """A growing chain of `amp;`: HTML entities decoded too seldom."""
    OUT_OF_SCOPE = "out_of_scope"
    """Outside the hosts and patterns of this crawl."""
    EXCLUDED = "excluded"
    """An exclude pattern matches, or no include pattern does."""
    NOFOLLOW = "nofollow"
    """The link or its page asks not to be followed."""
    DEPTH = "depth"
    """Deeper than `max_depth`."""
    BLOCKED = "blocked"
    """Its host, or a pattern it matches, was blocked by the operator."""


class PagesiftError(Exception):
    """Base of all errors of this package."""


class InvalidValue(PagesiftError, ValueError):
    """A value that no call accepts; the message names it and says what would be right."""


class InvalidUrl(InvalidValue):
    """A URL that cannot be crawled.

    Attributes:
        url: the text as it was given, cut to 200 characters.
        reason: one of `Refusal`.
    """

    def __init__(self, url: str, reason: Refusal, detail: str = "") -> None:
        self.url = url[:200]
        self.reason = reason
        super().__init__(f"cannot crawl {self.url!r}: {detail or reason.value}")


class InvalidQuery(InvalidValue):
    """A query with more terms than a hit mask has bits (64)."""


class InvalidSettings(InvalidValue):
    """A setting out of its range."""


class InvalidExport(InvalidValue):
    """Lines that no export of a store has: another format, a line changed, lost or cut; nothing was made."""


class SettingsDiffer(PagesiftError):
    """The store was made with another query or other settings than it is opened with."""


class LeaseLost(PagesiftError):
    """The link was leased again since this lease was taken, or given back; nothing was changed."""


class WrongStore(PagesiftError):
    """The lease was taken from another store."""


class UnknownUrl(PagesiftError):
    """The store has never seen this URL."""


class NestedCall(PagesiftError, RuntimeError):
    """A call inside another one of the same store, in the same thread: by the clock that it looks at, say.

    It has done nothing, and the outer call goes on. Questions (`status`, `explain`, …) may be asked there.
    """


class StoreError(PagesiftError):
    """Something about the file (or server) behind the store."""


class StoreMissing(StoreError):
    """There is no store at this path, and neither a query nor settings were given to create one."""


class StoreUnreachable(StoreError):
    """The path is a directory, its folder is missing, or access is denied."""


class NotAStore(StoreError):
    """The file is not a SQLite database, or it belongs to another program."""


class StoreEmpty(StoreError):
    """The file has no content; it may be what is left of a store that was lost."""


class SchemaTooOld(StoreError):
    """The store was made by an older release; run `pagesift-store migrate`."""


class SchemaTooNew(StoreError):
    """The store was made by a newer release; update the program. Nothing was touched."""


class StoreBusy(StoreError):
    """Another process kept the write lock for 30 seconds and a minute more per GB of the store; nothing was written."""


class StoreFull(StoreError):
    """The disk is full; nothing was written. Free some space and repeat the call."""


class StoreReadOnly(StoreError):
    """The store cannot be written here; nothing was changed."""


class StoreDamaged(StoreError):
    """The file is malformed, or holds what cannot be read, or what contradicts itself; the message says what helps."""


class StoreExists(StoreError):
    """There is a store where one is to be made; nothing was overwritten."""


class StoreReplaced(StoreError):
    """The file was deleted, moved or exchanged while it was open; nothing was written. Open the store again."""


class UnknownFileSystem(UserWarning):
    """A warning: nothing tells whether the store is on a local disk; on one of a network it would be damaged."""
