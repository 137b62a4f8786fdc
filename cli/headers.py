"""What an HTTP client wrote down about its answers: status lines and headers, as `curl --dump-header` has them."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from pagesift_store.errors import InvalidValue

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Answer", "one_header", "read_dump"]

_STATUS = re.compile(r"HTTP/[0-9.]+ +([0-9]{3})\b")
_TUNNEL = re.compile(r"HTTP/[0-9.]+ +200 +connection established", re.IGNORECASE)


@dataclass(slots=True)
class Answer:
    """The last answer of a chain of redirects.

    Attributes:
        url: what gave it.
        status: its HTTP status.
        headers: its headers, names in lower case; several of one name are joined by commas.
        redirects: the URLs before it, the leased one first.
    """

    url: str
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    redirects: tuple[str, ...] = ()


def read_dump(content: bytes, url: str) -> Answer:
    """Follow a dump of headers from the URL that was asked first; interim and proxy answers are passed over.

    Raises:
        InvalidValue: there is no status line in it.
    """
    blocks = [block for block in _blocks(content) if block.status >= 200]
    if not blocks:
        raise InvalidValue("no HTTP status line in it; give the file of `curl --dump-header`")
    hops: list[str] = []
    for block in blocks[:-1]:
        if 300 <= block.status < 400 and "location" in block.headers:
            hops.append(url)
            with contextlib.suppress(ValueError):  # no URL at all; the store reads the hops that are
                url = urljoin(url, block.headers["location"])
    last = blocks[-1]
    return Answer(url, last.status, last.headers, tuple(hops))


def _blocks(content: bytes) -> Iterable[Answer]:
    block: Answer | None = None
    for line in content.decode("latin-1").split("\n"):
        if start := _STATUS.match(line):
            if block is not None:
                yield block
            block = Answer("", 0 if _TUNNEL.match(line) else int(start[1]))
        elif block is not None and ":" in line:
            add_header(block.headers, *one_header(line))
    if block is not None:
        yield block


def one_header(line: str) -> tuple[str, str]:
    """Name, in lower case, and value of `Name: value`.

    Raises:
        InvalidValue: there is no colon, or no name before it.
    """
    name, colon, value = line.partition(":")
    if not colon or not name.strip():
        raise InvalidValue(f"{line[:200]!r} is not a header; write 'Name: value'")
    return name.strip().lower(), value.strip()


def add_header(headers: dict[str, str], name: str, value: str) -> None:
    """Keep a header; a second one of its name joins the first, as HTTP reads them."""
    headers[name] = f"{headers[name]}, {value}" if name in headers else value
