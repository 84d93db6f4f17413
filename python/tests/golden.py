"""The golden data in ../flight/testdata, recorded from the reference implementation."""

from __future__ import annotations

import base64
import gzip
import json
import math
from collections.abc import Callable
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


def check_episode(
    env: Any,  # noqa: ANN401 - a Flight4DEnv, the starter's or the engine's
    episode: dict[str, Any],
    check: Callable[[NDArray[np.float32], str, str], None],
) -> None:
    """Fly a recorded episode; check(observation, recorded one, where) judges observations."""
    observation, _ = env.reset(seed=episode["seed"])
    check(observation, episode["first_obs"], "after reset")
    for number, want in enumerate(episode["steps"], start=1):
        observation, reward, terminated, truncated, info = env.step(want["action"])
        where = f"step {number}"
        got = {
            "terminated": terminated,
            "truncated": truncated,
            "congestion": info["congestion_events"],
            **{
                key: info[key]
                for key in ("clearances", "invalids", "aircraft_involved", "collided")
            },
        }
        assert got == {key: want[key] for key in got}, where
        assert close(reward, want["reward"]), (where, reward, want["reward"])
        assert close(info["exit_miss"], want["exit_miss"]), where
        assert all_close(info["dt_exit"].tolist(), want["dt_exit"]), where
        assert all_close(info["d_alt_exit"].tolist(), want["d_alt_exit"]), where
        for index, (f, state) in enumerate(zip(env.sim.flights, want["flights"], strict=True)):
            assert all_close([f.x, f.y, f.altitude, f.velocity], state), (where, index)
        check(observation, want["obs"], where)
    assert info["congestion_total"] == sum(step["congestion"] for step in episode["steps"])
