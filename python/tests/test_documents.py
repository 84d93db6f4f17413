"""What the guides show runs."""

from __future__ import annotations

from pathlib import Path

import documents
import pytest


@pytest.mark.parametrize(("page", "at_least"), [("python-flight.md", 5), ("python-rail.md", 4)])
def test_the_examples_run(
    page: str, at_least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert documents.run(page, heavy=False) >= at_least
