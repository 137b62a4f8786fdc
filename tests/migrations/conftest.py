"""Revisions that exist for a test only, on top of the real ones."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest
from alembic.script import ScriptDirectory

from pagesift_store.storage import schema

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NEXT = "9999"


@pytest.fixture
def next_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Adds a revision after the head, given the body of its upgrade; returns the folder that holds it."""

    def add(body: str) -> Path:
        folder = tmp_path / "versions"
        folder.mkdir()
        source = "import os, signal\nimport sqlalchemy as sa\nfrom alembic import op\n"
        source += f"revision = {NEXT!r}\ndown_revision = {schema.HEAD!r}\n"
        (folder / "next.py").write_text(f"{source}\ndef upgrade():\n    {body}\n")
        migrations: Any = files("pagesift_store.migrations")
        script = ScriptDirectory(migrations, version_locations=[migrations / "versions", folder])
        monkeypatch.setattr(schema, "_script", lambda: script)
        monkeypatch.setattr(schema, "HEAD", NEXT)
        return folder

    return add
