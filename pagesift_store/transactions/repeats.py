"""Pages that were there before: duplicates, templated pages, demoted templates (DESIGN 5, step 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pagesift_store.focus.fingerprint import is_demoted
from pagesift_store.storage.statements import lanes as lanes_sql
from pagesift_store.storage.statements import links as links_sql
from pagesift_store.storage.statements import pages as sql
from pagesift_store.transactions.keys import template_hash
from pagesift_store.urls.parts import template

if TYPE_CHECKING:
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
    if shape is not None and not row.visits:
        _count_template(work, web, shape, repeated=not first_seen)
    return repeat


def _count_template(work: Work, web: WebUrl, shape: int, *, repeated: bool) -> None:
    counts = work.first(
        sql.count_template(), hash=shape, text=template(web), fetched=1, repeated=int(repeated)
    )
    # New content brings a demoted template back, whatever its past.
    demoted = is_demoted(counts.fetched, counts.repeated, work.settings.delta) and repeated
    if demoted == counts.demoted:
        return
    work.run(sql.set_demoted(), the_template=shape, is_demoted=demoted)
    if work.run(links_sql.demote(), the_template=shape, is_demoted=demoted):
        work.run(lanes_sql.refresh_all_heads())
    work.crawl.rules += 1
    if demoted:
        work.memory.demoted.add(shape)
    else:
        work.memory.demoted.discard(shape)
