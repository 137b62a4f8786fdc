"""Text from strangers, made fit for a terminal."""

from __future__ import annotations

import re
import sys

__all__ = ["OBEYED", "encodable", "escape", "inert", "one_line", "shorten", "takes_utf8"]

# CSI and OSC sequences, and two-character escapes: a terminal obeys them, so they go whole. An OSC that is
# never closed ends with its text.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|\x1b[ -/]*[0-~]?"
)


OBEYED = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""What a terminal obeys or that changes the order of what is read, line ends and tabs aside; and lone surrogates."""


def one_line(text: str) -> str:
    """The text on one line without anything that a terminal obeys or hides.

    Escape sequences are cut, white space becomes one blank, and what is left of control characters, of marks
    that turn the direction of writing and of lone surrogates becomes U+FFFD.
    """
    if text.isascii() and text.isprintable() and "  " not in text:
        return text
    blanked = " ".join(_ESCAPES.sub("", text).split())
    return "".join(char if char.isprintable() else "\ufffd" for char in blanked)


def shorten(text: str, most: int) -> str:
    """At most so many characters, the middle left out: URLs and paths differ at their ends."""
    if len(text) <= most:
        return text
    gap = "…" if takes_utf8() else "..."
    kept = max(most - len(gap), 2)
    tail = kept // 3 or 1
    return f"{text[: kept - tail]}{gap}{text[-tail:]}"


def takes_utf8() -> bool:
    """Whether standard output takes any character."""
    return (sys.stdout.encoding or "").lower().replace("-", "").replace("_", "") == "utf8"


def inert(text: str) -> str:
    """The text with each character of `OBEYED` written as a backslash escape."""
    return OBEYED.sub(escape, text)


def escape(found: re.Match[str]) -> str:
    r"""The character that was found as JSON and Python write it: `\u001b`."""
    return f"\\u{ord(found[0]):04x}"


def encodable(text: str) -> str:
    """The text with what standard output cannot encode written as a backslash escape."""
    encoding = sys.stdout.encoding or "ascii"
    return text.encode(encoding, "backslashreplace").decode(encoding)
