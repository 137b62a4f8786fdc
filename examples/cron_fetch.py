"""A complete fetcher to be called from cron: open the store, fetch a few of its best links, close.

    python cron_fetch.py crawl.db --query "student visa fees" --seed https://www.example.edu/ --pages 20

The first run makes the store; every later one goes on where the last one stopped, however it stopped. Runs
may overlap: what one has leased, the other leaves alone. Needs `pip install pagesift-store[fetch]`.
"""

from __future__ import annotations

import argparse
import math
import signal
import socket
import sys
import time
from collections import Counter
from urllib.parse import urljoin, urlsplit

import httpx
from protego import Protego

from pagesift_store import FailKind, Frontier, Lease, LeaseLost, Page, PagesiftError
from pagesift_store.html import parse_page

NAME = "pagesift-cron-fetch"
HTML = {"", "text/html", "application/xhtml+xml"}
MAX_BYTES = 5_000_000  # longer bodies are cut: the start of a page says what it is about
MAX_SECONDS = 30.0  # for one page with all its hops; the timeouts of the client hold for one read each
MAX_HOPS = 20
PATIENCE = 30.0  # a run waits no longer than this for a host to become ready; the next run will


class RobotsError(Exception):
    """robots.txt forbids the URL for good, or cannot be had now, in which case nothing may be fetched."""

    def __init__(self, message: str, *, permanent: bool) -> None:
        super().__init__(message)
        self.permanent = permanent


class Fetcher:
    """Fetches what robots.txt allows, and keeps each host's rules for the length of a run."""

    def __init__(self, frontier: Frontier, client: httpx.Client) -> None:
        self.frontier = frontier
        self.client = client
        self.rules: dict[str, Protego] = {}
        self.stopping = False

    def ask_robots(self, url: str) -> None:
        """Raise `RobotsError` unless the URL may be fetched. The store keeps what a host answered."""
        address = urljoin(url, "/robots.txt")
        if address not in self.rules:
            answer = self.client.get(address, follow_redirects=True)
            rules = Protego.parse(answer.text if answer.is_success else "")
            delay = rules.crawl_delay(NAME)
            sane = delay if delay is not None and 0 <= delay < math.inf else None
            self.frontier.set_robots(urlsplit(url).hostname or "", answer.status_code, sane)
            if answer.is_server_error or answer.status_code == httpx.codes.TOO_MANY_REQUESTS:
                raise RobotsError(f"{address} answered {answer.status_code}", permanent=False)
            self.rules[address] = rules
        if not self.rules[address].can_fetch(url, NAME):
            raise RobotsError(f"{address} forbids {url}", permanent=True)

    def fetch(self, lease: Lease) -> Page:
        """Follow redirects by hand: the store learns every hop, and robots.txt is asked at each."""
        known = {"If-None-Match": lease.etag, "If-Modified-Since": lease.last_modified}
        headers = {name: value for name, value in known.items() if value is not None}
        deadline = time.monotonic() + MAX_SECONDS
        url, hops = lease.url, list[str]()
        while len(hops) <= MAX_HOPS:
            self.ask_robots(url)
            # The server shall see the store's URL byte for byte; httpx would encode some characters anew.
            target = ("/" + url.split("/", 3)[3]).encode()
            with self.client.stream("GET", url, headers=headers, extensions={"target": target}) as answer:
                if answer.next_request is None:
                    return parse_page(
                        read_body(answer, deadline),
                        url,
                        status=answer.status_code,
                        headers=answer.headers,
                        redirects=hops,
                    )
            hops.append(url)
            url = str(answer.next_request.url.copy_with(fragment=None))
        return Page(url=url, redirects=hops)  # the store knows a redirect loop when it sees one


def read_body(answer: httpx.Response, deadline: float) -> bytes:
    """The body up to the limits. Nothing of what is not HTML, which counts as a page without text."""
    if answer.headers.get("content-type", "").partition(";")[0].strip().lower() not in HTML:
        return b""
    body = bytearray()
    for chunk in answer.iter_bytes():
        body += chunk
        if time.monotonic() > deadline:
            raise httpx.ReadTimeout(f"not complete after {MAX_SECONDS:g} s")
        if len(body) >= MAX_BYTES:
            break
    return bytes(body[:MAX_BYTES])


def kind_of(error: Exception) -> FailKind:
    """The store's word for what went wrong; it decides whether the link has to rest, or its whole host."""
    if isinstance(error, httpx.TimeoutException):
        return FailKind.TIMEOUT
    if not isinstance(error, httpx.ConnectError):
        return FailKind.OTHER
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, socket.gaierror):
        cause = cause.__cause__ or cause.__context__
    return FailKind.CONNECT if cause is None else FailKind.DNS


def handle(frontier: Frontier, fetcher: Fetcher, lease: Lease) -> str:
    """Fetch one link and report the outcome, whatever it is. Returns it in a word."""
    try:
        try:
            page = fetcher.fetch(lease)
        except RobotsError as error:
            if not error.permanent:
                frontier.release(lease)  # not the link's fault: its host has to wait
                return "deferred"
            frontier.fail(lease, FailKind.ROBOTS, str(error), permanent=True)
            return "forbidden"
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            frontier.fail(lease, kind_of(error), str(error) or type(error).__name__)
            return "failed"
        frontier.observe(lease, page)
        return "fetched" if page.status < httpx.codes.BAD_REQUEST else "failed"
    except LeaseLost:
        return "lost"  # the lease ran out and another run has the link now: its business


def crawl(frontier: Frontier, fetcher: Fetcher, pages: int) -> Counter[str]:
    """Lease and handle one link after the other. Returns how many had which outcome."""
    outcomes: Counter[str] = Counter()
    while outcomes.total() < pages and not fetcher.stopping:
        # One at a time: a link leased early is a decision made with old evidence.
        leases = frontier.lease(1, wait=PATIENCE)
        if not leases:
            break  # finished, asked to stop, or nothing ready for too long
        outcomes.update(handle(frontier, fetcher, lease) for lease in leases)
    return outcomes


def end_on_signals(frontier: Frontier, fetcher: Fetcher) -> None:
    """Let SIGTERM and SIGINT end the run after the page at hand. No exception: it could cut a transaction."""

    def handler(*_: object) -> None:
        fetcher.stopping = True
        frontier.stop()  # ends a `lease` that waits

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, handler)


def parsed_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Fetch the best links of a crawl, then exit.")
    parser.add_argument("store", help="a path or a database URL; the first run makes it")
    parser.add_argument("--query", help="what to look for; needed by the first run")
    parser.add_argument("--seed", action="append", default=[], metavar="URL", help="where to start")
    parser.add_argument("--pages", type=int, default=20, metavar="N", help="links to try (default: 20)")
    parser.add_argument("--delay", type=float, metavar="SECONDS", help="between two requests to one host")
    parser.add_argument("--contact", help="address or page for site owners; sent in the user agent")
    return parser.parse_args()


def main() -> int:
    """Run once and say in one line what was done."""
    args = parsed_arguments()
    agent = f"{NAME}/0.1 (+{args.contact})" if args.contact else f"{NAME}/0.1"
    timeout = httpx.Timeout(10.0, connect=5.0)
    try:
        with (
            Frontier.open(args.store, query=args.query) as frontier,  # leaving it gives back what is leased
            httpx.Client(headers={"User-Agent": agent}, timeout=timeout) as client,
        ):
            fetcher = Fetcher(frontier, client)
            end_on_signals(frontier, fetcher)
            if args.delay is not None:
                frontier.configure(default_delay=args.delay)
            frontier.add(args.seed)
            outcomes = crawl(frontier, fetcher, args.pages)
            status = frontier.status()
    except PagesiftError as error:
        print(f"cron_fetch: {error}", file=sys.stderr)
        return 1
    done = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.items()) or "nothing to do"
    print(f"{done}; {status.pages} pages in all, {status.relevant} relevant; now {status.state}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
