"""The first rows of a store."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, insert

from pagesift_store.errors import InvalidQuery
from pagesift_store.focus.model import FEATURES, PRIOR_PRECISION, STEADY_PRECISION, Posterior
from pagesift_store.focus.text import QueryTerms
from pagesift_store.settings import Settings
from pagesift_store.storage import schema, tables
from pagesift_store.storage.statements import crawl as sql
from pagesift_store.urls.keys import key_rules

if TYPE_CHECKING:
    from collections.abc import Callable


def filler(query: str, settings: Settings, now: float) -> Callable[[Connection], None]:
    """What writes the first rows of a crawl about a query.

    Raises:
        InvalidQuery: more than 64 terms.
    """
    terms = query_terms(query, settings.language)
    rules = key_rules(settings.key_rules)

    def fill(connection: Connection) -> None:
        connection.execute(
            insert(tables.crawl),
            {
                "id": 1,
                "store_id": secrets.token_hex(8),
                "created_at": now,
                "query": query,
                "settings": settings.to_json(),
                "key_rules": rules.name,
                "key_version": rules.version,
                "seed": _seed(query),
            },
        )
        if terms.words:
            connection.execute(
                insert(tables.term),
                [
                    {"bit": bit, "word": word, "stem": stem}
                    for bit, (word, stem) in enumerate(zip(terms.words, terms.stems, strict=True))
                ],
            )
        if len(terms) > 1:
            connection.execute(insert(tables.pair), [{"bit": bit} for bit in range(len(terms) - 1)])
        connection.execute(insert(tables.posterior), _model(settings))
        schema.follow_bound(connection, bounded=settings.max_queue is not None)

    return fill


def _model(settings: Settings) -> list[dict[str, Any]]:
    """The rows of the link model before it has learned anything."""
    steady = settings.focus == "full"
    prior = Posterior.prior(precision=STEADY_PRECISION if steady else PRIOR_PRECISION)
    names, weights = (*FEATURES, "intercept"), (*prior.used, None)
    return [
        {"feature": name, "position": i, "mean": mean, "precision": precision, "weight": weight}
        for i, (name, mean, precision, weight) in enumerate(
            zip(names, prior.mean, prior.precision, weights, strict=True)
        )
    ]


def query_terms(query: str, language: str) -> QueryTerms:
    """The terms of a query.

    Raises:
        InvalidQuery: more than 64.
    """
    try:
        return QueryTerms.parse(query, language)
    except ValueError as error:
        raise InvalidQuery(str(error)) from error


def stored(connection: Connection) -> tuple[str, Settings]:
    """Query and settings of an open store."""
    row = connection.execute(sql.read_crawl()).one()
    return row.query, Settings.from_json(row.settings)


def _seed(query: str) -> int:
    """Seeds the jitter by the query, so that two runs of one crawl are alike and two crawls are not."""
    return sum(ord(char) * (i + 1) for i, char in enumerate(query)) & 0x7FFFFFFF
