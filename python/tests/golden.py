"""The golden data in ../flight/testdata, recorded from the reference implementation."""

from __future__ import annotations

import base64
import gzip
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

TESTDATA = Path(__file__).resolve().parents[2] / "flight" / "testdata"

TOLERANCE = 1e-9  # relative or absolute


def load(name: str) -> Any:  # noqa: ANN401 - JSON
    with gzip.open(TESTDATA / f"{name}.json.gz", "rt", encoding="utf-8") as file:
        return json.load(file)


def observation(encoded: str) -> NDArray[np.float32]:
    return np.frombuffer(base64.b64decode(encoded), "<f4")


def close(got: float, want: str | float) -> bool:
    """Whether a figure equals the golden decimal up to the tolerance."""
    return math.isclose(got, float(want), rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def all_close(got: list[float], want: list[str | float]) -> bool:
    return len(got) == len(want) and all(map(close, got, want))
