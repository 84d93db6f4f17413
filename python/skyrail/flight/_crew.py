"""The agents of the air sector as policies."""

from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from .. import _native
from .._arguments import LAST_SEED, MAX_ENVS, MAX_THREADS, text, whole
from ._core import DISABLED, Parameters, Sectors, configuration

if TYPE_CHECKING:
    from .env import Flight4DEnv
    from .vector import FlightVectorEnv

MAX_NODES = 1_000_000_000  # the planner's limit


class FlightPolicy:
    """An agent of the Flight Challenge: the controller that plans, a reference agent, a checkpoint.

    name: "planner", which sees observations only and is the strongest; "oracle", the same from the
    true state; "rule-based", "random", "noop"; or the path of a Stable-Baselines3 policy.zip, which
    flies without torch.

    nodes: how many candidate plans planner and oracle look at for an episode (the command's
    --budget); None for as many as by default. Fewer are faster: docs/flight.md has a table.
    threads: how many think for a vector environment, 0 for as many as there are processors.

    The answers are those of `skyrail flight` for the same agent. A policy remembers the episodes it
    is in: use one for one environment, from reset on.

        policy = FlightPolicy("planner")
        observation, info = env.reset(seed=1)
        action = policy.act(env)
    """

    def __init__(
        self,
        name: str | os.PathLike[str] = "planner",
        *,
        nodes: int | None = None,
        threads: int = 0,
    ) -> None:
        self.name = text("name", name)
        self.nodes = 0 if nodes is None else whole("nodes", nodes, 1, MAX_NODES)
        self.threads = whole("threads", threads, 0, MAX_THREADS)
        self._crew: _native.Native | None = None
        self._of: tuple[Parameters, int] | None = None
        self._for(Parameters(), 1)  # what is wrong with the name is said here

    def act(self, env: Flight4DEnv | FlightVectorEnv) -> int | NDArray[np.int64]:
        """The action for an environment as it is now: an int, or (num_envs,) for a vector one.

        Where an episode is over it is 0.
        """
        unwrapped = getattr(env, "unwrapped", env)
        sectors = getattr(unwrapped, "_sectors", None)
        if not isinstance(sectors, Sectors):
            raise TypeError(
                f"a {type(env).__name__} is no environment of skyrail.flight; "
                "answer(observations) takes observations"
            )
        sectors.native.alive()
        actions = np.empty(sectors.envs, np.int64)
        crew = self._for(sectors.parameters, sectors.envs)
        crew.call("act_in", sectors.native.handle, _native.address(actions))
        return actions if hasattr(unwrapped, "num_envs") else int(actions[0])

    def answer(self, observations: npt.ArrayLike, **parameters: float) -> NDArray[np.int64]:
        """The actions, (n,), for stock observations, (n, 20 * n_flights + 3) float32.

        Row i is always about the same environment; an observation of step 0 begins an episode.
        parameters: those of Flight4DEnv that are not at their defaults. ValueError if a row cannot
        be an observation, since idling is not legal in it.
        """
        given = Parameters(**parameters).checked()  # type: ignore[arg-type]
        array = np.asarray(observations)
        if array.dtype != np.float32:
            raise TypeError(f"observations must be float32, not {array.dtype}")
        width = given.mask_offset + given.n_actions
        if array.ndim != 2 or array.shape[1] != width or not len(array):
            raise ValueError(f"observations have the shape {array.shape}, not (n, {width})")
        array = np.ascontiguousarray(array)
        actions = np.empty(len(array), np.int64)
        crew = self._for(given, len(array))
        crew.call("act", _native.address(array), _native.address(actions))
        return actions

    def close(self) -> None:
        """Give the memory and threads back. Acting makes fresh agents."""
        if self._crew is not None:
            self._crew.close()
        self._crew = self._of = None

    def _for(self, parameters: Parameters, n: int) -> _native.Native:
        """The agents for so many environments of these parameters."""
        # Which aircraft converge is drawn by the environment; it makes no difference to an agent.
        of = parameters._replace(n_range=(1, parameters.n_flights)), n
        if self._crew is None or self._of != of:
            self.close()
            library = _native.lib()
            config = configuration(of[0])
            handle = library.long("skyrail_crew_create")(
                ctypes.byref(config),
                ctypes.c_int64(n),
                ctypes.c_int64(self.threads),
                ctypes.c_char_p(os.fsencode(self.name)),
                ctypes.c_int64(self.nodes),
            )
            self._crew = _native.Native("crew", library.checked(handle), library, fast="act")
            self._of = of
        return self._crew

    def __getstate__(self) -> dict[str, object]:
        return self.__dict__ | {"_crew": None, "_of": None}  # agents are made anew


class Demonstrations(NamedTuple):
    """What a policy did, step after step and episode after episode; S steps in all."""

    observations: NDArray[np.float32]  # (S, 20 * n_flights + 3), the mask at the end
    actions: NDArray[np.int64]  # (S,)
    masks: NDArray[np.bool_]  # (S, 1 + 7 * n_flights)
    rewards: NDArray[np.float64]  # (S,)
    terminated: NDArray[np.bool_]  # (S,)
    truncated: NDArray[np.bool_]  # (S,)
    episode: NDArray[np.int64]  # (S,), from 0
    step: NDArray[np.int64]  # (S,), from 0 within the episode


def demonstrations(
    policy: FlightPolicy | str | os.PathLike[str] = "planner",
    episodes: int = 100,
    *,
    seed: int = 0,
    num_envs: int = 64,
    **parameters: float,
) -> Demonstrations:
    """Fly so many episodes with a policy and keep all of it, to imitate or to look at.

    Episode k is that of seed + k; parameters are those of Flight4DEnv. What comes out does not
    depend on num_envs, which is how many are flown at a time.
    """
    if not isinstance(policy, FlightPolicy):
        policy = FlightPolicy(policy)
    episodes = whole("episodes", episodes, 1, 2**31)
    num_envs = min(whole("num_envs", num_envs, 1, MAX_ENVS), episodes)
    seed = whole("seed", seed, 0, LAST_SEED - episodes + 1)
    given = Parameters(**parameters).checked()  # type: ignore[arg-type]
    sectors = Sectors(given, num_envs, policy.threads, DISABLED)
    crew = policy._for(given, num_envs)
    try:
        return _fly(sectors, crew, episodes, seed)
    finally:
        sectors.native.close()


def _fly(sectors: Sectors, crew: _native.Native, episodes: int, seed: int) -> Demonstrations:
    n = sectors.envs
    flying = np.arange(n)  # the episode in each environment; from `episodes` on: none of ours
    begun = n
    # Those beyond the last episode go round, past the last seed.
    first = np.array([seed], np.uint64)
    sectors.reset(first + flying.astype(np.uint64), None, None)
    actions = np.empty(n, np.int64)
    kept: list[tuple[NDArray[np.generic], ...]] = []
    while (flying < episodes).any():
        crew.call("act_in", sectors.native.handle, _native.address(actions))
        before = sectors.observations.copy(), sectors.masks.copy(), sectors.counts[:, 8].copy()
        sectors.step(actions)
        ours = flying < episodes
        row = (before[0], actions, before[1], sectors.rewards, sectors.terminated)
        row = (*row, sectors.truncated, flying, before[2])
        kept.append(tuple(part[ours] for part in row))
        ended = sectors.terminated | sectors.truncated
        for i in np.flatnonzero(ended).tolist():
            flying[i] = begun
            begun += 1
        if ended.any():
            sectors.reset(first + flying.astype(np.uint64), None, ended)
    parts = [np.concatenate(part) for part in zip(*kept, strict=True)]
    order = np.lexsort((parts[7], parts[6]))
    return Demonstrations(*(part[order] for part in parts))
