"""Learned rewrite rules at work: what confirms and refutes them, and the keys that they change (RULES 1.7).

A rule is born when two pages of one host with the same text differ in just one thing. Distinct pairs confirm it, each
text once, because a server that answers every unknown URL alike would confirm anything. A pair that differs by
the rule and in its text refutes it for good. Once in force it makes the keys of new links, and remakes those of the
host's links; of two that are one page now, one is skipped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pagesift_store.records import LinkState
from pagesift_store.storage.statements import links as links_sql
from pagesift_store.storage.statements import rewrites as sql
from pagesift_store.transactions import moves
from pagesift_store.transactions.keys import key_of
from pagesift_store.transactions.places import host_of
from pagesift_store.urls.parts import bare_host
from pagesift_store.urls.pipeline import key_hash
from pagesift_store.urls.reading import assemble, read
from pagesift_store.urls.rewrite import (
    RewriteRule,
    RewriteSet,
    candidates,
    differs_by,
    generalised,
    needed_confirmations,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pagesift_store.transactions.work import Work
    from pagesift_store.urls.reading import WebUrl

MOST_MATES = 20
"""Earlier pages that one page is compared with, for the same text and for the same template each."""

MOST_RULES = 200
"""Rules that are followed per host; a site that makes more candidates has no rules."""


@dataclass(slots=True)
class RuleRow:
    """A rule and its evidence; see the table `rewrite_rule`."""

    id: int
    rule: RewriteRule
    confirmed: int
    refuted: bool
    in_force: bool
    applied: int


def learn(work: Work, link_id: int, web: WebUrl, template: int | None, text_hash: int | None) -> None:
    """Take one fetched page in: confirm, refute, and apply what has come into force.

    Args:
        work: the transaction.
        link_id: the page's link.
        web: its final URL.
        template: hash of its template.
        text_hash: hash of its text; None when the text is too short to tell anything.
    """
    if text_hash is None:
        return
    book = _Book(work, bare_host(web.host))
    own = work.memory.rules.keys.apply(web)
    for mate in _same_text(work, link_id, text_hash):
        for rule in candidates(own, mate):
            book.confirm(rule, text_hash)
    _compare_values(work, book, own, link_id, template, text_hash)
    for row in book.followed():
        for partner in _partners(row.rule, own):
            text = _text_of(work, partner)
            if text is not None and differs_by(row.rule, own, partner):
                if text == text_hash:
                    book.confirm(row.rule, text_hash)
                else:
                    book.refute(row)
    book.settle()


class _Book:
    """The rules of one host, as evidence comes in."""

    def __init__(self, work: Work, host: str) -> None:
        self._work = work
        self._host = host
        self._rows = {
            row.rule: RuleRow(
                row.id,
                RewriteRule.from_id(row.rule),
                row.confirmed,
                bool(row.refuted),
                bool(row.in_force),
                row.applied,
            )
            for row in work.rows(sql.rules_of_host(), the_host=host)
        }
        self._changed: set[str] = set()

    def followed(self) -> list[RuleRow]:
        """Rules that are not refuted."""
        return [row for row in self._rows.values() if not row.refuted]

    def confirm(self, rule: RewriteRule, text_hash: int) -> None:
        """Count a pair with this text for a rule, once."""
        row = self._row(rule)
        if row is None or row.refuted:
            return
        if self._work.run(sql.add_pair(), rule_id=row.id, pair=text_hash):
            row.confirmed += 1
            self._changed.add(rule.id)

    def refute(self, row: RuleRow) -> None:
        """The rule never applies again."""
        row.refuted = True
        self._changed.add(row.rule.id)

    def refute_rule(self, rule: RewriteRule) -> None:
        """As `refute`, of a rule that need not have been met."""
        row = self._row(rule)
        if row is not None and not row.refuted:
            self.refute(row)

    def _row(self, rule: RewriteRule) -> RuleRow | None:
        row = self._rows.get(rule.id)
        if row is None and len(self._rows) < MOST_RULES:
            made = self._work.insert(sql.add_rule(), host=self._host, rule=rule.id)
            row = self._rows[rule.id] = RuleRow(made, rule, 0, False, False, 0)
        return row

    def settle(self) -> None:
        """Decide which rules are in force now, write them back, and change keys where that is news."""
        needed = needed_confirmations(self._work.settings.delta)
        for rule in generalised(row.rule for row in self.followed() if row.confirmed):
            row = self._row(rule)
            if row is not None and not row.refuted and row.confirmed < needed:
                row.confirmed = needed
                self._changed.add(rule.id)
        changes = []
        for row in self._rows.values():
            in_force = not row.refuted and row.confirmed >= needed
            if in_force != row.in_force:
                row.in_force = in_force
                self._changed.add(row.rule.id)
                changes.append(row)
        if changes:
            rules = [row.rule for row in self._rows.values() if row.in_force]
            _put_in_force(self._work, self._host, rules)
        for row in changes:
            if row.in_force:
                row.applied += _rewrite_links(self._work, self._host, row.rule)
            else:
                _bring_back(self._work, self._host, row.rule)
        self._work.run_many(
            sql.save_rule(),
            [
                {
                    "the_id": row.id,
                    "confirmed": row.confirmed,
                    "refuted": row.refuted,
                    "in_force": row.in_force,
                    "applied": row.applied,
                }
                for row in self._rows.values()
                if row.rule.id in self._changed
            ],
        )


def _same_text(work: Work, link_id: int, text_hash: int) -> Iterator[WebUrl]:
    """Earlier pages with the same text, as the key rules leave their URLs."""
    for row in work.rows(sql.same_texts(), the_hash=text_hash, the_link=link_id, most=MOST_MATES):
        yield work.memory.rules.keys.apply(read(row.url))


def _compare_values(
    work: Work, book: _Book, own: WebUrl, link_id: int, template: int | None, text_hash: int
) -> None:
    """Pages that differ in the value of one parameter only say whether it matters."""
    if template is None or not own.query:
        return
    for row in work.rows(sql.template_mates(), the_template=template, the_link=link_id, most=MOST_MATES):
        mate = work.memory.rules.keys.apply(read(row.url))
        name = _only_other_value(own, mate)
        if name is None:
            continue
        rule = RewriteRule("drop_param", name)
        if row.text_hash == text_hash:
            book.confirm(rule, text_hash)
        else:
            book.refute_rule(rule)


def _only_other_value(a: WebUrl, b: WebUrl) -> str | None:
    """The parameter that has another value in the one URL than in the other, all else being equal."""
    if a.path != b.path or not a.query or not b.query:
        return None
    left, right = a.query.split("&"), b.query.split("&")
    if len(left) != len(right):
        return None
    other = [(x, y) for x, y in zip(sorted(left), sorted(right), strict=True) if x != y]
    names = {field.partition("=")[0] for pair in other for field in pair}
    return names.pop() if len(other) == 1 and len(names) == 1 else None


def _partners(rule: RewriteRule, web: WebUrl) -> Iterator[WebUrl]:
    """URLs that this one would be paired with under a rule: without what the rule drops, and with it."""
    shorter = RewriteSet([rule]).apply(web)
    if shorter.url != web.url:
        yield shorter
        return
    if rule.kind == "drop_param_value":
        field = rule.name if rule.value is None else f"{rule.name}={rule.value}"
        fields = sorted([*(web.query.split("&") if web.query else ()), field])
        yield assemble(web, web.scheme, web.host, web.path, "&".join(fields))
    elif rule.kind == "drop_last_segment":
        slash = rule.name.startswith("/")
        if slash != web.path.endswith("/"):
            yield assemble(web, web.scheme, web.host, web.path + rule.name, web.query)


def _text_of(work: Work, web: WebUrl) -> int | None:
    """Hash of the text that was fetched under a URL's own key; None when nothing was."""
    key = work.memory.rules.key(web)
    digest = key_hash(key)
    for row in work.rows_in(links_sql.find_by_hash, links_sql.HASHES, [digest]):
        if row.visits and key_of(work, row.key, row.url) == key:
            found = work.first(sql.text_of(), the_link=row.id)
            return None if found is None else int(found.text_hash)
    return None


def _put_in_force(work: Work, host: str, rules: Iterable[RewriteRule]) -> None:
    chosen = list(rules)
    if chosen:
        work.memory.rewrites[host] = RewriteSet(chosen)
    else:
        work.memory.rewrites.pop(host, None)
    work.crawl.rules += 1


def _rewrite_links(work: Work, host: str, rule: RewriteRule) -> int:
    """Remake the keys of a host's links; returns how many changed.

    Those of finished links too: else each page that was fetched under its longer name would be fetched once more
    under the shorter one.
    """
    changed = 0
    for row in _reached(work, host, rule, skipped=False):
        web = read(row.url)
        plain = work.memory.rules.key(web)
        key = work.memory.rewritten(web, plain)
        if key == key_of(work, row.key, row.url):
            continue
        digest = key_hash(key)
        same_hash = work.rows_in(links_sql.find_by_hash, links_sql.HASHES, [digest])
        other = next((found for found in same_hash if key_of(work, found.key, found.url) == key), None)
        if other is None:
            n = max((found.n + 1 for found in same_hash), default=0)
            work.run(sql.set_key(), the_id=row.id, key=None if key == plain else key, key_hash=digest, n=n)
            changed += 1
        else:
            changed += _one_of_two(work, row, rule, other)
    return changed


def _one_of_two(work: Work, row: Any, rule: RewriteRule, other: Any) -> int:
    """Two links are one page now: what was fetched stays, else what was there first; a lease is left alone."""
    if row.visits and not other.visits:
        row, other = other, row
    if row.state not in (LinkState.QUEUED, LinkState.WAITING) or row.visits:
        return 0
    _skip(work, row, rule, other)
    return 1


def _skip(work: Work, row: Any, rule: RewriteRule, other: Any) -> None:
    work.run(sql.skip(), the_id=row.id, reason=f"rewrite {rule.id}: the page of {other.url}"[:500])
    work.moved(LinkState(row.state), LinkState.SKIPPED)
    if row.state == LinkState.QUEUED:
        moves.refresh_heads(work, [row.lane_id])


def _bring_back(work: Work, host: str, rule: RewriteRule) -> None:
    """A rule was refuted: what it skipped is queued again."""
    mine = f"rewrite {rule.id}: "
    back = [row for row in _reached(work, host, rule, skipped=True) if row.reason.startswith(mine)]
    work.run_many(links_sql.queue_again(), [{"the_id": row.id} for row in back])
    work.moved(LinkState.SKIPPED, LinkState.QUEUED, len(back))
    moves.refresh_heads(work, (row.lane_id for row in back))


def _reached(work: Work, host: str, rule: RewriteRule, *, skipped: bool) -> Iterable[Any]:
    """Links of a host that a rule may change, found by what the rule drops."""
    text = rule.name if rule.kind != "drop_param_value" or rule.value is None else f"{rule.name}={rule.value}"
    escaped = text.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
    info = host_of(work, work.memory.politeness_name(host))
    return work.rows(sql.reached_links(skipped), the_host=info.id, needle=f"%{escaped}%")
