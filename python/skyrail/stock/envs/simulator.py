"""Scenarios and conflicts: which aircraft a seed gives, and which of them will come too close.

Some aircraft converge on a hotspot at one level and would all be there at the same moment; the
others cross at other levels. The order of the random draws is part of the challenge: the same
seed must give the same scenario here and to whoever keeps the score.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .flight import Flight


class Conflict(NamedTuple):
    """A loss of separation that will happen if nobody does anything. Times are seconds from now."""

    i: int
    j: int
    t_enter: float  # 0 if it has begun
    t_cpa: float  # closest point of approach
    duration: float
    d_cpa: float  # metres apart at t_cpa
    d_alt: float  # altitude difference
    center: tuple[float, float]  # midway between the two at t_cpa
    radius: float  # metres, the separation that is lost
    severity: float  # 1 for a hit, falling with both distances


class CollisionCourseSimulator:
    """The aircraft in a square sector |x|, |y| < airspace_limit.

    Drawn from `rng` when made: `n` converging ones first in `flights`, then `m` of background
    traffic. Without init_flights the sector is empty. Metres, seconds, metres a second.
    """

    Conflict = Conflict

    DT = 2  # seconds in a step
    DALT = 12  # altitude units in a flight level
    ALT_MIN = 290
    N_ALTS = 10
    ALT_MIN_SEP = 2 * DALT  # closer than this in altitude is too close
    DVEL = 35
    VEL_MIN = 200
    N_VELS = 10
    AIRSPACE_LIMIT = 10_000

    # Parts of airspace_limit: radius of the hotspot, which is the separation too; how far from the
    # centre background traffic may start; by how much converging aircraft are displaced.
    hotspot2airspace_factor = 0.1
    spawn2airspace_factor = 0.9
    stagger2airspace_factor = 0.001

    def __init__(
        self,
        n: int,
        m: int,
        airspace_limit: float = AIRSPACE_LIMIT,
        init_flights: bool = True,
        rng: np.random.Generator | None = None,
    ) -> None:
        self.n = n
        self.m = m
        self.rng = np.random.default_rng() if rng is None else rng
        self.airspace_limit = airspace_limit
        self.hotspot_limit = airspace_limit * self.hotspot2airspace_factor
        self.collision_x = self.rng.uniform(-self.hotspot_limit, self.hotspot_limit)
        self.collision_y = self.rng.uniform(-self.hotspot_limit, self.hotspot_limit)
        self.allowable_altitudes = self.ALT_MIN + self.DALT * np.arange(self.N_ALTS)
        self.allowable_velocities = self.VEL_MIN + self.DVEL * np.arange(self.N_VELS)
        self.flights: list[Flight] = []
        self.sim_time = 0
        if init_flights:
            self.init_flights()

    # ------------------------------------------------------------------ the scenario

    def init_flights(self) -> None:
        """Draw the aircraft. Level of the conflict, converging traffic, background traffic."""
        others = self.allowable_altitudes.tolist()
        collision_altitude = others.pop(self.rng.integers(0, len(others)))

        converging = [self._draw_converging(collision_altitude) for _ in range(self.n)]
        self.reverse_to_limit(converging)
        self.stagger_flights(converging)
        self.flights += converging
        self.flights += [self._draw_background(others) for _ in range(self.m)]
        self.advance_into_airspace()

    def _draw_converging(self, altitude: float) -> Flight:
        """Draws heading, speed."""
        heading, velocity = self.rng.uniform(0.0, 360.0), self._draw_velocity()
        return self._new(heading, velocity, altitude, self.collision_x, self.collision_y)

    def _draw_background(self, altitudes: Sequence[float]) -> Flight:
        """Draws x, y until away from the hotspot; level, speed, heading; extra steps back."""
        limit = self.airspace_limit * self.spawn2airspace_factor
        hotspot = x, y = self.collision_x, self.collision_y
        while self.calculate_distance(*hotspot, x, y) < self.hotspot_limit:
            x = self.rng.uniform(-limit, limit)
            y = self.rng.uniform(-limit, limit)
        altitude = altitudes[self.rng.integers(0, len(altitudes))]
        velocity = self._draw_velocity()
        flight = self._new(self.rng.uniform(0.0, 360.0), velocity, altitude, x, y)
        self.reverse_to_limit([flight])
        for _ in range(self.rng.integers(0, 10)):
            flight.reverse_clock(self.DT)
        return flight

    def _draw_velocity(self) -> float:
        # The same draw as rng.choice(allowable_velocities), which is slower.
        return self.allowable_velocities[self.rng.integers(0, self.N_VELS)]

    def _new(self, heading: float, velocity: float, altitude: float, x: float, y: float) -> Flight:
        # Plain floats: arithmetic on NumPy's is several times slower.
        level, speed = float(altitude), float(velocity)
        return Flight(heading, speed, level, x, y, VEL_MIN=self.VEL_MIN, ALT_MIN=self.ALT_MIN)

    def stagger_flights(self, flights: Sequence[Flight]) -> Sequence[Flight]:
        """Displace each a little. Draws x, y."""
        stagger = self.airspace_limit * self.stagger2airspace_factor
        for f in flights:
            f.x += self.rng.uniform(-stagger, stagger)
            f.y += self.rng.uniform(-stagger, stagger)
        return flights

    def reverse_to_limit(self, flights: Sequence[Flight]) -> Sequence[Flight]:
        """Fly them back together until all are outside the sector, then two steps forward.

        quirk: the test is made before the move, so they move once more after all are outside.
        """
        all_outside = False
        while not all_outside:
            all_outside = not any(map(self.flight_within_limit, flights))
            for f in flights:
                f.reverse_clock(self.DT)
        for f in flights:
            f.advance_clock(self.DT)
            f.advance_clock(self.DT)
        return flights

    def advance_into_airspace(self, max_shift: int = 200) -> None:
        """Fly everyone on until all are inside the sector, max_shift steps at most."""
        for _ in range(max_shift):
            if all(map(self.flight_within_limit, self.flights)):
                return
            self.advance_clock()

    # ------------------------------------------------------------------ flying

    def advance_clock(self) -> None:
        """Everyone flies one step."""
        for f in self.flights:
            f.advance_clock(self.DT)
        self.sim_time += self.DT

    def reverse_clock(self) -> None:
        """Everyone flies one step in reverse."""
        for f in self.flights:
            f.reverse_clock(self.DT)
        self.sim_time -= self.DT

    def flight_within_limit(self, flight: Flight) -> bool:
        return max(abs(flight.x), abs(flight.y)) < self.airspace_limit

    def time_to_exit(self, flight: Flight) -> float:
        """Seconds until it leaves the sector, flying in first if it is still outside.

        0 if it has left, or never comes in.
        """
        limit, first_out, last_in = self.airspace_limit, math.inf, -math.inf
        for position, direction in zip(
            (flight.x, flight.y), flight.get_heading_unit_vectors(), strict=True
        ):
            speed = flight.velocity * direction
            if abs(direction) < 1e-12 or speed == 0.0:  # along this axis it stays where it is
                if abs(position) >= limit:
                    return 0.0
                continue
            crossings = (-limit - position) / speed, (limit - position) / speed
            last_in = max(last_in, min(crossings))
            first_out = min(first_out, max(crossings))
        if first_out < max(last_in, 0.0) or math.isinf(first_out):
            return 0.0
        return first_out

    # ------------------------------------------------------------------ too close, now and later

    @staticmethod
    def calculate_distance(x1: float, y1: float, x2: float, y2: float) -> float:
        return math.hypot(x2 - x1, y2 - y1)

    def is_within_altitude_range(self, alt1: float, alt2: float) -> bool:
        """Whether the two levels are too close for aircraft that meet."""
        return abs(alt1 - alt2) < self.ALT_MIN_SEP

    def find_congestion(
        self, flights: Sequence[Flight]
    ) -> tuple[list[NDArray[np.float64]], list[float]]:
        """Where aircraft are too close now: mean positions (2,), and mean altitudes.

        One entry for every aircraft that is too close to later ones of the list: itself and those.
        """
        centers, altitudes = [], []
        for i, f in enumerate(flights):
            group = [f] + [
                g
                for g in flights[i + 1 :]
                if self.is_within_altitude_range(f.altitude, g.altitude)
                and self.calculate_distance(f.x, f.y, g.x, g.y) <= self.hotspot_limit
            ]
            if len(group) > 1:
                centers.append(np.mean([(g.x, g.y) for g in group], axis=0))
                altitudes.append(float(np.mean([g.altitude for g in group])))
        return centers, altitudes

    def predict_conflicts(
        self, horizon: float, flights: Sequence[Flight] | None = None
    ) -> list[Conflict]:
        """The conflicts within `horizon` seconds, in the order of the pairs (i, j), i < j.

        Everyone flies straight on, so the distance of a pair at time t is that of a moving point
        from the origin: |r + w t|, and the conflict lasts while it is below the radius.
        """
        if horizon <= 0.0:
            return []
        flights = self.flights if flights is None else flights
        radius, vertical = self.hotspot_limit, self.ALT_MIN_SEP
        tracks = []
        for i, f in enumerate(flights):
            ux, uy = f.get_heading_unit_vectors()
            tracks.append((i, f.x, f.y, f.altitude, f.velocity * ux, f.velocity * uy))
        conflicts = []
        for (i, px, py, pz, pwx, pwy), (j, qx, qy, qz, qwx, qwy) in combinations(tracks, 2):
            d_alt = abs(pz - qz)
            if d_alt >= vertical:
                continue
            rx, ry, wx, wy = qx - px, qy - py, qwx - pwx, qwy - pwy
            window = _time_within(radius, rx, ry, wx, wy, horizon)
            if window is None:
                continue
            t_enter, t_cpa, t_exit = window
            dx, dy = rx + wx * t_cpa, ry + wy * t_cpa  # from p to q at that time
            d_cpa = math.hypot(dx, dy)
            severity = math.exp(-d_cpa / radius) * math.exp(-d_alt / vertical)
            center = (px + pwx * t_cpa + dx / 2.0, py + pwy * t_cpa + dy / 2.0)
            duration = t_exit - t_enter
            conflicts.append(
                Conflict(i, j, t_enter, t_cpa, duration, d_cpa, d_alt, center, radius, severity)
            )
        return conflicts

    # ------------------------------------------------------------------ scaling to 0..1

    def norm_pos(self, pos: float) -> float:
        return pos / self.airspace_limit

    def norm_vel(self, vel: float) -> float:
        return (vel - self.VEL_MIN) / ((self.N_VELS - 1) * self.DVEL)

    def norm_alt(self, alt: float) -> float:
        return (alt - self.ALT_MIN) / ((self.N_ALTS - 1) * self.DALT)

    def norm_heading(self, heading: float) -> float:
        return heading / 360.0

    def denorm_pos(self, pos: float) -> float:
        return pos * self.airspace_limit

    def denorm_vel(self, vel: float) -> float:
        return vel * ((self.N_VELS - 1) * self.DVEL) + self.VEL_MIN

    def denorm_alt(self, alt: float) -> float:
        return alt * ((self.N_ALTS - 1) * self.DALT) + self.ALT_MIN

    def denorm_heading(self, heading: float) -> float:
        return heading * 360.0

    def __repr__(self) -> str:
        return (
            f"CollisionCourseSimulator(n={self.n}, m={self.m}, sim_time={self.sim_time}, "
            f"hotspot=({self.collision_x:.0f}, {self.collision_y:.0f}), flights={self.flights})"
        )


def _time_within(
    radius: float, rx: float, ry: float, wx: float, wy: float, horizon: float
) -> tuple[float, float, float] | None:
    """Enter, closest approach and exit of a circle around the origin; None if it is not entered.

    The distance at time t satisfies |r + w t|^2 - radius^2 = a t^2 + b t + c.
    """
    a = wx * wx + wy * wy
    b = 2.0 * (rx * wx + ry * wy)
    c = rx * rx + ry * ry - radius * radius
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
