"""Free text on its way into the store."""

from __future__ import annotations


def clean(text: str) -> str:
    """Free text as it is stored: lone surrogates and NULs, which not every engine takes, become U+FFFD."""
    if text.isascii():
        return text.replace("\x00", "\ufffd")
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").replace("\x00", "\ufffd")
