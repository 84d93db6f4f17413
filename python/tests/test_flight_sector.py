"""Conflicts, congestion and mid-airs equal the reference's, on the boundaries too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import golden
import pytest

from skyrail.flight_numpy import Flight4DEnv
from skyrail.flight_sector import (
    MID_AIR_DISTANCE,
    MID_AIR_VERTICAL,
    SEPARATION,
    VERTICAL_SEPARATION,
    Aircraft,
    Conflict,
    count_closer,
    predicted_conflicts,
)

CRAFTED = golden.load("crafted")
CONFLICTS = golden.load("conflicts")


def _check_conflicts(got: Sequence[Conflict], want: list[dict[str, Any]]) -> None:
    assert [(c.i, c.j) for c in got] == [(c["i"], c["j"]) for c in want]
    for conflict, expected in zip(got, want, strict=True):
        for name in ("t_enter", "t_cpa", "duration", "d_cpa", "d_alt", "severity"):
            figure = getattr(conflict, name)
            assert golden.close(figure, expected[name]), (name, figure, expected[name])


@pytest.mark.parametrize("case", CRAFTED, ids=lambda c: c["name"])
def test_crafted_situation_equals_the_reference(case: dict[str, Any]) -> None:
    aircraft = [Aircraft(*map(float, state)) for state in case["flights"]]
    _check_conflicts(predicted_conflicts(aircraft, case["horizon"]), case["conflicts"])
    assert count_closer(aircraft, SEPARATION, VERTICAL_SEPARATION) == case["congestion"]
    mid_airs = count_closer(aircraft, MID_AIR_DISTANCE, MID_AIR_VERTICAL)
    assert (mid_airs > 0) == case["collision"]


@pytest.mark.parametrize("case", CONFLICTS, ids=lambda c: f"{c['seed']}-step-{c['step']}")
def test_predicted_conflicts_of_an_idle_episode_equal_the_reference(case: dict[str, Any]) -> None:
    env = Flight4DEnv()
    env.reset(seed=case["seed"])
    for _ in range(case["step"]):
        env.step(0)
    _check_conflicts(predicted_conflicts(env.aircraft, case["horizon"]), case["conflicts"])
