"""The Flight Challenge as a Gymnasium environment. It is here to be read, subclassed and edited.

`Flight4DEnv.step` is the table of contents: what it calls can be overridden one by one. Change
what you train on as you like; what counts in the end is what your actions do in the sector of the
challenge, which flies as this one does before you edit it.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from .flight import Flight
from .simulator import CollisionCourseSimulator, Conflict

# What an aircraft can be told. Names ending in _T are temporary and undo themselves.
FL_DEC, FL_INC, FL_DEC2_T, FL_INC2_T, SPD_DN_T, SPD_UP_T, RESUME = range(7)
N_CLEARANCES = 7
CLEARANCE_NAMES = (
    "FL_DEC",  # down one level
    "FL_INC",  # up one level
    "FL_DEC2_T",  # down two levels, for a while
    "FL_INC2_T",  # up two levels, for a while
    "SPD_DN_T",  # slower, then faster by as much, then as planned
    "SPD_UP_T",  # faster, then slower by as much, then as planned
    "RESUME",  # back to the entry level and speed
)

# What the observation tells of each aircraft, every one of them scaled to -1..1.
FEATURE_NAMES = (
    "x",
    "y",
    "alt",
    "vel",
    "sin_hdg",  # quirk: this is the cosine of the heading ...
    "cos_hdg",  # ... and this the sine
    "dt_exit",  # how late it will leave
    "d_alt",  # levels above its entry level
    "n_clearances",  # given to it so far
    "hold_left",  # how long its temporary clearance goes on
    "severity",  # of its worst predicted conflict
    "t_conflict",  # time to that conflict's closest approach; 1: there is none
    "active",  # 1
)
N_FEATS = len(FEATURE_NAMES)
N_GLOBALS = 2  # steps flown, clearances left

Observation = NDArray[np.float32]


class Flight4DEnv(gymnasium.Env[Observation, int]):
    """A sector controller who gives at most one clearance a step.

    Action space: Discrete(1 + 7 * n_flights). 0 idles; 1 + 7*i + c gives clearance c to aircraft
    i. `action_masks()` says what is legal; an illegal action is counted in info["invalids"] and
    not flown; one outside the space raises ValueError.

    Observation space: Box(-1, 1, float32): FEATURE_NAMES of each aircraft, two of the episode
    (steps flown, clearances left), then, from `mask_offset` on, the mask as 0 and 1. 103 numbers
    at the defaults.

    Reward: minus the cost of the step, see `step`.

    Ending: `terminated` on a mid-air; `truncated` after max_steps steps or max_clearances
    clearances. Both can be true. It does not stop itself: stepping on keeps flying.

    Seeding: reset(seed=s) gives the scenario of s; reset() goes on along the environment's own
    stream.

    Parameters: n_flights aircraft, of which n_range[0]..n_range[1] converge on the hotspot;
    max_steps of 2 s; hold_steps H: a level manoeuvre flies H-1 moves, a speed pulse 2H; w_safe,
    w_clearance and collision_rate weigh the reward; gamma is only kept for who trains; seed is
    accepted and does nothing. The ranked scenario is the first four at their defaults.

    State, from reset on; arrays have one entry an aircraft:

    sim                 the aircraft themselves, in sim.flights
    n, m                how many converge, how many do not
    alt0, v0            entry level and speed
    s_total, s_flown    metres from entry to exit, and flown of them
    t_target            seconds from entry to exit at the entry speed
    t_exit_actual       seconds from entry to exit as flown; NaN until it has left
    hold_left           steps left of a level manoeuvre
    pulse_left          steps left of a speed pulse, and pulse_sign: +1 if it began faster
    step_idx, n_clearances, n_invalids, per_aircraft_clearances, touched
    collided, last_congestion, congestion_total
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(
        self,
        n_flights: int = 5,
        n_range: tuple[int, int] = (2, 4),
        max_steps: int = 50,
        hold_steps: int = 5,
        w_safe: float = 3.0,
        w_clearance: float = 0.15,
        collision_rate: float = 3.0,
        gamma: float = 0.99,
        max_clearances: int = 40,
        seed: int | None = None,
    ) -> None:
        self.n_flights = int(n_flights)
        self.max_steps = int(max_steps)
        self.hold_steps = int(hold_steps)
        self.max_clearances = int(max_clearances)
        for name in ("n_flights", "max_steps", "hold_steps", "max_clearances"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be at least 1")
        self.set_n_range(*n_range)
        self.w_safe = float(w_safe)
        self.w_clearance = float(w_clearance)
        self.collision_rate = float(collision_rate)
        self.gamma = float(gamma)

        sector = CollisionCourseSimulator
        self.DT = sector.DT
        self.DALT = sector.DALT
        self.DVEL = sector.DVEL
        self.ALT_MIN_SEP = sector.ALT_MIN_SEP
        self.AIRSPACE = sector.AIRSPACE_LIMIT
        self.D_SEP = sector.AIRSPACE_LIMIT * sector.hotspot2airspace_factor
        self.COLLISION_RADIUS = 100.0  # metres; less than a level apart, that is a mid-air
        self.vel_min = sector.VEL_MIN
        self.vel_max = sector.VEL_MIN + (sector.N_VELS - 1) * sector.DVEL

        self.n_actions = 1 + N_CLEARANCES * self.n_flights
        self.mask_offset = N_FEATS * self.n_flights + N_GLOBALS
        self.action_space = spaces.Discrete(self.n_actions)
        self.observation_space = spaces.Box(
            -1.0, 1.0, (self.mask_offset + self.n_actions,), np.float32
        )
        self.sim: CollisionCourseSimulator | None = None

    def set_n_range(self, lo: int, hi: int) -> None:
        """Let lo..hi aircraft converge, from the next reset on. 1 <= lo <= hi <= n_flights."""
        if not 1 <= lo <= hi <= self.n_flights:
            raise ValueError(
                f"n_range ({lo}, {hi}) is not within 1 <= lo <= hi <= {self.n_flights} (n_flights)"
            )
        self.n_lo, self.n_hi = int(lo), int(hi)

    # ------------------------------------------------------------------ the episode

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode. Draws two numbers from the environment's stream; has no options."""
        super().reset(seed=seed)
        self.n = int(self.np_random.integers(self.n_lo, self.n_hi + 1))
        self.m = self.n_flights - self.n
        scenario_stream = np.random.default_rng(self.np_random.integers(0, 2**31 - 1))
        self.sim = CollisionCourseSimulator(self.n, self.m, rng=scenario_stream)
        # quirk: the simulator has done this once. Again only matters if 200 steps were too few.
        self.sim.advance_into_airspace()

        flights = self.sim.flights
        self.alt0 = np.array([f.altitude for f in flights], np.float64)
        self.v0 = np.array([f.velocity for f in flights], np.float64)
        self.s_total = np.array([self._distance_to_boundary(f) for f in flights], np.float64)
        self.t_target = self.s_total / self.v0
        self.s_flown = np.zeros(self.n_flights)
        self.t_exit_actual = np.full(self.n_flights, np.nan)

        self.hold_left = np.zeros(self.n_flights, np.int64)
        self.pulse_left = np.zeros(self.n_flights, np.int64)
        self.pulse_sign = np.zeros(self.n_flights, np.int64)

        self.step_idx = 0
        self.n_clearances = 0
        self.n_invalids = 0
        self.per_aircraft_clearances = np.zeros(self.n_flights, np.int64)
        self.touched = np.zeros(self.n_flights, np.bool_)
        self.collided = False
        self.last_congestion = 0
        self.congestion_total = 0
        return self._obs(), self._info()

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Fly one step. The order of the phases is part of the challenge."""
        if self.sim is None:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        action = self._flat_index(action)

        # At most one clearance; an illegal one is only counted.
        issued = False
        if action > 0:
            issued = bool(self.action_masks()[action])
            if issued:
                aircraft, clearance = divmod(action - 1, N_CLEARANCES)
                self._issue(aircraft, clearance)
                self.n_clearances += 1
                self.per_aircraft_clearances[aircraft] += 1
                self.touched[aircraft] = True
            else:
                self.n_invalids += 1

        # Temporary manoeuvres run out, then everyone flies on.
        self._advance_holds()
        v_before = np.array([f.velocity for f in self.sim.flights])
        self.sim.advance_clock()
        self.s_flown += v_before * self.DT
        self.step_idx += 1
        self._record_exits(v_before)

        # Separation lost now. quirk: aircraft that have left the sector still count.
        self.last_congestion = self._count_congestion()
        self.congestion_total += self.last_congestion
        self.collided = self._is_collision()

        # The cost: separation that will be lost, deviation from plan, the clearance.
        reward = -(
            self.w_safe * self._severity()
            + (self.w_safe / self.n_flights) * float(self._deviation().sum())
            + self.w_clearance * issued
        )
        if self.collided:
            reward -= self.collision_charge()
        return self._obs(), float(reward), bool(self.collided), self._truncated(), self._info()

    def _truncated(self) -> bool:
        return bool(self.step_idx >= self.max_steps or self.n_clearances >= self.max_clearances)

    def _flat_index(self, action: Any) -> int:  # noqa: ANN401 - whatever a policy answers
        """The action as an int: from an int, a NumPy integer or an array of one."""
        if type(action) is not int:
            given = np.asarray(action)
            if given.size != 1 or given.dtype.kind not in "iu":
                raise TypeError(f"action {action!r} is not one integer")
            action = int(given.item())
        if not 0 <= action < self.n_actions:
            raise ValueError(f"action {action} is outside 0..{self.n_actions - 1}")
        return action

    # ------------------------------------------------------------------ clearances

    def _issue(self, i: int, cmd: int) -> None:
        """Aircraft i does what clearance `cmd` says. Whether it may has been asked before."""
        flight = self.sim.flights[i]
        if cmd == FL_DEC:
            flight.change_altitude(-self.DALT)
        elif cmd == FL_INC:
            flight.change_altitude(self.DALT)
        elif cmd == FL_DEC2_T:
            flight.change_altitude(-2 * self.DALT)
            self.hold_left[i] = self.hold_steps
        elif cmd == FL_INC2_T:
            flight.change_altitude(2 * self.DALT)
            self.hold_left[i] = self.hold_steps
        elif cmd in (SPD_DN_T, SPD_UP_T):
            sign = 1 if cmd == SPD_UP_T else -1
            flight.change_velocity(sign * self.DVEL)
            # One more than two halves, because the first tick comes before the first move.
            self.pulse_left[i] = 2 * self.hold_steps + 1
            self.pulse_sign[i] = sign
        elif cmd == RESUME:
            self._restore(i)

    def _advance_holds(self) -> None:
        """Count temporary manoeuvres down; all level holds first, then all speed pulses."""
        for i, left in enumerate(self.hold_left.tolist()):
            if left > 0:
                self.hold_left[i] = left - 1
                if left == 1:
                    self._restore(i)
        for i, left in enumerate(self.pulse_left.tolist()):
            if left > 0:
                self.pulse_left[i] = left - 1
                if left - 1 == self.hold_steps:  # the other half, as much to the other side
                    flight = self.sim.flights[i]
                    target = self.v0.item(i) - self.pulse_sign.item(i) * self.DVEL
                    flight.change_velocity(target - flight.velocity)
                elif left == 1:
                    self._restore(i)

    def _restore(self, i: int) -> None:
        """Aircraft i returns to its entry level and speed and drops any manoeuvre."""
        flight = self.sim.flights[i]
        flight.change_altitude(self.alt0.item(i) - flight.altitude)
        flight.change_velocity(self.v0.item(i) - flight.velocity)
        self.hold_left[i] = 0
        self.pulse_left[i] = 0
        self.pulse_sign[i] = 0

    # ------------------------------------------------------------------ legality

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions are legal now. Idle always is; nothing is amid a temporary manoeuvre."""
        step, lowest, highest = self.DALT, self.sim.ALT_MIN, self.sim.denorm_alt(1)
        dv, slowest, fastest = self.DVEL, self.vel_min, self.vel_max
        now = self.step_idx * self.DT
        legal = [True]
        for i, (flight, hold_left, pulse_left, total, flown, target) in enumerate(
            zip(
                self.sim.flights,
                self.hold_left.tolist(),
                self.pulse_left.tolist(),
                self.s_total.tolist(),
                self.s_flown.tolist(),
                self.t_target.tolist(),
                strict=True,
            )
        ):
            if hold_left > 0 or pulse_left > 0:
                legal += [False] * N_CLEARANCES
                continue
            level, speed = flight.altitude, flight.velocity
            pulse_fits = self._pulse_fits(speed, total - flown, target - now)
            legal += (
                level - step >= lowest,
                level + step <= highest,
                level - 2 * step >= lowest,
                level + 2 * step <= highest,
                pulse_fits and slowest <= speed - dv <= fastest,
                pulse_fits and slowest <= speed + dv <= fastest,
                not self._on_plan(i),
            )
        return np.array(legal)

    def _pulse_fits(self, speed: float, s_left: float, t_left: float) -> bool:
        """Whether a speed pulse leaves time to exit on target at a possible speed.

        s_left: metres to the exit; t_left: seconds to the target time.
        quirk: the distance covered during the pulse is taken at the present speed.
        """
        if s_left <= 0.0 or t_left <= 0.0:  # it has left, so there is nothing to miss
            return True
        pulse = 2 * self.hold_steps * self.DT
        s_rest = max(s_left - speed * min(pulse, t_left), 0.0)
        t_rest = max(t_left - pulse, 0.0)
        if t_rest <= 0.0:
            return pulse <= t_left + 1e-6
        return self.vel_min * t_rest - 1e-6 <= s_rest <= self.vel_max * t_rest + 1e-6

    def _on_plan(self, i: int) -> bool:
        """Whether aircraft i flies at its entry level and speed."""
        flight = self.sim.flights[i]
        return (
            abs(flight.altitude - self.alt0.item(i)) < 1e-9
            and abs(flight.velocity - self.v0.item(i)) < 1e-9
        )

    # ------------------------------------------------------------------ the plan

    def _distance_to_boundary(self, flight: Flight) -> float:
        """Metres it has to fly to the first edge of the sector ahead."""
        ux, uy = flight.get_heading_unit_vectors()
        ahead = [
            distance
            for position, direction in ((flight.x, ux), (flight.y, uy))
            if abs(direction) >= 1e-12
            for edge in (-self.AIRSPACE, self.AIRSPACE)
            if (distance := (edge - position) / direction) > 0.0
        ]
        return min(ahead, default=2.0 * self.AIRSPACE)

    def _record_exits(self, v_before: NDArray[np.float64]) -> None:
        """Note who has flown its whole way, and when within the step just flown that was.

        v_before: speeds during the step.
        """
        if not (self.s_flown >= self.s_total).any():
            return
        left_now = (self.s_flown >= self.s_total) & np.isnan(self.t_exit_actual)
        too_far = self.s_flown[left_now] - self.s_total[left_now]
        self.t_exit_actual[left_now] = self.step_idx * self.DT - too_far / v_before[left_now]

    def _exit_deviation(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Per aircraft: seconds late, levels too high.

        How late it left, or will leave at its present speed.
        """
        now = self.step_idx * self.DT
        late, high = [], []
        for flight, level, total, flown, target, left in zip(
            self.sim.flights,
            self.alt0.tolist(),
            self.s_total.tolist(),
            self.s_flown.tolist(),
            self.t_target.tolist(),
            self.t_exit_actual.tolist(),
            strict=True,
        ):
            if math.isnan(left):
                left = now + max(total - flown, 0.0) / flight.velocity
            late.append(left - target)
            high.append((flight.altitude - level) / self.DALT)
        return np.array(late), np.array(high)

    # ------------------------------------------------------------------ reward

    def _severity(self) -> float:
        """Summed severity of the conflicts predicted for what is left of the episode."""
        return float(sum(conflict.severity for conflict in self._predicted_conflicts()))

    def _deviation(self) -> NDArray[np.float64]:
        """How far off plan each aircraft is, 0..1: time in episodes, level in sector heights."""
        late, high = self._exit_deviation()
        episode, height = self.max_steps * self.DT, self.sim.N_ALTS - 1
        return np.minimum(np.hypot(late / episode, high / height), 1.0)

    def collision_charge(self) -> float:
        """What a mid-air now costs beyond the step: something for every step not flown."""
        return self.collision_rate * self.w_safe * max(self.max_steps - self.step_idx, 0)

    # ------------------------------------------------------------------ separation

    def _count_congestion(self) -> int:
        """Number of pairs that have lost separation."""
        return self._count_closer(self.D_SEP, self.ALT_MIN_SEP)

    def _is_collision(self) -> bool:
        """Whether there is a mid-air."""
        return self._count_closer(self.COLLISION_RADIUS, self.DALT) > 0

    def _count_closer(self, distance: float, vertical: float) -> int:
        """Pairs at `distance` metres or less whose altitudes differ by less than `vertical`."""
        count = 0
        for p, q in combinations(self.sim.flights, 2):
            if abs(p.altitude - q.altitude) < vertical:
                count += math.hypot(q.x - p.x, q.y - p.y) <= distance
        return count

    def _predicted_conflicts(self) -> list[Conflict]:
        """What will happen until the episode ends if nobody says anything more."""
        return self.sim.predict_conflicts(max(self.max_steps - self.step_idx, 0) * self.DT)

    # ------------------------------------------------------------------ what the agent sees

    def _obs(self) -> Observation:
        """The features, clipped to -1..1, and the mask behind them."""
        # The worst conflict of each aircraft; the first in pair order if several are.
        severity = [0.0] * self.n_flights
        t_cpa = [math.inf] * self.n_flights
        for conflict in self._predicted_conflicts():
            for i in (conflict.i, conflict.j):
                if conflict.severity > severity[i]:
                    severity[i], t_cpa[i] = conflict.severity, conflict.t_cpa

        sim = self.sim
        steps_left = max(self.max_steps - self.step_idx, 1) * self.DT
        hold = self.hold_steps * self.DT
        given = self.per_aircraft_clearances.tolist()
        busy = np.maximum(self.hold_left, self.pulse_left).tolist()
        late, high = (deviation.tolist() for deviation in self._exit_deviation())
        features: list[float] = []
        for i, flight in enumerate(sim.flights):
            ux, uy = flight.get_heading_unit_vectors()
            urgency = t_cpa[i] / (t_cpa[i] + steps_left) if severity[i] > 0.0 else 1.0
            features += (
                flight.x / self.AIRSPACE,
                flight.y / self.AIRSPACE,
                2.0 * sim.norm_alt(flight.altitude) - 1.0,
                2.0 * sim.norm_vel(flight.velocity) - 1.0,
                ux,
                uy,
                math.tanh(late[i] / hold),
                math.tanh(high[i] / 2.0),
                2.0 * min(given[i] / 6.0, 1.0) - 1.0,
                2.0 * (busy[i] / (2 * self.hold_steps)) - 1.0,
                2.0 * severity[i] - 1.0,
                2.0 * urgency - 1.0,
                1.0,
            )
        features.append(2.0 * (self.step_idx / self.max_steps) - 1.0)
        features.append(2.0 * (1.0 - self.n_clearances / self.max_clearances) - 1.0)

        obs = np.empty(self.mask_offset + self.n_actions, np.float32)
        obs[: self.mask_offset] = features
        obs[self.mask_offset :] = self.action_masks()
        return np.minimum(np.maximum(obs, -1.0, out=obs), 1.0, out=obs)

    def _info(self) -> dict[str, Any]:
        """The figures that scores are made of, and why the exits deviate.

        congestion_events: pairs too close in this step; congestion_total: over the episode.
        dt_exit: seconds late, d_alt_exit: levels too high, per aircraft.
        exit_miss: mean over aircraft of lateness in hold lengths plus levels off.
        """
        late, high = self._exit_deviation()
        miss = np.abs(late) / (self.hold_steps * self.DT) + np.abs(high)
        return {
            "n": self.n,
            "m": self.m,
            "congestion_events": self.last_congestion,
            "congestion_total": self.congestion_total,
            "clearances": self.n_clearances,
            "invalids": self.n_invalids,
            "aircraft_involved": int(np.count_nonzero(self.touched)),
            "collided": bool(self.collided),
            "dt_exit": late,
            "d_alt_exit": high,
            "exit_miss": float(miss.sum()) / self.n_flights,
        }
