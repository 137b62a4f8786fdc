"""Keys and templates of links: the text of a key is stored only where a learned rule rewrote it."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from struct import Struct
from typing import TYPE_CHECKING

from pagesift_store.urls.parts import template

if TYPE_CHECKING:
    from pagesift_store.transactions.work import Work
    from pagesift_store.urls.reading import WebUrl


def key_of(work: Work, key: str | None, url: str) -> str:
    """The key of a stored link, from its columns `key` and `url`."""
    return key if key is not None else work.memory.rules.key(work.memory.rules.read(url))


def template_hash(web: WebUrl) -> int | None:
    """The template of a URL as a signed 64-bit integer; None when it has none."""
    text = template(web)
    return None if text is None else signed_hash(text)


REPEATS = "{} found on repeats"
"""Text, with a host, of the template of its links that were first found on pages whose text was there before."""


@lru_cache(maxsize=4096)
def found_on_repeats(host: str) -> int:
    """The template, besides its own, of a link of this host that was found on a repeated page.

    A server that answers whatever address with a page that it has (and with new addresses in it) makes no template:
    what its pages share is where they were found.
    """
    return signed_hash(REPEATS.format(host))


# To copy it is cheaper than to make another.
_NOTHING_HASHED = blake2b(digest_size=8)
_signed = Struct(">q").unpack


def signed_hash(text: str) -> int:
    """64 bits of a text, as the signed integer that every engine can store."""
    hashed = _NOTHING_HASHED.copy()
    hashed.update(text.encode("utf-8", "replace"))
    number: int = _signed(hashed.digest())[0]
    return number
