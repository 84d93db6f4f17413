"""An example of a policy written by hand. It beats doing nothing; it is not hard to beat."""

from __future__ import annotations

import numpy as np
from agents.rule_based_4d import decode
from competition.config import SCENARIO
from envs.flight_4d import FL_DEC, FL_INC, N_CLEARANCES, RESUME

ENOUGH = 0.05  # severity from which a conflict is worth a clearance
APART = 7_000.0  # metres to everyone else before an aircraft goes back to its level


class ExamplePolicy:
    """Who would meet first stays; the others leave the level, by turns upwards and downwards.

    Made once, without arguments, for all episodes; `predict()` is called once a step. A policy
    sees nothing but the observation: that an episode begins is seen from its clock.
    """

    def __init__(self) -> None:
        self.last_step = np.inf
        self.direction: dict[int, int] = {}  # of the aircraft that have to leave their level

    def predict(self, obs: np.ndarray, deterministic: bool = True) -> tuple[int, None]:
        """The action for an observation, and None where Stable-Baselines3 has a state."""
        n = SCENARIO.n_flights
        seen = decode(obs, n, SCENARIO.max_steps, SCENARIO.hold_steps)
        legal = obs[-(1 + N_CLEARANCES * n) :] > 0.5
        if seen["step"] < self.last_step:
            self.direction = {}
        self.last_step = seen["step"]

        soonest_first = np.argsort(seen["t_conflict"], kind="stable")
        in_conflict = [i for i in soonest_first if seen["severity"][i] >= ENOUGH]
        for i in in_conflict[1:]:
            clearance = self.direction.setdefault(i, FL_DEC if len(self.direction) % 2 else FL_INC)
            for change in (clearance, FL_INC + FL_DEC - clearance):  # the other way if it must
                action = 1 + N_CLEARANCES * i + change
                if legal[action]:
                    return int(action), None

        for i in range(n):
            resume = 1 + N_CLEARANCES * i + RESUME
            distance = np.hypot(seen["x"] - seen["x"][i], seen["y"] - seen["y"][i])
            distance[i] = np.inf
            if legal[resume] and distance.min() > APART:
                return resume, None
        return 0, None
