"""The air sector: its units, an aircraft flying through it, and how close two aircraft come.

Metres, seconds, metres a second. Headings are mathematical degrees: 0 flies along +x, 90 along +y.
Altitudes count in the challenge's own unit, of which 12 make a flight level.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

DT = 2.0  # seconds in a step

LEVEL_STEP = 12.0
LEVELS = tuple(290.0 + LEVEL_STEP * k for k in range(10))
LOWEST_LEVEL, HIGHEST_LEVEL = LEVELS[0], LEVELS[-1]

SPEED_STEP = 35.0
SPEEDS = tuple(200.0 + SPEED_STEP * k for k in range(10))
LOWEST_SPEED, HIGHEST_SPEED = SPEEDS[0], SPEEDS[-1]

HALF_WIDTH = 10_000.0  # the sector is the open square |x|, |y| < HALF_WIDTH
SEPARATION = 1_000.0  # separation is lost at this distance or less ...
VERTICAL_SEPARATION = 24.0  # ... while the altitudes differ by less than this
MID_AIR_DISTANCE = 100.0  # a mid-air happens at this distance or less ...
MID_AIR_VERTICAL = LEVEL_STEP  # ... while the altitudes differ by less than this

RADIANS_PER_DEGREE = 0.017453292519943295


class Clearance(IntEnum):
    """What an aircraft can be told. Names ending in _T are temporary and undo themselves."""

    FL_DEC = 0  # down one level
    FL_INC = 1  # up one level
    FL_DEC2_T = 2  # down two levels, for a while
    FL_INC2_T = 3  # up two levels, for a while
    SPD_DN_T = 4  # slower, then faster by as much, then as planned
    SPD_UP_T = 5  # faster, then slower by as much, then as planned
    RESUME = 6  # back to the entry level and speed


# How an agent and the environment talk: action 0 idles, 1 + 7*i + c gives clearance c to aircraft
# i; an observation is 13 features of each aircraft, 2 globals, then the mask of legal actions.
N_CLEARANCES = len(Clearance)
FEATURES_PER_AIRCRAFT = 13
GLOBAL_FEATURES = 2


@dataclass(slots=True)
class Aircraft:
    """One aircraft: where it is, what it was planned to do, and which manoeuvre it is flying.

    The heading never changes, so the unit vector (ux, uy) is computed once.
    """

    x: float
    y: float
    level: float
    speed: float
    heading_deg: float
    ux: float = field(init=False)
    uy: float = field(init=False)

    # The plan, written by `enter_sector`.
    entry_level: float = 0.0
    entry_speed: float = 0.0
    s_total: float = 0.0  # metres from entry to exit
    t_target: float = 0.0  # seconds from entry to exit at the entry speed
    s_flown: float = 0.0  # metres flown since entry
    exit_time: float | None = None  # seconds since entry, once it has left

    # Temporary manoeuvres: steps left, 0 when none is being flown.
    hold_left: int = 0
    pulse_left: int = 0
    pulse_sign: int = 0  # +1: first faster, then slower; -1 the other way round
    clearances: int = 0  # clearances it has been given

    def __post_init__(self) -> None:
        heading_rad = self.heading_deg * RADIANS_PER_DEGREE
        self.ux = math.cos(heading_rad)
        self.uy = math.sin(heading_rad)

    @property
    def inside(self) -> bool:
        return max(abs(self.x), abs(self.y)) < HALF_WIDTH

    @property
    def on_manoeuvre(self) -> bool:
        return self.hold_left > 0 or self.pulse_left > 0

    def forward(self) -> None:
        """Fly one step."""
        self.x += (self.speed * DT) * self.ux
        self.y += (self.speed * DT) * self.uy

    def back(self) -> None:
        """Fly one step in reverse."""
        self.x -= (self.speed * DT) * self.ux
        self.y -= (self.speed * DT) * self.uy

    def enter_sector(self) -> None:
        """Take the present state as the plan to be kept."""
        self.entry_level = self.level
        self.entry_speed = self.speed
        self.s_total = self._distance_to_exit()
        self.t_target = self.s_total / self.entry_speed

    def restore(self) -> None:
        """Return to the entry level and speed and drop any manoeuvre."""
        self.level = self.entry_level
        self.speed = self.entry_speed
        self.hold_left = 0
        self.pulse_left = 0
        self.pulse_sign = 0

    def change_level(self, by: float) -> None:
        # There is no ceiling here: the legality mask keeps the levels below it.
        self.level = max(self.level + by, LOWEST_LEVEL)

    def set_speed(self, speed: float) -> None:
        # quirk: no upper bound either: the second half of a slow-down flown from 515 is at 550.
        self.speed = max(speed, LOWEST_SPEED)

    def time_deviation(self, now: float) -> float:
        """Seconds by which it leaves (or, at the present speed, will leave) after its target."""
        leaves = self.exit_time
        if leaves is None:
            leaves = now + max(self.s_total - self.s_flown, 0.0) / self.speed
        return leaves - self.t_target

    @property
    def level_deviation(self) -> float:
        """Flight levels above the entry level."""
        return (self.level - self.entry_level) / LEVEL_STEP

    def _distance_to_exit(self) -> float:
        ahead = [
            distance
            for position, direction in ((self.x, self.ux), (self.y, self.uy))
            if abs(direction) >= 1e-12
            for bound in (-HALF_WIDTH, HALF_WIDTH)
            if (distance := (bound - position) / direction) > 0.0
        ]
        return min(ahead, default=2.0 * HALF_WIDTH)


def pairs(aircraft: Sequence[Aircraft]) -> Iterator[tuple[Aircraft, Aircraft]]:
    """Every pair once, in the order (0,1), (0,2), ..., (1,2), ..."""
    for i, first in enumerate(aircraft):
        for second in aircraft[i + 1 :]:
            yield first, second


def count_closer(aircraft: Sequence[Aircraft], distance: float, vertical: float) -> int:
    """Number of pairs at `distance` metres or less whose altitudes differ by less than `vertical`.

    quirk: aircraft that have left the sector still count.
    """
    return sum(
        abs(p.level - q.level) < vertical and math.hypot(q.x - p.x, q.y - p.y) <= distance
        for p, q in pairs(aircraft)
    )


class Conflict(NamedTuple):
    """A loss of separation that will happen if nobody does anything. Times are seconds from now."""

    i: int
    j: int
    t_enter: float
    t_cpa: float  # closest point of approach
    duration: float
    d_cpa: float  # metres apart at t_cpa
    d_alt: float  # altitude difference
    severity: float  # 1 for a hit, falling with both distances


def predicted_conflicts(aircraft: Sequence[Aircraft], horizon: float) -> list[Conflict]:
    """The conflicts within `horizon` seconds, in the order of the pairs (i, j), i < j."""
    if horizon <= 0.0:
        return []
    conflicts = []
    for i, p in enumerate(aircraft):
        for j in range(i + 1, len(aircraft)):
            q = aircraft[j]
            d_alt = abs(p.level - q.level)
            if d_alt >= VERTICAL_SEPARATION:
                continue
            rx, ry = q.x - p.x, q.y - p.y
            wx = q.speed * q.ux - p.speed * p.ux
            wy = q.speed * q.uy - p.speed * p.uy
            window = _closer_than_separation(rx, ry, wx, wy, horizon)
            if window is None:
                continue
            t_enter, t_cpa, t_exit = window
            d_cpa = math.hypot(rx + wx * t_cpa, ry + wy * t_cpa)
            severity = math.exp(-d_cpa / SEPARATION) * math.exp(-d_alt / VERTICAL_SEPARATION)
            conflicts.append(
                Conflict(i, j, t_enter, t_cpa, t_exit - t_enter, d_cpa, d_alt, severity)
            )
    return conflicts


def _closer_than_separation(
    rx: float, ry: float, wx: float, wy: float, horizon: float
) -> tuple[float, float, float] | None:
    """Enter, closest approach and exit of the separation circle; None if it is not entered.

    The distance at time t satisfies |r + w t|^2 - R^2 = a t^2 + b t + c.
    """
    a = wx * wx + wy * wy
    b = 2.0 * (rx * wx + ry * wy)
    c = rx * rx + ry * ry - SEPARATION * SEPARATION
    if a < 1e-12:  # the same velocity: the distance stays as it is
        return None if c > 0.0 else (0.0, 0.0, horizon)
    discriminant = b * b - 4.0 * a * c
    if discriminant <= 0.0:
        return None
    root = math.sqrt(discriminant)
    t_enter = max((-b - root) / (2.0 * a), 0.0)
    t_exit = min((-b + root) / (2.0 * a), horizon)
    if t_exit <= t_enter:
        return None
    t_cpa = min(max(-b / (2.0 * a), t_enter), t_exit)
    return t_enter, t_cpa, t_exit
