"""Crawls of the trap gallery, through the public API and, to compare, by plain breadth-first."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urldefrag, urljoin

from trap_sites import ORIGIN, REAL_PAGES

from pagesift_store import FoundLink, Frontier, Page, Settings

if TYPE_CHECKING:
    from pathlib import Path

    from trap_sites import Answer, Site

BUDGET = 500
QUERY = "student visa fees"


class Run(NamedTuple):
    """What a crawl brought, up to the last real page or the end of the budget.

    Attributes:
        fetches: requests made.
        real: real pages seen.
    """

    fetches: int
    real: int

    @property
    def cost(self) -> int:
        """Requests that showed no real page, or one seen before."""
        return self.fetches - self.real


class _Log:
    """What was shown so far."""

    def __init__(self, budget: int) -> None:
        self.fetches = 0
        self._budget = budget
        self._real: set[str] = set()

    def note(self, answer: Answer | None) -> None:
        self.fetches += 1
        if answer is not None and answer.real is not None:
            self._real.add(answer.real)

    @property
    def full(self) -> bool:
        return self.fetches >= self._budget or len(self._real) == REAL_PAGES

    def run(self) -> Run:
        return Run(self.fetches, len(self._real))


def crawl(site: Site, store: Path, query: str = QUERY, budget: int = BUDGET) -> Run:
    """Crawl a site with a frontier of its own, one link at a time."""
    log = _Log(budget)
    settings = Settings(default_delay=0.0, durability="normal", max_pages=budget)
    with Frontier.open(store, query=query, settings=settings, clock=lambda: 1e6 + log.fetches) as frontier:
        frontier.add([f"{ORIGIN}/"])
        while not log.full and (leases := frontier.lease(1)):
            answer = site.answer(leases[0].url)
            log.note(answer)
            frontier.observe(leases[0], _page(leases[0].url, answer))
    return log.run()


def _page(url: str, answer: Answer | None) -> Page:
    if answer is None:
        return Page(url=url, status=404)
    links = [FoundLink(href, anchor, anchor) for href, anchor in answer.links]
    return Page(url=url, title=answer.title, text=answer.text, links=links, language="en")


def breadth_first(site: Site, budget: int = BUDGET) -> Run:
    """The same crawl by the oldest link first, which knows no more than which URLs it has seen."""
    log = _Log(budget)
    queue = deque([f"{ORIGIN}/"])
    seen = set(queue)
    while queue and not log.full:
        url = queue.popleft()
        answer = site.answer(url)
        log.note(answer)
        for href, _ in [] if answer is None else answer.links:
            found = urldefrag(urljoin(url, href)).url
            if found.startswith(ORIGIN) and found not in seen:
                seen.add(found)
                queue.append(found)
    return log.run()
