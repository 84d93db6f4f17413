"""Scenarios: which aircraft enter the sector, drawn from a seed.

Some aircraft converge on a hotspot at one level and would all be there at the same moment; the
others fly through at other levels. The order of the draws is part of the contract: the same seed
must give the same scenario here and in the Go engine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skyrail.flight_sector import LEVELS, SEPARATION, SPEEDS, Aircraft

STAGGER = 10.0  # metres by which converging aircraft are displaced, each axis, either way
SPAWN_LIMIT = 9_000.0  # background aircraft are placed within this of the centre, each axis
MAX_SHIFT_STEPS = 200


@dataclass(slots=True)
class Scenario:
    """What one scenario seed gives: the aircraft, just inside the sector, converging ones first."""

    seed: int
    n_converging: int
    hotspot: tuple[float, float]
    shift_steps: int  # steps flown to bring everyone inside
    aircraft: list[Aircraft]


def draw_scenario(seed: int, n_converging: int, n_background: int) -> Scenario:
    """Draw the scenario of `seed`. The phases below are in the order of their draws."""
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed)))

    hotspot = (rng.uniform(-SEPARATION, SEPARATION), rng.uniform(-SEPARATION, SEPARATION))
    collision_level = _choice(rng, LEVELS)
    other_levels = [level for level in LEVELS if level != collision_level]

    converging = _draw_converging(rng, n_converging, hotspot, collision_level)
    background = [_draw_background(rng, hotspot, other_levels) for _ in range(n_background)]

    aircraft = converging + background
    shift_steps = advance_into_sector(aircraft)
    # quirk: the reset of the reference advances a second time, which only matters when the
    # first 200 steps did not suffice.
    shift_steps += advance_into_sector(aircraft)
    return Scenario(seed, n_converging, hotspot, shift_steps, aircraft)


def advance_into_sector(aircraft: Sequence[Aircraft]) -> int:
    """Fly everyone forward until all are inside, at most 200 steps; return the steps flown."""
    for steps in range(MAX_SHIFT_STEPS):
        if all(a.inside for a in aircraft):
            return steps
        for a in aircraft:
            a.forward()
    return MAX_SHIFT_STEPS


def rewind_out_of_sector(aircraft: Sequence[Aircraft]) -> None:
    """Fly everyone back until all are outside, then two steps forward.

    quirk: the test is made before the move, so the group moves once more after all are outside.
    """
    all_outside = False
    while not all_outside:
        all_outside = not any(a.inside for a in aircraft)
        for a in aircraft:
            a.back()
    for _ in range(2):
        for a in aircraft:
            a.forward()


def _draw_converging(
    rng: np.random.Generator, count: int, hotspot: tuple[float, float], level: float
) -> list[Aircraft]:
    """Draws, for each: heading, speed; then, for each: stagger in x, in y."""
    aircraft = []
    for _ in range(count):
        heading_deg = rng.uniform(0.0, 360.0)
        aircraft.append(Aircraft(*hotspot, level, _choice(rng, SPEEDS), heading_deg))
    rewind_out_of_sector(aircraft)
    for a in aircraft:
        a.x += rng.uniform(-STAGGER, STAGGER)
        a.y += rng.uniform(-STAGGER, STAGGER)
    return aircraft


def _draw_background(
    rng: np.random.Generator, hotspot: tuple[float, float], levels: Sequence[float]
) -> Aircraft:
    """Draws: x, y until they are away from the hotspot; level, speed, heading, extra steps back."""
    x, y = hotspot
    while math.hypot(x - hotspot[0], y - hotspot[1]) < SEPARATION:
        x = rng.uniform(-SPAWN_LIMIT, SPAWN_LIMIT)
        y = rng.uniform(-SPAWN_LIMIT, SPAWN_LIMIT)
    level = _choice(rng, levels)
    speed = _choice(rng, SPEEDS)
    aircraft = Aircraft(x, y, level, speed, rng.uniform(0.0, 360.0))
    rewind_out_of_sector([aircraft])
    for _ in range(rng.integers(0, 10)):
        aircraft.back()
    return aircraft


def _choice(rng: np.random.Generator, items: Sequence[float]) -> float:
    # The same draw as rng.choice(items), without turning the items into an array.
    return items[rng.integers(0, len(items))]
