"""Railways of the engine and the arrays they write into; what env.py and vector.py share."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _native
from .._arguments import LAST_SEED, flag, octets, one_of, real, text, whole

ACTIONS = 5
TREE_FEATURES = 12
GLOBAL_CELL = 23
MAX_TREE_DEPTH = 10

NEXT_STEP, SAME_STEP, DISABLED = range(3)

OBSERVATIONS = ("dummy", "tree", "flat_tree", "global")

REWARDS = {
    "default": "default",
    "ecml2026": "ecml2026",
    "components": "base-ecml2026",
    "components-default": "base-default",
    "multi-objective": "multi-objective",
    "punctuality": "punctuality",
}

COMPONENTS = (
    "COLLISION",
    "TARGET_LATE_ARRIVAL",
    "CANCELLATION",
    "TARGET_NOT_REACHED",
    "TARGET_NOT_REACHED_MINIMUM_PENALTY",
    "INTERMEDIATE_NOT_SERVED",
    "INTERMEDIATE_LATE_ARRIVAL",
    "INTERMEDIATE_EARLY_DEPARTURE",
)


class RailAction(IntEnum):
    """What a train can be told, numbered as in flatland-rl."""

    DO_NOTHING = 0
    MOVE_LEFT = 1
    MOVE_FORWARD = 2
    MOVE_RIGHT = 3
    STOP_MOVING = 4


class TrainState(IntEnum):
    """Where a train stands in its life, numbered as in flatland-rl."""

    WAITING = 0
    READY_TO_DEPART = 1
    MALFUNCTION_OFF_MAP = 2
    MOVING = 3
    STOPPED = 4
    MALFUNCTION = 5
    DONE = 6


class Stop(NamedTuple):
    """Where a train has to stand on its way, once, and when."""

    places: tuple[tuple[int, int, int], ...]  # any of them: row, column, heading (-1: any)
    earliest_departure: int  # step; -1: none
    latest_arrival: int  # step; -1: none


class Train(NamedTuple):
    """What stays of a train during an episode."""

    start: tuple[int, int]  # row, column
    heading: int  # 0 north, 1 east, 2 south, 3 west
    target: tuple[int, int]
    earliest_departure: int  # step
    latest_arrival: int  # step
    max_speed: float  # cells a step
    stops: tuple[Stop, ...]  # between start and target, in order


class Options(NamedTuple):
    """How railways are observed and rewarded."""

    observation: str = "dummy"
    depth: int = 2
    radius: float = 2.0
    reward: str = "default"
    fresh: bool = False

    def checked(self) -> Options:
        """The same with plain values; ValueError if one is none, TypeError for a wrong kind."""
        radius = real("radius", self.radius)
        if radius < 0:
            raise ValueError(f"radius is {radius}, it must not be negative")
        return Options(
            one_of("observation", self.observation, OBSERVATIONS),
            whole("depth", self.depth, 0, MAX_TREE_DEPTH),
            radius,
            one_of("reward", self.reward, REWARDS),
            flag("fresh", self.fresh),
        )

    @property
    def nodes(self) -> int:
        """Of a tree."""
        return (4 ** (self.depth + 1) - 1) // 3

    def shape(self, rows: int, columns: int) -> tuple[int, ...]:
        """The shape of one train's observation."""
        if self.observation == "tree":
            return (self.nodes, TREE_FEATURES)
        if self.observation == "flat_tree":
            return (self.nodes * TREE_FEATURES,)
        if self.observation == "global":
            return (rows * columns * GLOBAL_CELL,)
        return (1,)


class _StepArrays(ctypes.Structure):
    _fields_ = [
        ("handle", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in ("rewards", "info")),
        ("info_size", ctypes.c_int64),
    ]


class _Config(ctypes.Structure):
    _fields_ = [
        ("rewards", ctypes.c_char_p),
        ("n_envs", ctypes.c_int64),
        ("threads", ctypes.c_int64),
        ("autoreset", ctypes.c_int32),
        ("fresh", ctypes.c_int32),
        ("leave", ctypes.c_int32),
    ]


class _Arrays(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_void_p)
        for name in (
            "state",
            "position",
            "malfunction",
            "speed",
            "travelled",
            "distance",
            "action_required",
            "deadlocked",
            "masks",
            "elapsed",
            "tree",
            "flat_tree",
            "global",
        )
    ]


class _Buffers(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_void_p) for name in ("rewards", "terminated", "truncated", "all_done")),
        ("now", _Arrays),
        ("final", _Arrays),
        ("radius", ctypes.c_double),
        ("tree_depth", ctypes.c_int32),
    ]


class _Facts(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_int64)
        for name in (
            "n_envs",
            "trains",
            "reward_width",
            "own_trains",
            "rows",
            "columns",
            "max_episode_steps",
            "elapsed",
            "all_done",
        )
    ]


def arrays_of(arrays: Mapping[str, NDArray[Any]]) -> ctypes.Structure:
    """skyrail_rail_arrays."""
    return _Arrays(**{name: _native.address(array) for name, array in arrays.items()})


class Source(NamedTuple):
    """Where railways come from: the bytes of a file, or the parameters of the generators."""

    file: bytes | None
    parameters: str | None = None
    suite: tuple[str, int, int] | None = None

    @classmethod
    def of_file(cls, file: str | os.PathLike[str] | bytes) -> Source:
        if isinstance(file, str | os.PathLike):
            return cls(Path(file).read_bytes())
        return cls(octets("file", file).tobytes())

    @classmethod
    def of_parameters(cls, parameters: Mapping[str, Any], also: Iterable[str]) -> Source:
        """TypeError for a name or a kind that is none; the engine checks how large they are. also:
        names that the caller has taken out, for the error.
        """
        if parameters.get("seed") is None:
            raise TypeError("seed is missing; the same seed gives the same railways")
        plain = {}
        for name, value in parameters.items():
            if name not in _PARAMETERS:
                known = ", ".join((*_PARAMETERS, *also))
                raise TypeError(f"there is no parameter {name!r}; there are {known}")
            plain[name] = _PARAMETERS[name](name, value)
        return cls(None, json.dumps({k: v for k, v in plain.items() if v is not None}))

    @classmethod
    def of_suite(cls, folder: str | os.PathLike[str], level: int, scenario: int) -> Source:
        large = 2**31 - 1
        numbers = whole("level", level, 0, large), whole("scenario", scenario, 0, large)
        return cls(None, None, (text("folder", folder), *numbers))


# How the parameters of env_generator are read. None is for those for which it has a meaning there.


def _count(name: str, value: Any) -> int:  # noqa: ANN401 - whatever a caller has
    return whole(name, value, -(2**63), 2**63 - 1)


def _seed(name: str, value: Any) -> int:  # noqa: ANN401 - whatever a caller has
    return whole(name, value, 0, LAST_SEED)


def _post_seed(name: str, value: Any) -> int | None:  # noqa: ANN401 - whatever a caller has
    return None if value is None else _seed(name, value)


def _interval(name: str, value: Any) -> int:  # noqa: ANN401 - whatever a caller has
    return 0 if value is None else _count(name, value)  # 0: no malfunctions


def _ratios(name: str, value: Any) -> list[list[float]] | None:  # noqa: ANN401
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} is {value!r}, it must be a dict of speeds and their shares")
    return [[real(name, speed), real(name, share)] for speed, share in value.items()]


_PARAMETERS: dict[str, Callable[[str, Any], Any]] = {
    "seed": _seed,
    "n_agents": _count,
    "x_dim": _count,
    "y_dim": _count,
    "n_cities": _count,
    "max_rail_pairs_in_city": _count,
    "max_rails_between_cities": _count,
    "grid_mode": flag,
    "p_level_free": real,
    "line_length": _count,
    "speed_ratios": _ratios,
    "malfunction_interval": _interval,
    "malfunction_duration_min": _count,
    "malfunction_duration_max": _count,
    "post_seed": _post_seed,
    "legacy_env_generator": flag,
}


class Railways:
    """E railways of at most N trains each, with the arrays that they write into.

    `info` keeps what infos tell side by side, so that one copy takes all.
    """

    def __init__(
        self,
        options: Options,
        source: Source | Iterable[Railways],
        envs: int = 1,
        threads: int = 1,
        mode: int = DISABLED,
        single: bool = False,
        clone_of: Railways | None = None,
    ) -> None:
        self.options = options
        self.mode = mode
        self.single = single
        self.threads = threads
        library = _native.lib()
        config = ctypes.byref(
            _Config(REWARDS[options.reward].encode(), envs, threads, mode, options.fresh, single)
        )
        if clone_of is not None:
            handle = clone_of.native.long("clone")
        elif not isinstance(source, Source):
            parts = list(source)
            for part in parts:
                part.native.alive()
            handles = np.array([part.native.number for part in parts], np.int64)
            create = library.long("skyrail_rail_join")
            handle = create(config, _native.address(handles), ctypes.c_int64(len(handles)))
        elif source.file is not None:
            create = library.long("skyrail_rail_create_file")
            handle = create(config, source.file, ctypes.c_int64(len(source.file)))
        elif source.parameters is not None:
            create = library.long("skyrail_rail_create_generated")
            handle = create(config, source.parameters.encode())
        else:
            folder, level, scenario = source.suite or ("", 0, 0)
            create = library.long("skyrail_rail_create_suite")
            handle = create(
                config, os.fsencode(folder), ctypes.c_int64(level), ctypes.c_int64(scenario)
            )
        self.native = _native.Native("rail", library.checked(handle), library, fast="step_live")
        facts = self.facts()
        self.envs: int = facts.n_envs
        self.trains: int = facts.trains
        self.width: int = facts.reward_width
        self.rows: int = facts.rows
        self.columns: int = facts.columns
        self._allocate()

    def _allocate(self) -> None:
        e, n = self.envs, self.trains
        rewards = (e, n) if self.width == 1 else (e, n, self.width)
        self.rewards = np.zeros(rewards)
        self.terminated = np.zeros((e, n), np.bool_)
        self.truncated = np.zeros((e, n), np.bool_)
        self.all_done = np.zeros(e, np.bool_)
        self.info = np.zeros(INFO_BYTES * e * n, np.uint8)
        self.now = self._moment(self.info)
        self.final: dict[str, NDArray[Any]] = {}
        if self.mode == SAME_STEP:
            self.final = self._moment(np.zeros_like(self.info))
        self._views: dict[str, NDArray[Any]] = {}
        self.bind()

    def _moment(self, info: NDArray[np.uint8]) -> dict[str, NDArray[Any]]:
        """The arrays of a moment that every step writes; some of them are parts of info."""
        e, n = self.envs, self.trains
        cells = e * n
        moment: dict[str, NDArray[Any]] = {
            "speed": info[: 8 * cells].view(np.float64).reshape(e, n),
            "malfunction": info[8 * cells : 12 * cells].view(np.int32).reshape(e, n),
            "state": info[12 * cells : 13 * cells].view(np.int8).reshape(e, n),
            "action_required": info[13 * cells :].view(np.bool_).reshape(e, n),
        }
        if not self.single:
            moment["position"] = np.zeros((e, n, 3), np.int32)
            moment["elapsed"] = np.zeros(e, np.int32)
        if self.options.observation != "dummy":
            shape = self.options.shape(self.rows, self.columns)
            moment[self.options.observation] = np.zeros((e, n, *shape))
        return moment

    def bind(self) -> None:
        buffers = _Buffers(
            rewards=_native.address(self.rewards),
            terminated=_native.address(self.terminated),
            truncated=_native.address(self.truncated),
            all_done=_native.address(self.all_done),
            now=arrays_of(self.now),
            final=arrays_of(self.final),
            radius=self.options.radius,
            tree_depth=self.options.depth,
        )
        self.native.call("bind", ctypes.byref(buffers))

    def facts(self, i: int = 0) -> ctypes.Structure:
        """skyrail_rail_facts of environment i."""
        facts = _Facts()
        self.native.call("facts_of", ctypes.c_int64(i), ctypes.byref(facts))
        return facts

    def transitions(self, i: int) -> NDArray[np.uint16]:
        """(rows, columns) uint16: the tracks of environment i."""
        facts = self.facts(i)
        cells = np.zeros((facts.rows, facts.columns), np.uint16)
        self.native.call("transitions", ctypes.c_int64(i), _native.address(cells))
        return cells

    def timetable(self, i: int) -> list[Train]:
        """The trains of environment i."""
        n = self.facts(i).own_trains
        rows, speeds = np.zeros((n, 7), np.int64), np.zeros(n)
        self.native.call(
            "timetable", ctypes.c_int64(i), _native.address(rows), _native.address(speeds)
        )
        stops = self._stops(i, n)
        return [
            Train((row, column), heading, tuple(target), departure, arrival, speed, tuple(of))
            for (row, column, heading, *target, departure, arrival), speed, of in zip(
                rows.tolist(), speeds.tolist(), stops, strict=True
            )
        ]

    def _stops(self, i: int, trains: int) -> list[list[Stop]]:
        """Those of each train."""
        i, none = ctypes.c_int64(i), ctypes.c_int64(0)
        rows = np.zeros((self.native.long("stops", i, None, none), 7), np.int64)
        room = ctypes.c_int64(len(rows))
        rows = rows[: self.native.long("stops", i, _native.address(rows), room)]
        stops: list[list[Stop]] = [[] for _ in range(trains)]
        for train, number, *place, departure, arrival in rows.tolist():
            if number == len(stops[train]):
                stops[train].append(Stop((), departure, arrival))
            last = stops[train][-1]
            stops[train][-1] = last._replace(places=(*last.places, tuple(place)))
        return stops

    def reset(
        self,
        seeds: NDArray[np.uint64] | None,
        seeded: NDArray[np.bool_] | None = None,
        chosen: NDArray[np.bool_] | None = None,
    ) -> None:
        """Begin episodes where chosen; where seeded, from a seed, else along the own stream."""
        self.native.call(
            "reset", _native.address(seeds), _native.address(seeded), _native.address(chosen)
        )

    def look(self, name: str) -> NDArray[Any]:
        """One of the arrays that steps do not write, as of now: a copy."""
        array = self._views.get(name)
        if array is None:
            e, n = self.envs, self.trains
            shape, dtype = {
                "position": ((e, n, 3), np.int32),
                "travelled": ((e, n), np.float64),
                "distance": ((e, n), np.int32),
                "deadlocked": ((e, n), np.bool_),
                "masks": ((e, n, ACTIONS), np.bool_),
                "elapsed": ((e,), np.int32),
            }[name]
            array = self._views[name] = np.zeros(shape, dtype)
        self.native.call("look", ctypes.byref(arrays_of({name: array})))
        return array.copy()

    def make_quick(
        self,
        agents: list[int],
        observe: Callable[[], dict[int, Any]],
        no_rewards: dict[int, Any],
        no: dict[int, bool],
        new_infos: type[dict[int, Any]],
        blank: dict[int, Any],
    ) -> None:
        """Let native.quick[0](actions) of a single railway run a step of these agents and make its
        five values: with observe(), and with new_infos(blank) of which _raw is set. no_rewards and
        no are what there is as long as nothing happens.

        It answers None if it has run no step, and an outcome as native.fast does if more has
        happened than it can say. Where the library finds no CPython, it never runs one.
        """
        arrays = _StepArrays(
            self.native.number,
            _native.address(self.rewards) if self.width == 1 else None,
            _native.address(self.info),
            self.info.nbytes,
        )
        make = self.native.lib.fast.skyrail_rail_stepper
        make.restype = ctypes.py_object
        given = (tuple(agents), observe, no_rewards, no, new_infos, blank)
        with contextlib.suppress(ValueError):  # NULL
            self.native.quick[0] = make(ctypes.byref(arrays), *map(ctypes.py_object, given))

    def save(self, i: int) -> bytes:
        """Everything that makes environment i what it is."""
        i, none = ctypes.c_int64(i), ctypes.c_int64(0)
        while True:
            size = self.native.long("save", i, None, none)
            data = np.zeros(size, np.uint8)
            # Another thread may reset in between, to something larger or smaller.
            with contextlib.suppress(_native.TooSmallError):
                size = self.native.long("save", i, _native.address(data), ctypes.c_int64(size))
                return data[:size].tobytes()

    def load(self, i: int, data: bytes) -> None:
        array = octets("the state", data)
        self.native.call(
            "load", ctypes.c_int64(i), _native.address(array), ctypes.c_int64(len(array))
        )

    def copy(self, other: Railways) -> None:
        """Make the first environment equal to the first of another."""
        other.native.alive()
        first = ctypes.c_int64(0)
        self.native.call("copy", first, other.native.handle, first)


# Of a train in Railways.info: speed (8), malfunction (4), state (1), action_required (1).
INFO_BYTES = 14
