"""The command as a shell sees it: processes, pipes, locales, a real HTTP server."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pagesift_store import Frontier, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from click.testing import Result

    Run = Callable[..., Result]
    Spawn = Callable[..., subprocess.Popen[bytes]]

PAGES = {
    "/": '<title>Start</title><p>Student visa fees are listed here.<a href="/fees?a=1&amp;b=[2]">visa fees</a>'
    '<a href="/old">old</a><a href="/gone">gone</a>',
    "/fees?a=1&b=[2]": "<title>Visa fees</title><p>Student visa fees are high.",
    "/new": "<title>New</title><p>Nothing new.",
}


class Site(BaseHTTPRequestHandler):
    """Three pages, one of them behind a redirect, and one that is gone."""

    def do_GET(self) -> None:
        self.server.asked.append(self.path)  # type: ignore[attr-defined]
        if self.path == "/old":
            self.send_response(301)
            self.send_header("Location", "/new")
        else:
            self.send_response(200 if self.path in PAGES else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("ETag", '"v1"')
        body = PAGES.get(self.path, "").encode()
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def site() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    server.asked = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def _session() -> str:
    """The shell session of the reference."""
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    found = re.search(r"```sh\n(.*?)```", page, re.DOTALL)
    assert found is not None
    return found[1]


def _programs(folder: Path) -> str:
    """A search path with the command, and with stand-ins for jq and curl where they are missing."""
    stand_ins = {
        "pagesift-store": f'exec {sys.executable} -m pagesift_store.cli "$@"',
        "jq": f"exec {sys.executable} -c 'import json, sys; print(json.load(sys.stdin)[\"url\"])'",
        "curl": f'exec {sys.executable} {folder}/fetch.py "$@"',
    }
    (folder / "fetch.py").write_text(
        "import http.client, sys, urllib.parse\n"
        "url, head = sys.argv[-1], open('head.txt', 'wb')\n"
        "while True:\n"
        "    parts = urllib.parse.urlsplit(url)\n"
        "    connection = http.client.HTTPConnection(parts.netloc)\n"
        "    connection.request('GET', url.split(parts.netloc)[1])\n"
        "    answer = connection.getresponse()\n"
        "    head.write(f'HTTP/1.1 {answer.status} x\\r\\n{answer.headers}'.encode())\n"
        "    body = answer.read()\n"
        "    if answer.status != 301: break\n"
        "    url = urllib.parse.urljoin(url, answer.headers['location'])\n"
        "open('page.html', 'wb').write(body)\n"
    )
    for name, script in stand_ins.items():
        if name == "pagesift-store" or shutil.which(name) is None:
            (folder / name).write_text(f"#!/bin/sh\n{script}\n")
            (folder / name).chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def test_the_session_of_the_reference(tmp_path: Path, site: ThreadingHTTPServer) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    script = _session().replace("https://www.example.edu/", f"http://127.0.0.1:{site.server_port}/")
    script = script.replace('fees"\n', 'fees" --setting default_delay=0\n')
    environment = {"PATH": _programs(folder), "HOME": str(tmp_path)}
    done = subprocess.run(
        ["sh", "-c", script], cwd=tmp_path, env=environment, capture_output=True, timeout=120
    )
    assert done.stderr == b""
    with Frontier.open(tmp_path / "crawl.db") as frontier:
        status = frontier.status()
        history = frontier.explain(f"http://127.0.0.1:{site.server_port}/fees?a=1&b=[2]").history
    assert (status.state, status.counts["done"], status.counts["dead"]) == ("finished", 4, 1)
    assert sorted(site.asked) == ["/", "/fees?a=1&b=[2]", "/gone", "/new", "/old"]  # type: ignore[attr-defined]
    assert history[-1]["title"] == "Visa fees"


def test_overlapping_runs_never_get_the_same_link(store: Path, spawn: Spawn) -> None:
    with Frontier.open(store, query="x", settings=Settings(default_delay=0, max_in_flight=1_000)) as frontier:
        frontier.add([f"https://a.example/{number}" for number in range(60)])
    runs = [spawn("lease", "-n", "9") for _ in range(8)]
    printed = [run.communicate(timeout=60) for run in runs]
    assert [(run.returncode, errors) for run, (_, errors) in zip(runs, printed, strict=True)] == [
        (0, b"")
    ] * 8
    taken = [json.loads(line)["link_id"] for output, _ in printed for line in output.splitlines()]
    assert sorted(taken) == list(range(1, 61))


def test_lines_are_answered_as_they_come(crawl: Run, spawn: Spawn) -> None:
    lease = crawl("lease").stdout.strip()
    process = spawn("observe")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f'{{"lease": {lease}, "page": {{"url": "https://a.example/"}}}}\n'.encode())
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["state"] == "done"  # standard input is still open
    assert process.communicate(timeout=60) == (b"", b"")


def _ended(process: subprocess.Popen[bytes]) -> tuple[int, bytes]:
    """Exit code and standard error of a process whose output is closed already."""
    assert process.stdin is not None
    assert process.stderr is not None
    process.stdin.close()
    with process.stderr:
        errors = process.stderr.read()
    return process.wait(timeout=60), errors


@pytest.mark.parametrize("form", ["table", "json", "jsonl", "csv"])
def test_a_reader_that_goes_away(crawl: Run, spawn: Spawn, form: str) -> None:
    crawl("add", "--from-file", "-", feed="\n".join(f"https://a.example/{n}" for n in range(3_000)))
    process = spawn("inspect queue", "--format", form, "--limit", "0")
    assert process.stdout is not None
    process.stdout.read(10)
    process.stdout.close()
    assert _ended(process) == (141, b"")


def test_leases_that_nobody_reads_go_back(crawl: Run, spawn: Spawn) -> None:
    process = spawn("lease")
    assert process.stdout is not None
    process.stdout.close()
    assert _ended(process) == (141, b"")
    assert json.loads(crawl("status", "--format", "json").stdout)["counts"]["leased"] == 0


ASCII = {
    "COLUMNS": "200",
    "LC_ALL": "C",
    "PYTHONCOERCECLOCALE": "0",
    "PYTHONUTF8": "0",
    "PYTHONIOENCODING": "ascii:strict",
}


@pytest.mark.parametrize("form", ["table", "json", "jsonl", "csv"])
def test_a_locale_that_knows_ascii_only(crawl: Run, spawn: Spawn, form: str) -> None:
    lease = crawl("lease").stdout.strip()
    page = {"url": "https://a.example/", "title": "Gebühren 学生 \ud800", "text": "Visa"}
    line = json.dumps({"lease": json.loads(lease), "page": page}).encode()
    observed, errors = spawn("observe", env=ASCII).communicate(line, timeout=60)
    assert errors == b""
    assert json.loads(observed)["state"] == "done"
    shown, errors = spawn("inspect pages", "--format", form, env=ASCII).communicate(timeout=60)
    assert errors == b""
    text = shown.decode("ascii")
    if form in ("json", "jsonl"):
        found = json.loads(text)
        assert (found[0] if form == "json" else found)["title"].startswith("Gebühren 学生")
    else:
        assert "Geb\\xfchren" in text


def test_an_error_in_ascii(store: Path, spawn: Spawn) -> None:
    shown, errors = spawn(
        "inspect url", "https://bücher.example/", env=ASCII | {"PYTHONIOENCODING": "ascii"}
    ).communicate()
    assert shown == b""
    assert errors.startswith(b"error: ")


@pytest.mark.parametrize(
    "words",
    [["--help"], ["lease", "STORE"], ["observe", "STORE"], ["inspect", "queue", "STORE", "--format", "json"]],
)
def test_what_scripts_call_loads_nothing_for_eyes_or_upgrades(
    crawl: Run, store: Path, words: list[str]
) -> None:
    words = [str(store) if word == "STORE" else word for word in words]
    code = (
        "import sys; from pagesift_store.cli import main\n"
        f"try: main({words!r})\n"
        "except SystemExit: print(sorted({'alembic', 'rich', 'selectolax'} & sys.modules.keys()), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, stdin=subprocess.DEVNULL, timeout=60
    )
    assert done.stderr == b"[]\n"
