"""The README's Python runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parents[1]


def test_the_main_job_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    readme = (ROOT / "README.md").read_text()
    block = re.search(r"<!-- run by tests/test_readme.py -->\n```python\n(.*?)```", readme, re.DOTALL)
    assert block is not None
    monkeypatch.chdir(tmp_path)
    code = block[1].replace("wait=5", "wait=0")  # the demonstration host rests a second; the test does not
    exec(compile(code, "README.md", "exec"), {})
    assert "<LinkState.DONE: 'done'>: 1" in capsys.readouterr().out


def test_the_links_lead_somewhere() -> None:
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
