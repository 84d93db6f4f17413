"""One sector as a Gymnasium environment."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from operator import index
from typing import Any, ClassVar, NamedTuple

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from .. import _native
from .._arguments import one_seed, real, shown
from .._late import LateDict
from ._core import (
    DISABLED,
    INTEGER_KEYS,
    Conflict,
    FlightState,
    Observation,
    ObservationFunction,
    Parameters,
    RewardFunction,
    Sectors,
)

CLEARANCE_NAMES = (
    "FL_DEC",
    "FL_INC",
    "FL_DEC2_T",
    "FL_INC2_T",
    "SPD_DN_T",
    "SPD_UP_T",
    "RESUME",
)

# What skyrail_flight_step_one returns, as (terminated, truncated).
_ENDINGS = ((False, False), (True, False), (False, True), (True, True))


def _parameter(name: str) -> property:
    return property(
        lambda self: getattr(self._sectors.parameters, name),
        doc=f"{name}, as the environment was made with; make another one to change it.",
    )


def _count(column: int, doc: str) -> property:
    def get(self: Flight4DEnv) -> int:
        self._need_episode()
        return int(self._sectors.counts[0, column])

    return property(get, doc=doc)


def _array(name: str, doc: str) -> property:
    return property(lambda self: getattr(self.state, name).copy(), doc=doc)


class Flight4DEnv(gymnasium.Env[Observation, int]):
    """A sector controller who gives at most one clearance a step.

    Action space: Discrete(1 + 7 * n_flights). 0 idles; 1 + 7*i + c gives clearance c
    (CLEARANCE_NAMES) to aircraft i. `action_masks()` says what is legal; an illegal action is
    counted in info["invalids"] and not flown; one outside the space raises ValueError, what is no
    integer TypeError.

    Observation space: Box(-1, 1, float32): 13 features of each aircraft, two of the episode (steps
    flown, clearances left), then, from `mask_offset` on, the mask as 0 and 1. 103 numbers at the
    defaults.

    Reward: minus the cost of the step: w_safe times the severities of the predicted conflicts,
    w_safe times the mean deviation from plan, w_clearance for a clearance; and for a mid-air
    collision_rate * w_safe for every step that is lost.

    Ending: `terminated` on a mid-air; `truncated` after max_steps steps or max_clearances
    clearances. Both can be true. It does not stop itself: stepping on keeps flying.

    Info: n, m, congestion_events, congestion_total, clearances, invalids, aircraft_involved,
    collided, dt_exit (seconds late, per aircraft), d_alt_exit (levels high, per aircraft),
    exit_miss.

    Seeding: reset(seed=s) gives the scenario of s; reset() goes on along the environment's own
    stream, `np_random`. Without any seed ever, the stream begins from chance.

    Parameters: n_flights aircraft (1..64), of which n_range[0]..n_range[1] converge on the hotspot;
    max_steps of 2 s; hold_steps H: a level manoeuvre flies H-1 moves, a speed pulse 2H; w_safe,
    w_clearance and collision_rate weigh the reward; gamma is only kept for who trains; seed is
    accepted and does nothing. The ranked scenario is the first four at their defaults. ValueError
    or TypeError says what is wrong with one.

    One's own observation and reward: `observation(state)` returns an array of `observation_space`,
    `reward(state)` a number; `state` is a FlightState. What counts in the challenge stays the same.
    What they raise comes through: the step has been flown by then, or the episode begun, and only
    what would have been returned is lost.

    State: `state`, a FlightState, and under the reference's names n, m, alt0, v0, s_total, s_flown,
    t_target, t_exit_actual, hold_left, pulse_left, pulse_sign, step_idx, n_clearances, n_invalids,
    per_aircraft_clearances, touched, collided, last_congestion, congestion_total; sim.flights are
    the aircraft. All are to be read, not written, and arrays are copies.

    An environment can be copied and pickled, and then goes on alike, with what a subclass added.
    After close() every call raises ClosedError. It flies by one thread: give each thread an
    environment of its own.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    DT = 2
    DALT = 12
    DVEL = 35
    ALT_MIN_SEP = 24
    AIRSPACE = 10_000
    D_SEP = 1_000.0
    COLLISION_RADIUS = 100.0
    vel_min = 200
    vel_max = 515

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
        *,
        observation: ObservationFunction | None = None,
        observation_space: spaces.Space[Any] | None = None,
        reward: RewardFunction | None = None,
    ) -> None:
        self.gamma = real("gamma", gamma)
        parameters = Parameters(
            n_flights,
            n_range,
            max_steps,
            hold_steps,
            w_safe,
            w_clearance,
            collision_rate,
            max_clearances,
        ).checked()
        self.n_actions = parameters.n_actions
        self.mask_offset = parameters.mask_offset
        self.action_space = spaces.Discrete(self.n_actions)
        self.observation_space = space_of(parameters, observation, observation_space, reward)
        self._own_observation = observation
        self._own_reward = reward
        self._begin(parameters)

    def _begin(self, parameters: Parameters) -> None:
        sectors = Sectors(parameters, envs=1, threads=1, mode=DISABLED)
        self._sectors = sectors
        self._native = sectors.native
        self._take_observation = sectors.observations[0].copy
        self._take_info = sectors.info.tobytes
        self._counts = memoryview(sectors.counts[0])
        self._own = self._own_observation is not None or self._own_reward is not None
        if self._own:
            sectors.bind(state=True)
        else:
            sectors.make_quick(self._take_observation, Info)
        self._quick = sectors.native.quick
        self._state = FlightState(sectors, 0)
        self._begun = False

    # ------------------------------------------------------------------ the episode

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode. It has no options.

        With a seed, a whole number from 0, the scenario of that seed; without, the next one.
        """
        if seed is None and self._begun and self._rng is None:
            self._sectors.reset_next()
        else:
            self._reset(seed)
        return self._observe(), self._info()

    def _reset(self, seed: int | None) -> None:
        if seed is None and not self._begun and self._rng is None:
            seed = int(np.random.SeedSequence().generate_state(1, np.uint32)[0])
        if seed is not None:
            seed = one_seed(seed)
            self._np_random_seed = seed
            self._sectors.reset(np.array([seed], np.uint64), None, None)
            self._rng = None  # np_random is another generator from now on, as Gymnasium has it
        else:
            if self._rng is not None:
                self._sectors.set_stream(0, self._rng.bit_generator.state)
            self._sectors.reset(None, None, None)
        if self._rng is not None:
            self._rng.bit_generator.state = self._sectors.stream(0)
        self._begun = True

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Fly one step: observation, reward, terminated, truncated, info."""
        flown = self._quick[0](action)
        return self._step_carefully(action) if flown is None else flown

    def _step_carefully(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:  # noqa: ANN401
        """step() with one's own functions, and for what is no action or no episode."""
        if type(action) is not int:
            action = flat_index(action)
        if not 0 <= action < self.n_actions:
            raise ValueError(f"action {shown(action)} is outside 0..{self.n_actions - 1}")
        ended = self._native.fast(self._native.handle, action)
        if ended < 0:
            raise self._failure(ended)
        terminated, truncated = _ENDINGS[ended]
        reward = float(self._sectors.rewards[0])
        if self._own_reward is not None:
            reward = own_reward(self._own_reward, self._state)
        return self._observe(), reward, terminated, truncated, self._info()

    def _info(self) -> Info:
        info = Info()
        info["n"] = self._counts[0]
        info._raw = self._take_info()
        return info

    def _observe(self) -> Any:  # noqa: ANN401 - an element of the space
        if self._own_observation is None:
            return self._take_observation()
        return own_observation(self._own_observation, self._state, self.observation_space, ())

    def _failure(self, code: int) -> Exception:
        error = self._native.lib.exception(code)
        if isinstance(error, _native.ResetNeededError):
            return gymnasium.error.ResetNeeded("call reset() before step()")
        return error

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions are legal now: (n_actions,) bool, a copy. Idle always is."""
        self._need_episode()
        return self._sectors.masks[0].copy()

    def set_n_range(self, lo: int, hi: int) -> None:
        """Let lo..hi aircraft converge, from the next reset on. 1 <= lo <= hi <= n_flights."""
        self._sectors.set_n_range(lo, hi)

    def close(self) -> None:
        """Give the engine's memory back. Closing again does nothing."""
        self._native.close()

    # ------------------------------------------------------------------ the random stream

    # Gymnasium keeps its generator in _np_random. The engine has the stream until somebody asks for
    # it; from then on the generator leads, and the engine's stream follows it in every reset.
    _rng: np.random.Generator | None = None

    @property
    def _np_random(self) -> np.random.Generator | None:  # type: ignore[override]
        if self._rng is None and self._begun:
            self._rng = np.random.Generator(np.random.PCG64(0))
            self._rng.bit_generator.state = self._sectors.stream(0)
        return self._rng

    @_np_random.setter
    def _np_random(self, generator: np.random.Generator | None) -> None:
        if not isinstance(generator, np.random.Generator | None):
            raise TypeError(f"np_random is {generator!r}, it must be a numpy.random.Generator")
        self._rng = generator

    # ------------------------------------------------------------------ what there is to know

    @property
    def state(self) -> FlightState:
        """The sector as it is now, until the next step."""
        self._need_episode()
        if not self._own:
            self._sectors.look()
        return self._state

    def predicted_conflicts(self) -> list[Conflict]:
        """What will happen until the episode ends if nobody says anything more."""
        self._need_episode()
        return self._sectors.conflicts(0)

    @property
    def sim(self) -> Sector | None:
        """The aircraft, under the reference's names. None before the first reset."""
        return Sector(self) if self._begun else None

    n_flights = _parameter("n_flights")
    max_steps = _parameter("max_steps")
    hold_steps = _parameter("hold_steps")
    w_safe = _parameter("w_safe")
    w_clearance = _parameter("w_clearance")
    collision_rate = _parameter("collision_rate")
    max_clearances = _parameter("max_clearances")

    n = _count(0, "Aircraft that converge.")
    m = _count(1, "Aircraft that do not.")
    last_congestion = _count(2, "Pairs too close at the end of the last step.")
    congestion_total = _count(3, "Pairs too close, added up over the steps of the episode.")
    n_clearances = _count(4, "Clearances given.")
    n_invalids = _count(5, "Actions that the mask forbade.")
    step_idx = _count(8, "Steps flown.")

    alt0 = _array("entry_level", "Entry level of each aircraft.")
    v0 = _array("entry_speed", "Entry speed of each aircraft, m/s.")
    s_total = _array("distance", "Metres from entry to exit of each aircraft.")
    s_flown = _array("flown", "Metres flown since entry of each aircraft.")
    t_target = _array("target_time", "Seconds from entry to exit at the entry speed.")
    t_exit_actual = _array("exit_time", "Seconds from entry to exit; NaN until it has left.")
    hold_left = _array("hold_left", "Steps left of each aircraft's level manoeuvre.")
    pulse_left = _array("pulse_left", "Steps left of each aircraft's speed pulse.")
    pulse_sign = _array("pulse_sign", "+1 if the pulse began faster, -1 slower, 0 without.")
    per_aircraft_clearances = _array("per_aircraft_clearances", "Clearances given to each.")
    touched = _array("touched", "Which aircraft were given a clearance.")

    @property
    def collided(self) -> bool:
        """Whether there was a mid-air in the last step."""
        self._need_episode()
        return bool(self._sectors.counts[0, 7])

    @property
    def n_lo(self) -> int:
        """The fewest aircraft that converge from the next reset on."""
        return self._sectors.parameters.n_range[0]

    @property
    def n_hi(self) -> int:
        """The most aircraft that converge from the next reset on."""
        return self._sectors.parameters.n_range[1]

    def _need_episode(self) -> None:
        self._native.alive()
        if not self._begun:
            raise gymnasium.error.ResetNeeded("call reset() first")

    # ------------------------------------------------------------------ copies

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        for name in (
            "_sectors",
            "_native",
            "_quick",
            "_take_observation",
            "_take_info",
            "_counts",
        ):
            del state[name]
        del state["_state"]
        state["_rng"] = copy.deepcopy(self._rng)
        sectors = self._sectors
        state["_parameters"] = sectors.parameters
        state["_saved"] = sectors.save(0)
        state["_last"] = [array[0] for array in sectors.last]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        parameters, saved, last = (state.pop(name) for name in ("_parameters", "_saved", "_last"))
        begun = state["_begun"]
        self.__dict__.update(state)
        self._begin(parameters)
        if begun:
            self._go_on(saved, last)

    def _go_on(self, saved: bytes, last: Sequence[Any]) -> None:
        """Be where Sectors.save was called; last: one of each of Sectors.last."""
        self._sectors.load(0, saved)
        for array, value in zip(self._sectors.last, last, strict=True):
            array[0] = value
        self._begun = True


class Flight(NamedTuple):
    """An aircraft as it flies now: metres, altitude units, metres a second, degrees."""

    x: float
    y: float
    altitude: float
    velocity: float
    heading: float


class Sector:
    """The aircraft of an environment, under the names of the reference's simulator."""

    DT = 2
    DALT = 12
    ALT_MIN = 290
    N_ALTS = 10
    ALT_MIN_SEP = 24
    DVEL = 35
    VEL_MIN = 200
    N_VELS = 10
    AIRSPACE_LIMIT = 10_000

    def __init__(self, env: Flight4DEnv) -> None:
        self._env = env

    @property
    def flights(self) -> list[Flight]:
        """The aircraft as they fly now; changing them changes nothing."""
        state = self._env.state
        rows = zip(
            *state.position.T.tolist(),
            state.level.tolist(),
            state.speed.tolist(),
            state.heading.tolist(),
            strict=True,
        )
        return [Flight(*row) for row in rows]


def space_of(
    parameters: Parameters,
    observation: ObservationFunction | None,
    own: spaces.Space[Any] | None,
    reward: RewardFunction | None,
) -> spaces.Space[Any]:
    """The observation space: the challenge's, or that of one's own observation. It is said here
    what is wrong with one's own functions.
    """
    for name, function in (("observation", observation), ("reward", reward)):
        if function is not None and not callable(function):
            raise TypeError(f"{name} is {function!r}, it must be a function of a FlightState")
    if not isinstance(own, spaces.Space | None):
        raise TypeError(f"observation_space is {own!r}, it must be a space of Gymnasium")
    if observation is None and own is not None:
        raise ValueError("observation_space is for an observation of your own: give that too")
    if observation is None:
        length = parameters.mask_offset + parameters.n_actions
        return spaces.Box(-1.0, 1.0, (length,), np.float32)
    if own is None:
        raise ValueError("an observation of your own needs its observation_space")
    return own


def flat_index(action: Any) -> int:  # noqa: ANN401 - whatever a policy answers
    """The action as an int: from an int, a NumPy integer or an array of one."""
    if not isinstance(action, bool | np.ndarray):
        try:
            return index(action)
        except TypeError:
            pass
    given = np.asarray(action)
    if given.size != 1 or given.dtype.kind not in "iu":
        raise TypeError(f"action {action!r} is not one integer")
    return int(given.item())


def own_reward(function: RewardFunction, state: FlightState) -> float:
    """What one's own function makes of a state."""
    made = function(state)
    try:
        return float(made)
    except (TypeError, ValueError):
        raise TypeError(f"the reward is {made!r}, it must be a number") from None


def own_observation(
    function: ObservationFunction,
    state: FlightState,
    space: spaces.Space[Any],
    envs: tuple[int, ...],
) -> Any:  # noqa: ANN401 - an element of the space
    """What one's own function makes of a state: a copy, of the right types and shapes."""
    return _element(function(state), space, envs)


def _element(made: Any, space: spaces.Space[Any], envs: tuple[int, ...]) -> Any:  # noqa: ANN401
    if isinstance(space, spaces.Dict):
        if not isinstance(made, Mapping) or set(made) != set(space.spaces):
            has = list(made) if isinstance(made, Mapping) else f"a {type(made).__name__}"
            raise ValueError(f"the observation has {has}, its space asks for {list(space.spaces)}")
        return {key: _element(made[key], part, envs) for key, part in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        if not isinstance(made, tuple | list) or len(made) != len(space.spaces):
            raise ValueError(f"the observation is not a tuple of {len(space.spaces)}")
        return tuple(_element(m, part, envs) for m, part in zip(made, space.spaces, strict=True))
    if isinstance(space, spaces.Box | spaces.MultiBinary | spaces.MultiDiscrete | spaces.Discrete):
        try:
            array = np.array(made, dtype=space.dtype)
        except (TypeError, ValueError) as error:
            raise TypeError(f"the observation is no array of {space.dtype}: {error}") from None
        want = (*envs, *space.shape)
        if array.shape != want:
            raise ValueError(
                f"the observation has the shape {array.shape}, its space asks for {want}"
            )
        return array
    return copy.deepcopy(made)


class Info(LateDict):
    """What the reference's info tells; `_raw` are counts and figures of the engine."""

    __slots__ = ()

    def _work_out(self, raw: bytes) -> dict[str, Any]:
        counts = np.frombuffer(raw, np.int64, 8).tolist()
        figures = np.frombuffer(raw, np.float64, offset=9 * 8)
        n = (len(figures) - 1) // 2
        return {
            **dict(zip(INTEGER_KEYS, counts, strict=False)),
            "collided": bool(counts[7]),
            "dt_exit": figures[1 : 1 + n].copy(),
            "d_alt_exit": figures[1 + n :].copy(),
            "exit_miss": float(figures[0]),
        }
