"""What is installed is what is in the checkout: the list of packages is written by hand."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from importlib.metadata import entry_points
from importlib.resources import files
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
MAPPED = SETUPTOOLS["package-dir"]


def _package(folder: Path) -> str:
    """The name under which a folder of the checkout is installed."""
    parts = folder.relative_to(ROOT).parts
    moved = {where: name for name, where in MAPPED.items()}
    return ".".join((moved.get(parts[0], parts[0]), *parts[1:]))


def test_every_folder_with_code_is_a_listed_package() -> None:
    folders = [
        init.parent
        for top in ("pagesift_store", *MAPPED.values())
        for init in (ROOT / top).rglob("__init__.py")
    ]
    assert sorted(SETUPTOOLS["packages"]) == sorted(map(_package, folders))


def test_every_module_is_in_a_package() -> None:
    folders = {module.parent for module in (ROOT / "pagesift_store").rglob("*.py")}
    assert [folder for folder in folders if not (folder / "__init__.py").exists()] == []


def test_revisions_and_their_template_are_package_data() -> None:
    """`versions/` is no package: without the pattern a wheel has no revisions, and upgrades by doing nothing."""
    patterns = SETUPTOOLS["package-data"]["pagesift_store.migrations"]
    folder = ROOT / "migrations"
    needed = [path.relative_to(folder).as_posix() for path in (folder / "versions").glob("*.py")]
    assert needed
    for name in (*needed, "script.py.mako"):
        assert any(fnmatch(name, pattern) for pattern in patterns), name


def test_the_package_says_that_it_is_typed() -> None:
    assert "py.typed" in SETUPTOOLS["package-data"]["pagesift_store"]
    assert files("pagesift_store").joinpath("py.typed").is_file()


def test_the_command_is_installed() -> None:
    (command,) = entry_points(group="console_scripts", name="pagesift-store")
    assert command.value == "pagesift_store.cli:main"
    assert callable(command.load())


@pytest.mark.parametrize("folder", ["tests"])
def test_test_folders_are_no_packages(folder: str) -> None:
    """One `__init__.py` there would make every test module's name depend on where pytest is started."""
    assert list((ROOT / folder).rglob("__init__.py")) == []


def test_a_process_loads_no_more_than_it_uses() -> None:
    """Fetchers are started by cron, and questions asked one by one: each pays for all that is imported."""
    code = "import sys, pagesift_store.cli; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split()
    for name in ("sqlalchemy.dialects.postgresql", "sqlalchemy.orm", "alembic", "ctypes"):
        assert name not in loaded
