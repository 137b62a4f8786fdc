"""Dumps of headers, as curl writes them."""

from __future__ import annotations

import pytest

from pagesift_store import InvalidValue
from pagesift_store.cli.headers import one_header, read_dump


def test_redirects_are_followed_from_the_first_url() -> None:
    dump = (
        b"HTTP/1.1 200 Connection established\r\n\r\n"
        b"HTTP/1.1 301 Moved Permanently\r\nLocation: /b?x=1\r\n\r\n"
        b"HTTP/1.1 302 Found\r\nlocation: https://b.example/c\r\nETag: not this one\r\n\r\n"
        b"HTTP/1.1 103 Early Hints\r\nLink: </s.css>\r\n\r\n"
        b'HTTP/2 200\r\nETag: "v1"\r\nX-Robots-Tag: noindex\r\nX-Robots-Tag: nofollow\r\n\r\n'
    )
    answer = read_dump(dump, "https://a.example/a")
    assert (answer.url, answer.status) == ("https://b.example/c", 200)
    assert answer.redirects == ("https://a.example/a", "https://a.example/b?x=1")
    assert answer.headers == {"etag": '"v1"', "x-robots-tag": "noindex, nofollow"}


def test_a_redirect_that_was_not_followed_is_the_answer() -> None:
    answer = read_dump(b"HTTP/1.0 301 Moved\nLocation: /b\n\n", "https://a.example/a")
    assert (answer.url, answer.status, answer.redirects) == ("https://a.example/a", 301, ())


def test_a_location_that_is_no_url_leaves_the_place() -> None:
    dump = b"HTTP/1.1 301 Moved\r\nLocation: http://[\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"
    assert read_dump(dump, "https://a.example/").url == "https://a.example/"


@pytest.mark.parametrize("dump", [b"", b"etag: x\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"])
def test_without_an_answer_there_is_an_error(dump: bytes) -> None:
    with pytest.raises(InvalidValue, match="no HTTP status line"):
        read_dump(dump, "https://a.example/")


@pytest.mark.parametrize("line", ["etag", ": x", ""])
def test_a_header_needs_a_name(line: str) -> None:
    with pytest.raises(InvalidValue, match="is not a header"):
        one_header(line)
