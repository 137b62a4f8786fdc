"""Whatever pages and URLs come: nothing but our errors, and a sound store afterwards."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from pagesift_store import FoundLink, Frontier, Page, PagesiftError, upkeep
from pagesift_store.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FUZZ = settings(
    max_examples=30,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

SURROGATES = st.characters(codec=None)  # lone surrogates and NUL are among them
TEXT = st.text(SURROGATES, max_size=60)
URLISH = st.one_of(
    TEXT,
    st.builds("https://{}/{}?{}#{}".format, st.sampled_from(["a.example", "b.example", "x"]), TEXT, TEXT, TEXT),
    st.sampled_from(
        [
            "", "/", "//", "///x", "http://[::1", "https://a.example:99999/", "mailto:a@b.example",
            "javascript:void(0)", "data:text/plain,x", "../" * 50, "?a=1&a=2", "#/route", "https://u:p@a.example/",
            "https://xn--a.example/", "http://a.example/\ud83d", "https://a.example/%", "https://a.example/%ff%00",
        ]
    ),
)  # fmt: skip
NUMBER = st.one_of(st.none(), st.floats(), st.integers(-3, 700))
LINK = st.builds(FoundLink, URLISH, TEXT, TEXT, nofollow=st.booleans(), score=NUMBER)
OPTIONAL = st.one_of(st.none(), TEXT)
PAGE: dict[str, st.SearchStrategy[Any]] = {
    "status": st.one_of(st.just(200), st.sampled_from([204, 301, 304, 404, 410, 429, 500, 0, 99, 600])),
    "redirects": st.lists(URLISH, max_size=4), "nofollow": st.booleans(), "noindex": st.booleans(),
    "canonical": st.one_of(st.none(), URLISH), "title": TEXT, "headings": st.lists(TEXT, max_size=3),
    "text": st.one_of(TEXT, st.just("student visa fees " * 40)), "links": st.lists(LINK, max_size=8),
    "language": OPTIONAL,
    "base_url": st.one_of(st.none(), URLISH), "content_type": OPTIONAL, "etag": OPTIONAL, "last_modified": OPTIONAL,
    "retry_after": OPTIONAL, "relevance": NUMBER, "new": st.one_of(st.none(), st.booleans()),
}  # fmt: skip


def dump(opened: Frontier) -> list[dict[str, object]]:
    return [dict(row) for row in opened.dump()]


@pytest.fixture
def opened(frontier: Callable[..., Frontier]) -> Frontier:
    made = frontier()
    made.add(["https://a.example/"])
    return made


@FUZZ
@given(
    fresh=st.integers(0, 10**9),
    url=st.one_of(st.none(), URLISH),
    fields=st.fixed_dictionaries({}, optional=PAGE),
)
def test_pages(opened: Frontier, store: Path, fresh: int, url: str | None, fields: dict[str, Any]) -> None:
    opened.add([f"https://a.example/fresh/{fresh}"])
    for lease in opened.lease(1):
        before = dump(opened)
        try:
            opened.observe(lease, Page(url=lease.url if url is None else url, **fields))
        except PagesiftError:
            assert dump(opened) == before
            opened.release(lease)
    assert upkeep.check(store, all_keys=True).sound


@FUZZ
@given(urls=st.lists(st.one_of(URLISH, LINK), max_size=12), base=st.one_of(st.none(), URLISH), score=NUMBER)
def test_urls(opened: Frontier, store: Path, urls: list[Any], base: str | None, score: Any) -> None:
    before = dump(opened)
    try:
        added = opened.add(urls, base=base, score=score)
    except PagesiftError:
        assert dump(opened) == before
    else:
        assert len(added) == len(urls)
    assert upkeep.check(store, all_keys=True).sound


FRESH = itertools.count()
"""Numbers of URLs that no example has used."""

JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXT),
    lambda inner: st.lists(inner, max_size=3),
)


@FUZZ
@given(data=st.data())
@pytest.mark.parametrize("command", ["add", "observe", "fail", "release", "renew"])
def test_lines_of_the_command(opened: Frontier, store: Path, command: str, data: st.DataObject) -> None:
    """A line that is wrong ends the command with a code of ours, never with a traceback.

    All is drawn before the store is asked anything: it remembers earlier examples, and hypothesis takes a draw that
    depends on that for a fault of the test.
    """
    place, wrong = data.draw(st.integers(0, 100)), data.draw(st.one_of(st.none(), st.tuples(JSON)))
    field = {data.draw(st.sampled_from(sorted(PAGE))): data.draw(JSON)}
    added = data.draw(st.one_of(JSON, st.builds(lambda url: {"href": url}, URLISH)))
    kind, other = data.draw(JSON), data.draw(st.one_of(st.none(), st.text(max_size=20)))
    opened.add([f"https://a.example/fresh/{next(FRESH)}"])
    runner = CliRunner()
    lease = json.loads(runner.invoke(main, ["lease", str(store)]).stdout or "{}")
    url = lease.get("url")
    if lease and wrong is not None:
        lease[sorted(lease)[place % len(lease)]] = wrong[0]
    page = {"url": url, **field}
    line: Any = {
        "add": added,
        "observe": {"lease": lease, "page": page},
        "fail": {"lease": lease, "kind": kind},
    }.get(command, lease)
    text = json.dumps(line) if other is None else other
    where = ["--from-file", "-"] if command == "add" else []
    done = runner.invoke(
        main, [command, str(store), *where], input=text.encode("utf-8", "surrogatepass") + b"\n"
    )
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code in (0, 1, 8)
    runner.invoke(main, ["recover", str(store), "--worker", "cli"])
    assert upkeep.check(store).sound
