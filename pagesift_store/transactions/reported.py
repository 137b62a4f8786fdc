"""What a fetch brought, read as far as that takes no look at the store: others may write meanwhile."""

from __future__ import annotations

from contextlib import suppress
from hashlib import blake2b
from typing import TYPE_CHECKING

from pagesift_store.errors import InvalidValue
from pagesift_store.focus.analysis import MainText, read_main
from pagesift_store.transactions.admission import check_revisit, check_score
from pagesift_store.transactions.signals import nearby_of

if TYPE_CHECKING:
    from pagesift_store.focus.nearby import Nearby
    from pagesift_store.focus.text import QueryTerms
    from pagesift_store.records import Page

MOST_TEXT = 2_000_000
"""Characters of main text that are read; what is longer is cut."""


class Report:
    """A page as it was reported.

    Args:
        page: the page; it has passed `check`.
        terms: the query, as far as it is known before the store is asked; None: it is not.

    Attributes:
        page: the page.
    """

    __slots__ = ("_digest", "_main", "_nearby", "_terms", "page")

    def __init__(self, page: Page, terms: QueryTerms | None = None) -> None:
        self.page = page
        self._digest: bytes | None = None
        self._terms: QueryTerms | None = None
        self._main: MainText
        self._nearby: Nearby
        # What is no text is an error where it is needed: a lost lease, or a redirect loop, is told before it.
        with suppress(TypeError, AttributeError):
            self._digest = digest_of(page)
            if terms is not None and page.status < 400:
                self._read(terms)

    @property
    def digest(self) -> bytes:
        """16 bytes that tell one outcome from another, to know a repeated report."""
        if self._digest is None:
            self._digest = digest_of(self.page)
        return self._digest

    def main(self, terms: QueryTerms) -> MainText:
        """What the main text holds of a query."""
        if self._terms is not terms:
            self._read(terms)
        return self._main

    def nearby(self, terms: QueryTerms) -> Nearby:
        """What the texts of the page's links hold of a query."""
        if self._terms is not terms:
            self._read(terms)
        return self._nearby

    def _read(self, terms: QueryTerms) -> None:
        page = self.page
        self._main = read_main(terms, page.text[:MOST_TEXT], [link.anchor for link in page.links])
        self._nearby = nearby_of(terms, page.links)
        self._terms = terms


def check(page: Page) -> None:
    """Refuse what no page can have.

    Raises:
        InvalidValue: a status outside 100 to 599, a relevance outside 0 to 1, a score that is not finite.
    """
    if isinstance(page.status, bool) or not isinstance(page.status, int) or not 100 <= page.status <= 599:
        raise InvalidValue(f"status={page.status!r} must be an HTTP status from 100 to 599")
    given = page.relevance
    if given is not None and (
        isinstance(given, bool) or not isinstance(given, int | float) or not 0.0 <= given <= 1.0
    ):
        raise InvalidValue(f"relevance={given!r} must be a number from 0 to 1")
    for link in page.links:
        if link.revisit is not None:
            check_revisit(link.revisit)
        if link.score is not None:
            check_score(link.score, link.href)


def digest_of(page: Page) -> bytes:
    """16 bytes that tell one outcome from another, to know a repeated report."""
    digest = blake2b(digest_size=16)
    fields = (
        page.url, page.status, tuple(page.redirects), page.title, tuple(page.headings), page.language,
        page.base_url, page.content_type, page.nofollow, page.noindex, page.canonical, page.etag,
        page.last_modified, page.retry_after, page.relevance, page.new, len(page.links),
    )  # fmt: skip
    links = "".join(
        [
            f"\x1e{link.href}\x1f{link.anchor}\x1f{link.context}\x1f"
            f"{link.nofollow!s}{link.score!s}\x1f{link.revisit!s}"  # `!s`: what is no text has no format to look for
            for link in page.links
        ]
    )
    for text in (repr(fields), page.text, links):
        digest.update(text.encode("utf-8", "surrogatepass"))
    return digest.digest()
