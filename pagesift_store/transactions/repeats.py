"""Pages that were there before: duplicates, templated pages, demoted templates (DESIGN 5, step 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pagesift_store.focus.fingerprint import is_demoted
from pagesift_store.storage.statements import lanes as lanes_sql
from pagesift_store.storage.statements import links as links_sql
from pagesift_store.storage.statements import pages as sql
from pagesift_store.transactions.keys import REPEATS, found_on_repeats, template_hash
from pagesift_store.transactions.places import host_of
from pagesift_store.urls.parts import template

if TYPE_CHECKING:
    from sqlalchemy import Update

    from pagesift_store.focus.analysis import Analysis
    from pagesift_store.records import Page
    from pagesift_store.transactions.redirects import Landing
    from pagesift_store.transactions.work import Work
    from pagesift_store.urls.reading import WebUrl


class Repeat(NamedTuple):
    """Whether the text of a page was there before.

    Attributes:
        duplicate_of: the link whose page had the same text first; None when none had.
        templated: an earlier page of its template had the same text but for digits.
        template: hash of its template; None when it has none.
        first_seen: it is neither, or the caller says that it is new.
    """

    duplicate_of: int | None
    templated: bool
    template: int | None
    first_seen: bool


def find(work: Work, row: Any, web: WebUrl, page: Page, analysis: Analysis, landing: Landing) -> Repeat:
    """Look the page's text up, and count it for its template."""
    duplicate_of = landing.same_as
    if duplicate_of is None and analysis.text_hash is not None:
        found = work.first(sql.same_text(), the_hash=analysis.text_hash, the_link=row.id)
        duplicate_of = None if found is None else found.link_id
    shape = template_hash(web)
    templated = False
    if duplicate_of is None and shape is not None and analysis.blank_hash is not None:
        same = work.first(sql.same_blank(), the_template=shape, the_hash=analysis.blank_hash, the_link=row.id)
        templated = same is not None
    first_seen = page.new if page.new is not None else duplicate_of is None and not templated
    repeat = Repeat(duplicate_of, templated, shape, first_seen)
    if not row.visits and not landing.outside:
        _count(work, row, web, repeat)
    return repeat


def _count(work: Work, row: Any, web: WebUrl, repeat: Repeat) -> None:
    """Count the page for its template, and for that of the links of repeated pages, if it was one of those."""
    repeated = not repeat.first_seen
    if repeat.template is not None and _changed(work, repeat.template, template(web), repeated):
        _demote(work, links_sql.demote(), repeat.template)
    if row.on_repeats:
        host = work.memory.politeness_of(web)
        shape = found_on_repeats(host)
        if _changed(work, shape, REPEATS.format(host), repeated):
            _demote(work, links_sql.demote_found_on_repeats(), shape, the_host=host_of(work, host).id)


def _changed(work: Work, shape: int, text: str | None, repeated: bool) -> bool:
    """Count a page for a template; returns whether it is demoted now and was not, or the other way round."""
    page = {"hash": shape, "text": text, "fetched": 1, "repeated": int(repeated)}
    if not repeated:
        # New content brings a demoted template back, whatever its past.
        work.run(sql.count_template(), **page)
        demoted = False
    else:
        counts = work.first(sql.counted_template(), **page)
        demoted = is_demoted(counts.fetched, counts.repeated, work.settings.delta)
    known = work.memory.demoted
    if demoted == (shape in known):
        return False
    work.run(sql.set_demoted(), the_template=shape, is_demoted=demoted)
    work.crawl.rules += 1
    (known.add if demoted else known.discard)(shape)
    return True


def _demote(work: Work, statement: Update, shape: int, **of: int) -> None:
    """Put the links of a template last, or back."""
    if work.run(statement, is_demoted=shape in work.memory.demoted, **(of or {"the_template": shape})):
        work.run(lanes_sql.refresh_all_heads())
