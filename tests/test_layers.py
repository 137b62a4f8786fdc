"""Who may import whom, how long things may get, and what is public."""

from __future__ import annotations

import ast
import types
from pathlib import Path

import pytest

import pagesift_store

ROOT = Path(__file__).parent.parent
PACKAGE = "pagesift_store"

FRONTIER = {"storage", "focus", "urls", "records", "reports", "settings", "errors"}
ARROWS = {
    "cli": {"frontier", "inspector", "upkeep", "storage.schema", "settings", "records", "errors", "html"},
    "html": {"records", "errors", "charset"},
    "charset": set(),
    "frontier": FRONTIER | {"transactions", "inspector", "waiting"},
    "inspector": FRONTIER | {"transactions"},
    "upkeep": FRONTIER | {"transactions"},  # beside the frontier: functions of a file, not calls of a crawl
    "transactions": FRONTIER,
    "waiting": FRONTIER,
    "storage": {"records", "errors"},
    "focus": set(),
    "urls": {"errors"},
    "settings": {"errors"},
    "records": {"errors"},
    "reports": set(),
    "errors": set(),
    "migrations": {"storage"},
    "migrations.versions": {"migrations"},
}
"""Layer → what it may import of the rest of the package."""

LAZY = {("cli", "html")}
"""Imported inside functions only: what it needs is an extra."""

ONLY_URLS = {"yarl", "ada_url"}

MOST_LINES_OF_A_FUNCTION = 60
MOST_LINES_OF_A_MODULE = 450
LONGER = {
    "pagesift_store/frontier.py": "one method a call, each with its contract; the bodies are one to ten lines",
    "migrations/versions/0001_first.py:upgrade": "the whole first schema, column by column, as Alembic writes it",
    "migrations/versions/0001_first.py": "the same",
    "pagesift_store/storage/tables.py": "every table, with what every column means",
}
"""What is longer, with the reason."""


def _modules() -> dict[str, Path]:
    """Module name, as installed, → file."""
    found = {}
    for top, name in (
        ("pagesift_store", PACKAGE),
        ("cli", f"{PACKAGE}.cli"),
        ("migrations", f"{PACKAGE}.migrations"),
    ):
        for path in sorted((ROOT / top).rglob("*.py")):
            parts = path.relative_to(ROOT / top).with_suffix("").parts
            found[".".join((name, *(part for part in parts if part != "__init__")))] = path
    return found


MODULES = _modules()


def _layer(module: str) -> str:
    """The layer of a module of the package, "" for the package itself."""
    inside = module.removeprefix(PACKAGE).removeprefix(".")
    if inside.startswith("migrations.versions"):
        return "migrations.versions"
    return inside.partition(".")[0]


def _imports(module: str) -> list[tuple[str, bool]]:
    """Every absolute module name that a module imports, and whether at its top."""
    path = MODULES[module]
    tree = ast.parse(path.read_text())
    lazy = {
        id(node) for outer in ast.walk(tree) if isinstance(outer, ast.FunctionDef) for node in ast.walk(outer)
    }
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    found = []
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.rsplit(".", node.level - 1)[0] if node.level else ""
            source = ".".join(part for part in (above, node.module) if part)
            # `from package import module` names a module; anything else is in the module before it.
            names = [
                f"{source}.{alias.name}" if f"{source}.{alias.name}" in MODULES else source
                for alias in node.names
            ]
        found += [(name, id(node) not in lazy) for name in names]
    return found


def _allowed(layer: str, target: str) -> bool:
    return any(target == arrow or target.startswith(f"{arrow}.") for arrow in ARROWS[layer])


@pytest.mark.parametrize("module", [name for name in MODULES if _layer(name)])
def test_a_module_imports_only_what_its_layer_may(module: str) -> None:
    layer = _layer(module)
    for name, at_the_top in _imports(module):
        if name.partition(".")[0] != PACKAGE or _layer(name) == layer:
            continue
        target = name.removeprefix(f"{PACKAGE}.")
        assert _allowed(layer, target), f"{module} must not import {name}"
        assert not (at_the_top and (layer, _layer(name)) in LAZY), (
            f"{module} must import {name} in a function"
        )


def test_every_layer_has_its_arrows() -> None:
    assert {_layer(module) for module in MODULES} - {""} == set(ARROWS)


@pytest.mark.parametrize("library", sorted(ONLY_URLS))
def test_only_the_url_rules_know_the_url_libraries(library: str) -> None:
    users = {
        _layer(module)
        for module in MODULES
        for name, _ in _imports(module)
        if name.partition(".")[0] == library
    }
    assert users <= {"urls"}


@pytest.mark.parametrize("layer", ["focus", "urls"])
@pytest.mark.parametrize("library", ["sqlalchemy", "sqlite3", "time", "random", "os", "secrets"])
def test_decisions_know_neither_the_store_nor_the_clock(layer: str, library: str) -> None:
    users = [
        module
        for module in MODULES
        if _layer(module) == layer and library in {name.partition(".")[0] for name, _ in _imports(module)}
    ]
    assert users == []


@pytest.mark.parametrize("module", MODULES)
def test_functions_and_modules_stay_readable(module: str) -> None:
    path = MODULES[module]
    where = path.relative_to(ROOT).as_posix()
    source = path.read_text()
    if where not in LONGER:
        assert len(source.splitlines()) <= MOST_LINES_OF_A_MODULE
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and f"{where}:{node.name}" not in LONGER:
            first = node.body[0]
            described = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            start = first.end_lineno + 1 if described else node.lineno  # a long contract is no long function
            assert node.end_lineno - start < MOST_LINES_OF_A_FUNCTION, f"{where}:{node.name}"


@pytest.mark.parametrize("module", [entry for entry in LONGER if ":" not in entry])
def test_an_exception_that_is_no_longer_needed_goes(module: str) -> None:
    assert len((ROOT / module).read_text().splitlines()) > MOST_LINES_OF_A_MODULE


def test_all_that_is_public_is_listed() -> None:
    public = {
        name
        for name, value in vars(pagesift_store).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }
    assert set(pagesift_store.__all__) == public
    assert pagesift_store.__all__ == sorted(pagesift_store.__all__)


@pytest.mark.parametrize("module", ["errors", "records", "reports", "settings"])
def test_what_crosses_the_border_is_public(module: str) -> None:
    exported = __import__(f"{PACKAGE}.{module}", fromlist=["__all__"]).__all__
    assert set(exported) <= set(pagesift_store.__all__)
