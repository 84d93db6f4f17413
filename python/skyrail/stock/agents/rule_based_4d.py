"""The reference agents: one that is silent, one that guesses, one with a plan.

`predict(obs, deterministic)` answers (action, None), as Stable-Baselines3's policies do; `obs` is
laid out as `envs.Flight4DEnv` does. `reset()` before each episode.
"""

from __future__ import annotations

import math
import zlib
from typing import Any

import numpy as np
from envs.flight_4d import (
    FEATURE_NAMES,
    FL_DEC,
    FL_INC,
    N_CLEARANCES,
    N_FEATS,
    N_GLOBALS,
    RESUME,
)
from envs.simulator import CollisionCourseSimulator as Sector
from numpy.typing import ArrayLike, NDArray

# Columns of an observation's rows, one row an aircraft.
X, Y, ALT, D_ALT, HOLD_LEFT, SEVERITY, T_CONFLICT = map(
    FEATURE_NAMES.index, ("x", "y", "alt", "d_alt", "hold_left", "severity", "t_conflict")
)

Prediction = tuple[np.int64, None]


class Noop4DController:
    """Never says anything."""

    def reset(self) -> None:
        """Nothing to forget."""

    def predict(self, obs: ArrayLike, deterministic: bool = True) -> Prediction:
        return np.int64(0), None


class RandomLegalController:
    """Any legal action, each as likely.

    The stream is made from `seed` and the first observation after construction or reset(), so a
    scenario always gets the same actions, whatever `deterministic` says.
    """

    def __init__(self, n_actions: int = 1 + 5 * N_CLEARANCES, seed: int = 0) -> None:
        self.n_actions = int(n_actions)
        self.seed = int(seed)
        self.reset()

    def reset(self) -> None:
        self._rng: np.random.Generator | None = None

    def predict(self, obs: ArrayLike, deterministic: bool = True) -> Prediction:
        obs = np.asarray(obs, np.float32).ravel()
        if self._rng is None:
            self._rng = np.random.default_rng([self.seed, zlib.crc32(obs.tobytes())])
        legal = np.flatnonzero(obs[-self.n_actions :] > 0.5)
        return np.int64(self._rng.choice(legal)), None


class Priority4DController:
    """Spreads the aircraft of a conflict over levels two apart, and later sends them back.

    The plan is made once, from the first observation of an episode, which it knows by a step
    number smaller than the last; then each step moves the most urgent aircraft one level toward
    its slot, and once all that can move have arrived, those that are alone resume their own
    level, one a step.

    severity_gate: from this severity on an aircraft takes part in a conflict.
    """

    SEP_LEVELS = 2  # slots are so many levels apart
    RECOVERY_SEP_FACTOR = 7.0  # separations to everyone else before an aircraft resumes

    def __init__(
        self,
        n_flights: int = 5,
        max_steps: int = 50,
        hold_steps: int = 5,
        severity_gate: float = 0.05,
    ) -> None:
        self.n_flights = int(n_flights)
        self.max_steps = int(max_steps)
        self.hold_steps = int(hold_steps)
        self.severity_gate = float(severity_gate)
        self.mask_offset = N_FEATS * self.n_flights + N_GLOBALS
        self.reset()

    def reset(self) -> None:
        self._last_step = math.inf
        self._target: list[int] = []  # level each aircraft should fly at
        self._order: list[int] = []  # the aircraft of the conflict, most urgent first

    def predict(self, obs: ArrayLike, deterministic: bool = True) -> Prediction:
        obs = np.asarray(obs, np.float64).ravel()
        seen = decode(obs, self.n_flights, self.max_steps, self.hold_steps)
        legal = (obs[self.mask_offset :] > 0.5).tolist()
        if seen["step"] < self._last_step:
            self._assign(seen)
        self._last_step = seen["step"]
        return np.int64(self._steer(seen, legal) or self._recover(seen, legal) or 0), None

    def _assign(self, seen: dict[str, Any]) -> None:
        """Give the k-th aircraft of the conflict the k-th slot around the conflict's level."""
        level, severity = seen["level"], seen["severity"]
        self._target = [round(own) for own in level.tolist()]
        self._order = [i for i in _by_urgency(seen) if severity[i] >= self.severity_gate]
        if not self._order:
            return
        centre = round(float(np.median(level[self._order])))
        offsets = [0] + [sign * self.SEP_LEVELS * k for k in (1, 2, 3) for sign in (1, -1)]
        slots = [centre + offset for offset in offsets if 0 <= centre + offset < Sector.N_ALTS]
        for k, i in enumerate(self._order):
            self._target[i] = slots[k] if k < len(slots) else centre

    def _steer(self, seen: dict[str, Any], legal: list[bool]) -> int | None:
        """One level toward its slot, for the most urgent aircraft that may; None if none may."""
        level = [round(own) for own in seen["level"].tolist()]
        if level == self._target:
            return None
        for i in _by_urgency(seen):
            if level[i] != self._target[i]:
                action = _action(i, FL_INC if level[i] < self._target[i] else FL_DEC)
                if legal[action]:
                    return action
        return None

    def _recover(self, seen: dict[str, Any], legal: list[bool]) -> int | None:
        """Resume, for the first of the conflict that is off its level and alone; None if none."""
        clear = self.RECOVERY_SEP_FACTOR * Sector.AIRSPACE_LIMIT * Sector.hotspot2airspace_factor
        x, y, high = (seen[key].tolist() for key in ("x", "y", "d_alt"))
        for i in self._order:
            if abs(high[i]) <= 1e-3:
                continue
            others = (j for j in range(self.n_flights) if j != i)
            if any(math.hypot(x[j] - x[i], y[j] - y[i]) < clear for j in others):
                continue
            action = _action(i, RESUME)
            if legal[action]:
                # Its own level is its slot from now on, or it would be sent out again.
                self._target[i] = round(float(seen["level"][i]) - high[i])
                return action
        return None


def decode(
    obs: NDArray[np.floating], n_flights: int, max_steps: int, hold_steps: int
) -> dict[str, Any]:
    """An observation turned back into the quantities it was made from.

    step: steps flown, a float. The others are arrays, one entry an aircraft: level: 0..9, with
    d_alt of them above its own; severity: of its worst conflict, and t_conflict: seconds to it,
    infinite if there is none; hold_left: steps of a temporary clearance; x, y: metres.
    """
    rows = np.asarray(obs, np.float64)[: N_FEATS * n_flights].reshape(n_flights, N_FEATS)
    step = (float(obs[N_FEATS * n_flights]) + 1.0) / 2.0 * max_steps
    horizon = max(max_steps - step, 1.0) * Sector.DT
    share = (rows + 1.0) / 2.0  # 0..1
    return {
        "step": step,
        "x": rows[:, X] * Sector.AIRSPACE_LIMIT,
        "y": rows[:, Y] * Sector.AIRSPACE_LIMIT,
        "level": share[:, ALT] * (Sector.N_ALTS - 1),
        "d_alt": np.array([_levels(feature) for feature in rows[:, D_ALT].tolist()]),
        "severity": share[:, SEVERITY],
        "t_conflict": np.array([_seconds(q, horizon) for q in share[:, T_CONFLICT].tolist()]),
        "hold_left": share[:, HOLD_LEFT] * (2 * hold_steps),
    }


def _levels(feature: float) -> float:
    """Undoes tanh(levels / 2)."""
    return 2.0 * math.atanh(min(max(feature, -0.999999), 0.999999))


def _seconds(share: float, horizon: float) -> float:
    """Undoes seconds / (seconds + horizon), where 1 stands for never."""
    share = min(max(share, 0.0), 1.0)
    return math.inf if share >= 1.0 - 1e-6 else share * horizon / max(1.0 - share, 1e-12)


def _by_urgency(seen: dict[str, Any]) -> list[int]:
    """Every aircraft, the soonest conflict first; ties and the unconcerned in their order."""
    times = seen["t_conflict"].tolist()
    return sorted(range(len(times)), key=times.__getitem__)


def _action(aircraft: int, clearance: int) -> int:
    return 1 + N_CLEARANCES * aircraft + clearance
