"""One railway as a PettingZoo parallel environment."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Mapping
from operator import index
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._arguments import one_seed, shown
from . import _spaces
from ._core import ACTIONS, Options, Railways, Source, Train
from ._infos import Infos

if TYPE_CHECKING:
    from gymnasium import spaces

try:
    from pettingzoo import ParallelEnv
except ImportError:  # it is used in the same way

    class ParallelEnv:  # type: ignore[no-redef]
        """What PettingZoo's class of this name adds."""

        @property
        def num_agents(self) -> int:
            return len(self.agents)

        @property
        def max_num_agents(self) -> int:
            return len(self.possible_agents)

        @property
        def unwrapped(self) -> ParallelEnv:
            return self

        def __class_getitem__(cls, _: object) -> type[ParallelEnv]:
            return cls


Observation = NDArray[np.float64]
Reward = float | NDArray[np.float64]

# What step_live answers, as bits.
_REWARDED, _LEFT, _OVER = 1, 2, 4


class RailParallelEnv(ParallelEnv[int, Observation, int]):
    """A railway of n trains, each an agent; agents are the handles 0..n-1, as in flatland-rl.

    Made by `from_file`, `generate` or `from_suite`. It is then at the start of an episode, or at
    the moment that the file has, and may be stepped or reset.

    Actions: Discrete(5): 0 DO_NOTHING, 1 MOVE_LEFT, 2 MOVE_FORWARD, 3 MOVE_RIGHT, 4 STOP_MOVING
    (`RailAction`). An agent without an entry does nothing. ValueError for another number and for a
    key that is no agent, TypeError for what is no integer; then nothing has moved. Actions of
    agents that have left are not looked at.

    Observations, float64, of flatland-rl's builders; `depth` (0..10) is that of the trees:

    "dummy"      Box(1, 1, (1,)): always 1
    "tree"       Box(-inf, inf, (nodes, 12)): TreeObsForRailEnv, a row of features for each of the
                 (4**(depth+1) - 1) / 3 nodes: node, then the subtrees left, forward, right, back.
                 Rows of nodes that are missing are -inf; inf is what is not met. The
                 features are those of flatland-rl's nodes, in its order
    "flat_tree"  Box(-1, 1, (12 * nodes,)): FlattenedNormalizedTreeObsForRailEnv, `radius` being its
                 observation_radius
    "global"     Box(-inf, inf, (23 * rows * columns,)): GlobalObsForRailEnvGym, three arrays one
                 after the other; `split_global` takes them apart

    Rewards, the engine's bits: "default", "ecml2026": a float; "components", "components-default":
    (8,) float64, the parts of "ecml2026" and "default" by `COMPONENTS`; "multi-objective": (3,);
    "punctuality": (2,), paid to an agent when it leaves. Arrays are read-only.

    Ending: an agent leaves in the step in which it is done: terminated if its train has arrived,
    truncated if the episode ended before. After that step it is not in `agents`. The episode ends
    when all trains have arrived or after max_episode_steps steps; a step after that raises
    ResetNeededError. (flatland-rl's own wrapper keeps all agents to the end and calls all
    terminated.)

    Infos, for each agent: action_required (bool), malfunction (int, steps left), speed (float,
    cells a step), state (`TrainState`). They are worked out when looked at.

    Seeding: reset(seed=s) is flatland-rl's reset. A generated environment gets new tracks, trains
    and timetables, from the seed or else along its stream; effects keep the random numbers they
    took before. One from a file, and that is what from_file makes of a saved one too, keeps its
    tracks, and only its stream begins anew, or goes on; as there, effects keep their numbers,
    trains their last speed, rewards the stops already served, and bridges become crossings.
    With `fresh=True` an episode begins as the first did, but for the stream: what comes of it is a
    function of the seed and the actions.

    `action_masks()` says which actions make a difference. `state()` is all trains in one array.
    Copying and pickling work, and both go on alike; attributes of one's own go along, and __init__
    is not called again. After close() every call raises ClosedError; so it does in a process forked
    off later (StaleError). One thread at a time should use it.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "skyrail_rail",
        "render_modes": [],
        "is_parallelizable": True,
    }

    render_mode = None

    # What belongs to the engine, and is made anew for a copy. What is set beside it, as by a
    # subclass, is in __dict__, which copies take along.
    __slots__ = (
        "_all",
        "_blank",
        "_info",
        "_known",
        "_native",
        "_no",
        "_no_rewards",
        "_nothing",
        "_observe",
        "_one",
        "_options",
        "_quick",
        "_railways",
        "_rewards",
        "_rows",
        "_source",
        "_terminated",
        "_there",
        "_truncated",
        "agents",
        "possible_agents",
    )

    def __init__(self, source: Source, options: Options) -> None:
        options = options.checked()
        self._spaces: dict[int | None, Any] = {}  # of actions by agent, of observations by None
        self._begin(source, options, Railways(options, source, single=True))

    def _begin(self, source: Source, options: Options, railways: Railways) -> None:
        self._source = source
        self._options = options
        self._railways = railways
        self._native = railways.native
        self._quick = railways.native.quick
        if options.fresh and source.suite is not None:  # another machine may not have the folder
            self._source = Source(railways.save(0))
        self._info = memoryview(railways.info)
        self._rewards = memoryview(railways.rewards.reshape(-1))
        self._terminated = memoryview(railways.terminated[0])
        self._truncated = memoryview(railways.truncated[0])
        self._rows = None
        if options.observation != "dummy":
            self._rows = railways.now[options.observation][0]
        self._one = np.ones(1)
        self._one.flags.writeable = False
        self.possible_agents: list[int] = list(range(railways.trains))
        self._known = frozenset(self.possible_agents)
        self._nothing: Reward = 0.0
        if railways.width > 1:
            self._nothing = np.zeros(railways.width)
            self._nothing.flags.writeable = False
        self._gather()

    # ------------------------------------------------------------------ making one

    @classmethod
    def from_file(
        cls,
        file: str | os.PathLike[str] | bytes,
        *,
        observation: str = "dummy",
        depth: int = 2,
        radius: float = 2.0,
        reward: str = "default",
        fresh: bool = False,
    ) -> RailParallelEnv:
        """The environment of a file, or of its bytes: a pickle, MessagePack or scene of Flatland of
        any age, plain or gzipped, or what `save` gave. ValueError says what is wrong with it.
        """
        options = Options(observation, depth, radius, reward, fresh)
        return cls(Source.of_file(file), options)

    @classmethod
    def generate(
        cls,
        *,
        observation: str = "dummy",
        depth: int = 2,
        radius: float = 2.0,
        reward: str = "default",
        fresh: bool = False,
        **parameters: Any,  # noqa: ANN401 - of several kinds
    ) -> RailParallelEnv:
        """An environment that the generators make: flatland-rl's env_generator.

        `parameters` are its: seed, which is needed, and n_agents, x_dim, y_dim, n_cities,
        max_rail_pairs_in_city, max_rails_between_cities, grid_mode, p_level_free, line_length,
        speed_ratios (a dict of speeds and shares), malfunction_interval, malfunction_duration_min,
        malfunction_duration_max, post_seed, legacy_env_generator. None is for those for which it
        is there: the default speed_ratios, no post_seed, and no malfunctions (malfunction_interval
        None or 0). TypeError for another name or kind, ValueError for those with which nothing can
        be made.
        """
        options = Options(observation, depth, radius, reward, fresh)
        return cls(Source.of_parameters(parameters, Options._fields), options)

    @classmethod
    def from_suite(
        cls,
        folder: str | os.PathLike[str],
        level: int,
        scenario: int,
        *,
        observation: str = "dummy",
        depth: int = 2,
        radius: float = 2.0,
        reward: str = "default",
        fresh: bool = False,
    ) -> RailParallelEnv:
        """A scenario of a suite that `skyrail rail suite` made: levels from 0, scenarios from 1."""
        options = Options(observation, depth, radius, reward, fresh)
        return cls(Source.of_suite(folder, level, scenario), options)

    # ------------------------------------------------------------------ the episode

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[int, Observation], dict[int, dict[str, Any]]]:
        """Begin an episode: observations and infos of all agents. It has no options.

        ValueError if no railway comes of the seed, or next on the stream: the episode goes on, and
        another reset() tries the next railway along the stream.
        """
        seeds = None if seed is None else np.array([one_seed(seed)], np.uint64)
        self._railways.reset(seeds)
        self._gather()
        return self.observe()

    def observe(self) -> tuple[dict[int, Observation], dict[int, dict[str, Any]]]:
        """Observations and infos as of now, such as after load."""
        self._native.alive()
        return self._observe(), Infos.of(self._blank, self._info.tobytes())

    def step(
        self, actions: Mapping[int, int]
    ) -> tuple[
        dict[int, Observation],
        dict[int, Reward],
        dict[int, bool],
        dict[int, bool],
        dict[int, dict[str, Any]],
    ]:
        """Run one step: observations, rewards, terminations, truncations, infos, each by agent, of
        the agents that were there before it.
        """
        outcome = self._quick[0](actions)
        if type(outcome) is tuple:
            return outcome
        if outcome is None:
            outcome = self._step_carefully(actions)
        infos = Infos.of(self._blank, self._info.tobytes())
        observations = self._observe()
        rewards = self._reward() if outcome & _REWARDED else self._no_rewards.copy()
        if not outcome & _LEFT:
            return observations, rewards, self._no.copy(), self._no.copy(), infos
        terminated, truncated = self._terminated.tolist(), self._truncated.tolist()
        agents = self._there
        terminations = {agent: terminated[agent] for agent in agents}
        truncations = {agent: truncated[agent] for agent in agents}
        self._keep([a for a in agents if not (terminated[a] or truncated[a])])
        return observations, rewards, terminations, truncations, infos

    def _step_carefully(self, actions: Any) -> int:  # noqa: ANN401 - whatever a caller has
        """A step of actions of any kind, of all agents or some. It returns what has happened."""
        native, there = self._native, self._there
        outcome = native.fast(native.handle, *self._sorted(actions))
        if outcome < 0:
            error = native.lib.exception(outcome)
            self._gather()
            if self._there == there:
                raise error
            # A step that was interrupted has left agents behind that are not there any more.
            return self._step_carefully(actions)
        return outcome

    def _sorted(self, actions: Mapping[int, int]) -> tuple[bytes, int]:
        """The actions of all agents in order, and how many. They may be of any kind, and may be
        wrong.
        """
        if not isinstance(actions, Mapping):
            raise TypeError(f"actions are a {type(actions).__name__}, not a dict by agent")
        for agent in actions:
            if agent not in self._known:
                raise ValueError(
                    f"there is no agent {agent!r}: agents are 0..{len(self.possible_agents) - 1}"
                )
        given = bytearray()
        for agent in self._there:
            action = actions.get(agent, 0)
            try:
                action = index(action)
            except TypeError:
                raise TypeError(f"agent {agent}: action {action!r} is not an integer") from None
            if not 0 <= action < ACTIONS:
                raise ValueError(
                    f"agent {agent}: action {shown(action)} is outside 0..{ACTIONS - 1}"
                )
            given.append(action)
        return bytes(given), len(given)

    def _gather(self) -> None:
        """The agents are those whose trains are not done."""
        terminated, truncated = self._terminated.tolist(), self._truncated.tolist()
        agents = self.possible_agents
        self._keep([a for a in agents if not (terminated[a] or truncated[a])])

    def _keep(self, agents: list[int]) -> None:
        """What steps are put together of, for these agents."""
        self.agents = agents
        self._there = tuple(agents)  # whatever somebody does to the list
        self._all = len(agents) == len(self.possible_agents)
        self._blank: dict[int, Any] = dict.fromkeys(agents)
        self._no_rewards = dict.fromkeys(agents, self._nothing)
        self._no = dict.fromkeys(agents, False)
        self._observe = self._observer()
        self._railways.make_quick(
            agents, self._observe, self._no_rewards, self._no, Infos, self._blank
        )

    def _observer(self) -> Callable[[], dict[int, Observation]]:
        """What makes the observations of now. It must not refer to the environment: the quick step
        refers to it, and no collector sees that.
        """
        agents, rows = self._there, self._rows
        if rows is None:
            return dict.fromkeys(agents, self._one).copy
        # Rows of one new array: the engine's own is overwritten in the next step. As many as there
        # are agents; zip() that makes sure of it takes longer.
        if self._all:
            return lambda: dict(zip(agents, rows.copy(), strict=False))
        chosen = np.array(agents, np.intp)  # an index, as a tuple is not
        return lambda: dict(zip(agents, rows[chosen], strict=False))

    def _reward(self) -> dict[int, Reward]:
        if self._railways.width > 1:
            rewards = self._railways.rewards[0].copy()
            rewards.flags.writeable = False  # as in a step without any, which all share
            return {agent: rewards[agent] for agent in self._there}
        values = self._rewards.tolist()
        if self._all:
            return dict(zip(self._there, values, strict=False))
        return {agent: values[agent] for agent in self._there}

    # ------------------------------------------------------------------ what there is to know

    def observation_space(self, agent: int) -> spaces.Box:
        """The space of an agent's observations, the same object for all. It needs Gymnasium."""
        self._check(agent)
        space = self._spaces.get(None)
        if space is None:
            railways = self._railways
            space = self._spaces[None] = _spaces.observation_space(
                self._options, railways.rows, railways.columns
            )
        return space

    def action_space(self, agent: int) -> spaces.Discrete:
        """The space of an agent's actions, one for each. It needs Gymnasium."""
        self._check(agent)
        space = self._spaces.get(agent)
        if space is None:
            space = self._spaces[agent] = _spaces.action_space()
        return space

    @property
    def observation_spaces(self) -> dict[int, spaces.Box]:
        return {agent: self.observation_space(agent) for agent in self.possible_agents}

    @property
    def action_spaces(self) -> dict[int, spaces.Discrete]:
        return {agent: self.action_space(agent) for agent in self.possible_agents}

    def _check(self, agent: int) -> None:
        if agent not in self._known:
            raise ValueError(
                f"there is no agent {agent!r}: agents are 0..{len(self.possible_agents) - 1}"
            )

    def action_masks(self) -> NDArray[np.bool_]:
        """(n, 5) bool, a row for each possible agent: which actions make a difference.

        Of actions that come to the same in the next step, if no other train is in the way, only the
        first is True, in the order DO_NOTHING, MOVE_FORWARD, MOVE_LEFT, MOVE_RIGHT, STOP_MOVING. So
        DO_NOTHING always is, and alone for a train that nothing moves: one that has arrived, may
        not depart yet or is broken down. All other actions are allowed too.
        """
        return self._railways.look("masks")[0]

    def action_mask(self, agent: int) -> NDArray[np.int8]:
        """(5,) int8: the row of one agent, as Discrete.sample(mask=...) takes it."""
        self._check(agent)
        return self.action_masks()[agent].astype(np.int8)

    def state(self) -> NDArray[np.float64]:
        """(9 * n + 1,) float64: for each train its state, row, column, heading (-1 off the map),
        malfunction counter, speed, part of the cell travelled, moves to the target (-1 without a
        way), deadlocked; and at last the steps since the reset.
        """
        railways = self._railways
        trains = np.empty((railways.trains, 9))
        position = railways.look("position")[0]
        trains[:, 0] = railways.now["state"][0]
        trains[:, 1:4] = position
        trains[:, 4] = railways.now["malfunction"][0]
        trains[:, 5] = railways.now["speed"][0]
        trains[:, 6] = railways.look("travelled")[0]
        trains[:, 7] = railways.look("distance")[0]
        trains[:, 8] = railways.look("deadlocked")[0]
        return np.append(trains.reshape(-1), float(self.elapsed_steps))

    @property
    def state_space(self) -> spaces.Box:
        return _spaces.state_space(9 * self._railways.trains + 1)

    @property
    def positions(self) -> NDArray[np.int32]:
        """(n, 3): row, column and heading of each train, -1 off the map."""
        return self._railways.look("position")[0]

    @property
    def deadlocked(self) -> NDArray[np.bool_]:
        """(n,): whether a train can never leave its cell again."""
        return self._railways.look("deadlocked")[0]

    @property
    def trains(self) -> list[Train]:
        """The timetable of the episode."""
        return self._railways.timetable(0)

    @property
    def transitions(self) -> NDArray[np.uint16]:
        """(rows, columns): the tracks, 16 bits a cell: for the headings N, E, S, W of a train
        inside four bits each, the directions it may leave to, the most significant first.
        """
        return self._railways.transitions(0)

    @property
    def max_episode_steps(self) -> int:
        """How many steps an episode has at most, 0 if there is no limit."""
        return int(self._railways.facts().max_episode_steps)

    @property
    def elapsed_steps(self) -> int:
        """Steps since the reset."""
        return int(self._railways.facts().elapsed)

    def split_global(self, observation: Observation) -> tuple[Observation, ...]:
        """The three arrays of a global observation, (rows, columns, 16), (rows, columns, 5) and
        (rows, columns, 2): transition bits; heading of the train, of others, malfunction counter,
        speed, trains still to enter; target of the train, of any. They are views.
        """
        rows, columns = self._railways.rows, self._railways.columns
        cells = rows * columns
        parts = np.split(observation, [16 * cells, 21 * cells])
        return tuple(part.reshape(rows, columns, -1) for part in parts)

    # ------------------------------------------------------------------ keeping one

    def save(self) -> bytes:
        """The exact state; from_file of it goes on alike. For this version of Skyrail alone."""
        return self._railways.save(0)

    def load(self, state: bytes | RailParallelEnv) -> None:
        """Take over a state of as many trains: one that was saved, or another environment's.

        TypeError for what is neither bytes nor such an environment, wrapped or not.
        """
        other = unwrapped(state)
        if other is not None:
            self._railways.copy(other._railways)
        else:
            self._railways.load(0, state)
        self._gather()

    def close(self) -> None:
        """Give back what the environment takes. Closing again does nothing."""
        self._native.close()

    def render(self) -> None:
        """There are no pictures here; `skyrail rail render` makes them of recorded episodes."""

    def __copy__(self) -> RailParallelEnv:
        twin = self._twin()
        own = {**self.__dict__, "_spaces": copy.deepcopy(self._spaces)}
        twin.__dict__.update(own)
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> RailParallelEnv:
        memo[id(self)] = twin = self._twin()
        twin.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return twin

    def _twin(self) -> RailParallelEnv:
        """One of the same state, and nothing of its own."""
        twin = type(self).__new__(type(self))
        railways = Railways(self._options, self._source, single=True, clone_of=self._railways)
        twin._begin(self._source, self._options, railways)
        return twin

    def __getstate__(self) -> dict[str, Any]:
        source, state = self._source, self.save()
        if source.parameters is None and not self._options.fresh:
            source = Source(state)  # all that a reset needs
        return {"source": source, "options": self._options, "state": state, "own": self.__dict__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        source, options = state["source"], state["options"]
        self._begin(source, options, Railways(options, source, single=True))
        self._railways.load(0, state["state"])
        self._gather()
        self.__dict__.update(state["own"])


def unwrapped(env: Any) -> RailParallelEnv | None:  # noqa: ANN401 - whatever a caller has
    """The environment that this is, or that PettingZoo's wrappers are around; None for others."""
    env = getattr(env, "unwrapped", env)
    return env if isinstance(env, RailParallelEnv) else None
