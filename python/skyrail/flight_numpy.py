"""The Flight Challenge as a Gymnasium environment that is meant to be read, subclassed and edited.

`Flight4DEnv.step` is the table of contents. A team that wants other rewards or other features
overrides `reward`, `features` or `action_masks`; the official figures always come from the Go
engine, which flies the same physics.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyrail.flight_scenario import Scenario, draw_scenario
from skyrail.flight_sector import (
    DT,
    FEATURES_PER_AIRCRAFT,
    GLOBAL_FEATURES,
    HALF_WIDTH,
    HIGHEST_LEVEL,
    HIGHEST_SPEED,
    LEVEL_STEP,
    LEVELS,
    LOWEST_LEVEL,
    LOWEST_SPEED,
    MID_AIR_DISTANCE,
    MID_AIR_VERTICAL,
    N_CLEARANCES,
    SEPARATION,
    SPEED_STEP,
    VERTICAL_SEPARATION,
    Aircraft,
    Clearance,
    Conflict,
    count_closer,
    predicted_conflicts,
)

try:
    import gymnasium
    from gymnasium import spaces
except ImportError as missing:
    raise ImportError(
        "skyrail.flight_numpy needs Gymnasium: pip install 'skyrail[gym]'"
    ) from missing


class Flight4DEnv(gymnasium.Env[NDArray[np.float32], int]):
    """A sector controller who gives at most one clearance a step.

    Action space: Discrete(1 + 7 * n_flights). 0 idles; 1 + 7*i + c gives `Clearance(c)` to
    aircraft i. `action_masks()` says what is legal; an illegal action is counted in
    info["invalids"] and not flown; one outside the space raises ValueError.

    Observation space: Box(-1, 1, float32), n_flights * 13 features, 2 globals, then the mask as
    0 and 1; `features` lists them. 103 numbers at the defaults.

    Reward: minus the cost of this step: predicted conflicts, deviation from plan, the clearance
    given; on a mid-air also the cost of all steps not flown. See `reward`.

    Ending: `terminated` on a mid-air; `truncated` after max_steps steps or max_clearances
    clearances. Both can be true. The environment does not stop itself: stepping on keeps flying.

    Seeding: reset(seed=s) gives the scenario of s, the same draws on every machine (sines may
    differ in the last bit); reset() goes on along the environment's own stream.

    Parameters: n_flights aircraft, of which n_range[0]..n_range[1] converge on the hotspot;
    max_steps of 2 s; hold_steps H: a level manoeuvre flies H-1 moves, a pulse 2H; w_safe,
    w_clearance and collision_rate weigh the reward. The ranked scenario is the first four at
    their defaults.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - Gymnasium's own name and shape

    def __init__(
        self,
        n_flights: int = 5,
        n_range: tuple[int, int] = (2, 4),
        max_steps: int = 50,
        hold_steps: int = 5,
        w_safe: float = 3.0,
        w_clearance: float = 0.15,
        collision_rate: float = 3.0,
        max_clearances: int = 40,
    ) -> None:
        for name, value in (
            ("n_flights", n_flights),
            ("max_steps", max_steps),
            ("hold_steps", hold_steps),
            ("max_clearances", max_clearances),
        ):
            if value < 1:
                raise ValueError(f"{name} is {value}; it must be at least 1")
        self.n_flights = n_flights
        self.max_steps = max_steps
        self.hold_steps = hold_steps
        self.w_safe = w_safe
        self.w_clearance = w_clearance
        self.collision_rate = collision_rate
        self.max_clearances = max_clearances
        self.set_n_range(*n_range)

        n_actions = 1 + N_CLEARANCES * n_flights
        n_observed = FEATURES_PER_AIRCRAFT * n_flights + GLOBAL_FEATURES + n_actions
        self.action_space = spaces.Discrete(n_actions)
        self.observation_space = spaces.Box(-1.0, 1.0, (n_observed,), np.float32)

        self.scenario: Scenario | None = None
        self.aircraft: list[Aircraft] = []
        self._clear_counters()

    def set_n_range(self, lo: int, hi: int) -> None:
        """Let lo..hi aircraft converge, from the next reset on. 1 <= lo <= hi <= n_flights."""
        if not 1 <= lo <= hi <= self.n_flights:
            raise ValueError(
                f"n_range ({lo}, {hi}) is not within 1 <= lo <= hi <= {self.n_flights} (n_flights)"
            )
        self.n_range = (lo, hi)

    # ------------------------------------------------------------------ the episode

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Start an episode. Draws two numbers from the environment's stream."""
        if options:
            raise ValueError(f"reset options {sorted(options)} are unknown; there are none")
        super().reset(seed=seed)  # a seed makes a new Generator(PCG64(SeedSequence(seed)))
        lo, hi = self.n_range
        n_converging = int(self.np_random.integers(lo, hi + 1))
        scenario_seed = int(self.np_random.integers(0, 2**31 - 1))
        return self.start(draw_scenario(scenario_seed, n_converging, self.n_flights - n_converging))

    def start(self, scenario: Scenario) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Start an episode in a scenario of the caller's; its aircraft become ours."""
        if len(scenario.aircraft) != self.n_flights:
            raise ValueError(
                f"the scenario has {len(scenario.aircraft)} aircraft; this sector takes "
                f"{self.n_flights}"
            )
        self.scenario = scenario
        self.aircraft = scenario.aircraft
        for a in self.aircraft:
            a.enter_sector()
        self._clear_counters()
        self.predict_conflicts()
        return self.observation(), self.info()

    def step(self, action: int) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Fly one step. The order of the phases is part of the contract."""
        action = self._check_action(action)
        issued = self.issue(action)  # one clearance at most; an illegal one is only counted
        self.tick_holds()  # temporary manoeuvres run out
        self.move()
        self.record_exits()
        self.count_conflicts()  # separation lost now
        self.detect_mid_air()
        self.predict_conflicts()  # separation that will be lost
        return (
            self.observation(),
            self.reward(issued),
            self.collided,
            self.steps >= self.max_steps or self.clearances >= self.max_clearances,
            self.info(),
        )

    # ------------------------------------------------------------------ the phases of a step

    def issue(self, action: int) -> bool:
        """Give the clearance of `action`, if it is legal; whether one was given."""
        if action == 0:
            return False
        if not self.action_masks()[action]:
            self.invalids += 1
            return False
        index, clearance = divmod(action - 1, N_CLEARANCES)
        a = self.aircraft[index]
        match Clearance(clearance):
            case Clearance.FL_DEC:
                a.change_level(-LEVEL_STEP)
            case Clearance.FL_INC:
                a.change_level(LEVEL_STEP)
            case Clearance.FL_DEC2_T:
                a.change_level(-2.0 * LEVEL_STEP)
                a.hold_left = self.hold_steps
            case Clearance.FL_INC2_T:
                a.change_level(2.0 * LEVEL_STEP)
                a.hold_left = self.hold_steps
            case Clearance.SPD_DN_T:
                self._start_pulse(a, -1)
            case Clearance.SPD_UP_T:
                self._start_pulse(a, +1)
            case Clearance.RESUME:
                a.restore()
        a.clearances += 1
        self.clearances += 1
        return True

    def tick_holds(self) -> None:
        """Count temporary manoeuvres down; all level holds first, then all speed pulses."""
        for a in self.aircraft:
            if a.hold_left > 0:
                a.hold_left -= 1
                if a.hold_left == 0:
                    a.restore()
        for a in self.aircraft:
            if a.pulse_left > 0:
                a.pulse_left -= 1
                if a.pulse_left == self.hold_steps:
                    a.set_speed(a.entry_speed - a.pulse_sign * SPEED_STEP)
                elif a.pulse_left == 0:
                    a.restore()

    def move(self) -> None:
        for a in self.aircraft:
            a.forward()
            a.s_flown += a.speed * DT
        self.steps += 1

    def record_exits(self) -> None:
        """Note who has flown its whole way, and when within the step that was."""
        for a in self.aircraft:
            if a.exit_time is None and a.s_flown >= a.s_total:
                a.exit_time = self.now - (a.s_flown - a.s_total) / a.speed

    def count_conflicts(self) -> None:
        self.congestion = count_closer(self.aircraft, SEPARATION, VERTICAL_SEPARATION)
        self.congestion_total += self.congestion

    def detect_mid_air(self) -> None:
        self.collided = count_closer(self.aircraft, MID_AIR_DISTANCE, MID_AIR_VERTICAL) > 0

    def predict_conflicts(self) -> None:
        """Look ahead over the steps that are left; none once the last step is flown."""
        horizon = max(self.max_steps - self.steps, 0) * DT
        self.conflicts = predicted_conflicts(self.aircraft, horizon)

    def reward(self, issued: bool) -> float:
        """Minus the cost of the step just flown."""
        severity = 0.0
        for conflict in self.conflicts:
            severity += conflict.severity
        # np.sum, not sum: from eight values on they round differently.
        deviation = float(np.sum([self._deviation_cost(a) for a in self.aircraft]))
        reward = -(
            self.w_safe * severity
            + (self.w_safe / self.n_flights) * deviation
            + self.w_clearance * issued
        )
        if self.collided:
            not_flown = max(self.max_steps - self.steps, 0)
            reward -= self.collision_rate * self.w_safe * not_flown
        return reward

    # ------------------------------------------------------------------ what the agent sees

    @property
    def now(self) -> float:
        """Seconds since the episode began."""
        return self.steps * DT

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions are legal now. Idle always is."""
        legal = [True]
        for a in self.aircraft:
            legal += self.legal_clearances(a)
        return np.array(legal)

    def legal_clearances(self, a: Aircraft) -> list[bool]:
        """The mask of one aircraft, in the order of `Clearance`."""
        if a.on_manoeuvre:
            return [False] * N_CLEARANCES
        return [
            a.level - LEVEL_STEP >= LOWEST_LEVEL,
            a.level + LEVEL_STEP <= HIGHEST_LEVEL,
            a.level - 2.0 * LEVEL_STEP >= LOWEST_LEVEL,
            a.level + 2.0 * LEVEL_STEP <= HIGHEST_LEVEL,
            self._pulse_fits(a, -SPEED_STEP),
            self._pulse_fits(a, SPEED_STEP),
            abs(a.level - a.entry_level) >= 1e-9 or abs(a.speed - a.entry_speed) >= 1e-9,
        ]

    def observation(self) -> NDArray[np.float32]:
        """The features, clipped to [-1, 1], and the mask behind them."""
        features = np.clip(np.array(self.features(), np.float32), -1.0, 1.0)
        return np.concatenate((features, self.action_masks().astype(np.float32)))

    def features(self) -> list[float]:
        """13 features of each aircraft, then 2 of the episode; clipping comes afterwards."""
        worst = self._worst_conflicts()
        features: list[float] = []
        for a, conflict in zip(self.aircraft, worst, strict=True):
            features += self._aircraft_features(a, conflict)
        features.append(2.0 * self.steps / self.max_steps - 1.0)
        features.append(2.0 * (1.0 - self.clearances / self.max_clearances) - 1.0)
        return features

    def info(self) -> dict[str, Any]:
        """The figures that scores are made of, and why the exits deviate.

        congestion_events: pairs too close in this step; congestion_total: over the episode.
        dt_exit: seconds late, d_alt_exit: levels too high, per aircraft, float64 (n_flights,).
        exit_miss: mean over aircraft of lateness in hold lengths plus levels off.
        """
        assert self.scenario is not None
        late = [a.time_deviation(self.now) for a in self.aircraft]
        off_level = [a.level_deviation for a in self.aircraft]
        return {
            "n": self.scenario.n_converging,
            "m": self.n_flights - self.scenario.n_converging,
            "congestion_events": self.congestion,
            "congestion_total": self.congestion_total,
            "clearances": self.clearances,
            "invalids": self.invalids,
            "aircraft_involved": sum(a.clearances > 0 for a in self.aircraft),
            "collided": self.collided,
            "dt_exit": np.array(late),
            "d_alt_exit": np.array(off_level),
            "exit_miss": float(np.mean(self.exit_misses())),
        }

    def exit_misses(self) -> list[float]:
        """Per aircraft: lateness or earliness in hold lengths, plus levels off its entry level."""
        hold_s = self.hold_steps * DT
        return [
            abs(a.time_deviation(self.now)) / hold_s + abs(a.level_deviation) for a in self.aircraft
        ]

    # ------------------------------------------------------------------ detail

    def _clear_counters(self) -> None:
        self.steps = 0
        self.clearances = 0
        self.invalids = 0
        self.congestion = 0  # pairs too close in the last step
        self.congestion_total = 0
        self.collided = False  # in the last step
        self.conflicts: list[Conflict] = []

    def _check_action(self, action: int) -> int:
        if self.scenario is None:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        action = operator.index(action)
        last = N_CLEARANCES * self.n_flights
        if not 0 <= action <= last:
            raise ValueError(f"action {action} is outside 0..{last}")
        return action

    def _start_pulse(self, a: Aircraft, sign: int) -> None:
        a.set_speed(a.speed + sign * SPEED_STEP)
        a.pulse_left = 2 * self.hold_steps + 1
        a.pulse_sign = sign

    def _pulse_fits(self, a: Aircraft, dv: float) -> bool:
        """Whether a speed pulse leaves time to reach the exit on target at a possible speed.

        quirk: the distance covered during the pulse is taken at the present speed.
        """
        if not LOWEST_SPEED <= a.speed + dv <= HIGHEST_SPEED:
            return False
        s_left = max(a.s_total - a.s_flown, 0.0)
        t_left = max(a.t_target - self.now, 0.0)
        if s_left <= 0.0 or t_left <= 0.0:
            return True
        pulse_s = 2 * self.hold_steps * DT
        s_rest = max(s_left - a.speed * min(pulse_s, t_left), 0.0)
        t_rest = max(t_left - pulse_s, 0.0)
        if t_rest <= 0.0:
            return pulse_s <= t_left + 1e-6
        return LOWEST_SPEED * t_rest - 1e-6 <= s_rest <= HIGHEST_SPEED * t_rest + 1e-6

    def _deviation_cost(self, a: Aircraft) -> float:
        """How far off plan, 0..1: time in episodes and level in the height of the sector."""
        late = a.time_deviation(self.now) / (self.max_steps * DT)
        off_level = a.level_deviation / (len(LEVELS) - 1)
        return min(max(math.hypot(late, off_level), 0.0), 1.0)

    def _worst_conflicts(self) -> list[Conflict | None]:
        """Per aircraft its most severe predicted conflict; the first in pair order on ties."""
        worst: list[Conflict | None] = [None] * self.n_flights
        for conflict in self.conflicts:
            for index in (conflict.i, conflict.j):
                known = worst[index]
                if known is None or conflict.severity > known.severity:
                    worst[index] = conflict
        return worst

    def _aircraft_features(self, a: Aircraft, worst: Conflict | None) -> list[float]:
        severity, urgency = 0.0, 1.0
        if worst is not None:
            horizon = max(self.max_steps - self.steps, 1) * DT
            severity, urgency = worst.severity, worst.t_cpa / (worst.t_cpa + horizon)
        manoeuvre_left = max(a.hold_left, a.pulse_left) / (2 * self.hold_steps)
        return [
            a.x / HALF_WIDTH,
            a.y / HALF_WIDTH,
            2.0 * (a.level - LOWEST_LEVEL) / (HIGHEST_LEVEL - LOWEST_LEVEL) - 1.0,
            2.0 * (a.speed - LOWEST_SPEED) / (HIGHEST_SPEED - LOWEST_SPEED) - 1.0,
            a.ux,
            a.uy,
            math.tanh(a.time_deviation(self.now) / (self.hold_steps * DT)),
            math.tanh(a.level_deviation / 2.0),
            2.0 * min(a.clearances / 6.0, 1.0) - 1.0,
            2.0 * manoeuvre_left - 1.0,
            2.0 * severity - 1.0,
            2.0 * urgency - 1.0,  # 1: none in sight; near -1: at once
            1.0,
        ]
