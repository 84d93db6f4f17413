"""An example of an environment of your own: the sector as it is, seen and rewarded differently.

Change what helps your policy to learn. The score never reads this environment's reward or info:
your policy sees its observations, its actions are flown in the challenge's own sector.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .flight_4d import FEATURE_NAMES, N_FEATS, Flight4DEnv, Observation

DT_EXIT = FEATURE_NAMES.index("dt_exit")


class MyFlightEnv(Flight4DEnv):
    """Rewards what is scored more directly, and shows lateness on a scale of its own.

    patience: seconds after which a coming conflict weighs only 37 % of one that begins now.
    late_limit: seconds of lateness that are shown as 1.
    """

    def __init__(self, *, patience: float = 30.0, late_limit: float = 20.0, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(**kwargs)
        self.patience = patience
        self.late_limit = late_limit

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """A step as ever, with a charge for separation that is lost now, which is what counts."""
        obs, reward, terminated, truncated, info = super().step(action)
        reward -= 2.0 * info["congestion_events"]
        return obs, reward, terminated, truncated, info

    def _severity(self) -> float:
        """Conflicts to come, the nearer ones more: there is still time for the others."""
        horizon = max(self.max_steps - self.step_idx, 0) * self.DT
        conflicts = self.sim.predict_conflicts(horizon)
        return sum(c.severity * math.exp(-c.t_enter / self.patience) for c in conflicts)

    def _obs(self) -> Observation:
        """The observation as ever, but lateness in straight proportion instead of tanh."""
        obs = super()._obs()
        late, _ = self._exit_deviation()
        features = obs[: N_FEATS * self.n_flights].reshape(self.n_flights, N_FEATS)
        features[:, DT_EXIT] = np.clip(late / self.late_limit, -1.0, 1.0)  # writes through to obs
        return obs
