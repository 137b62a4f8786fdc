"""The main job, on this machine: crawl a real HTML tree, kill a run in the middle, go on, check the store.

    python examples/demo.py [--pages N] [--store FILE]

Serves Debian's Python documentation where that is installed, else the small site beside this file, on a
loopback port; runs `cron_fetch.py` on it again and again, one run of which is killed with SIGKILL; then shows
what `pagesift-store inspect` knows. Exits with 0 only if store and server agree about what happened.
"""

from __future__ import annotations

import argparse
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from urllib.parse import urlsplit

from pagesift_store import CrawlState, Frontier, Settings, Status

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).resolve().parent
REPORTS = ("summary", "queue", "parts", "model")


@dataclass(frozen=True)
class Job:
    """A tree of pages, and what to look for in it.

    Attributes:
        folder: the root of the site.
        query: what the crawl is about.
        pages: page limit unless another is asked for.
        forbidden: a path that robots.txt forbids, although its link looks promising.
    """

    folder: Path
    query: str
    pages: int
    forbidden: str


def chosen_job() -> Job:
    """Debian's documentation if there is one, else what ships with the examples."""
    for index in sorted(Path("/usr/share/doc").glob("python3*/html/index.html"), reverse=True):
        return Job(index.parent.resolve(), "asyncio subprocess pipes", 150, "/library/asyncio-api-index.html")
    return Job(HERE / "site", "student visa fees", 40, "/internal/visa-desk.html")


class Request(NamedTuple):
    """One answered request."""

    path: str
    status: int


class Site:
    """Serves a folder on a free loopback port while the `with` block lasts.

    Attributes:
        log: every request that was answered, in order.
    """

    def __init__(self, folder: Path, robots: str) -> None:
        self.log: list[Request] = []
        self._answered = threading.Condition()
        handler = partial(_Handler, directory=str(folder), robots=robots, note=self._note)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        """Address of the front page."""
        return f"http://127.0.0.1:{self._server.server_port}/"

    def served(self, start: int = 0) -> list[str]:
        """Paths of the pages that were sent, robots.txt left out, from a place in the log on."""
        pages = (request for request in self.log[start:] if request.path != "/robots.txt")
        return [request.path for request in pages if request.status == HTTPStatus.OK]

    def wait_for(self, requests: int, timeout: float = 60.0) -> bool:
        """Block until the log is that long. False when it did not get there in time."""
        with self._answered:
            return self._answered.wait_for(lambda: len(self.log) >= requests, timeout)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _note(self, request: Request) -> None:
        with self._answered:
            self.log.append(request)
            self._answered.notify_all()


class _Handler(SimpleHTTPRequestHandler):
    def __init__(self, *args: Any, robots: str, note: Callable[[Request], None], **kwargs: Any) -> None:
        self.robots = robots
        self.note = note
        super().__init__(*args, **kwargs)

    def do_GET(self) -> None:
        if self.path != "/robots.txt":
            super().do_GET()
            return
        body = self.robots.encode()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        self.note(Request(self.path, int(code)))

    def log_message(self, *_: object) -> None:
        """Nothing on the terminal: the demo has more to show."""


class Demo:
    """One demonstration: a site, a store, and the runs between them."""

    def __init__(self, job: Job, site: Site, store: Path, pages: int) -> None:
        self.job = job
        self.site = site
        self.store = store
        self.batch = max(1, pages // 4)
        self.lost: set[str] = set()
        self.again: set[str] = set()

    def command(self, pages: int) -> list[str]:
        """The fetcher's command line, as it would stand in a crontab."""
        return [
            sys.executable,
            str(HERE / "cron_fetch.py"),
            str(self.store),
            "--seed",
            self.site.url,
            "--pages",
            str(pages),
        ]

    def run(self) -> bool:
        """One run of the fetcher. Returns whether the crawl goes on."""
        done = subprocess.run(self.command(self.batch), check=True, stdout=subprocess.PIPE, text=True)
        say(f"run           {done.stdout.strip()}")
        return self.status().state is not CrawlState.FINISHED

    def killed_run(self) -> None:
        """One run that is killed as soon as the server has answered a number of its requests."""
        start = len(self.site.log)
        run = subprocess.Popen(self.command(10 * self.batch), stdout=subprocess.DEVNULL)
        self.site.wait_for(start + self.batch)
        os.kill(run.pid, signal.SIGKILL)
        if run.wait() != -signal.SIGKILL:
            raise SystemExit("demo: the run that was to be killed ended by itself")
        answered = self.site.served(start)
        self.lost = set(answered) - self.stored_paths()
        say(f"killed run    {len(answered)} pages sent, {len(self.lost)} of them not yet stored")

    def go_on(self) -> None:
        """Run until the page limit is reached, or nothing is left."""
        start = len(self.site.log)
        for _ in range(100):
            if not self.run():
                break
        self.again = self.lost.intersection(self.site.served(start))

    def status(self) -> Status:
        """What a worker would be told now."""
        with Frontier.open(self.store) as frontier:
            return frontier.status()

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """Look into the file past the library: a check must not trust what it checks."""
        with closing(sqlite3.connect(f"{self.store.as_uri()}?mode=ro", uri=True)) as connection:
            return connection.execute(statement).fetchall()

    def stored_paths(self) -> set[str]:
        """Path and query of every page in the store, as the server knows it."""
        urls = self.rows(
            "SELECT coalesce(page.url, link.url) FROM page JOIN link ON link.id = page.link_id "
            "WHERE page.error IS NULL"
        )
        parts = (urlsplit(url) for (url,) in urls)
        return {part.path + (f"?{part.query}" if part.query else "") for part in parts}

    def faults(self) -> list[str]:
        """What is inconsistent; empty when all is well."""
        counted = {str(state): count for state, count in self.status().counts.items() if count}
        held = dict(self.rows("SELECT state, count(*) FROM link GROUP BY state"))
        twice = self.rows("SELECT link_id FROM page WHERE error IS NULL GROUP BY link_id HAVING count(*) > 1")
        claims = self.rows("SELECT sum(in_flight) FROM host")
        whole = self.rows("PRAGMA integrity_check") == [("ok",)] and not self.rows("PRAGMA foreign_key_check")
        missing = set(self.site.served()) - self.stored_paths()
        checks = {
            f"counts by state {counted} differ from the rows {held}": counted == held,
            f"links observed twice: {twice}": not twice,
            f"claims left over: {claims}": claims == [(0,)] and "leased" not in held,
            "SQLite finds the file damaged": whole,
            f"fetched but not in the store: {sorted(missing)}": not missing,
            f"{self.job.forbidden} was fetched although robots.txt forbids it": all(
                request.path != self.job.forbidden for request in self.site.log
            ),
        }
        return [fault for fault, fine in checks.items() if not fine]

    def show(self) -> None:
        """What the command line says about the store."""
        for report in REPORTS:
            say(f"\n$ pagesift-store inspect {report} {self.store.name}")
            command = [sys.executable, "-m", "pagesift_store.cli", "inspect", report, str(self.store)]
            subprocess.run(command, check=True)

    def numbers(self) -> str:
        """The outcome in plain numbers."""
        status = self.status()
        ((refused,),) = self.rows("SELECT count(*) FROM link WHERE state = 'dead' AND reason LIKE 'robots%'")
        lines = {
            "pages fetched": status.pages,
            "relevant ones": status.relevant,
            "fetched twice because of the kill": len(self.again),
            "pages the server sent": len(self.site.served()),
            "left alone, as robots.txt asks": refused,
            "links known": sum(status.counts.values()),
        }
        return "\n".join(f"{name:<34}{number:>6}" for name, number in lines.items())


def say(text: str) -> None:
    """Print at once, so that it stays in order with what the subprocesses print."""
    print(text, flush=True)


def demonstrate(job: Job, store: Path, pages: int) -> int:
    """Everything, in order. Returns the exit code."""
    started = time.monotonic()
    robots = f"User-agent: *\nDisallow: {job.forbidden}\n"
    with Site(job.folder, robots) as site:
        say(f"serving {job.folder} at {site.url}; looking for {job.query!r}, {pages} pages at most")
        Frontier.open(store, query=job.query, settings=Settings(default_delay=0.0, max_pages=pages)).close()
        demo = Demo(job, site, store, pages)
        demo.run()
        demo.killed_run()
        demo.go_on()
        demo.show()
        faults = demo.faults()
        say(f"\n{demo.numbers()}\nin {time.monotonic() - started:.1f} s")
    for fault in faults:
        say(f"INCONSISTENT: {fault}")
    say("the store is consistent" if not faults else "the store is NOT consistent")
    return 1 if faults else 0


def main() -> int:
    """Parse the arguments and run."""
    job = chosen_job()
    parser = argparse.ArgumentParser(description="Crawl a site on this machine, with a kill in the middle.")
    parser.add_argument("--pages", type=int, default=job.pages, help="page limit (default: %(default)s)")
    parser.add_argument("--store", type=Path, help="where to keep the store; must not exist yet")
    args = parser.parse_args()
    if args.store is not None and args.store.exists():
        parser.error(f"{args.store} exists; the demo starts with a new store")
    with tempfile.TemporaryDirectory() as folder:
        store = args.store or Path(folder) / "demo.db"
        return demonstrate(job, store.resolve(), args.pages)


if __name__ == "__main__":
    sys.exit(main())
