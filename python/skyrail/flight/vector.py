"""Many sectors behind Gymnasium's vector interface."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, ClassVar, NamedTuple

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from .. import _native
from .._arguments import (
    MAX_ENVS,
    MAX_THREADS,
    flag,
    one_of,
    real,
    reset_mask,
    seeds_of,
    whole,
)
from .._late import LateDict
from ._core import (
    DISABLED,
    INTEGER_KEYS,
    NEXT_STEP,
    SAME_STEP,
    FlightState,
    ObservationFunction,
    Parameters,
    RewardFunction,
    Sectors,
)
from .env import Flight4DEnv, own_observation, space_of

_MODES = {
    AutoresetMode.NEXT_STEP: NEXT_STEP,
    AutoresetMode.SAME_STEP: SAME_STEP,
    AutoresetMode.DISABLED: DISABLED,
}


class FlightVectorEnv(VectorEnv[Any, NDArray[np.int64], NDArray[Any]]):
    """num_envs sectors, stepped in parallel. Each is a Flight4DEnv: its docstring is the contract.

    step(actions) takes num_envs integers and returns observations (num_envs, 103) float32, rewards
    (num_envs,) float64, terminations and truncations (num_envs,) bool, and infos. An action outside
    the space raises ValueError, and then nothing has moved.

    infos: the arrays of Flight4DEnv's info with num_envs in front, and for each key a bool array
    `_key` of who has it, as Gymnasium does it.

    Ends of episodes, autoreset_mode as in Gymnasium:

    NEXT_STEP   the step after the end resets that environment: its action is not looked at, its
                reward is 0 and nothing has ended.
    SAME_STEP   the step that ends the episode resets as well. infos["final_obs"] holds the last
                observation (an array of objects, None where no episode ended), infos["final_info"]
                the last info.
    DISABLED    reset(options={"reset_mask": mask}) is up to the caller, and due before the next
                step: RuntimeError otherwise.

    Seeding: reset(seed=s) gives environment i the seed s + i; a sequence gives one for each, None
    for those that go on along their own stream. Afterwards each environment follows its own.

    threads: how many step, 0 for as many as there are processors; the results do not depend on it.
    copy: False hands out the arrays that the engine writes into, which the next step overwrites;
    with 1024 environments that spares a sixth of the time. infos: False leaves infos empty but for
    the final ones.

    One's own observation and reward: `observation(state)` returns (num_envs, *observation_space
    .shape), `reward(state)` returns (num_envs,); `state` is a FlightState of all environments.
    `observation_space` is that of one environment; for a Dict or a Tuple return one of such arrays.
    What they raise comes through: the step has been flown by then, whatever was to follow the end
    of an episode follows, and only what step() would have returned is lost.

    MemoryError if there is no room for so many. Copying and pickling work, with what a subclass
    added; after close() every call raises ClosedError.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": [],
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        n_flights: int = 5,
        n_range: tuple[int, int] = (2, 4),
        max_steps: int = 50,
        hold_steps: int = 5,
        w_safe: float = 3.0,
        w_clearance: float = 0.15,
        collision_rate: float = 3.0,
        gamma: float = 0.99,
        max_clearances: int = 40,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        threads: int = 0,
        copy: bool = True,
        infos: bool = True,
        observation: ObservationFunction | None = None,
        observation_space: spaces.Space[Any] | None = None,
        reward: RewardFunction | None = None,
    ) -> None:
        self.num_envs = whole("num_envs", num_envs, 1, MAX_ENVS)
        self.gamma = real("gamma", gamma)
        self.copy = flag("copy", copy)
        self.threads = whole("threads", threads, 0, MAX_THREADS)
        mode = getattr(autoreset_mode, "value", autoreset_mode)
        self.autoreset_mode = AutoresetMode(
            one_of("autoreset_mode", mode, [m.value for m in AutoresetMode])
        )
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self._wants_infos = flag("infos", infos)
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
        self.mask_offset = parameters.mask_offset
        self.single_action_space = spaces.Discrete(parameters.n_actions)
        self.single_observation_space = space_of(parameters, observation, observation_space, reward)
        self._own_observation = observation
        self._own_reward = reward
        self._last_seeds = (-1,) * self.num_envs
        self._begin(parameters)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)

    def _begin(self, parameters: Parameters) -> None:
        self._own = self._own_observation is not None or self._own_reward is not None
        mode = _MODES[self.autoreset_mode]
        # The engine cannot ask one's own functions about a final observation: resets come after.
        self._resets_itself = self._own and mode == SAME_STEP
        sectors = Sectors(
            parameters, self.num_envs, self.threads, DISABLED if self._resets_itself else mode
        )
        if self._own:
            sectors.bind(state=True)
        else:  # what is handed on is given to each step
            sectors.bind(observations=not self.copy, infos=False)
        self._sectors = sectors
        self._state = FlightState(sectors, slice(None))
        self._everyone = np.ones(self.num_envs, np.bool_)
        self._everyone.flags.writeable = False
        self._ended = np.zeros(self.num_envs, np.bool_)  # at the end of the last step
        self._flown = 0  # how many steps
        self._begun = False

    # ------------------------------------------------------------------ the episodes

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode everywhere, or where options["reset_mask"], (num_envs,) bool, says.

        Returns observations and infos of all; infos are marked as those of the environments reset.
        """
        chosen = reset_mask(options, self.num_envs)
        if chosen is not None and not self._begun and not chosen.all():
            raise gymnasium.error.ResetNeeded("the first reset() must be one of all environments")
        seeds, seeded = self._seeds(seed)
        self._sectors.reset(seeds, seeded, chosen)
        self._begun = True
        if chosen is None:
            self._ended[:] = False
        else:
            self._ended[chosen] = False
        if not self._own:
            self._sectors.look()
        marks = self._everyone if chosen is None else chosen
        return self._observe(), self._infos(marks)

    def _seeds(
        self, seed: int | Sequence[int | None] | None
    ) -> tuple[NDArray[np.uint64] | None, NDArray[np.bool_] | None]:
        if seed is None:
            if self._begun:
                return None, None
            chance = np.random.SeedSequence().generate_state(self.num_envs, np.uint32)
            self._last_seeds = tuple(chance.tolist())
            return chance.astype(np.uint64), None
        each = seeds_of(seed, self.num_envs)
        seeds = [0 if s is None else s for s in each]
        seeded = [s is not None for s in each]
        if not self._begun and not all(seeded):
            chance = np.random.SeedSequence().generate_state(self.num_envs, np.uint32).tolist()
            seeds = [s if has else c for s, has, c in zip(seeds, seeded, chance, strict=True)]
            seeded = [True] * self.num_envs
        news = zip(seeds, seeded, self._last_seeds, strict=True)
        self._last_seeds = tuple(s if has else last for s, has, last in news)
        return np.array(seeds, np.uint64), np.array(seeded)

    def step(
        self, actions: npt.ArrayLike
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Fly one step everywhere; actions: (num_envs,) integers."""
        sectors = self._sectors
        if not self._begun:
            sectors.native.alive()
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        actions = _native.integers(actions, (self.num_envs,), "actions")
        if self.autoreset_mode is AutoresetMode.DISABLED and self._ended.any():
            raise RuntimeError(
                f"the episode of environment {int(np.argmax(self._ended))} has ended: "
                "reset(options={'reset_mask': mask}) before the next step"
            )
        if self._own:
            return self._step_own(actions)
        observations = counts = figures = now = None
        if self.copy:
            observations = np.empty_like(sectors.observations)
        if self._wants_infos:
            counts, figures = np.empty_like(sectors.counts), np.empty_like(sectors.figures)
            now = Figures(self._everyone, counts, figures)
        self._fly(actions, observations, counts, figures)
        if observations is None:
            observations = sectors.observations
        final = None
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            rows = self._ended.nonzero()[0]
            if rows.size:
                final = Final(
                    self._ended.copy(),
                    rows,
                    sectors.final_observations.take(rows, 0),
                    sectors.final_counts.take(rows, 0),
                    sectors.final_figures.take(rows, 0),
                )
        return (observations, *self._outcome(sectors.rewards), Infos.of(now, final))

    def _fly(self, actions: NDArray[np.int64], *into: NDArray[Any] | None) -> None:
        sectors = self._sectors
        try:
            sectors.step(actions, *into)
            self._flown += 1
        finally:  # also if an interrupt comes when they have flown
            np.logical_or(sectors.terminated, sectors.truncated, out=self._ended)

    def _step_own(
        self, actions: NDArray[np.int64]
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        sectors = self._sectors
        # In mode NEXT_STEP this step resets what has ended, with no reward for anything.
        fresh = self._ended & (self.autoreset_mode is AutoresetMode.NEXT_STEP)
        self._fly(actions)
        if not self._resets_itself or not self._ended.any():
            outcome = self._outcome(self._rewards(fresh))
            return (self._observe(), *outcome, self._infos(self._everyone))
        marks, rows = self._ended.copy(), self._ended.nonzero()[0]
        figures = sectors.counts[rows], sectors.figures[rows]
        try:
            outcome = self._outcome(self._rewards(fresh))
            last = self._observe()
            observations = [_row(last, self.single_observation_space, i) for i in rows.tolist()]
        finally:  # the next episodes begin, whatever one's own functions raise
            sectors.reset(None, None, marks)
        infos = self._infos(self._everyone, Final(marks, rows, observations, *figures))
        return (self._observe(), *outcome, infos)

    def _rewards(self, fresh: NDArray[np.bool_]) -> NDArray[np.float64]:
        """One's own, or the challenge's; 0 for those that this step has reset."""
        if self._own_reward is None:
            return self._sectors.rewards
        made = self._own_reward(self._state)
        try:
            rewards = np.array(made, np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(f"the rewards are no array of numbers: {error}") from None
        if rewards.shape != (self.num_envs,):
            raise ValueError(f"the rewards have the shape {rewards.shape}, not ({self.num_envs},)")
        rewards[fresh] = 0.0
        return rewards

    def _outcome(
        self, rewards: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
        sectors = self._sectors
        if self._resets_itself or self.copy:
            return rewards.copy(), sectors.terminated.copy(), sectors.truncated.copy()
        return rewards, sectors.terminated, sectors.truncated

    def _observe(self) -> NDArray[Any]:
        if self._own_observation is not None:
            return own_observation(
                self._own_observation, self._state, self.single_observation_space, (self.num_envs,)
            )
        observations = self._sectors.observations
        return observations.copy() if self.copy else observations

    def _infos(self, marks: NDArray[np.bool_], final: Final | None = None) -> dict[str, Any]:
        """The infos of now, as those of the marked environments, and what ended in this step."""
        now = None
        if self._wants_infos:
            now = Figures(marks, self._sectors.counts.copy(), self._sectors.figures.copy())
        return Infos.of(now, final)

    # ------------------------------------------------------------------ what there is to know

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions are legal now: (num_envs, n_actions) bool."""
        self._need_episodes()
        masks = self._sectors.masks
        return masks.copy() if self.copy else masks

    @property
    def state(self) -> FlightState:
        """All sectors as they are now, until the next step; shapes with num_envs in front."""
        self._need_episodes()
        if not self._own:
            self._sectors.look()
        return self._state

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """The last seed of each environment; -1 before the first reset."""
        return self._last_seeds

    @property
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """The streams of the environments as they are now, as generators of one's own: what is
        drawn from them changes nothing.
        """
        self._need_episodes()
        streams = tuple(np.random.Generator(np.random.PCG64(0)) for _ in range(self.num_envs))
        for i, stream in enumerate(streams):
            stream.bit_generator.state = self._sectors.stream(i)
        return streams

    def set_n_range(self, lo: int, hi: int) -> None:
        """Let lo..hi aircraft converge, in every environment from its next reset on."""
        self._sectors.set_n_range(lo, hi)

    def _environment(self, i: int) -> Flight4DEnv:
        """A copy of environment i, which goes on by itself."""
        sectors = self._sectors
        space = self.single_observation_space if self._own_observation is not None else None
        made = Flight4DEnv(
            **sectors.parameters._asdict(),
            gamma=self.gamma,
            observation=self._own_observation,
            observation_space=space,
            reward=self._own_reward,
        )
        if self._begun:
            made._go_on(sectors.save(i), [array[i] for array in sectors.last])
        return made

    def close(self, **kwargs: object) -> None:
        """Give the engine's memory and threads back. Closing again does nothing."""
        self._sectors.native.close()
        self.closed = True

    def _need_episodes(self) -> None:
        self._sectors.native.alive()
        if not self._begun:
            raise gymnasium.error.ResetNeeded("call reset() first")

    # ------------------------------------------------------------------ copies

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        for name in ("_sectors", "_state", "_everyone"):
            del state[name]
        sectors = self._sectors
        state["_ended"] = self._ended.copy()
        state["_parameters"] = sectors.parameters
        state["_saved"] = [sectors.save(i) for i in range(self.num_envs)]
        state["_last"] = [a.copy() for a in sectors.last]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        parameters, saved, last = (state.pop(name) for name in ("_parameters", "_saved", "_last"))
        ended, begun = state["_ended"], state["_begun"]
        self.__dict__.update(state)
        self._begin(parameters)
        self._ended, self._begun = ended, begun
        if begun:
            for i, data in enumerate(saved):
                self._sectors.load(i, data)
        for array, values in zip(self._sectors.last, last, strict=True):
            array[:] = values


class Figures(NamedTuple):
    """What infos tell of E environments: Sectors.counts and Sectors.figures of a moment."""

    marks: NDArray[np.bool_]
    counts: NDArray[np.int64]
    figures: NDArray[np.float64]

    def infos(self) -> dict[str, Any]:
        """As Gymnasium has it: an array for each key, and one for each that marks where it is."""
        n = (self.figures.shape[1] - 1) // 2
        columns = np.ascontiguousarray(self.counts.T)
        infos: dict[str, Any] = dict(zip(INTEGER_KEYS, columns, strict=False))
        infos["collided"] = columns[7].astype(np.bool_)
        infos["dt_exit"] = self.figures[:, 1 : 1 + n]
        infos["d_alt_exit"] = self.figures[:, 1 + n :]
        infos["exit_miss"] = self.figures[:, 0]
        return infos | {f"_{key}": self.marks for key in infos}


class Final(NamedTuple):
    """The last moment of the episodes that have ended in a step: those of `rows`, in this order."""

    marks: NDArray[np.bool_]  # of all E
    rows: NDArray[np.intp]
    observations: Sequence[Any]  # for each of them
    counts: NDArray[np.int64]
    figures: NDArray[np.float64]

    def infos(self) -> dict[str, Any]:
        observations = np.full(len(self.marks), None, dtype=object)
        for row, observation in zip(self.rows.tolist(), self.observations, strict=True):
            observations[row] = observation
        counts, figures = (
            np.zeros((len(self.marks), rows.shape[1]), rows.dtype)
            for rows in (self.counts, self.figures)
        )
        counts[self.rows], figures[self.rows] = self.counts, self.figures
        return {
            "final_obs": observations,
            "final_info": Figures(self.marks, counts, figures).infos(),
            "_final_obs": self.marks,
            "_final_info": self.marks,
        }


class Infos(LateDict):
    """The infos of a step: of all environments, and of the episodes that have ended in it."""

    __slots__ = ()

    @classmethod
    def of(cls, now: Figures | None, final: Final | None) -> Infos:
        infos = cls()
        if now is not None:
            infos["_n"] = now.marks
        if final is not None:
            infos["_final_obs"] = infos["_final_info"] = final.marks
        infos._raw = now, final
        return infos

    def _work_out(self, raw: tuple[Figures | None, Final | None]) -> dict[str, Any]:
        return {key: value for part in raw if part for key, value in part.infos().items()}


def _row(observations: Any, space: spaces.Space[Any], i: int) -> Any:  # noqa: ANN401 - of the space
    """A copy of the observation of environment i."""
    if isinstance(space, spaces.Dict):
        return {key: _row(observations[key], part, i) for key, part in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(_row(o, part, i) for o, part in zip(observations, space.spaces, strict=True))
    if isinstance(observations, np.ndarray):
        return np.array(observations[i])
    return deepcopy(observations[i])
