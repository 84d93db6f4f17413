"""One aircraft. It flies straight on; level and speed are all that ever changes."""

from __future__ import annotations

import math
from typing import ClassVar


class Flight:
    """An aircraft at a place, with a heading, a speed and a level.

    heading: degrees, mathematical: 0 flies along +x, 90 along +y. velocity: metres a second.
    altitude: the challenge's own unit, 12 to a flight level. x, y: metres. time: seconds.
    VEL_MIN and ALT_MIN are the least it can be changed to; there is no most.
    """

    TUPLE5KEYS: ClassVar = ("x", "y", "altitude", "velocity", "heading")

    def __init__(
        self,
        heading: float,
        velocity: float,
        altitude: float,
        x: float = 0.0,
        y: float = 0.0,
        time: float = 0,
        VEL_MIN: float = 100,
        ALT_MIN: float = 100,
    ) -> None:
        self.heading = heading
        self.velocity = velocity
        self.altitude = altitude
        self.x = x
        self.y = y
        self.time = time
        self.VEL_MIN = VEL_MIN
        self.ALT_MIN = ALT_MIN

    @property
    def heading(self) -> float:
        return self._heading

    @heading.setter
    def heading(self, degrees: float) -> None:
        self._heading = degrees
        radians = math.radians(degrees)
        self._unit_vector = math.cos(radians), math.sin(radians)

    def get_heading_unit_vectors(self) -> tuple[float, float]:
        """(cos, sin) of the heading: what one metre of flight adds to x and to y."""
        return self._unit_vector

    def change_altitude(self, delta: float) -> None:
        """Climb by `delta`, or sink, to ALT_MIN at most."""
        self.altitude = max(self.altitude + delta, self.ALT_MIN)

    def change_velocity(self, delta: float) -> None:
        """Fly faster by `delta`, or slower, down to VEL_MIN.

        quirk: nothing stops it above: the second half of a slow-down flown from 515 is at 550.
        """
        self.velocity = max(self.velocity + delta, self.VEL_MIN)

    def advance_clock(self, dt: float) -> None:
        """Fly on for `dt` seconds."""
        distance = self.velocity * dt
        ux, uy = self._unit_vector
        self.x += distance * ux
        self.y += distance * uy
        self.time += dt

    def reverse_clock(self, dt: float) -> None:
        """Fly `dt` seconds in reverse. `time` does not go below 0."""
        distance = self.velocity * dt
        ux, uy = self._unit_vector
        self.x -= distance * ux
        self.y -= distance * uy
        self.time = max(self.time - dt, 0)

    def get_5_tuple(self) -> tuple[float, float, float, float, float]:
        """(x, y, altitude, velocity, heading)"""
        return self.x, self.y, self.altitude, self.velocity, self.heading

    def get_5_tuple_dict(self) -> dict[str, float]:
        return dict(zip(self.TUPLE5KEYS, self.get_5_tuple(), strict=True))

    def __repr__(self) -> str:
        figures = ", ".join(f"{key}={value:.2f}" for key, value in self.get_5_tuple_dict().items())
        return f"Flight({figures}, time={self.time:g})"
