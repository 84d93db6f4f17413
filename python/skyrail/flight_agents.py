"""The three reference agents of the Flight Challenge. They see nothing but the observation.

`act(observation)` gives the action. An agent notices by itself that an episode begins: the step
that the observation tells is smaller than the last one it saw.
"""

from __future__ import annotations

import math
import zlib
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from skyrail.flight_sector import (
    DT,
    FEATURES_PER_AIRCRAFT,
    HALF_WIDTH,
    LEVELS,
    N_CLEARANCES,
    Clearance,
)

Observation = NDArray[np.float32]

INVOLVED_SEVERITY = 0.05  # from here on an aircraft takes part in a conflict
CLEAR_DISTANCE = 7_000.0  # metres to everyone else before an aircraft goes back to plan
SLOTS = (0, 2, -2, 4, -4, 6, -6)  # levels relative to the conflict's


class Agent(Protocol):
    """What the challenge asks of an agent."""

    def act(self, observation: Observation) -> int:
        """The action for `observation`: float32, as `Flight4DEnv` lays it out."""
        ...


def make_agent(name: str) -> Agent:
    """A fresh agent of that name, for the ranked scenario."""
    agents: dict[str, type[Agent]] = {
        "noop": NoopAgent,
        "random": RandomAgent,
        "rule-based": RuleBasedAgent,
    }
    if name not in agents:
        raise ValueError(f"no agent {name!r}; there are {', '.join(agents)}")
    return agents[name]()


class NoopAgent:
    """Never says anything."""

    def act(self, observation: Observation) -> int:
        return 0


class RandomAgent:
    """Any legal action, each as likely. The first observation of an episode seeds the stream."""

    def __init__(self, n_flights: int = 5) -> None:
        self.n_flights = n_flights
        self.last_clock = math.inf

    def act(self, observation: Observation) -> int:
        clock = float(observation[FEATURES_PER_AIRCRAFT * self.n_flights])
        if clock < self.last_clock:
            seen = zlib.crc32(observation.astype("<f4").tobytes())
            self.rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([0, seen])))
        self.last_clock = clock
        return int(self.rng.choice(np.flatnonzero(_mask(observation, self.n_flights))))


class RuleBasedAgent:
    """Spreads the aircraft of a conflict over levels two apart, and later sends them back.

    The plan is made once, from the first observation of an episode; then each step moves the most
    urgent aircraft one level toward its slot, and once all that can move have arrived, those that
    are alone resume their own level, one a step.
    """

    def __init__(self, n_flights: int = 5, max_steps: int = 50) -> None:
        self.n_flights = n_flights
        self.max_steps = max_steps
        self.last_step = math.inf
        self.targets: list[int] = []  # level index each aircraft should fly at
        self.involved: list[int] = []  # the aircraft of the conflict, most urgent first

    def act(self, observation: Observation) -> int:
        sector = SectorView(observation, self.n_flights, self.max_steps)
        if sector.step < self.last_step:
            self.plan(sector)
        self.last_step = sector.step
        return self.steer(sector) or self.recover(sector)

    def plan(self, sector: SectorView) -> None:
        """Give the k-th aircraft of the conflict the k-th slot around the conflict's level."""
        self.targets = [round(level) for level in sector.level]
        self.involved = [i for i in sector.by_urgency() if sector.severity[i] >= INVOLVED_SEVERITY]
        if not self.involved:
            return
        centre = round(float(np.median([sector.level[i] for i in self.involved])))
        slots = [centre + s for s in SLOTS if 0 <= centre + s < len(LEVELS)]
        for k, i in enumerate(self.involved):
            self.targets[i] = slots[k] if k < len(slots) else centre

    def steer(self, sector: SectorView) -> int:
        """One level toward the target, for the most urgent aircraft that may; 0 if none may."""
        for i in sector.by_urgency():
            level = round(sector.level[i])
            if level != self.targets[i]:
                action = _action(
                    i, Clearance.FL_INC if level < self.targets[i] else Clearance.FL_DEC
                )
                if sector.legal[action]:
                    return action
        return 0

    def recover(self, sector: SectorView) -> int:
        """Resume, for the first of the conflict that is off its level and alone; 0 if none is."""
        for i in self.involved:
            deviation = sector.level_deviation[i]
            if abs(deviation) <= 1e-3 or sector.distance_to_nearest(i) < CLEAR_DISTANCE:
                continue
            action = _action(i, Clearance.RESUME)
            if sector.legal[action]:
                self.targets[i] = round(sector.level[i] - deviation)
                return action
        return 0


class SectorView:
    """An observation turned back into the quantities it was made from. All float64."""

    def __init__(self, observation: Observation, n_flights: int, max_steps: int) -> None:
        rows = observation[: FEATURES_PER_AIRCRAFT * n_flights].astype(np.float64)
        rows = rows.reshape(n_flights, FEATURES_PER_AIRCRAFT)
        clock = float(observation[FEATURES_PER_AIRCRAFT * n_flights])
        self.step = (clock + 1.0) / 2.0 * max_steps
        horizon = max(max_steps - self.step, 1.0) * DT

        self.x = (rows[:, 0] * HALF_WIDTH).tolist()
        self.y = (rows[:, 1] * HALF_WIDTH).tolist()
        self.level = ((rows[:, 2] + 1.0) / 2.0 * (len(LEVELS) - 1)).tolist()  # index, 0..9
        self.level_deviation = [
            2.0 * math.atanh(min(max(f, -0.999999), 0.999999)) for f in rows[:, 7].tolist()
        ]
        self.severity = ((rows[:, 10] + 1.0) / 2.0).tolist()
        self.conflict_time = [_conflict_time(f, horizon) for f in rows[:, 11].tolist()]
        self.legal = _mask(observation, n_flights).tolist()

    def by_urgency(self) -> list[int]:
        """Every aircraft, the soonest conflict first; ties and the unconcerned in their order."""
        return sorted(range(len(self.level)), key=self.conflict_time.__getitem__)

    def distance_to_nearest(self, i: int) -> float:
        """Metres from aircraft i to the nearest other one; infinite if it is the only one."""
        return min(
            (
                math.hypot(self.x[j] - self.x[i], self.y[j] - self.y[i])
                for j in range(len(self.x))
                if j != i
            ),
            default=math.inf,
        )


def _conflict_time(feature: float, horizon: float) -> float:
    """Seconds until the closest approach; infinite without a conflict."""
    q = min(max((feature + 1.0) / 2.0, 0.0), 1.0)
    return math.inf if q >= 1.0 - 1e-6 else q * horizon / max(1.0 - q, 1e-12)


def _mask(observation: Observation, n_flights: int) -> NDArray[np.bool_]:
    return observation[-(1 + N_CLEARANCES * n_flights) :] > 0.5


def _action(aircraft: int, clearance: int) -> int:
    return 1 + N_CLEARANCES * aircraft + clearance
