"""Sectors of the engine and the arrays they write into; what env.py and vector.py share."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _native
from .._arguments import MAX_ENVS, MAX_THREADS, octets, real, whole

Observation = NDArray[np.float32]

N_CLEARANCES = 7
N_FEATS = 13
N_GLOBALS = 2

# The columns of the engine's arrays; skyrail.h has the same.
_COUNTS = 9
_N, _M, _EVENTS, _TOTAL, _CLEARANCES, _INVALIDS, _INVOLVED, _COLLIDED, _STEP = range(_COUNTS)
_AIRCRAFT = 15
_AIRCRAFT_COUNTS = 4
_CONFLICT = 10

INTEGER_KEYS = (
    "n",
    "m",
    "congestion_events",
    "congestion_total",
    "clearances",
    "invalids",
    "aircraft_involved",
)

NEXT_STEP, SAME_STEP, DISABLED = range(3)

# The engine's limits; its Config.Validate has the same.
MAX_FLIGHTS = 64
_MANY = 1_000_000


class Conflict(NamedTuple):
    """A loss of separation of the aircraft i < j that will happen if nobody does anything.

    Times are seconds from now.
    """

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


class _Config(ctypes.Structure):
    _fields_ = [
        *(
            (name, ctypes.c_int64)
            for name in ("n_flights", "n_lo", "n_hi", "max_steps", "hold_steps", "max_clearances")
        ),
        *((name, ctypes.c_double) for name in ("w_safe", "w_clearance", "collision_rate")),
    ]


class _Buffers(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_void_p)
        for name in (
            "observations",
            "masks",
            "rewards",
            "terminated",
            "truncated",
            "actions",
            "issued",
            "counts",
            "figures",
            "aircraft",
            "aircraft_counts",
            "final_observations",
            "final_counts",
            "final_figures",
        )
    ]


class _Arrays(ctypes.Structure):
    _fields_ = [
        ("handle", ctypes.c_int64),
        ("actions", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in ("reward", "info")),
        ("info_size", ctypes.c_int64),
    ]


class Parameters(NamedTuple):
    """The reference's constructor arguments, but for those that do not reach the engine."""

    n_flights: int = 5
    n_range: tuple[int, int] = (2, 4)
    max_steps: int = 50
    hold_steps: int = 5
    w_safe: float = 3.0
    w_clearance: float = 0.15
    collision_rate: float = 3.0
    max_clearances: int = 40

    def checked(self) -> Parameters:
        """The same with plain numbers. TypeError or ValueError if one will not do."""
        n_flights = whole("n_flights", self.n_flights, 1, MAX_FLIGHTS)
        return Parameters(
            n_flights,
            checked_range(self.n_range, n_flights),
            whole("max_steps", self.max_steps, 1, _MANY),
            whole("hold_steps", self.hold_steps, 1, _MANY),
            real("w_safe", self.w_safe),
            real("w_clearance", self.w_clearance),
            real("collision_rate", self.collision_rate),
            whole("max_clearances", self.max_clearances, 1, _MANY),
        )

    @property
    def n_actions(self) -> int:
        return 1 + N_CLEARANCES * self.n_flights

    @property
    def mask_offset(self) -> int:
        """Where the mask begins in an observation."""
        return N_FEATS * self.n_flights + N_GLOBALS


def configuration(p: Parameters) -> ctypes.Structure:
    """skyrail_flight_config."""
    return _Config(
        p.n_flights,
        *p.n_range,
        p.max_steps,
        p.hold_steps,
        p.max_clearances,
        p.w_safe,
        p.w_clearance,
        p.collision_rate,
    )


def checked_range(n_range: Any, n_flights: int) -> tuple[int, int]:  # noqa: ANN401
    """n_range as two whole numbers, 1 <= lo <= hi <= n_flights."""
    try:
        lo, hi = n_range
    except (TypeError, ValueError):
        raise TypeError(f"n_range is {n_range!r}, it must be two whole numbers") from None
    lo, hi = (whole("n_range", bound, -(2**63), 2**63 - 1) for bound in (lo, hi))
    if not 1 <= lo <= hi <= n_flights:
        raise ValueError(
            f"n_range is ({lo}, {hi}), it must satisfy 1 <= lo <= hi <= n_flights = {n_flights}"
        )
    return lo, hi


class FlightState:
    """What there is to know of a sector, or of E of them: NumPy views of the engine's arrays.

    They show the present, until the next step or reset, and are read-only. Copy what is to be kept.
    Shapes are those of one sector with N aircraft; for a vector environment E comes before.

    Aircraft, float64:

    position             (N, 2) x, y in metres from the sector's centre
    level                (N,)   altitude units, a flight level is 12 of them: 290, 302, ... 398
    speed                (N,)   metres a second
    heading              (N,)   degrees: 0 is +x, 90 is +y; never changes
    direction            (N, 2) the unit vector of the heading
    entry_level          (N,)   level and speed each began with: the plan (alt0, v0)
    entry_speed          (N,)
    distance             (N,)   metres from entry to exit (s_total)
    flown                (N,)   and of that behind it (s_flown)
    target_time          (N,)   seconds from entry to exit by plan (t_target)
    exit_time            (N,)   seconds from entry to exit as flown; NaN until it has left
    severity             (N,)   of its worst predicted conflict, 0..1; 0: there is none
    conflict_time        (N,)   seconds to that conflict's closest approach; inf: there is none
    dt_exit              (N,)   seconds late, as it has left or will at its present speed
    d_alt_exit           (N,)   levels above its entry level

    Aircraft, int64:

    hold_left            (N,)   steps left of a level manoeuvre
    pulse_left           (N,)   steps left of a speed pulse
    pulse_sign           (N,)   1: it began faster, -1: slower, 0: no pulse
    per_aircraft_clearances (N,)

    The episode, shape (): int64 but for exit_miss (float64):

    n, m                 aircraft that converge, and the others
    congestion_events    pairs too close at the end of this step
    congestion_total     over the episode
    clearances, invalids given, and refused because the mask forbade them
    aircraft_involved    aircraft that were given a clearance
    collided             1 after a mid-air
    step_idx             steps flown
    exit_miss            mean over the aircraft of lateness in hold lengths plus levels off

    The last step; it may be one that has ended an episode, if another began in it ("SameStep"):

    action               ()     int64; 0 after a reset
    issued               ()     int64: 1 if a clearance was given in it
    stock_reward         ()     float64: the challenge's reward; 0 after a reset
    terminated, truncated ()    bool
    stock_observation    (20N + 3,) float32: the challenge's observation
    action_masks         (1 + 7N,)  bool
    """

    __slots__ = (
        "_aircraft",
        "_counts",
        "_figures",
        "_n",
        "action",
        "action_masks",
        "issued",
        "stock_observation",
        "stock_reward",
        "terminated",
        "truncated",
        *("conflict_time", "direction", "distance", "entry_level", "entry_speed", "exit_time"),
        *("flown", "heading", "level", "position", "severity", "speed", "target_time"),
        *("d_alt_exit", "dt_exit", "exit_miss"),
        *("hold_left", "per_aircraft_clearances", "pulse_left", "pulse_sign"),
        *("aircraft_involved", "clearances", "collided", "congestion_events", "congestion_total"),
        *("invalids", "m", "n", "step_idx"),
    )

    def __init__(self, sectors: Sectors, of: int | slice) -> None:
        n = sectors.parameters.n_flights
        aircraft = _view(sectors.aircraft, of)
        self.position = aircraft[..., 0:2]
        self.level = aircraft[..., 2]
        self.speed = aircraft[..., 3]
        self.heading = aircraft[..., 4]
        self.direction = aircraft[..., 5:7]
        self.entry_level = aircraft[..., 7]
        self.entry_speed = aircraft[..., 8]
        self.distance = aircraft[..., 9]
        self.flown = aircraft[..., 10]
        self.target_time = aircraft[..., 11]
        self.exit_time = aircraft[..., 12]
        self.severity = aircraft[..., 13]
        self.conflict_time = aircraft[..., 14]

        counts = _view(sectors.aircraft_counts, of)
        self.hold_left = counts[..., 0]
        self.pulse_left = counts[..., 1]
        self.pulse_sign = counts[..., 2]
        self.per_aircraft_clearances = counts[..., 3]

        episode = _view(sectors.counts, of)
        self.n = episode[..., _N]
        self.m = episode[..., _M]
        self.congestion_events = episode[..., _EVENTS]
        self.congestion_total = episode[..., _TOTAL]
        self.clearances = episode[..., _CLEARANCES]
        self.invalids = episode[..., _INVALIDS]
        self.aircraft_involved = episode[..., _INVOLVED]
        self.collided = episode[..., _COLLIDED]
        self.step_idx = episode[..., _STEP]

        figures = _view(sectors.figures, of)
        self.exit_miss = figures[..., 0]
        self.dt_exit = figures[..., 1 : 1 + n]
        self.d_alt_exit = figures[..., 1 + n :]

        self.action = _view(sectors.actions, of)
        self.issued = _view(sectors.issued, of)
        self.stock_reward = _view(sectors.rewards, of)
        self.terminated = _view(sectors.terminated, of)
        self.truncated = _view(sectors.truncated, of)
        self.stock_observation = _view(sectors.observations, of)
        self.action_masks = _view(sectors.masks, of)

    @property
    def touched(self) -> NDArray[np.bool_]:
        """(N,) bool: which aircraft were given a clearance."""
        return self.per_aircraft_clearances > 0


def _view(array: NDArray[Any], of: int | slice) -> NDArray[Any]:
    view = array[of, ...]
    view.flags.writeable = False
    return view


ObservationFunction = Callable[[FlightState], Any]
RewardFunction = Callable[[FlightState], Any]


class Sectors:
    """E sectors of the engine with the arrays that they write into."""

    def __init__(self, parameters: Parameters, envs: int, threads: int, mode: int) -> None:
        self.parameters = parameters
        self.envs = envs = whole("num_envs", envs, 1, MAX_ENVS)
        threads = whole("threads", threads, 0, MAX_THREADS)
        config = configuration(parameters)
        library = _native.lib()
        create = library.long("skyrail_flight_create")
        # The byte array keeps integers and figures of a row side by side: one copy takes both.
        handle = create(ctypes.byref(config), ctypes.c_int64(envs), ctypes.c_int64(threads), mode)
        self.native = _native.Native("flight", library.checked(handle), library, fast="step_one")
        n = parameters.n_flights
        length = parameters.mask_offset + parameters.n_actions
        self.observations = np.zeros((envs, length), np.float32)
        self.masks = np.zeros((envs, parameters.n_actions), np.bool_)
        self.rewards = np.zeros(envs)
        self.terminated = np.zeros(envs, np.bool_)
        self.truncated = np.zeros(envs, np.bool_)
        figures = 1 + 2 * n
        info = np.zeros(envs * (_COUNTS + figures))
        self.counts = info[: envs * _COUNTS].view(np.int64).reshape(envs, _COUNTS)
        self.figures = info[envs * _COUNTS :].reshape(envs, figures)
        self.info = memoryview(info)
        self.aircraft = np.zeros((envs, n, _AIRCRAFT))
        self.aircraft_counts = np.zeros((envs, n, _AIRCRAFT_COUNTS), np.int64)
        self.actions = np.zeros(envs, np.int64)
        self.issued = np.zeros(envs, np.int64)
        self._given = np.zeros(envs, np.int64)
        self._given_at = _native.address(self._given)
        if mode == SAME_STEP:
            self.final_observations = np.zeros_like(self.observations)
            self.final_counts = np.zeros_like(self.counts)
            self.final_figures = np.zeros_like(self.figures)
        self._mode = mode
        self._reset = library.fast.skyrail_flight_reset
        self.bind()

    def bind(self, observations: bool = True, infos: bool = True, state: bool = False) -> None:
        """Have every step write masks, rewards and endings, the observations and the counts and
        figures of infos unless those are False, and the aircraft if state is True. All are written
        at once.
        """
        arrays: dict[str, NDArray[Any]] = {
            "masks": self.masks,
            "rewards": self.rewards,
            "terminated": self.terminated,
            "truncated": self.truncated,
            "actions": self.actions,
            "issued": self.issued,
        }
        if observations:
            arrays["observations"] = self.observations
        if infos:
            arrays |= {"counts": self.counts, "figures": self.figures}
        if state:
            arrays |= {"aircraft": self.aircraft, "aircraft_counts": self.aircraft_counts}
        if self._mode == SAME_STEP:
            arrays |= {
                "final_observations": self.final_observations,
                "final_counts": self.final_counts,
                "final_figures": self.final_figures,
            }
        buffers = _Buffers(**{name: _native.address(array) for name, array in arrays.items()})
        self.native.call("bind", ctypes.byref(buffers))
        self._bound = observations, infos

    @property
    def last(self) -> tuple[NDArray[Any], ...]:
        """What is known of the last step alone, and not part of what is saved."""
        return self.rewards, self.terminated, self.truncated, self.actions, self.issued

    def make_quick(self, observe: Callable[[], Any], new_info: type[dict[str, Any]]) -> None:
        """Let native.quick[0](action) of a single sector fly a step and make its five values; it
        answers None if it has not flown. Where the library finds no CPython, it never does.
        """
        arrays = _Arrays(
            self.native.number,
            self.parameters.n_actions,
            _native.address(self.rewards),
            _native.address(self.counts),
            self.info.nbytes,
        )
        make = self.native.lib.fast.skyrail_flight_stepper
        make.restype = ctypes.py_object
        with contextlib.suppress(ValueError):  # NULL
            self.native.quick[0] = make(
                ctypes.byref(arrays), ctypes.py_object(observe), ctypes.py_object(new_info)
            )

    def look(self) -> None:
        """Write all that steps do not, as of now."""
        if not all(self._bound):
            bound = self._bound
            self.bind()
            self.bind(*bound)
        self.native.call(
            "state", _native.address(self.aircraft), _native.address(self.aircraft_counts)
        )

    def step(
        self,
        actions: NDArray[np.int64],
        observations: NDArray[np.float32] | None = None,
        counts: NDArray[np.int64] | None = None,
        figures: NDArray[np.float64] | None = None,
    ) -> None:
        """Step all sectors, each by its action, and write these arrays too, which are as those of
        the same names: they are the caller's.
        """
        self._given[:] = actions  # whose address takes longer to find
        if observations is None and counts is None:
            self.native.call("step", self._given_at)
        else:
            into = map(_native.address, (observations, counts, figures))
            self.native.call("step_into", self._given_at, *into)

    def reset(
        self,
        seeds: NDArray[np.uint64] | None,
        seeded: NDArray[np.bool_] | None,
        chosen: NDArray[np.bool_] | None,
    ) -> None:
        """Begin episodes where chosen; where seeded, from a seed, else along the own stream."""
        self.native.call(
            "reset", _native.address(seeds), _native.address(seeded), _native.address(chosen)
        )

    def reset_next(self) -> None:
        """Begin the next episode of a single sector: as reset(), and faster."""
        self.native.alive()
        self.native.lib.checked(self._reset(self.native.handle, None, None, None))

    def set_n_range(self, lo: int, hi: int) -> None:
        lo, hi = checked_range((lo, hi), self.parameters.n_flights)
        self.native.call("set_n_range", ctypes.c_int64(lo), ctypes.c_int64(hi))
        self.parameters = self.parameters._replace(n_range=(lo, hi))

    def save(self, i: int) -> bytes:
        """Everything that makes sector i what it is."""
        room = 256 + 128 * self.parameters.n_flights
        data = np.zeros(room, np.uint8)
        size = self.native.long(
            "save", ctypes.c_int64(i), _native.address(data), ctypes.c_int64(room)
        )
        return data[:size].tobytes()

    def load(self, i: int, data: bytes) -> None:
        array = octets("the state", data)
        self.native.call(
            "load", ctypes.c_int64(i), _native.address(array), ctypes.c_int64(len(array))
        )

    def conflicts(self, i: int) -> list[Conflict]:
        """The conflicts predicted for what is left of the episode, in the order of pairs."""
        n = self.parameters.n_flights
        rows = np.zeros((n * (n - 1) // 2, _CONFLICT))
        count = self.native.long(
            "conflicts", ctypes.c_int64(i), _native.address(rows), ctypes.c_int64(len(rows))
        )
        return [
            Conflict(int(i), int(j), enter, cpa, lasts, d, d_alt, (x, y), 1000.0, severity)
            for i, j, enter, cpa, lasts, d, d_alt, severity, x, y in rows[:count].tolist()
        ]

    def stream(self, i: int) -> dict[str, Any]:
        """The state of sector i's random stream, as NumPy's PCG64 tells it."""
        words = np.zeros(6, np.uint64)
        self.native.call("stream", ctypes.c_int64(i), _native.address(words))
        state_low, state_high, inc_low, inc_high, has, half = words.tolist()
        return {
            "bit_generator": "PCG64",
            "state": {"state": state_high << 64 | state_low, "inc": inc_high << 64 | inc_low},
            "has_uint32": has,
            "uinteger": half,
        }

    def set_stream(self, i: int, state: dict[str, Any]) -> None:
        if state.get("bit_generator") != "PCG64":
            raise ValueError(
                f"the stream is a {state.get('bit_generator')}; the challenge's is NumPy's PCG64, "
                "as numpy.random.default_rng makes it"
            )
        words = []
        for name in ("state", "inc"):
            value = int(state["state"][name])
            words += [value & (1 << 64) - 1, value >> 64]
        words += [state["has_uint32"], state["uinteger"]]
        array = np.array(words, np.uint64)  # kept until the call is over
        self.native.call("set_stream", ctypes.c_int64(i), _native.address(array))
