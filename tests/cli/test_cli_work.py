"""What a crawl does, command by command."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pagesift_store import Frontier

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    Run = Callable[..., Result]
    Rows = Callable[[Result], list[dict[str, Any]]]

LONE = "\\ud800"


def line_of(lease: str, **page: Any) -> str:
    return json.dumps({"lease": json.loads(lease), "page": page})


def test_init_may_be_done_again_but_not_otherwise(run: Run) -> None:
    run(
        "init",
        "--query",
        "visa",
        "--setting",
        "max_pages=5",
        "--setting",
        "exclude=a,b",
        "--setting",
        "exclude=2",
    )
    run(
        "init",
        "--query",
        "visa",
        "--setting",
        "max_pages=5",
        "--setting",
        "exclude=a,b",
        "--setting",
        "exclude=2",
    )
    settings = json.loads(run("configure", "--format", "json").stdout)
    assert settings["max_pages"] == 5
    assert settings["exclude"] == ["a,b", "2"]
    assert "is about 'visa', not 'fees'" in run("init", "--query", "fees", code=1).stderr
    assert "max_pages: stored 5" in run("init", "--query", "visa", "--setting", "max_pages=6", code=1).stderr


@pytest.mark.parametrize(
    ("pair", "named"),
    [
        ("max_pages", "must be name=value"),
        ("pages=1", "there is no setting 'pages'"),
        ("max_pages=many", "max_pages='many' must be a whole number"),
        ("default_delay=NaN", "default_delay=nan must be a number"),
        ("learn=yes", "learn='yes' must be true or false"),
        ("scope=world", "scope='world' must be site or host"),
        ("include=(", "is not a regular expression"),
    ],
)
def test_a_wrong_setting_is_named(run: Run, store: Path, pair: str, named: str) -> None:
    assert named in run("init", "--query", "x", "--setting", pair, code=1).stderr
    assert not store.exists()


def test_configure_changes_what_may_change(crawl: Run) -> None:
    assert (
        json.loads(crawl("configure", "max_pages=7", "adaptive=true", "--format", "json").stdout)["max_pages"]
        == 7
    )
    assert json.loads(crawl("configure", "max_pages=none", "--format", "json").stdout)["max_pages"] is None
    assert "scope is fixed" in crawl("configure", "scope=any", code=1).stderr
    assert "given twice" in crawl("configure", "max_pages=1", "max_pages=2", code=1).stderr


def test_add_takes_arguments_and_lines(crawl: Run, rows: Rows) -> None:
    feed = b"\xef\xbb\xbfhttps://a.example/1\r\n\n  https://a.example/1  \nftp://a.example/\nhttp://a.example/\xff\n"
    found = rows(crawl("add", "https://a.example/", "--from-file", "-", feed=feed))
    assert [row["verdict"] for row in found] == ["known", "new", "known", "rejected", "new"]
    assert found[3]["reason"] == "scheme"
    assert "give URLs" in crawl("add", code=2).stderr


def test_add_with_a_base_is_no_seed(crawl: Run, rows: Rows) -> None:
    found = rows(
        crawl("add", "/x", "//b.example/", "--base", "https://a.example/", "--depth", "2", "--score", "9")
    )
    assert [row["reason"] for row in found] == [None, "out_of_scope"]
    (lease,) = rows(crawl("lease"))
    assert (lease["url"], lease["depth"], lease["score"]) == ("https://a.example/x", 2, 9.0)
    assert "depth=-1" in crawl("add", "/x", "--depth", "-1", code=1).stderr
    assert "score=nan" in crawl("add", "/x", "--score", "nan", code=1).stderr


def test_many_urls_are_added_in_batches(crawl: Run, rows: Rows) -> None:
    feed = "\n".join(f"https://a.example/{number}" for number in range(2_500))
    assert len(rows(crawl("add", "--from-file", "-", feed=feed))) == 2_500
    assert json.loads(crawl("status", "--format", "json").stdout)["counts"]["queued"] == 2_501


def test_leases_outlive_the_process_under_a_name(crawl: Run, rows: Rows) -> None:
    crawl("add", "https://a.example/2")
    crawl("lease")
    crawl("lease", "--worker", "night")
    assert [row["owner"] for row in rows(crawl("inspect leases", "--format", "jsonl"))] == ["cli", "night"]
    assert json.loads(crawl("recover").stdout) == {"recovered": 0}
    assert json.loads(crawl("recover", "--worker", "night").stdout) == {"recovered": 1}
    assert "no worker 'day'" in crawl("recover", "--worker", "day", code=1).stderr


def test_the_worker_may_come_from_the_environment(
    crawl: Run, rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAGESIFT_WORKER", "cron")
    crawl("lease")
    assert rows(crawl("inspect leases", "--format", "jsonl"))[0]["owner"] == "cron"


def test_observe_reads_lines_and_answers_each(crawl: Run, rows: Rows) -> None:
    lease = crawl("lease").stdout
    links = [{"href": "/fees", "anchor": "visa fees"}, "/about", "mailto:x"]
    line = line_of(lease, url="https://a.example/", text="Student visa fees. " * 30, links=links)
    (answer,) = rows(crawl("observe", feed=f"\n{line}\n\n"))
    assert (answer["link_id"], answer["state"], answer["repeated"]) == (1, "done", False)
    assert answer["relevance"] > 0
    assert [added["verdict"] for added in answer["added"]] == ["new", "new", "rejected"]
    (again,) = rows(crawl("observe", feed=line))
    assert again["repeated"]


def test_a_wrong_line_ends_the_work_after_what_stands_before_it(crawl: Run, rows: Rows) -> None:
    crawl("add", "https://a.example/2", "https://a.example/3")
    first, second, third = crawl("lease", "-n", "3").stdout.splitlines()
    feed = "\n".join(
        [
            line_of(first, url="https://a.example/"),
            line_of(second, url="x", status=42),
            line_of(third, url="x"),
        ]
    )
    result = crawl("observe", feed=feed, code=1)
    assert len(rows(result)) == 1
    assert result.stderr == "error: line 2: status=42 must be an HTTP status from 100 to 599\n"
    counts = json.loads(crawl("status", "--format", "json").stdout)["counts"]
    assert (counts["done"], counts["leased"]) == (1, 2)
    assert "line 1: NaN is not" in crawl("observe", feed='{"lease": NaN}', code=1).stderr


def test_a_lost_lease_concerns_its_own_line(crawl: Run, rows: Rows) -> None:
    crawl("add", "https://a.example/2")
    first, second = crawl("lease", "-n", "2").stdout.splitlines()
    crawl("release", feed=first)
    crawl("lease")  # the first link again: its old lease is lost
    feed = "\n".join(line_of(lease, url=json.loads(lease)["url"]) for lease in (first, second))
    result = crawl("observe", feed=feed, code=8)
    lost, done = rows(result)
    assert (lost["link_id"], lost["error"]) == (1, "LeaseLost")
    assert done["state"] == "done"
    assert result.stderr.startswith("error: line 1: 'https://a.example/' was leased again")


def test_a_lease_of_another_store_is_refused(crawl: Run, tmp_path: Path) -> None:
    with Frontier.open(tmp_path / "other.db", query="x", worker="w") as other:
        other.add(["https://a.example/"])
        (lease,) = other.lease()
    taken = json.dumps({name: getattr(lease, name) for name in ("store_id", "link_id", "url", "key", "attempt")}
                       | {"expires": 1, "score": 1, "depth": 0})  # fmt: skip
    assert "of store" in crawl("release", "--lease", taken, code=1).stderr


def test_observe_takes_the_files_of_an_http_client(crawl: Run, rows: Rows, tmp_path: Path) -> None:
    lease = crawl("lease").stdout
    body, head = tmp_path / "page.html", tmp_path / "head.txt"
    body.write_bytes("<title>Gebühren</title><p>Visa fees<a href=x>Fees</a>".encode("latin-1"))
    head.write_text(
        "HTTP/1.1 301 Moved\r\nLocation: /en/\r\n\r\n"
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=latin-1\r\n\r\n"
    )
    (answer,) = rows(
        crawl(
            "observe", "--lease", lease, "--html", str(body), "--headers", str(head), "--header", 'ETag: "v1"'
        )
    )
    assert answer["added"][0]["url"] == "https://a.example/en/x"
    (page,) = rows(crawl("inspect pages", "--format", "jsonl"))
    assert page["title"] == "Gebühren"


def test_observe_without_a_body(crawl: Run, rows: Rows) -> None:
    (answer,) = rows(crawl("observe", "--lease", crawl("lease").stdout, "--status", "404"))
    assert answer["state"] == "dead"


def test_observe_and_fail_want_whole_options(crawl: Run) -> None:
    lease = crawl("lease").stdout
    assert "go with --lease" in crawl("observe", "--status", "200", code=2).stderr
    assert "needs --html" in crawl("observe", "--lease", lease, code=2).stderr
    assert "go with --lease" in crawl("fail", "--kind", "dns", code=2).stderr
    assert "needs --kind" in crawl("fail", "--lease", lease, code=2).stderr
    assert "--lease: not JSON" in crawl("release", "--lease", "{", code=1).stderr
    assert (
        "--header: 'etag' is not a header"
        in crawl("observe", "--lease", lease, "--status", "200", "--header", "etag", code=1).stderr
    )


def test_fail_by_lines_and_by_options(crawl: Run, rows: Rows) -> None:
    crawl("add", "https://a.example/2")
    first, second = crawl("lease", "-n", "2").stdout.splitlines()
    line = json.dumps({"lease": json.loads(first), "kind": "timeout", "message": "slow", "retry_in": 60})
    (waiting,) = rows(crawl("fail", feed=line))
    assert (waiting["state"], waiting["failures"]) == ("waiting", 1)
    (dead,) = rows(crawl("fail", "--lease", second, "--kind", "content", "--message", "PDF", "--permanent"))
    assert (dead["state"], dead["reason"]) == ("dead", "content: PDF")
    assert "kind='rain'" in crawl("fail", feed=line.replace("timeout", "rain"), code=1).stderr


def test_release_and_renew(crawl: Run, rows: Rows) -> None:
    lease = crawl("lease").stdout
    (renewed,) = rows(crawl("renew", "--lease", lease, "--ttl", "9000"))
    assert renewed["expires"] > json.loads(lease)["expires"]
    assert rows(crawl("release", feed=json.dumps(renewed))) == [
        {"link_id": 1, "url": "https://a.example/", "released": True}
    ]
    assert "the lease of" in crawl("renew", "--lease", lease, code=8).stderr


def test_a_lease_says_by_its_exit_code_why_it_is_empty(crawl: Run) -> None:
    lease = crawl("lease").stdout
    assert crawl("lease").stdout == ""
    crawl("observe", feed=line_of(lease, url="https://a.example/"))
    crawl("lease", code=3)
    crawl("lease", "--wait", "forever", code=3)
    crawl("status", code=3)
    crawl("add", "https://a.example/2")
    crawl("configure", "max_pages=1")
    crawl("lease", code=4)
    crawl("status", code=4)


def test_a_stop_rule_has_its_own_code(crawl: Run) -> None:
    crawl("configure", "adaptive=true", "patience=1")
    for number in range(30):
        lease = crawl("lease").stdout
        links = [f"/{number}{letter}" for letter in "ab"]
        text = f"Nothing that anybody asked for, page number {number}. " * 9
        answer = json.loads(
            crawl("observe", feed=line_of(lease, url=json.loads(lease)["url"], text=text, links=links)).stdout
        )
        if answer["stop"]:
            break
    crawl("lease", code=5)
    assert (
        json.loads(crawl("status", "--format", "json", code=5).stdout)["stop"]["reason"]
        == "no_relevant_pages"
    )


@pytest.mark.parametrize("text", ["\\u0000", LONE, f"visa\\u0000fees{LONE}"])
def test_nul_and_lone_surrogates_in_every_text(crawl: Run, rows: Rows, text: str) -> None:
    lease = crawl("lease").stdout.strip()
    names = (
        "title",
        "text",
        "language",
        "base_url",
        "content_type",
        "canonical",
        "etag",
        "last_modified",
        "retry_after",
    )
    fields = ", ".join(f'"{name}": "{text}"' for name in names)
    link = f'{{"href": "/{text}", "anchor": "{text}", "context": "{text}"}}'
    lists = f'"redirects": ["{text}"], "headings": ["{text}"], "links": [{link}]'
    page = f'{{"url": "https://a.example/landed", {fields}, {lists}}}'
    (answer,) = rows(crawl("observe", feed=f'{{"lease": {lease}, "page": {page}}}'))
    assert answer["state"] == "done"
    for report in ("queue", "pages", "hosts", "parts"):
        crawl(f"inspect {report}")
    crawl("dump")


@pytest.mark.parametrize("text", ["\\u0000", LONE])
def test_nul_and_lone_surrogates_in_a_failure_and_a_lease(crawl: Run, rows: Rows, text: str) -> None:
    lease = crawl("lease").stdout.strip()
    (waiting,) = rows(
        crawl(
            "fail",
            feed=f'{{"lease": {lease}, "kind": "other", "message": "{text}", "retry_after": "{text}"}}',
        )
    )
    assert waiting["state"] == "waiting"
    odd = lease.replace("https://a.example/", f"https://a.example/{text}")
    assert rows(crawl("release", feed=odd))[0]["released"]
    assert (
        "of store"
        in crawl("release", feed=lease.replace('"store_id": "', f'"store_id": "{text}'), code=1).stderr
    )


def test_a_page_with_a_url_that_is_none_is_an_error_of_its_line(crawl: Run) -> None:
    lease = crawl("lease").stdout
    assert "line 1: cannot crawl" in crawl("observe", feed=line_of(lease, url="http://["), code=1).stderr


def test_operators_act_on_hosts(crawl: Run, rows: Rows) -> None:
    crawl("set-host", "a.example", "--delay", "5", "--max-in-flight", "3", "--blocked-until", "forever")
    crawl("set-robots", "b.example", "--no-answer")
    crawl("set-robots", "c.example", "--status", "200", "--crawl-delay", "2")
    hosts = {row["name"]: row for row in rows(crawl("inspect hosts", "--format", "jsonl"))}
    assert (hosts["a.example"]["delay"], hosts["a.example"]["max_in_flight"]) == (5.0, 3)
    assert "deferred" in hosts["b.example"]["note"]
    assert hosts["c.example"]["crawl_delay"] == 2.0
    assert "forever" in crawl("inspect hosts").stdout
    assert crawl("lease").stdout == ""
    crawl("set-host", "a.example", "--blocked-until", "0")
    assert rows(crawl("lease"))
    assert "give --delay" in crawl("set-host", "a.example", code=2).stderr
    assert "either" in crawl("set-robots", "a.example", code=2).stderr


def test_rescore_and_migrate_say_what_they_did(crawl: Run, store: Path) -> None:
    assert json.loads(crawl("rescore").stdout) == {"rescored": 0}
    assert json.loads(crawl("migrate").stdout)["applied"] == []


def test_rekey_says_what_it_merges(crawl: Run) -> None:
    crawl("add", "https://a.example/p?b=1&a=2", "https://a.example/p?a=2&b=1")
    planned = json.loads(crawl("rekey", "loose", "--dry-run").stdout)
    assert json.loads(crawl("rekey", "loose").stdout) == planned
    assert planned["preset"] == "loose"
    assert json.loads(crawl("configure", "--format", "json").stdout)["key_rules"] == "loose"
    crawl("rekey", "sloppy", code=2)


@pytest.mark.parametrize("wait", ["nan", "-1", "inf", "soon"])
def test_seconds_are_checked(crawl: Run, wait: str) -> None:
    assert "is not a number of seconds" in crawl("lease", "--wait", wait, code=2).stderr
