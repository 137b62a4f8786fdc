"""What a crawl does: init, add, lease, observe, fail, release, renew."""

from __future__ import annotations

from itertools import islice
from typing import IO, TYPE_CHECKING, Any

import click
from click.exceptions import Exit

from pagesift_store.frontier import Frontier
from pagesift_store.records import FailKind, Lease
from pagesift_store.settings import Settings

from . import wire
from .exits import code_of_end
from .feed import answer, only, records
from .options import lines_options, seconds, seconds_or_forever, store_argument, worker_option
from .settings import assignments

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["COMMANDS"]

_BATCH = 1_000
"""URLs that are added in one transaction: other processes get their turn between two."""


@click.command()
@store_argument
@click.option("--query", required=True, metavar="TEXT", help="What the crawl is about; may be empty.")
@click.option("--setting", "pairs", multiple=True, metavar="NAME=VALUE", help="A setting; may be repeated.")
def init(store: str, query: str, pairs: tuple[str, ...]) -> None:
    """Create a store.

    Doing it again with the same query and settings does nothing; with others it is refused.
    """
    chosen = Settings(**assignments(pairs)) if pairs else None
    with Frontier.open(store, query=query, settings=chosen) as frontier:
        status = frontier.status()
    links = sum(status.counts.values())
    click.echo(wire.dumps({"store": store, "query": status.query, "links": links}))


@click.command()
@store_argument
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option(
    "--from-file", type=click.File("rb"), help="Also the URLs of this file, one a line; `-`: stdin."
)
@click.option("--base", metavar="URL", help="What relative URLs resolve against; then none is a seed.")
@click.option(
    "--depth", type=int, default=0, show_default=True, help="Clicks from a seed; above 0 none is a seed."
)
@click.option("--score", type=float, help="A score for all of them, in place of the computed one.")
def add(
    store: str,
    urls: tuple[str, ...],
    from_file: IO[bytes] | None,
    base: str | None,
    depth: int,
    score: float | None,
) -> None:
    """Add URLs; without --base and --depth they are seeds.

    Prints one verdict per URL, in order. URLs are added a thousand at a time; adding one again changes nothing, so
    that an interrupted run may simply be repeated.
    """
    if not urls and from_file is None:
        raise click.UsageError("give URLs, or --from-file")
    with Frontier.open(store) as frontier:
        offered = _offered(urls, from_file)
        while batch := list(islice(offered, _BATCH)):
            for added in frontier.add(batch, base=base, depth=depth, score=score):
                click.echo(wire.dumps(wire.added_to_json(added)))


def _offered(urls: tuple[str, ...], stream: IO[bytes] | None) -> Iterator[str]:
    yield from urls
    for line in stream or ():
        # A byte that is not UTF-8 becomes a lone surrogate, and the URL is judged like any other text.
        if text := line.decode("utf-8-sig", "surrogateescape").strip():
            yield text


@click.command()
@store_argument
@click.option("-n", "--count", "n", type=int, default=1, show_default=True, help="Leases at most.")
@click.option(
    "--ttl",
    type=seconds,
    default=300.0,
    metavar="SECONDS",
    show_default=True,
    help="After this others may take them.",
)
@click.option(
    "--wait",
    type=seconds_or_forever,
    default=0.0,
    metavar="SECONDS|forever",
    show_default=True,
    help="Wait so long for something to be ready.",
)
@worker_option
def lease(store: str, n: int, ttl: float, wait: float, worker: str) -> None:
    """Claim the best links that may be fetched now, best first, one JSON object per line.

    Prints nothing when nothing is ready in time. The exit code then tells whether the crawl goes on (0) or has
    ended, and by what (3, 4, 5).
    """
    with Frontier.open(store, worker=worker) as frontier:
        leases = frontier.lease(n, ttl=ttl, wait=wait or False)
        _deliver(frontier, leases)
        if not leases:
            raise Exit(code_of_end(frontier.status().stop))


def _deliver(frontier: Frontier, leases: list[Lease]) -> None:
    """Print leases; those that nobody reads any more go back at once, not when they expire."""
    for place, taken in enumerate(leases):
        try:
            click.echo(wire.dumps(wire.lease_to_json(taken)))
        except OSError:
            for lost in leases[place:]:
                frontier.release(lost)
            raise


@click.command()
@store_argument
@lines_options("the failures")
@click.option(
    "--kind", type=click.Choice([kind.value for kind in FailKind]), help="With --lease: what failed."
)
@click.option("--message", default="", help="With --lease: words for people.")
@click.option("--permanent", is_flag=True, help="With --lease: do not try again.")
@click.option("--retry-after", metavar="TEXT", help="With --lease: the header as sent, or seconds.")
@click.option(
    "--retry-in",
    type=seconds,
    metavar="SECONDS",
    help="With --lease: seconds to the next try, in place of the back-off.",
)
def fail(store: str, stream: IO[bytes], lease_text: str | None, **options: Any) -> None:
    """Record fetches that failed: {"lease": {...}, "kind": "timeout", ...} per line, or one by options."""
    if lease_text is None:
        if any(options.values()):
            raise click.UsageError("the options of one failure go with --lease")
        items = records(stream, wire.failure_from_json)
    elif options["kind"] is None:
        raise click.UsageError("--lease needs --kind")
    else:
        place, claim = only("--lease", lease_text, wire.lease_from_json)
        items = iter([(place, wire.Failure(lease=claim, **options))])
    with Frontier.open(store) as frontier:

        def record(item: wire.Failure) -> dict[str, Any]:
            outcome = frontier.fail(
                item.lease,
                item.kind,
                item.message,
                retry_after=item.retry_after,
                retry_in=item.retry_in,
                permanent=item.permanent,
            )
            return wire.outcome_to_json(item.lease, outcome)

        answer(items, lambda item: item.lease, record)


def _leases(stream: IO[bytes], lease_text: str | None) -> Iterator[tuple[str, Lease]]:
    if lease_text is None:
        return records(stream, wire.lease_from_json)
    return iter([only("--lease", lease_text, wire.lease_from_json)])


@click.command()
@store_argument
@lines_options("the leases")
def release(store: str, stream: IO[bytes], lease_text: str | None) -> None:
    """Give leases back unharmed, one JSON object per line as `lease` printed them."""
    with Frontier.open(store) as frontier:

        def give_back(claim: Lease) -> dict[str, Any]:
            frontier.release(claim)
            return {"link_id": claim.link_id, "url": claim.url, "released": True}

        answer(_leases(stream, lease_text), lambda claim: claim, give_back)


@click.command()
@store_argument
@lines_options("the leases")
@click.option(
    "--ttl",
    type=seconds,
    default=300.0,
    metavar="SECONDS",
    show_default=True,
    help="How long they hold from now on.",
)
def renew(store: str, stream: IO[bytes], lease_text: str | None, ttl: float) -> None:
    """Extend leases, one JSON object per line as `lease` printed them; prints the new ones."""
    with Frontier.open(store) as frontier:
        answer(
            _leases(stream, lease_text),
            lambda claim: claim,
            lambda claim: wire.lease_to_json(frontier.renew(claim, ttl)),
        )


COMMANDS = (init, add, lease, fail, release, renew)
