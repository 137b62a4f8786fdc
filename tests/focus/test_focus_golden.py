"""The golden vectors of tests/golden, at the tolerances that its README states."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from pagesift_store.focus import harvest, model, stats, weights

GOLDEN = Path(__file__).parent.parent / "golden"
DELTA = 0.05


def load(name: str) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = json.loads((GOLDEN / name).read_text(encoding="utf-8"))
    return loaded


def sequences(name: str) -> Any:
    return pytest.mark.parametrize("sequence", [pytest.param(s, id=s["name"]) for s in load(name)])


def test_wilson_vectors() -> None:
    records = load("wilson.json")
    assert len(records) == 133
    for record in records:
        lower, upper = stats.wilson(record["hits"], record["n"], record["delta"])
        for bound, wanted in ((lower, record["lower"]), (upper, record["upper"])):
            assert math.isclose(bound, wanted, rel_tol=0, abs_tol=1e-12), record
            assert wanted == 0 or math.isclose(bound, wanted, rel_tol=1e-9), record
        if record["n"] and record["hits"] == 0:
            assert lower == 0.0 == record["lower"]
        if record["n"] and record["hits"] == record["n"]:
            assert upper == 1.0 == record["upper"]


@sequences("harvest.json")
def test_harvest_vectors(sequence: dict[str, Any]) -> None:
    counts: dict[str, list[int]] = {}
    pages = hits = 0
    states = {state["step"]: state["parts"] for state in sequence["states"]}
    for step in range(len(sequence["observations"]) + 1):
        if step:
            observation = sequence["observations"][step - 1]
            part = counts.setdefault(observation["part"], [0, 0])
            part[0] += 1
            part[1] += observation["hit"]
            pages += 1
            hits += observation["hit"]
        parts = states.pop(step, None)
        if parts is None:
            continue
        for name, wanted in parts.items():
            own = counts.get(name, [0, 0])
            assert own == [wanted["pages"], wanted["hits"]]
            assert harvest.is_dry(*own, pages, hits, DELTA) is wanted["is_dry"], (step, name)
            assert harvest.is_proven(*own, pages, hits, DELTA) is wanted["is_proven"], (step, name)
    assert not states


@sequences("link_model.json")
def test_link_model_vectors(sequence: dict[str, Any]) -> None:
    posterior = model.Posterior.prior(sequence["prior"])
    states = {state["step"]: state for state in sequence["states"]}
    changed_steps = []
    for step in range(len(sequence["samples"]) + 1):
        changed = False
        if step:
            sample = sequence["samples"][step - 1]
            posterior, changed = posterior.updated(sample["x"], sample["hit"], DELTA)
        if changed:
            changed_steps.append(step)
        wanted = states.pop(step, None)
        if wanted is None:
            continue
        assert posterior.mean == pytest.approx(tuple(wanted["mean"]), rel=1e-9, abs=1e-9)
        assert posterior.precision == pytest.approx(tuple(wanted["precision"]), rel=1e-9, abs=1e-9)
        assert posterior.used == pytest.approx(tuple(wanted["used"]), rel=1e-6, abs=1e-9)
        assert changed is wanted["changed"]
    assert changed_steps == sequence["changed_steps"]
    assert not states


@sequences("term_weights.json")
def test_term_weight_vectors(sequence: dict[str, Any]) -> None:
    df = [0] * sequence["terms"]
    states = {state["step"]: state for state in sequence["states"]}
    for step in range(len(sequence["masks"]) + 1):
        if step:
            mask = int(sequence["masks"][step - 1])
            df = [count + (mask >> i & 1) for i, count in enumerate(df)]
        wanted = states.pop(step, None)
        if wanted is None:
            continue
        assert (step, df) == (wanted["pages"], wanted["df"])
        current = weights.term_weights(step, df)
        assert current == pytest.approx(tuple(wanted["weights"]), rel=1e-6, abs=0)
        for asked in wanted["coverage"]:
            unsigned = int(asked["mask"])
            covered = weights.coverage(unsigned, current)
            assert covered == pytest.approx(asked["value"], rel=2e-6, abs=0)
            assert weights.coverage(unsigned - (unsigned >> 63 << 64), current) == covered
    assert not states


def test_idf_vectors() -> None:
    records = load("idf.json")
    assert len(records) == 216
    for record in records:
        weight = weights.term_weight(record["n"], record["df"])
        assert weight == pytest.approx(record["weight"], rel=1e-6, abs=0)
