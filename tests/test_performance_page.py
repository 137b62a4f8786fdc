"""The page on performance says what was measured last, and nothing else."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"


def _maker() -> Any:
    spec = importlib.util.spec_from_file_location("make_performance", DOCS / "make_performance.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAKER = _maker()


def test_the_page_and_the_plot_are_those_of_the_last_run() -> None:
    page = MAKER.PAGE.read_text(encoding="utf-8")
    assert MAKER.written(page) == page, "run `make figures`"
    assert all(f"<!-- measured: {name} -->" in page for name in MAKER.BLOCKS)
    assert MAKER.PLOT.read_text(encoding="utf-8") == MAKER.plot(MAKER.read("large.json")), (
        "run `make figures`"
    )


def test_costs_of_a_rate_and_of_a_time() -> None:
    assert MAKER._cost({"value": 50.0, "unit": "pages/s"}) == 20.0
    assert MAKER._cost({"value": 50.0, "unit": "ms"}) == 50.0


def test_a_figure_without_floor_or_bar_has_empty_cells() -> None:
    figure = {
        "name": "x",
        "value": 1.5,
        "unit": "s",
        "floor": None,
        "ratio": None,
        "bar": "",
        "met": None,
        "note": "",
    }
    machine = {"cores": 2, "system": "s", "python": "3", "sqlite": "3", "load": 0.1}
    assert "| x | 1.5 s |  |  |  |  |\n" in MAKER.figures_table({"machine": machine, "figures": [figure]})
