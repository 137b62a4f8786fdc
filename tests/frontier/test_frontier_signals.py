"""What a known link takes from another find of it: the same, whether or not a close look was spared."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pagesift_store import FoundLink
from pagesift_store.transactions.signals import Carrier, Signals, nearby_of
from pagesift_store.urls.reading import read

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pagesift_store import Frontier
    from pagesift_store.transactions.work import Work
    from pagesift_store.urls.reading import WebUrl

SEGMENTS = (
    "",
    "en",
    "fr",
    "it",
    "news",
    "visas",
    "2020",
    "05",
    "fees-2020",
    "student",
    "index.html",
    "index.fr.html",
)
LONG = "what has happened on this site in the last year"
TEXTS = ("", "News", "Read more", "student visas", "Fees", "all about the fees of next year", LONG)

paths = st.lists(st.sampled_from(SEGMENTS), max_size=5).map("/".join)
finds = st.tuples(
    st.sampled_from(TEXTS),
    st.sampled_from(TEXTS),
    st.floats(0.0, 1.0),
    st.sampled_from([None, "en", "fr"]),
    st.sampled_from([None, "a.example/news"]),
)


class Thorough(Signals):
    """Looks closely at every find."""

    def _may_have_floor(self, web: WebUrl, carrier: Carrier) -> bool:
        return True


@pytest.fixture
def opened(frontier: Callable[..., Frontier], tmp_path: Path) -> dict[str, Frontier]:
    """A frontier of each focus, with a seed."""
    found = {focus: frontier(path=tmp_path / f"{focus}.db", focus=focus) for focus in ("full", "reference")}
    for each in found.values():
        each.add(["https://a.example/"])
    return found


@example("en/study", (LONG, "", 0.0, None, None), ("Read more", "", 0.0, None, None), "a.example", "full")
@example(
    "x/y/z/p1", (LONG, "", 0.0, None, None), (LONG, "", 0.0, None, "a.example/x/y/z/p"), "a.example", "full"
)
@given(
    paths, finds, finds, st.sampled_from(["a.example", "b.example"]), st.sampled_from(["full", "reference"])
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=300)
def test_a_find_that_is_no_better_needs_no_close_look(
    opened: dict[str, Frontier],
    path: str,
    first: tuple[Any, ...],
    second: tuple[Any, ...],
    host: str,
    focus: str,
) -> None:
    web = read(f"https://{host}/{path}")

    def found(kind: type[Signals], work: Work, find: tuple[Any, ...], link: Any = None) -> Any:
        anchor, context, relevance, language, series = find
        text = FoundLink(web.url, anchor, context)
        carrier = Carrier(2, 1, relevance, language, series=series)
        signals = kind(work, nearby_of(work.memory.terms, [text]))
        if link is None:
            return signals.of(web, text, carrier, 0.9)
        return signals.better(link, web, text, carrier)

    def both(work: Work) -> tuple[Any, Any]:
        signal, score = found(Signals, work, first)
        link = SimpleNamespace(url=web.url, score=score, **signal._asdict())
        return found(Signals, work, second, link), found(Thorough, work, second, link)

    quick, thorough = opened[focus]._write(both)
    assert quick == thorough
