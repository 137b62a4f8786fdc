"""The fetcher that users copy: what it asks for, and what it tells the store."""

from __future__ import annotations

import runpy
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from pagesift_store import Frontier, Lease, LinkState, Settings

EXAMPLES = Path(__file__).parents[2] / "examples"
CRON_FETCH = runpy.run_path(str(EXAMPLES / "cron_fetch.py"), run_name="cron_fetch")
SITE = runpy.run_path(str(EXAMPLES / "demo.py"), run_name="demo")["Site"]
URL = "https://www.example.edu/"
Answer = Callable[[httpx.Request], httpx.Response]


class Web:
    """A web of one handler per path; unknown paths are 404. Remembers what was asked."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer | httpx.Response | Exception] = {}
        self.asked: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        answer = self.answers.get(str(request.url.path), httpx.Response(404))
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, httpx.Response) else answer(request)

    def paths(self) -> list[str]:
        return [request.url.path for request in self.asked]


def html(body: str, **headers: str) -> httpx.Response:
    return httpx.Response(200, headers={"Content-Type": "text/html", **headers}, text=body)


@pytest.fixture
def web() -> Web:
    return Web()


@pytest.fixture
def frontier(tmp_path: Path) -> Iterator[Frontier]:
    with Frontier.open(tmp_path / "s.db", query="visa", settings=Settings(default_delay=0.0)) as opened:
        yield opened


@pytest.fixture
def fetcher(frontier: Frontier, web: Web) -> Iterator[Any]:
    with httpx.Client(transport=httpx.MockTransport(web)) as client:
        yield CRON_FETCH["Fetcher"](frontier, client)


def leased(frontier: Frontier, url: str = URL) -> Lease:
    frontier.add([url])
    return frontier.lease()[0]


def handled(frontier: Frontier, fetcher: Any, lease: Lease) -> str:
    outcome: str = CRON_FETCH["handle"](frontier, fetcher, lease)
    return outcome


def test_a_page_is_observed_with_its_links(frontier: Frontier, fetcher: Any, web: Web) -> None:
    web.answers["/"] = html("<title>t</title><a href=/visa>visa</a>", ETag='"e"')
    assert handled(frontier, fetcher, leased(frontier)) == "fetched"
    assert frontier.explain(URL).state is LinkState.DONE
    assert frontier.lease()[0].url == "https://www.example.edu/visa"


def test_robots_are_asked_once_and_obeyed(frontier: Frontier, fetcher: Any, web: Web) -> None:
    web.answers["/robots.txt"] = httpx.Response(200, text="User-agent: *\nDisallow: /no\nCrawl-delay: 0")
    web.answers["/yes"] = html("yes")
    assert handled(frontier, fetcher, leased(frontier, URL + "no")) == "forbidden"
    assert handled(frontier, fetcher, leased(frontier, URL + "yes")) == "fetched"
    assert web.paths() == ["/robots.txt", "/yes"]
    assert frontier.explain(URL + "no").state is LinkState.DEAD


@pytest.mark.parametrize("status", [429, 503])
def test_robots_out_of_order_defers_the_host(frontier: Frontier, fetcher: Any, web: Web, status: int) -> None:
    web.answers["/robots.txt"] = httpx.Response(status)
    assert handled(frontier, fetcher, leased(frontier)) == "deferred"
    assert web.paths() == ["/robots.txt"]
    assert frontier.explain(URL).state is LinkState.QUEUED
    assert frontier.lease() == []


@pytest.mark.parametrize("delay", ["nan", "inf", "-1", "soon"])
def test_a_silly_crawl_delay_is_no_obstacle(frontier: Frontier, fetcher: Any, web: Web, delay: str) -> None:
    web.answers["/robots.txt"] = httpx.Response(200, text=f"User-agent: *\nCrawl-delay: {delay}")
    web.answers["/"] = html("x")
    assert handled(frontier, fetcher, leased(frontier)) == "fetched"


def test_hops_are_recorded_and_robots_asked_for_each(frontier: Frontier, fetcher: Any, web: Web) -> None:
    web.answers["/robots.txt"] = httpx.Response(200, text="User-agent: *\nDisallow: /no")
    web.answers["/"] = httpx.Response(301, headers={"Location": "/b?x=1#part"})
    web.answers["/b"] = html("end")
    page = fetcher.fetch(leased(frontier))
    assert page.redirects == (URL,)
    assert page.url == URL + "b?x=1"
    web.answers["/b"] = httpx.Response(302, headers={"Location": "/no"})
    assert handled(frontier, fetcher, leased(frontier, URL + "b")) == "forbidden"
    assert "/no" not in web.paths()


def test_a_redirect_loop_ends(frontier: Frontier, fetcher: Any, web: Web) -> None:
    web.answers["/"] = httpx.Response(302, headers={"Location": "/b"})
    web.answers["/b"] = httpx.Response(302, headers={"Location": "/"})
    handled(frontier, fetcher, leased(frontier))
    assert frontier.explain(URL).state is LinkState.DEAD
    assert len(web.asked) < 30


def test_validators_are_sent_as_they_came(frontier: Frontier, fetcher: Any, web: Web) -> None:
    web.answers["/"] = httpx.Response(304)
    lease = replace(leased(frontier), etag='W/"x"', last_modified="yesterday")
    assert fetcher.fetch(lease).status == 304
    assert web.asked[-1].headers["If-None-Match"] == 'W/"x"'
    assert web.asked[-1].headers["If-Modified-Since"] == "yesterday"


def test_the_server_sees_the_url_byte_for_byte(frontier: Frontier, fetcher: Any, web: Web) -> None:
    lease = replace(leased(frontier), url=URL + "a|b?q='x'&s=%7e[1]")
    fetcher.fetch(lease)
    assert web.asked[-1].extensions["target"] == b"/a|b?q='x'&s=%7e[1]"


def test_what_is_not_html_counts_without_text(frontier: Frontier, fetcher: Any, web: Web) -> None:
    web.answers["/"] = httpx.Response(200, headers={"Content-Type": "application/pdf"}, content=b"<p>no</p>")
    page = fetcher.fetch(leased(frontier))
    assert (page.text, page.content_type) == ("", "application/pdf")


def test_long_bodies_are_cut(frontier: Frontier, fetcher: Any, web: Web) -> None:
    web.answers["/"] = html("<p>" + "word " * 2_000_000)
    limit = CRON_FETCH["MAX_BYTES"]
    assert len(fetcher.fetch(leased(frontier)).text) <= limit


def failure(error: Exception, cause: Exception | None = None) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (failure(httpx.ConnectError("x"), socket.gaierror(-2, "unknown")), "dns"),
        (failure(httpx.ConnectError("x"), ConnectionRefusedError()), "connect"),
        (httpx.ReadTimeout("x"), "timeout"),
        (httpx.ConnectTimeout("x"), "timeout"),
        (httpx.RemoteProtocolError("x"), "other"),
    ],
)
def test_failures_have_the_words_of_the_store(
    frontier: Frontier, fetcher: Any, web: Web, error: Exception, kind: str
) -> None:
    assert CRON_FETCH["kind_of"](error) == kind
    web.answers["/robots.txt"] = error
    assert handled(frontier, fetcher, leased(frontier)) == "failed"
    assert frontier.explain(URL).state is not LinkState.DONE


def test_a_lost_lease_is_no_accident(frontier: Frontier, fetcher: Any, web: Web) -> None:
    web.answers["/"] = html("x")
    lease = leased(frontier)
    frontier.release(lease)
    frontier.lease()
    assert handled(frontier, fetcher, lease) == "lost"


# -- as processes ----------------------------------------------------------------------------------------


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Any]:
    folder = tmp_path / "site"
    folder.mkdir()
    for number in range(60):
        links = "".join(f"<li><a href=/{target}.html>visa page {target}</a>" for target in range(60))
        (folder / f"{number}.html").write_text(f"<title>{number}</title><p>visa {number}<ul>{links}</ul>")
    with SITE(folder, "User-agent: *\nAllow: /\n") as opened:
        yield opened


def started(store: Path, site: Any, *options: str) -> subprocess.Popen[str]:
    command = [
        sys.executable,
        str(EXAMPLES / "cron_fetch.py"),
        str(store),
        "--query",
        "visa",
        "--delay",
        "0",
        "--seed",
        f"{site.url}0.html",
        *options,
    ]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def counts(store: Path) -> dict[str, int]:
    with closing(sqlite3.connect(store)) as connection:
        return dict(connection.execute("SELECT state, count(*) FROM link GROUP BY state"))


def test_one_line_and_exit_code_0(tmp_path: Path, site: Any) -> None:
    out, err = (run := started(tmp_path / "c.db", site, "--pages", "5")).communicate(timeout=60)
    assert (run.returncode, err, out.count("\n")) == (0, "", 1)
    assert out.startswith("5 fetched; 5 pages in all")


def test_other_query_is_an_error_in_one_line(tmp_path: Path, site: Any) -> None:
    with Frontier.open(tmp_path / "c.db", query="another"):
        pass
    out, err = (run := started(tmp_path / "c.db", site)).communicate(timeout=60)
    assert (run.returncode, out, err.count("\n")) == (1, "", 1)
    assert "another" in err


def test_overlapping_runs_fetch_no_page_twice(tmp_path: Path, site: Any) -> None:
    store = tmp_path / "c.db"
    runs = [started(store, site, "--pages", "20") for _ in range(3)]
    outputs = [run.communicate(timeout=120) for run in runs]
    assert [run.returncode for run in runs] == [0, 0, 0], outputs
    served = site.served()
    assert len(served) == len(set(served)) == counts(store)["done"]
    assert len(served) >= 20
    assert "leased" not in counts(store)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_gives_back_what_is_leased(tmp_path: Path, site: Any, number: signal.Signals) -> None:
    run = started(tmp_path / "c.db", site, "--pages", "1000")
    site.wait_for(10)
    run.send_signal(number)
    out, err = run.communicate(timeout=60)
    assert (run.returncode, err) == (0, "")
    assert "leased" not in counts(tmp_path / "c.db")
    served = [path for path in site.served() if path.endswith(".html")]
    assert counts(tmp_path / "c.db")["done"] == len(served) < 60, out


def test_the_demo_ends_well(tmp_path: Path) -> None:
    command = [
        sys.executable,
        str(EXAMPLES / "demo.py"),
        "--store",
        str(tmp_path / "demo.db"),
        "--pages",
        "40",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the store is consistent" in done.stdout
