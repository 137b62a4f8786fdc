"""What must hold between the rows of a store, recomputed the slow way."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict
from contextlib import closing
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_STATES = ("queued", "leased", "waiting", "done", "dead", "skipped")
_EVIDENCE = 0.15


def violations(path: Path) -> list[str]:
    """Every count of a store that differs from its rows, and all that SQLite itself finds wrong."""
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        return list(_found(_Rows(connection)))


class _Rows:
    """The tables, whole, from one moment."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN")
        self.damage = [row[0] for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
        self.damage += [
            f"foreign key: {tuple(row)}" for row in connection.execute("PRAGMA foreign_key_check")
        ]
        self.indexes = {row["name"] for row in connection.execute("PRAGMA index_list(link)")}
        self.crawl = connection.execute("SELECT * FROM crawl").fetchone()
        self.terms = [row["weight"] for row in connection.execute("SELECT weight FROM term ORDER BY bit")]
        self.features = [
            row["weight"]
            for row in connection.execute("SELECT weight FROM posterior ORDER BY position")
            if row["weight"] is not None
        ]
        for table in ("link", "lane", "host", "part", "page", "owner"):
            setattr(self, table, {row["id"]: row for row in connection.execute(f"SELECT * FROM {table}")})
        self.lane_of = {row["id"]: self.lane[row["lane_id"]] for row in self.link.values()}

    link: dict[int, Any]
    lane: dict[int, Any]
    host: dict[int, Any]
    part: dict[int, Any]
    page: dict[int, Any]
    owner: dict[int, Any]


def _found(rows: _Rows) -> Iterator[str]:
    yield from rows.damage
    yield from _crawl(rows)
    yield from _hosts(rows)
    yield from _harvest(rows)
    yield from _scheduled(rows)
    yield from _heads(rows)
    yield from _visits(rows)
    yield from _limits(rows)
    yield from _scores(rows)
    bounded = json.loads(rows.crawl["settings"])["max_queue"] is not None
    yield from _differ("index of the worst links", "ix_link_worst" in rows.indexes, bounded)


def _differ(what: str, stored: Any, counted: Any) -> Iterator[str]:
    if stored != counted:
        yield f"{what}: stored {stored!r}, counted {counted!r}"


def _crawl(rows: _Rows) -> Iterator[str]:
    states = Counter(link["state"] for link in rows.link.values())
    counted = [page for _, page in sorted(rows.page.items()) if page["counted"]]
    relevance = 0.0
    for page in counted:
        relevance += page["relevance"]
    expected = {state: states[state] for state in _STATES} | {
        "fetched": sum(link["visits"] > 0 for link in rows.link.values()),
        "pages": len(counted),
        "hits": sum(page["hit"] for page in counted),
        "relevant": sum(page["relevance"] >= _EVIDENCE for page in counted),
        "relevance": relevance,
    }
    for name, value in expected.items():
        yield from _differ(f"crawl.{name}", rows.crawl[name], value)
    if rows.crawl["links"] < max(rows.link, default=0):
        yield f"crawl.links {rows.crawl['links']} is below the last id {max(rows.link)}"
    twice = [link for link, times in Counter(page["link_id"] for page in counted).items() if times > 1]
    yield from _differ("links counted twice", twice, [])


def _hosts(rows: _Rows) -> Iterator[str]:
    expected: dict[int, Counter[str]] = defaultdict(Counter)
    for link_id, link in rows.link.items():
        host = rows.lane_of[link_id]["host_id"]
        expected[host]["in_flight"] += link["state"] == "leased"
        expected[host]["pages"] += link["visits"] > 0
    for lane in rows.lane.values():
        expected[lane["host_id"]]["lanes"] += 1
    for host_id, host in rows.host.items():
        for name in ("in_flight", "pages", "lanes"):
            yield from _differ(f"host {host['name']}.{name}", host[name], expected[host_id][name])


def _harvest(rows: _Rows) -> Iterator[str]:
    parts: dict[int, Counter[str]] = defaultdict(Counter)
    lanes: dict[int, list[float]] = defaultdict(list)
    for _, page in sorted(rows.page.items()):
        if page["counted"]:
            lane = rows.lane_of[page["link_id"]]
            lanes[lane["id"]].append(page["relevance"])
            for part in (lane["subtree_id"], lane["cluster_id"]):
                parts[part]["pages"] += 1
                parts[part]["hits"] += page["hit"]
    for part_id, part in rows.part.items():
        for name in ("pages", "hits"):
            yield from _differ(f"part {part['key']}.{name}", part[name], parts[part_id][name])
    for lane_id, lane in rows.lane.items():
        relevance = 0.0
        for value in lanes[lane_id]:
            relevance += value
        yield from _differ(f"lane {lane_id}.pages", lane["pages"], len(lanes[lane_id]))
        yield from _differ(f"lane {lane_id}.relevance", lane["relevance"], relevance)


def _scheduled(rows: _Rows) -> Iterator[str]:
    leased = Counter(
        rows.lane_of[link_id]["cluster_id"]
        for link_id, link in rows.link.items()
        if link["state"] == "leased"
    )
    for part_id, part in rows.part.items():
        if part["scheduled"] < leased[part_id]:
            yield f"part {part['key']}.scheduled {part['scheduled']} is below its {leased[part_id]} leases"
    scheduled = sum(part["scheduled"] for part in rows.part.values())
    yield from _differ("crawl.leases", rows.crawl["leases"], scheduled)
    for link in rows.link.values():
        if link["state"] == "leased" and link["owner_id"] not in rows.owner:
            yield f"link {link['id']} is leased by nobody"


def _heads(rows: _Rows) -> Iterator[str]:
    queued: dict[int, list[tuple[bool, float, int]]] = defaultdict(list)
    for link_id, link in rows.link.items():
        if link["state"] == "queued":
            queued[link["lane_id"]].append((bool(link["demoted"]), -link["score"], link_id))
    for lane_id, lane in rows.lane.items():
        best = min(queued[lane_id], default=None)
        head = lane["head_id"] and (bool(lane["head_demoted"]), -lane["head_score"], lane["head_id"])
        yield from _differ(f"head of lane {lane_id}", head, best)


def _visits(rows: _Rows) -> Iterator[str]:
    """Each lane knows which of its pages is to be visited first."""
    waiting: dict[int, list[tuple[float, int]]] = defaultdict(list)
    for link_id, link in rows.link.items():
        if link["state"] == "waiting" and link["visits"]:
            waiting[link["lane_id"]].append((link["due_at"], link_id))
    for lane_id, lane in rows.lane.items():
        stored = lane["again_id"] and (lane["again_due"], lane["again_id"])
        yield from _differ(f"next visit of lane {lane_id}", stored, min(waiting[lane_id], default=None))


def _limits(rows: _Rows) -> Iterator[str]:
    """Subtrees count their fetched links, and lanes are shut exactly where a limit is reached."""
    fetched = Counter(
        rows.lane_of[link_id]["subtree_id"] for link_id, link in rows.link.items() if link["visits"]
    )
    for part_id, part in rows.part.items():
        yield from _differ(f"part {part['key']}.fetched", part["fetched"], fetched[part_id])
    settings = json.loads(rows.crawl["settings"])
    of_host, of_part = settings["max_pages_per_host"], settings["max_pages_per_part"]
    for lane_id, lane in rows.lane.items():
        full = (of_host is not None and rows.host[lane["host_id"]]["pages"] >= of_host) or (
            of_part is not None and fetched[lane["subtree_id"]] >= of_part
        )
        yield from _differ(f"lane {lane_id}.shut", bool(lane["shut"]), full)


def expected_score(link: Any, features: list[float], terms: list[float]) -> float:
    """The score of a row of the link table, written down a second time, in plain numbers."""
    anchor, url, context, parent, phrase = features
    linear = anchor * _coverage(link["anchor_hits"], terms)
    linear += url * _coverage(link["url_hits"], terms)
    linear += context * _coverage(link["context_hits"], terms)
    linear += parent * link["parent_relevance"]
    linear += phrase * link["phrase"]
    return max(link["floor"], link["factor"] * linear) * link["decay"]


def _coverage(mask: int, terms: list[float]) -> float:
    hit = total = 0.0
    for bit, weight in enumerate(terms):
        total += weight
        if mask % 2**64 // 2**bit % 2:
            hit += weight
    return hit / total if terms else 0.0


def _scores(rows: _Rows) -> Iterator[str]:
    """Every unfinished link has the score that the weights in use give it, to the bit."""
    for link_id, link in rows.link.items():
        if link["state"] in ("queued", "leased", "waiting") and not link["given"]:
            score = expected_score(link, rows.features, rows.terms)
            yield from _differ(f"score of link {link_id}", link["score"], score)
