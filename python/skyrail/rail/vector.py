"""Many railways in flat arrays."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _native
from . import _spaces
from ._core import (
    DISABLED,
    NEXT_STEP,
    SAME_STEP,
    Options,
    Railways,
    Source,
    Train,
    checked_seed,
)
from .env import RailParallelEnv

if TYPE_CHECKING:
    from gymnasium import spaces

_MODES = {"NextStep": NEXT_STEP, "SameStep": SAME_STEP, "Disabled": DISABLED}

Array = NDArray[Any]


class RailVectorEnv:
    """num_envs railways of at most n_trains trains each, stepped in parallel.

    Made by `from_file`, `generate`, `from_suite`, or of single environments by `of`. Where railways
    have fewer trains than the largest, `train_mask` (num_envs, n_trains) bool is False for what is
    padding: state and position -1, terminated, all else 0, and only DO_NOTHING in the masks.

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

    Seeding: reset(seed=s) gives railway i the seed s + i; a sequence gives one for each, None for
    those whose stream goes on. What a reset does is said at RailParallelEnv; so is `fresh`.

    threads: how many step, 0 for as many as there are processors; results do not depend on it.
    copy: False hands out the arrays that the engine writes into, read-only; the next step
    overwrites them.

    Copying and pickling work; after close() every call raises ClosedError.
    """

    def __init__(self, railways: Railways, sources: Sequence[Source], copy: bool = True) -> None:
        self._railways = railways
        self._sources = list(sources)
        self._native = railways.native
        self._copy = bool(copy)
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
        *,
        observation: str = "dummy",
        depth: int = 2,
        radius: float = 2.0,
        reward: str = "default",
        fresh: bool = False,
        autoreset_mode: Any = "NextStep",  # noqa: ANN401 - also Gymnasium's
        threads: int = 0,
        copy: bool = True,
    ) -> RailVectorEnv:
        """num_envs times the environment of a file. They part when they are seeded apart."""
        options = Options(observation, depth, radius, reward, fresh).checked()
        return cls._of(Source.of_file(file), options, num_envs, autoreset_mode, threads, copy)

    @classmethod
    def generate(
        cls,
        num_envs: int,
        *,
        observation: str = "dummy",
        depth: int = 2,
        radius: float = 2.0,
        reward: str = "default",
        fresh: bool = False,
        autoreset_mode: Any = "NextStep",  # noqa: ANN401 - also Gymnasium's
        threads: int = 0,
        copy: bool = True,
        **parameters: Any,  # noqa: ANN401 - of several kinds
    ) -> RailVectorEnv:
        """num_envs times the environment of RailParallelEnv.generate. They part when reset."""
        options = Options(observation, depth, radius, reward, fresh).checked()
        source = Source.of_parameters(parameters)
        return cls._of(source, options, num_envs, autoreset_mode, threads, copy)

    @classmethod
    def from_suite(
        cls,
        folder: str | os.PathLike[str],
        level: int,
        scenario: int,
        num_envs: int,
        *,
        observation: str = "dummy",
        depth: int = 2,
        radius: float = 2.0,
        reward: str = "default",
        fresh: bool = False,
        autoreset_mode: Any = "NextStep",  # noqa: ANN401 - also Gymnasium's
        threads: int = 0,
        copy: bool = True,
    ) -> RailVectorEnv:
        """num_envs times a scenario of a suite: levels from 0, scenarios from 1."""
        options = Options(observation, depth, radius, reward, fresh).checked()
        source = Source.of_suite(folder, level, scenario)
        return cls._of(source, options, num_envs, autoreset_mode, threads, copy)

    @classmethod
    def of(
        cls,
        envs: Iterable[RailParallelEnv],
        *,
        autoreset_mode: Any = "NextStep",  # noqa: ANN401 - also Gymnasium's
        threads: int = 0,
        copy: bool = True,
    ) -> RailVectorEnv:
        """Copies of single environments as they are now, which may differ but for how they are
        observed and rewarded; global observations need grids of one size.
        """
        envs = list(envs)
        if not envs:
            raise ValueError("there is no environment")
        options = envs[0]._options
        for i, env in enumerate(envs):
            if env._options != options:
                raise ValueError(
                    f"environment {i} is observed as {env._options}, the first as {options}"
                )
        railways = Railways(
            options, [env._railways for env in envs], 1, int(threads), _mode(autoreset_mode)
        )
        return cls(railways, [env._source for env in envs], copy)

    @classmethod
    def _of(
        cls,
        source: Source,
        options: Options,
        num_envs: int,
        mode: Any,  # noqa: ANN401 - also Gymnasium's
        threads: int,
        copy: bool,
    ) -> RailVectorEnv:
        railways = Railways(options, source, int(num_envs), int(threads), _mode(mode))
        return cls(railways, [source] * railways.envs, copy)

    # ------------------------------------------------------------------ the episodes

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Array, dict[str, Any]]:
        """Begin episodes everywhere, or where options["reset_mask"], (num_envs,) bool, is True."""
        chosen = None
        if options is not None and options.get("reset_mask") is not None:
            chosen = np.ascontiguousarray(options["reset_mask"])
            if chosen.dtype != np.bool_ or chosen.shape != (self.num_envs,):
                raise ValueError(
                    f"reset_mask is {chosen.dtype} of shape {chosen.shape}, not bool of shape "
                    f"{(self.num_envs,)}"
                )
        seeds, seeded = self._seeds(seed)
        self._railways.reset(seeds, seeded, chosen)
        return self.observe()

    def observe(self) -> tuple[Array, dict[str, Any]]:
        """Observations and infos as of now, such as after load."""
        self._native.alive()
        return self._observations(self._railways.now), self._infos(self._railways.now)

    def _seeds(
        self, seed: int | Sequence[int | None] | None
    ) -> tuple[NDArray[np.uint64] | None, NDArray[np.bool_] | None]:
        if seed is None:
            return None, None
        given: list[int | None]
        if isinstance(seed, (Sequence, np.ndarray)):
            given = [None if s is None else checked_seed(s) for s in seed]
            if len(given) != self.num_envs:
                raise ValueError(f"{len(given)} seeds for {self.num_envs} environments")
        else:
            first = checked_seed(seed)
            given = [(first + i) % 2**64 for i in range(self.num_envs)]
        seeds = np.array([s or 0 for s in given], np.uint64)
        return seeds, np.array([s is not None for s in given], np.bool_)

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
        return self._railways.timetable(i)

    def transitions(self, i: int) -> NDArray[np.uint16]:
        """(rows, columns): the tracks of railway i, as RailParallelEnv.transitions."""
        return self._railways.transitions(i)

    @property
    def max_episode_steps(self) -> NDArray[np.int64]:
        """(num_envs,): how many steps the episodes have at most, 0 without a limit."""
        facts = [self._railways.facts(i) for i in range(self.num_envs)]
        return np.array([f.max_episode_steps for f in facts], np.int64)

    # ------------------------------------------------------------------ keeping one

    def save(self, i: int) -> bytes:
        """The exact state of railway i, as RailParallelEnv.save."""
        return self._railways.save(i)

    def load(self, i: int, data: bytes) -> None:
        """Make railway i equal to one of as many trains that was saved."""
        self._railways.load(i, data)

    def close(self) -> None:
        """Give back what the railways take. Closing again does nothing."""
        self._native.close()

    def __len__(self) -> int:
        return self.num_envs

    def __copy__(self) -> RailVectorEnv:
        return self.__deepcopy__({})

    def __deepcopy__(self, memo: dict[int, Any]) -> RailVectorEnv:
        old = self._railways
        railways = Railways(old.options, (), old.envs, old.threads, old.mode, clone_of=old)
        return type(self)(railways, self._sources, self._copy)

    def __reduce__(self) -> tuple[Any, ...]:
        railways = self._railways
        states = [self.save(i) for i in range(self.num_envs)]
        sources = self._sources
        if not railways.options.fresh:
            sources = [s if s.parameters else Source(None) for s in sources]
        how = (railways.options, railways.threads, railways.mode, self._copy)
        return _unpickled, (type(self), sources, states, *how)


def _mode(mode: Any) -> int:  # noqa: ANN401 - Gymnasium's AutoresetMode or a text
    name = getattr(mode, "value", mode)
    if name not in _MODES:
        raise ValueError(f"autoreset_mode is {mode!r}, it must be one of {', '.join(_MODES)}")
    return _MODES[name]


def _unpickled(
    of: type[RailVectorEnv],
    sources: list[Source],
    states: list[bytes],
    options: Options,
    threads: int,
    mode: int,
    copy: bool,
) -> RailVectorEnv:
    made: dict[Source, Railways] = {}
    parts = []
    for source, state in zip(sources, states, strict=True):
        if source == Source(None):
            parts.append(Railways(options, Source(state)))
            continue
        if source not in made:
            made[source] = Railways(options, source)
        parts.append(made[source])
    env = of(Railways(options, parts, 1, threads, mode), sources, copy)
    for i, state in enumerate(states):
        env.load(i, state)
    return env
