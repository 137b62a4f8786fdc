"""Free text on its way into the store."""

from __future__ import annotations


def clean(text: str) -> str:
    """Free text as it is stored: lone surrogates and NULs, which not every engine takes, become U+FFFD."""
    if text.isascii():
        return text.replace("\x00", "\ufffd")
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").replace("\x00", "\ufffd")


_ESCAPED = "\x1fhex:"
"""Begins a header that no engine takes as it is; a control character cannot stand in one that was sent."""


def escaped(header: str | None) -> str | None:
    """A header as it is stored, to come back to the last byte: some clients hand bytes on as lone surrogates."""
    if header is None or clean(header) == header:
        return header
    return _ESCAPED + header.encode("utf-8", "surrogatepass").hex()


def restored(stored: str | None) -> str | None:
    """What `escaped` was given."""
    if stored is None or not stored.startswith(_ESCAPED):
        return stored
    return bytes.fromhex(stored.removeprefix(_ESCAPED)).decode("utf-8", "surrogatepass")
