"""`observe`: what fetches brought, as JSON lines or as the files that an HTTP client left."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

import click

from pagesift_store.errors import PagesiftError
from pagesift_store.frontier import Frontier

from . import wire
from .feed import answer, only, records
from .headers import Answer, add_header, one_header, read_dump
from .options import lines_options, store_argument

if TYPE_CHECKING:
    from pagesift_store.records import Lease, Page

__all__ = ["observe"]

_BODY = 20_000_000
"""Bytes of a body that are read; what is longer is cut, as browsers and crawlers do."""


@click.command()
@store_argument
@lines_options("the pages")
@click.option("--html", type=click.File("rb"), help="With --lease: the body as received; `-`: stdin.")
@click.option(
    "--headers",
    type=click.File("rb"),
    help="With --lease: status lines and headers, as `curl --dump-header` has them.",
)
@click.option(
    "--status", type=int, help="With --lease: the HTTP status.  [default: as in --headers, else 200]"
)
@click.option(
    "--url",
    metavar="URL",
    help="With --lease: the final URL.  [default: as --headers leads, else the lease's]",
)
@click.option(
    "--redirect",
    "hops",
    multiple=True,
    metavar="URL",
    help="With --lease: a hop before --url; may be repeated.",
)
@click.option(
    "--header",
    "lines",
    multiple=True,
    metavar="'NAME: VALUE'",
    help="With --lease: a header; may be repeated.",
)
def observe(store: str, stream: IO[bytes], lease_text: str | None, **fetch: Any) -> None:
    """Record pages: {"lease": {...}, "page": {...}} per line, or one fetch by options.

    Each page is one transaction, answered by one line. A status of 400 or more counts as a failed fetch. --html
    needs the extra `html`.
    """
    if lease_text is None:
        if any(fetch.values()):
            raise click.UsageError("the options of one fetch go with --lease")
        items = records(stream, wire.fetched_from_json)
    elif not any(fetch[name] for name in ("html", "headers", "status")):
        raise click.UsageError("--lease needs --html, --headers or --status")
    else:
        place, lease = only("--lease", lease_text, wire.lease_from_json)
        items = iter([(place, wire.Fetched(lease=lease, page=_page(lease, **fetch)))])
    with Frontier.open(store) as frontier:
        answer(
            items,
            lambda item: item.lease,
            lambda item: wire.observation_to_json(item.lease, frontier.observe(item.lease, item.page)),
        )


def _page(
    lease: Lease,
    *,
    html: IO[bytes] | None,
    headers: IO[bytes] | None,
    status: int | None,
    url: str | None,
    hops: tuple[str, ...],
    lines: tuple[str, ...],
) -> Page:
    """The page of one fetch, from what its client wrote down."""
    found = Answer(lease.url)
    try:
        if headers is not None:
            found = read_dump(headers.read(), lease.url)
        for line in lines:
            add_header(found.headers, *one_header(line))
    except PagesiftError as error:
        error.add_note("--header" if headers is None else "--headers")
        raise
    final = url or found.url
    sent = status if status is not None else found.status
    before = hops or found.redirects
    body = b"" if html is None else html.read(_BODY)
    return _parsed(body, final, sent, found.headers, before)


def _parsed(body: bytes, url: str, status: int, headers: dict[str, str], hops: tuple[str, ...]) -> Page:
    try:
        from pagesift_store.html import parse_page
    except ImportError as error:  # its parser comes with an extra
        raise click.UsageError(str(error)) from error
    return parse_page(body, url, status=status, headers=headers, redirects=hops)
