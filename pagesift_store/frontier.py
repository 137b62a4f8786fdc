"""The frontier: one public method, one transaction."""

from __future__ import annotations

import contextlib
import math
import os
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

from pagesift_store.errors import (
    InvalidValue,
    SettingsDiffer,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreMissing,
)
from pagesift_store.inspector import Inspector
from pagesift_store.settings import Settings
from pagesift_store.storage import schema
from pagesift_store.storage.engine import Database, identify, path_of
from pagesift_store.storage.turns import require_no_own
from pagesift_store.transactions import (
    adding,
    creation,
    failing,
    forgetting,
    leasing,
    observing,
    operating,
    ownership,
    rekeying,
    requeueing,
    robots,
    scoring,
    timing,
    watching,
)
from pagesift_store.transactions.memory import Memory, recall
from pagesift_store.transactions.reported import Report, check
from pagesift_store.transactions.texts import clean
from pagesift_store.transactions.work import Work
from pagesift_store.waiting import Waiter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from types import TracebackType

    from sqlalchemy import Connection

    from pagesift_store.errors import LeaseLost
    from pagesift_store.records import (
        Added,
        Explanation,
        FailKind,
        FoundLink,
        Lease,
        LinkOutcome,
        LinkState,
        Observation,
        Page,
        Rekeyed,
        Robots,
        Status,
    )

__all__ = ["Frontier"]


Result = TypeVar("Result")


class Frontier:
    """A crawl frontier in one file.

    Every method is one transaction: when it returns, all of its effects are stored (whether a power cut can take
    them is the setting `durability`); when it raises, none is. A process may be killed at any point, inside a call
    or between two: the next one to open the store finds each page observed wholly or not at all, and each link that
    was leased either still leased or back in its place.

    Several processes, and several threads sharing one object, may use a store at once. Writers wait for each other,
    30 seconds at most and a minute more per GB of the store, then `StoreBusy` says that nothing was written. A link is
    leased to one worker at a time. A lease that runs out does not end the work on it: what the worker reports is
    accepted until the link has been leased again, and from then on refused with `LeaseLost`.

    A call is finished before the next one begins: in the middle of one, where the clock is looked at, the same thread
    may ask (`status`, `explain`), but a call that writes is refused with `NestedCall`, on any frontier of the store.

    Leases taken by this object belong to its process and come back when the process ends, unless `worker` names
    an owner that outlives processes. Made by `open`, not by hand; leave the `with` block, or call `close`.
    """

    def __init__(self, database: Database, *, worker: str | None, clock: Callable[[], float]) -> None:
        self._database = database
        self._worker = worker
        self._clock = clock
        self._lock = threading.RLock()
        self._memory: Memory | None = None
        self._owner: _Owner | None = None
        self._owner_before: _Owner | None = None
        self._is_settled = True
        self._waiter = Waiter(clock)

    @classmethod
    def open(
        cls,
        store: str | os.PathLike[str],
        *,
        query: str | None = None,
        settings: Settings | None = None,
        worker: str | None = None,
        clock: Callable[[], float] = time.time,
    ) -> Frontier:
        """Open a store, or create it when it does not exist and a query or settings are given.

        Leases whose process is provably gone from this machine come back at once.

        Args:
            store: a path, or `sqlite:///path`.
            query: what the crawl is about, at most 64 terms; may be empty (breadth-first, by discovery). None: as
                stored.
            settings: None: as stored, or the defaults for a new store.
            worker: a name for the owner of the leases; they then come back by expiry, `release` or `recover` only,
                never because a process ended. None: they belong to this process.
            clock: gives UTC epoch seconds.

        Raises:
            SettingsDiffer: the stored query or settings are others.
            InvalidQuery: more than 64 terms.
            StoreMissing, StoreUnreachable, StoreEmpty, NotAStore, SchemaTooOld, SchemaTooNew, StoreBusy: see
                `pagesift_store.errors`.
        """
        path = path_of(store)
        query = None if query is None else clean(query)
        if not path.exists():
            if query is None and settings is None:
                raise StoreMissing(f"there is no store at {path}; give a query to create one")
            fill = creation.filler(query or "", settings or Settings(), _moment(clock))
            schema.create(path, fill)
        identify(path)
        schema.tidy(path)
        frontier = cls(Database(path), worker=worker, clock=clock)
        try:
            frontier._resume(query, settings)
        except BaseException:
            frontier._database.close()
            raise
        return frontier

    def _resume(self, query: str | None, settings: Settings | None) -> None:
        with self._database.reading() as connection:
            schema.require_head(connection, self._database.path)
            stored_query, stored = creation.stored(connection)
            orphaned = ownership.orphaned(connection)
        if query is not None and query != stored_query:
            raise SettingsDiffer(
                f"{self._database.path} is about {stored_query!r}, not {query!r}; open it without a query, or name "
                "another file"
            )
        if settings is not None and settings != stored:
            found = "; ".join(
                f"{name}: stored {mine!r}, given {theirs!r}"
                for name, (mine, theirs) in stored.differences(settings).items()
            )
            raise SettingsDiffer(
                f"{self._database.path} was made with other settings ({found}); open it without settings, or use "
                "configure()"
            )
        self._database.set_durability(stored.durability)
        if orphaned:
            # Seen again under the lock: another process may have freed them, and their ids been given anew.
            self._write(lambda work: ownership.free(work, ownership.orphaned(work.connection)))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give back the leases that this object still holds for its process, and close the file.

        Raises:
            NestedCall: another call of this thread is not finished; nothing was closed.
        """
        with self._lock:
            self._database.require_outermost()
            self._settle()
            has_leases = self._owner is not None and self._owner.pid == os.getpid() and self._worker is None
            if has_leases:
                require_no_own(self._database.path)
            try:
                if has_leases:
                    with contextlib.suppress(FileNotFoundError):
                        self._write(self._give_back)
                self._owner = None
            finally:
                self._memory = None
                self._database.close()

    def _give_back(self, work: Work) -> None:
        owner, self._owner = self._owner, None  # its row may be given to another from now on
        if owner is not None and owner.store_id == work.crawl.store_id:
            ownership.free(work, [owner.id])

    def stop(self) -> None:
        """Make a waiting `lease` of this object return, from another thread or a signal handler."""
        self._waiter.stop()

    # -- what a crawl does ---------------------------------------------------------------------------------------

    def add(
        self,
        urls: Iterable[str | FoundLink],
        *,
        base: str | None = None,
        depth: int = 0,
        score: float | None = None,
        revisit: float | None = None,
    ) -> list[Added]:
        """Add URLs; those already known are left as they are, or raised when this find is better.

        A plain string at depth 0 without a base is a seed: its host joins the scope, its score is 5.5 unless
        given. Everything else is an ordinary link.

        Args:
            urls: strings or `FoundLink`s; all are read before the store is locked.
            base: absolute URL that relative ones resolve against.
            depth: clicks from a seed.
            score: a score for all that bring none of their own; finite. None: computed.
            revisit: seconds between two visits, for all that are new and bring none of their own; 0: fetch them once.
                None: as the store's rule says.

        Returns:
            One verdict per item, in order.

        Raises:
            InvalidUrl: the base is not an absolute http(s) URL.
            InvalidValue: a score that is not finite, or a depth below 0.
        """
        # A source may be slow, or make calls of its own: it is read before others have to wait for us.
        items = urls if isinstance(urls, str | bytes) else list(urls)
        return self._write(
            lambda work: adding.add(work, items, base=base, depth=depth, score=score, revisit=revisit)
        )

    def lease(self, n: int = 1, *, ttl: float = 300.0, wait: bool | float = False) -> list[Lease]:
        """Claim the n best links that may be fetched now.

        Args:
            n: how many at most, 1 or more; best kept to the free slots of the caller, because a link leased
                early is a decision made with old evidence.
            ttl: seconds after which others may claim them.
            wait: True, or seconds: block until something is ready, the crawl is finished or `stop` is called.

        Returns:
            Leases, best first. Empty when nothing is ready now; with `wait=True`: when finished or stopped.

        Raises:
            InvalidValue: n below 1, or a ttl that is not above 0.
        """
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise InvalidValue(f"n={n!r} must be a whole number, 1 or more")
        ttl = leasing.check_ttl(ttl)

        def attempt() -> list[Lease]:
            return self._write(lambda work: leasing.lease(work, n, ttl, self._own(work)))

        leases = attempt()
        if leases or wait is False:
            return leases
        return self._waiter.until(attempt, self.status, None if wait is True else float(wait))

    def observe(self, lease: Lease, page: Page) -> Observation:
        """Record what a fetch brought: the page, its links, and what it teaches.

        A status of 400 or more acts as the `fail` of its kind.

        Raises:
            LeaseLost: the link was leased again, or another outcome of this lease was recorded; nothing was changed.
            WrongStore: the lease is of another store.
            InvalidValue: a relevance outside 0 to 1, or a status outside 100 to 599.
            InvalidUrl: the page's URL is no http(s) URL.
        """
        check(page)
        report = self._report(page)
        return self._write(lambda work: observing.observe(work, lease, report))

    def observe_many(self, fetched: Iterable[tuple[Lease, Page]]) -> list[Observation | LeaseLost]:
        """Record what several fetches brought, in one transaction: all of it or nothing is stored.

        The pages are observed in their order, each as by `observe` at the same moment. One commit for all costs less
        than one each, with durability `full` above all.

        Args:
            fetched: leases and their pages; up to some hundred, because others wait until all are stored.

        Returns:
            In the same order what `observe` would return; a `LeaseLost`, not raised, where the lease was lost: nothing
            of that page is stored.

        Raises:
            WrongStore, InvalidValue, InvalidUrl: as for `observe`; nothing of any page is stored.
        """
        pages = list(fetched)
        for _, page in pages:
            check(page)
        reports = [(lease, self._report(page)) for lease, page in pages]
        return self._write(
            lambda work: [observing.observe_or_lost(work, lease, report) for lease, report in reports]
        )

    def fail(
        self,
        lease: Lease,
        kind: FailKind | str,
        message: str = "",
        *,
        retry_after: str | float | None = None,
        retry_in: float | None = None,
        permanent: bool = False,
    ) -> LinkOutcome:
        """Record that a fetch failed; the link is tried again later, or is dead.

        Args:
            lease: the claim.
            kind: what went wrong.
            message: for people; cut to 500 characters.
            retry_after: the header as sent, or seconds: the host rests so long.
            retry_in: seconds until the next try, in place of the back-off.
            permanent: do not try again.

        Raises:
            LeaseLost, WrongStore: as for `observe`.
            InvalidValue: an unknown kind, or a retry_in that is not a number of seconds, 0 or more.
        """
        return self._write(
            lambda work: failing.fail(
                work,
                lease,
                failing.check_kind(kind),
                message,
                retry_after=retry_after,
                retry_in=retry_in,
                permanent=permanent,
            )
        )

    def release(self, lease: Lease) -> None:
        """Give a lease back unharmed: the link returns to its place.

        Raises:
            LeaseLost: the link was leased again.
            WrongStore: the lease is of another store.
        """
        self._write(lambda work: leasing.release(work, lease))

    def renew(self, lease: Lease, ttl: float = 300.0) -> Lease:
        """Extend a lease to `ttl` seconds from now.

        Raises:
            LeaseLost: the link was leased again, or the lease has run out and the link is back in the queue.
            WrongStore: the lease is of another store.
        """
        ttl = leasing.check_ttl(ttl)
        return self._write(lambda work: replace(lease, expires=leasing.renew(work, lease, ttl)))

    def recover(self, worker: str | None = None) -> int:
        """Give back leases now, expired or not.

        Args:
            worker: all leases of this owner. None: those of processes that are provably gone.

        Returns:
            Links that are back in the queue.
        """

        def free(work: Work) -> int:
            gone = ownership.orphaned(work.connection) if worker is None else ownership.named(work, worker)
            return ownership.free(work, gone)

        return self._write(free)

    def rescore(self) -> int:
        """Make the current weights the ones in use and rescore every unfinished link by one UPDATE.

        Returns:
            Rows whose score changed.
        """
        return self._write(lambda work: scoring.rescore(work, every=True))

    # -- what an operator does -----------------------------------------------------------------------------------

    def configure(self, **changes: Any) -> Settings:
        """Change operational settings of the store, for this and every later run.

        Returns:
            The settings now.

        Raises:
            InvalidSettings: an unknown or fixed setting, or a value out of range.
        """
        settings = self._write(lambda work: operating.configure(work, changes))
        self._database.set_durability(settings.durability)
        return settings

    def rekey(self, preset: str, *, dry_run: bool = False) -> Rekeyed:
        """Move the store to other key rules, or to their present version; links that are one page now are merged.

        Fetched stays over queued, the earliest discovery over later ones; the highest score is kept.

        Args:
            preset: `strict`, `standard` or `loose`.
            dry_run: say what would be merged, change nothing.

        Raises:
            InvalidSettings: no such preset.
        """
        return self._tried(lambda work: rekeying.rekey(work, preset, dry_run=dry_run), keep=not dry_run)

    def set_host(
        self,
        host: str,
        *,
        delay: float | None = None,
        blocked_until: float | None = None,
        max_in_flight: int | None = None,
        group: str | None = None,
        reset: Iterable[str] = (),
    ) -> int:
        """Set how a host is treated; what is None stays as it is.

        Args:
            host: its name. Hosts that share a delay are treated as one, whichever is named.
            delay: seconds between two leases, 0 to 300; longer ones are clamped and noted.
            blocked_until: no lease before this time; 0 lifts a block.
            max_in_flight: leases at a time, 1 or more.
            group: the name of what it shares delay, places and limits with from now on: an address, a name of yours,
                another host. Its links, those found later included, queue there.
            reset: names of the above that go back to what holds for any host.

        Returns:
            Rows changed: 1, or 0 when there was nothing to change.

        Raises:
            InvalidValue: a value out of range.
        """
        return self._write(
            lambda work: operating.set_host(
                work,
                host,
                delay=delay,
                blocked_until=blocked_until,
                max_in_flight=max_in_flight,
                group=group,
                reset=reset,
            )
        )

    def set_robots(self, host: str, status: int | None, crawl_delay: float | None = None) -> int:
        """Record the outcome of a host's robots.txt.

        Args:
            host: its name.
            status: HTTP status of the answer; None when there was none (time-out, no connection).
            crawl_delay: seconds, as it asks; clamped to 300. None: it does not ask.

        Returns:
            Rows changed: 1. After a status of 5xx or 429, or none, the host is deferred, longer each time; other 4xx
            mean allowed.

        Raises:
            InvalidValue: a crawl delay that is negative or not finite, or a status that is none.
        """
        return self._write(lambda work: robots.set_robots(work, host, status, crawl_delay))

    def block(
        self, host: str | None = None, *, pattern: str | None = None, until: float | None = None
    ) -> int:
        """Fetch nothing more of a host, or no URL that matches; acts at once, on every process.

        Args:
            host: no lease of it any more; its links stay in their places.
            pattern: regular expression, searched in fetch URLs: unfinished links that match are skipped, leases of
                them are lost, and later finds refused with the reason `blocked`.
            until: when a host's block ends by itself, epoch seconds. None: never.

        Returns:
            Rows changed: 1 for a host, the links skipped for a pattern.

        Raises:
            InvalidValue: not exactly one of host and pattern, a pattern that is none, or one with an end.
        """
        if (host is None) == (pattern is None) or (pattern is not None and until is not None):
            raise InvalidValue("give a host, with or without until, or a pattern to block")
        if pattern is not None:
            return self._write(lambda work: requeueing.block(work, pattern))
        end = operating.FOREVER if until is None else until
        return self._write(lambda work: operating.set_host(work, str(host), blocked_until=end))

    def unblock(self, host: str | None = None, *, pattern: str | None = None) -> int:
        """Take a block back; what a pattern skipped is queued again, unless another pattern holds it.

        Returns:
            Rows changed: 1 for a host, the links queued again for a pattern.

        Raises:
            InvalidValue: not exactly one of host and pattern, or a pattern that is not blocked.
        """
        if (host is None) == (pattern is None):
            raise InvalidValue("give a host or a pattern to unblock")
        if pattern is not None:
            return self._write(lambda work: requeueing.unblock(work, pattern))
        return self._write(lambda work: operating.set_host(work, str(host), reset=["blocked_until"]))

    def requeue(
        self,
        *,
        reason: str | None = None,
        host: str | None = None,
        pattern: str | None = None,
        state: LinkState | str = "dead",
    ) -> int:
        """Give links another chance that were given up, with no failure behind them.

        Args:
            reason: words that stand in their reason, such as `timeout` or `status 404`. None: any.
            host: host of their URLs. None: any.
            pattern: regular expression, searched in their fetch URLs. None: any.
            state: dead or skipped.

        Returns:
            Links changed: queued, or, when they were fetched before, due for another visit. What a pattern blocks
            stays out.

        Raises:
            InvalidValue: another state, or a pattern that is none.
        """
        return self._write(
            lambda work: requeueing.requeue(work, reason=reason, host=host, pattern=pattern, state=state)
        )

    def forget(self, host: str | None = None, *, pattern: str | None = None, dry_run: bool = False) -> int:
        """Delete links with their pages, and the parts of a site that are known by them alone.

        Their ids never come back; found again, their URLs are new links. What the crawl learned from their pages
        (term weights, link model, known passages) stays. So does how their hosts are to be treated.

        Args:
            host: all links of this host. None: of any.
            pattern: regular expression, searched in fetch URLs. None: any.
            dry_run: say how many there are, change nothing.

        Returns:
            Links deleted, those included that only led to them.

        Raises:
            InvalidValue: neither host nor pattern, or a pattern that is none.
        """
        return self._tried(lambda work: forgetting.forget(work, host=host, pattern=pattern), keep=not dry_run)

    def set_revisit(self, every: float | None, *, host: str | None = None, pattern: str | None = None) -> int:
        """Set how often known links are visited, whatever the setting `revisit` says.

        Args:
            every: seconds between two visits; 0: never again; None: as the store's rule says.
            host: links of this host only.
            pattern: links in whose fetch URL this regular expression is found only.

        Returns:
            Links changed.

        Raises:
            InvalidValue: a negative interval, or a pattern that is none.
        """
        return self._write(lambda work: watching.set_revisit(work, every, host=host, pattern=pattern))

    def resume(self) -> int:
        """Go on after a stop rule ended the crawl: its counters start anew.

        Returns:
            Rows changed: 1, or 0 when no counter had begun.
        """
        return self._write(lambda work: operating.resume(work))

    # -- what anyone may ask -------------------------------------------------------------------------------------

    def status(self) -> Status:
        """The crawl at this moment: counts, what a worker should do now, when that may change."""
        return self._inspector().status()

    def explain(self, url: str) -> Explanation:
        """Everything known about one URL, its score term by term, and why it is not being fetched.

        Raises:
            InvalidUrl: it is no http(s) URL.
            UnknownUrl: the store has never seen it.
        """
        return self._inspector().explain(url)

    def robots(self, host: str) -> Robots:
        """What a host's robots.txt came to, and whether that still holds."""
        return self._inspector().robots(host)

    def dump(self) -> Iterator[Mapping[str, Any]]:
        """Every row that a resume must restore, in a fixed order, as `{"table": …, column: value, …}`.

        Left out: attempt numbers, lease owners and expiries, the store's id, wall-clock stamps.
        """
        return self._inspector().dump()

    def _inspector(self) -> Inspector:
        return Inspector(self._database, clock=self._clock)

    # -- one transaction -----------------------------------------------------------------------------------------

    def _write(self, act: Callable[[Work], Result]) -> Result:
        """Do something in one write transaction; the only place where one begins."""
        require_no_own(self._database.path)  # before the lock: another thread may have it, and wait for ours
        with self._lock:
            self._database.require_outermost()  # before the outer call loses what it remembers
            self._settle()
            self._owner_before, self._is_settled = self._owner, False
            try:
                result = self._database.write(lambda connection: self._done(connection, act))
            except StoreError as error:
                # A store that is lost has nothing to give back, and the call says so: `close` need not again.
                if not isinstance(error, StoreBusy | StoreFull):
                    self._owner = self._owner_before = None
                raise
            self._is_settled = True
            return result

    def _done(self, connection: Connection, act: Callable[[Work], Result]) -> Result:
        """What an act comes to, inside of a write transaction."""
        # Told once the lock is ours: seen from before, a host that another writer has used meanwhile would seem to
        # rest.
        now = _moment(self._clock)
        version = self._database.data_version(connection)
        if self._memory is None or self._memory.version != version:
            schema.require_unchanged(connection, self._database.path)
            self._memory = recall(connection, version, self._memory)
        work = Work(connection, self._memory, now)
        timing.follow(work)
        result = act(work)
        work.save()
        return result

    def _settle(self) -> None:
        """After a call that raised, whatever came between: forget what may have been rolled back.

        That is what is remembered of the store, and the row of an owner that was new, or about to go.
        """
        if not self._is_settled:
            self._memory = None
            if not self._database.has_committed:
                self._owner = self._owner_before
            self._is_settled = True

    def _report(self, page: Page) -> Report:
        """A page, read before others have to wait for us."""
        memory = self._memory
        return Report(page, None if memory is None else memory.terms)

    def _tried(self, act: Callable[[Work], Result], *, keep: bool) -> Result:
        """What an act comes to; unless it is to be kept, nothing of it is."""
        found: list[Result] = []

        def tried(work: Work) -> None:
            found.append(act(work))
            if not keep:
                raise _Undone

        with contextlib.suppress(_Undone):
            self._write(tried)
        return found[0]

    def _own(self, work: Work) -> int:
        """The owner of leases taken now.

        A forked child is another owner than its parent, and a store that took the place of the file has its own.
        """
        pid, store_id = os.getpid(), work.crawl.store_id
        if self._owner is None or (self._owner.pid, self._owner.store_id) != (pid, store_id):
            self._owner = _Owner(pid, store_id, ownership.register(work, self._worker))
        return self._owner.id


class _Owner(NamedTuple):
    """Whom the leases of a frontier belong to."""

    pid: int
    store_id: str
    id: int
    """Its row in that store."""


class _Undone(Exception):
    """Leaves a transaction that was tried only."""


def _moment(clock: Callable[[], float]) -> float:
    now = clock()
    if isinstance(now, bool) or not isinstance(now, int | float) or not math.isfinite(now):
        raise InvalidValue(f"the clock gave {now!r}; it must give finite UTC epoch seconds")
    return float(now)
