"""What the guides show with Stable-Baselines3 runs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import documents


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert documents.run("python-flight.md", heavy=True) == 1
    assert (tmp_path / "policy.zip").is_file()
