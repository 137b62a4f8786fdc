"""Learned rewrite rules at work: what confirms and refutes them, and the keys that they change (RULES 1.7).

A rule is born when two pages of one host with the same text differ in just one thing. Distinct pairs confirm it, each
text once, because a server that answers every unknown URL alike would confirm anything. A pair that differs by
the rule and in its text refutes it for good. Once in force it makes the keys of new links, and remakes those of the
host's links; of two that are one page now, one is skipped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pagesift_store.storage.statements import links as links_sql
from pagesift_store.storage.statements import rewrites as sql
from pagesift_store.transactions import remaking
from pagesift_store.transactions.keys import key_of
from pagesift_store.urls.parts import bare_host
from pagesift_store.urls.pipeline import key_hash
from pagesift_store.urls.reading import assemble
from pagesift_store.urls.rewrite import (
    RewriteRule,
    RewriteSet,
    candidates,
    differs_by,
    generalised,
    needed_confirmations,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pagesift_store.transactions.work import Work
    from pagesift_store.urls.reading import WebUrl

MOST_MATES = 20
"""Earlier pages that one page is compared with, for the same text and for the same template each."""

MOST_RULES = 200
"""Rules of a host whose evidence is kept; beyond that the oldest candidate gives way to a new one."""


@dataclass(slots=True)
class RuleRow:
    """A rule and its evidence; see the table `rewrite_rule`."""

    id: int
    rule: RewriteRule
    confirmed: int
    refuted: bool
    in_force: bool
    applied: int


def learn(
    work: Work, link_id: int, web: WebUrl, template: int | None, text_hash: int | None, *, repeats: bool
) -> None:
    """Take one fetched page in: confirm, refute, and apply what has come into force.

    Args:
        work: the transaction.
        link_id: the page's link.
        web: its final URL.
        template: hash of its template.
        text_hash: hash of its text; None when the text is too short to tell anything.
        repeats: whether another link's page had the same text.
    """
    if text_hash is None:
        return
    book = _Book(work, bare_host(web.host))
    own = work.memory.rules.keys.apply(web)
    for mate in _same_text(work, link_id, text_hash) if repeats else ():
        for rule in candidates(own, mate):
            book.confirm(rule, text_hash)
    _compare_values(work, book, own, link_id, template, text_hash)
    pairs = [(row, partner) for row in book.followed() for partner in _partners(row.rule, own)]
    texts = _texts_of(work, {partner.url: partner for _, partner in pairs}.values())
    for row, partner in pairs:
        text = texts.get(partner.url)
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
            for row in self._stored()
        }
        self._changed: set[str] = set()

    def _stored(self) -> Sequence[Any]:
        """The host's rows; that it has none, as most hosts do, is remembered until one is made."""
        ruleless = self._work.memory.ruleless
        if self._host in ruleless:
            return ()
        rows = self._work.rows(sql.rules_of_host(), the_host=self._host)
        if not rows:
            ruleless.add(self._host)
        return rows

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
        if row is None and (len(self._rows) < MOST_RULES or self._make_room()):
            made = self._work.insert(sql.add_rule(), host=self._host, rule=rule.id)
            self._work.memory.ruleless.discard(self._host)
            row = self._rows[rule.id] = RuleRow(made, rule, 0, False, False, 0)
        return row

    def _make_room(self) -> bool:
        """Drop the oldest rule that is neither in force nor refuted; a refuted one must never be met as new."""
        oldest = next((row for row in self._rows.values() if not row.in_force and not row.refuted), None)
        if oldest is None:
            return False
        del self._rows[oldest.rule.id]
        self._changed.discard(oldest.rule.id)
        self._work.run(sql.drop_rule(), the_id=oldest.id)
        return True

    def _generalise(self, needed: int) -> None:
        """A parameter goes whatever its value, once two values were confirmed, and by distinct texts."""
        for rule in generalised(row.rule for row in self.followed() if row.confirmed):
            row = self._row(rule)
            if row is None or row.refuted or row.confirmed >= needed:
                continue
            values = [
                one.id
                for one in self.followed()
                if one.rule.kind == "drop_param_value" and one.rule.name == rule.name
            ]
            texts = {
                pair.pair for value in values for pair in self._work.rows(sql.pairs_of(), the_rule=value)
            }
            if len(texts) >= needed:
                row.confirmed = needed
                self._changed.add(rule.id)

    def settle(self) -> None:
        """Decide which rules are in force now, write them back, and change keys where that is news."""
        if not self._rows:
            return
        needed = needed_confirmations(self._work.settings.delta)
        self._generalise(needed)
        changes = []
        for row in self._rows.values():
            in_force = not row.refuted and row.confirmed >= needed
            if in_force != row.in_force:
                row.in_force = in_force
                self._changed.add(row.rule.id)
                changes.append(row)
        if changes:
            rules = [row.rule for row in self._rows.values() if row.in_force]
            remaking.put_in_force(self._work, self._host, rules)
        for row in changes:
            if row.in_force:
                row.applied += remaking.rewrite_links(self._work, self._host, row.rule)
            else:
                remaking.bring_back(self._work, self._host, row.rule)
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


def _as_keyed(work: Work, url: str) -> WebUrl:
    """A stored URL as the key rules leave it: rules are learned from what these do not cover."""
    return work.memory.rules.keys.apply(work.memory.rules.read(url))


def _same_text(work: Work, link_id: int, text_hash: int) -> Iterator[WebUrl]:
    """Earlier pages with the same text, as the key rules leave their URLs."""
    for row in work.rows(sql.same_texts(), the_hash=text_hash, the_link=link_id, most=MOST_MATES):
        yield _as_keyed(work, row.url)


def _compare_values(
    work: Work, book: _Book, own: WebUrl, link_id: int, template: int | None, text_hash: int
) -> None:
    """Pages that differ in the value of one parameter only say whether it matters."""
    if template is None or not own.query:
        return
    for row in work.rows(sql.template_mates(), the_template=template, the_link=link_id, most=MOST_MATES):
        mate = _as_keyed(work, row.url)
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


def _texts_of(work: Work, webs: Iterable[WebUrl]) -> dict[str, int]:
    """URL → hash of the text that was fetched under its own key, where one was."""
    by_key = {key: web.url for web in webs for key in [work.memory.rules.key(web)]}
    hashes = sorted({key_hash(key) for key in by_key})
    found = {}
    for row in work.rows_in(links_sql.find_by_hash, links_sql.HASHES, hashes) if hashes else ():
        url = by_key.get(key_of(work, row.key, row.url)) if row.visits else None
        text = None if url is None else work.first(sql.text_of(), the_link=row.id)
        if url is not None and text is not None:
            found[url] = int(text.text_hash)
    return found
