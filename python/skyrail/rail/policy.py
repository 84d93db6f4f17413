"""The railway's stock policies."""

from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from .. import _native
from .._arguments import text, whole
from ._core import Railways

if TYPE_CHECKING:
    from .env import RailParallelEnv
    from .vector import RailVectorEnv


class RailPolicy:
    """A policy of Skyrail by its name: what it answers is what `skyrail rail run` runs.

    do-nothing                  no train ever enters
    random                      a uniformly drawn action for each train and step; `seed` is for it
    forward                     MOVE_FORWARD for every train in every step
    shortest-path               to where the target is nearest, without waiting
    shortest-path-reference     along a path through the stops, as the policy in flatland-rl does
    shortest-path-stops         the same, and stands at its stops until it may leave
    deadlock-avoidance          waits while those that come towards it leave it no cell to make way
    deadlock-avoidance-classic  the same, more careful and straight to the target

    `act(env)` answers for the next step; ask in every step, since some policies keep count. One
    policy serves one environment at a time, single or vector, and finds out where its episodes
    begin; asked about another, or out of turn, it begins anew from there. ValueError for another
    name, TypeError for what is no name, and for what is no environment of these.
    """

    def __init__(self, name: str = "deadlock-avoidance", seed: int = 0) -> None:
        self.name = text("name", name)
        self.seed = whole("seed", seed, 0, 2**32 - 1)
        self._begin()

    def _begin(self) -> None:
        library = _native.lib()
        create = library.long("skyrail_rail_policy_create")
        handle = library.checked(create(os.fsencode(self.name), ctypes.c_uint32(self.seed)))
        self._native = _native.Native("rail_policy", handle, library, fast="act")

    @overload
    def act(self, env: RailParallelEnv) -> dict[int, int]: ...

    @overload
    def act(self, env: RailVectorEnv) -> NDArray[np.int8]: ...

    def act(self, env: Any) -> Any:
        """An action for every agent of a RailParallelEnv, by agent; for a RailVectorEnv an array
        (num_envs, n_trains) int8, a new one, 0 for padding.
        """
        railways = getattr(getattr(env, "unwrapped", env), "_railways", None)
        if not isinstance(railways, Railways):
            raise TypeError(f"a {type(env).__name__} is no environment of skyrail.rail")
        railways.native.alive()
        # An array of its own for each call: another thread may ask about a larger environment.
        answers = np.zeros((railways.envs, railways.trains), np.int8)
        self._native.call("act", railways.native.handle, _native.address(answers))
        if not railways.single:
            return answers
        actions = answers[0].tolist()
        return {agent: actions[agent] for agent in env.agents}

    def close(self) -> None:
        self._native.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name, self.seed)
