"""Many railways in flat arrays."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from .. import _native
from .._arguments import MAX_ENVS, MAX_THREADS, flag, one_of, reset_mask, seeds_of, whole
from . import _spaces
from ._core import (
    DISABLED,
    NEXT_STEP,
    SAME_STEP,
    Options,
    Railways,
    Source,
    Train,
)
from .env import RailParallelEnv, unwrapped

if TYPE_CHECKING:
    from gymnasium import spaces
    from typing_extensions import Unpack

_MODES = {"NextStep": NEXT_STEP, "SameStep": SAME_STEP, "Disabled": DISABLED}

Array = NDArray[Any]


class RunOptions(TypedDict, total=False):
    """How many are run."""

    autoreset_mode: Any  # "NextStep"; also Gymnasium's
    threads: int  # 0
    copy: bool  # True


class AllOptions(RunOptions, total=False):
    """And how they are observed and rewarded; defaults are those of RailParallelEnv."""

    observation: str
    depth: int
    radius: float
    reward: str
    fresh: bool


def _check(options: Iterable[str], kind: type) -> None:
    """Refuse options of other names."""
    for name in options:
        if name not in kind.__annotations__:
            known = ", ".join(kind.__annotations__)
            raise TypeError(f"there is no option {name!r}; there are {known}")


class RailVectorEnv:
    """num_envs railways of at most n_trains trains each, stepped in parallel.

    Made by `from_file`, `generate`, `from_suite`, or of single environments by `of`. All take the
    options autoreset_mode, threads and copy by name; all but `of` also observation, depth, radius,
    reward and fresh, as RailParallelEnv has them. TypeError or ValueError says what is wrong.

    Where railways have fewer trains than the largest, `train_mask` (num_envs, n_trains) bool is
    False for what is padding: state and position -1, terminated, all else 0, and only DO_NOTHING in
    the masks.

    reset(seed) returns observations and infos, step(actions) observations, rewards, terminations,
    truncations and infos, all arrays with num_envs, n_trains in front:

    actions       (E, N) integers, 0..4; those of padding and of trains that are done are not
                  looked at. ValueError for another number or shape, TypeError for another kind;
                  then nothing has moved
    observations  (E, N, *shape) float64, as RailParallelEnv has them
    rewards       (E, N) float64, or (E, N, width) of several parts
    terminations  (E, N) bool: the train has arrived, now or in an earlier step
    truncations   (E, N) bool: the episode has ended before it had
    infos         state (E, N) int8, position (E, N, 3) int32, malfunction (E, N) int32, speed
                  (E, N) float64, action_required (E, N) bool, elapsed (E,) int32, and all_done
                  (E,) bool: the episode ended with this step

    Rows of trains that have arrived go on telling where they are; trains do not leave.

    Ends of episodes, autoreset_mode as in Gymnasium (its AutoresetMode or that's value):

    "NextStep"  the step after the end resets that railway: its actions are not looked at, its
                rewards are 0 and nothing has ended.
    "SameStep"  the step that ends the episode resets as well. infos["final_obs"] and
                infos["final_info"] hold what was, in the rows where all_done is True; what
                other rows hold means nothing. rewards, terminations and truncations are those of
                the episode that has ended.
    "Disabled"  reset(options={"reset_mask": mask}) is up to the caller; ResetNeededError for a
                step before that.

    A step that should reset a railway of which none can be made (see RailParallelEnv.reset) leaves
    it at its end; what came of that step, there and elsewhere, is not lost. The next step is a
    ValueError that says which one it is, after which seed, and why; it moves nothing. reset() goes
    on, of that one alone by reset_mask: along its stream, or with a seed. In a reset that is such a
    ValueError, the others are reset.

    Seeding: reset(seed=s) gives railway i the seed s + i; a sequence gives one for each, None for
    those whose stream goes on. What a reset does is said at RailParallelEnv; so is `fresh`.

    threads: how many step, 0 for as many as there are processors; results do not depend on it.
    copy: False hands out the arrays that the engine writes into, read-only; the next step
    overwrites them.

    Copying and pickling work, and take attributes of one's own along; after close() every call
    raises ClosedError.
    """

    # What belongs to the engine, as in RailParallelEnv.
    __slots__ = (
        "__dict__",
        "__weakref__",
        "_copy",
        "_native",
        "_ones",
        "_railways",
        "_sources",
        "autoreset_mode",
        "n_trains",
        "num_envs",
        "train_mask",
    )

    def __init__(self, railways: Railways, sources: list[Source], copy: bool = True) -> None:
        self._begin(railways, sources, copy)

    def _begin(self, railways: Railways, sources: list[Source], copy: bool) -> None:
        self._railways = railways
        self._sources = sources
        self._native = railways.native
        self._copy = copy
        self.num_envs = railways.envs
        self.n_trains = railways.trains
        self.autoreset_mode = next(m for m, mode in _MODES.items() if mode == railways.mode)
        trains = np.array([railways.facts(i).own_trains for i in range(self.num_envs)])
        self.train_mask: NDArray[np.bool_] = np.arange(self.n_trains) < trains[:, None]
        self.train_mask.flags.writeable = False
        self._ones = np.where(self.train_mask, 1.0, 0.0)[..., None]
        self._ones.flags.writeable = False

    # ------------------------------------------------------------------ making one

    @classmethod
    def from_file(
        cls,
        file: str | os.PathLike[str] | bytes,
        num_envs: int,
        **options: Unpack[AllOptions],
    ) -> RailVectorEnv:
        """num_envs times the environment of a file. They part when they are seeded apart."""
        return cls._of(Source.of_file(file), num_envs, **options)

    @classmethod
    def generate(cls, num_envs: int, **parameters: Any) -> RailVectorEnv:  # noqa: ANN401
        """num_envs times the environment of RailParallelEnv.generate. They part when reset.

        `parameters` are its, and the options of this class.
        """
        names = AllOptions.__annotations__
        options = {name: parameters.pop(name) for name in names if name in parameters}
        return cls._of(Source.of_parameters(parameters, names), num_envs, **options)

    @classmethod
    def from_suite(
        cls,
        folder: str | os.PathLike[str],
        level: int,
        scenario: int,
        num_envs: int,
        **options: Unpack[AllOptions],
    ) -> RailVectorEnv:
        """num_envs times a scenario of a suite: levels from 0, scenarios from 1."""
        return cls._of(Source.of_suite(folder, level, scenario), num_envs, **options)

    @classmethod
    def of(cls, envs: Iterable[RailParallelEnv], **options: Unpack[RunOptions]) -> RailVectorEnv:
        """Copies of single environments as they are now, which may differ but for how they are
        observed and rewarded; global observations need grids of one size. PettingZoo's wrappers are
        taken off.
        """
        _check(options, RunOptions)
        parts = list(envs)
        for i, env in enumerate(parts):
            if (part := unwrapped(env)) is None:
                raise TypeError(f"environment {i} is a {type(env).__name__}, no RailParallelEnv")
            parts[i] = part
        if not parts:
            raise ValueError("there is no environment")
        seen = parts[0]._options
        for i, part in enumerate(parts):
            if part._options != seen:
                raise ValueError(
                    f"environment {i} is observed as {part._options}, the first as {seen}"
                )
        sources = [part._source for part in parts]
        return cls._made(seen, [part._railways for part in parts], sources, len(parts), **options)

    @classmethod
    def _of(cls, source: Source, num_envs: int, **options: Unpack[AllOptions]) -> RailVectorEnv:
        _check(options, AllOptions)
        seen = {name: options.pop(name) for name in Options._fields if name in options}
        num_envs = whole("num_envs", num_envs, 1, MAX_ENVS)
        sources = [source] * num_envs
        return cls._made(Options(**seen).checked(), source, sources, num_envs, **options)

    @classmethod
    def _made(
        cls,
        seen: Options,
        of: Source | list[Railways],
        sources: list[Source],
        num_envs: int,
        *,
        autoreset_mode: Any = "NextStep",  # noqa: ANN401 - also Gymnasium's
        threads: int = 0,
        copy: bool = True,
    ) -> RailVectorEnv:
        mode = one_of("autoreset_mode", getattr(autoreset_mode, "value", autoreset_mode), _MODES)
        threads = whole("threads", threads, 0, MAX_THREADS)
        railways = Railways(seen, of, num_envs, threads, _MODES[mode])
        return cls(railways, sources, flag("copy", copy))

    # ------------------------------------------------------------------ the episodes

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Array, dict[str, Any]]:
        """Begin episodes everywhere, or where options["reset_mask"], an array (num_envs,) of bool,
        is True.
        """
        chosen = reset_mask(options, self.num_envs)
        seeds = seeded = None
        if seed is not None:
            given = seeds_of(seed, self.num_envs)
            seeds = np.array([s or 0 for s in given], np.uint64)
            seeded = np.array([s is not None for s in given])
        self._railways.reset(seeds, seeded, chosen)
        return self.observe()

    def observe(self) -> tuple[Array, dict[str, Any]]:
        """Observations and infos as of now, such as after load."""
        self._native.alive()
        return self._observations(self._railways.now), self._infos(self._railways.now)

    def step(self, actions: Any) -> tuple[Array, Array, Array, Array, dict[str, Any]]:  # noqa: ANN401
        """Run one step everywhere: observations, rewards, terminations, truncations, infos."""
        railways = self._railways
        given = np.asarray(actions)
        if given.dtype == np.int8 and given.shape == (self.num_envs, self.n_trains):
            given = np.ascontiguousarray(given)
            self._native.call("step", _native.address(given))
        else:
            given = _native.integers(given, (self.num_envs, self.n_trains), "actions")
            self._native.call("step_words", _native.address(given))
        observations = self._observations(railways.now)
        infos = self._infos(railways.now)
        infos["all_done"] = self._out(railways.all_done)
        if railways.mode == SAME_STEP and railways.all_done.any():
            infos["final_obs"] = self._observations(railways.final)
            infos["final_info"] = self._infos(railways.final)
        return (
            observations,
            self._out(railways.rewards),
            self._out(railways.terminated),
            self._out(railways.truncated),
            infos,
        )

    def _observations(self, moment: dict[str, Array]) -> Array:
        name = self._railways.options.observation
        if name == "dummy":
            return self._out(self._ones)
        return self._out(moment[name])

    def _infos(self, moment: dict[str, Array]) -> dict[str, Any]:
        names = ("state", "position", "malfunction", "speed", "action_required", "elapsed")
        return {name: self._out(moment[name]) for name in names}

    def _out(self, array: Array) -> Array:
        if self._copy:
            return array.copy()
        view = array.view()
        view.flags.writeable = False
        return view

    # ------------------------------------------------------------------ what there is to know

    @property
    def single_observation_space(self) -> spaces.Box:
        """The space of one train's observation. It needs Gymnasium."""
        railways = self._railways
        return _spaces.observation_space(railways.options, railways.rows, railways.columns)

    @property
    def single_action_space(self) -> spaces.Discrete:
        """The space of one train's action. It needs Gymnasium."""
        return _spaces.action_space()

    def action_masks(self) -> NDArray[np.bool_]:
        """(num_envs, n_trains, 5): see RailParallelEnv.action_masks."""
        return self._railways.look("masks")

    @property
    def deadlocked(self) -> NDArray[np.bool_]:
        """(num_envs, n_trains): whether a train can never leave its cell again."""
        return self._railways.look("deadlocked")

    @property
    def distances(self) -> NDArray[np.int32]:
        """(num_envs, n_trains): moves to the target, -1 without a way."""
        return self._railways.look("distance")

    @property
    def travelled(self) -> NDArray[np.float64]:
        """(num_envs, n_trains): the part of its cell that a train has travelled."""
        return self._railways.look("travelled")

    def trains(self, i: int) -> list[Train]:
        """The timetable of railway i."""
        return self._railways.timetable(self._at(i))

    def transitions(self, i: int) -> NDArray[np.uint16]:
        """(rows, columns): the tracks of railway i, as RailParallelEnv.transitions."""
        return self._railways.transitions(self._at(i))

    @property
    def max_episode_steps(self) -> NDArray[np.int64]:
        """(num_envs,): how many steps the episodes have at most, 0 without a limit."""
        facts = [self._railways.facts(i) for i in range(self.num_envs)]
        return np.array([f.max_episode_steps for f in facts], np.int64)

    # ------------------------------------------------------------------ keeping one

    def save(self, i: int) -> bytes:
        """The exact state of railway i, as RailParallelEnv.save."""
        return self._railways.save(self._at(i))

    def load(self, i: int, data: bytes) -> None:
        """Make railway i equal to one of as many trains that was saved."""
        self._railways.load(self._at(i), data)

    def _at(self, i: int) -> int:
        return whole("i", i, 0, self.num_envs - 1)

    def close(self) -> None:
        """Give back what the railways take. Closing again does nothing."""
        self._native.close()

    def __len__(self) -> int:
        return self.num_envs

    def __copy__(self) -> RailVectorEnv:
        twin = self._twin()
        twin.__dict__.update(self.__dict__)
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> RailVectorEnv:
        memo[id(self)] = twin = self._twin()
        twin.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return twin

    def _twin(self) -> RailVectorEnv:
        """One of the same state, and nothing of its own."""
        old, twin = self._railways, type(self).__new__(type(self))
        railways = Railways(old.options, (), old.envs, old.threads, old.mode, clone_of=old)
        twin._begin(railways, self._sources, self._copy)
        return twin

    def __getstate__(self) -> dict[str, Any]:
        railways, sources = self._railways, self._sources
        states = [railways.save(i) for i in range(self.num_envs)]
        if not railways.options.fresh:  # then a file is where it is now
            sources = [source if source.parameters else Source(None) for source in sources]
        how = railways.options, railways.threads, railways.mode, self._copy
        return {"sources": sources, "states": states, "how": how, "own": self.__dict__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        sources, states = state["sources"], state["states"]
        options, threads, mode, copied = state["how"]
        made: dict[Source, Railways] = {}
        parts = []
        for source, data in zip(sources, states, strict=True):
            if source == Source(None):
                parts.append(Railways(options, Source(data)))
                continue
            if source not in made:
                made[source] = Railways(options, source)
            parts.append(made[source])
        self._begin(Railways(options, parts, 1, threads, mode), sources, copied)
        for i, data in enumerate(states):
            self._railways.load(i, data)
        self.__dict__.update(state["own"])
