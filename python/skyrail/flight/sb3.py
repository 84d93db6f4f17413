"""Many sectors as a Stable-Baselines3 VecEnv, for PPO and for sb3-contrib's MaskablePPO."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

try:
    import gymnasium
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    raise ImportError(
        f"{__name__} needs Stable-Baselines3, as in pip install './python[train]': {error}"
    ) from error

from .._arguments import seeds_of
from .vector import FlightVectorEnv

_Indices = None | int | Iterable[int]


class FlightVecEnv(VecEnv):
    """num_envs sectors, stepped in parallel, each reset in the step that ends its episode.

    Takes FlightVectorEnv's arguments but for autoreset_mode, infos and copy; its docstring and
    Flight4DEnv's are the contract. As Stable-Baselines3 has it, rewards are float32, infos are
    one dict an environment, empty but after an episode: then it holds "terminal_observation",
    "TimeLimit.truncated", Flight4DEnv's info, and "episode": its return "r", its length "l" and the
    seconds "t" since the environment was made.

    `env_method("action_masks")` gives the masks, one row an environment, which is where MaskablePPO
    looks for them. `set_n_range` goes through env_method too: the range is one for all.

        env = FlightVecEnv(64)
        model = MaskablePPO("MlpPolicy", env)
        model.learn(1_000_000)
    """

    def __init__(self, num_envs: int = 1, **kwargs: Any) -> None:  # noqa: ANN401 - see there
        # Stable-Baselines3 keeps observations over a step, so they must be copies.
        for name in ("autoreset_mode", "infos", "copy"):
            if name in kwargs:
                raise TypeError(f"{name} is decided by Stable-Baselines3")
        self.vector = FlightVectorEnv(num_envs, autoreset_mode="SameStep", infos=False, **kwargs)
        self._actions: NDArray[np.int64] = np.zeros(num_envs, np.int64)
        self._returns = np.zeros(num_envs)
        self._lengths = np.zeros(num_envs, np.int64)
        self._made = time.monotonic()
        self.render_mode = None
        super().__init__(
            num_envs, self.vector.single_observation_space, self.vector.single_action_space
        )

    def reset(self) -> NDArray[Any]:
        """Start an episode everywhere, with the seeds of seed() if it was called."""
        seeds = list(self._seeds)
        observations, _ = self.vector.reset(seed=None if all(s is None for s in seeds) else seeds)
        self._returns[:] = 0
        self._lengths[:] = 0
        self.reset_infos = [{} for _ in range(self.num_envs)]
        self._reset_seeds()
        self._reset_options()
        return observations

    def step_async(self, actions: NDArray[Any]) -> None:
        """Take the actions, (num_envs,) integers."""
        self._actions = np.asarray(actions)

    def step_wait(
        self,
    ) -> tuple[NDArray[Any], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Fly one step everywhere."""
        vector = self.vector
        before = vector._flown
        try:
            observations, rewards, terminated, truncated, final = vector.step(self._actions)
        except BaseException:
            if vector._flown != before:  # it is of one's own functions
                self._lengths += 1
                # The next episodes have begun.
                self._returns[vector._ended] = self._lengths[vector._ended] = 0
            raise
        self._returns += rewards
        self._lengths += 1
        dones = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(dones).tolist():
            infos[i] = {
                **_row(final["final_info"], i),
                "terminal_observation": final["final_obs"][i],
                "TimeLimit.truncated": bool(truncated[i] and not terminated[i]),
                "episode": {
                    "r": float(self._returns[i]),
                    "l": int(self._lengths[i]),
                    "t": round(time.monotonic() - self._made, 6),
                },
            }
        self._returns[dones] = 0
        self._lengths[dones] = 0
        return observations, rewards.astype(np.float32), dones, infos

    def close(self) -> None:
        """Give the engine's memory and threads back."""
        self.vector.close()

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions are legal now: (num_envs, n_actions) bool."""
        return self.vector.action_masks()

    def get_attr(self, attr_name: str, indices: _Indices = None) -> list[Any]:
        """An attribute of Flight4DEnv, of each environment as it is now."""
        if attr_name == "render_mode":  # of which there are none
            return [None for _ in self._get_indices(indices)]
        made = (self.vector._environment(i) for i in self._get_indices(indices))
        return [getattr(env, attr_name) for env in made]

    def has_attr(self, attr_name: str) -> bool:
        """Whether the environments have an attribute."""
        try:
            self.get_attr(attr_name, 0)  # they are all alike
        except AttributeError:
            return False
        return True

    def set_attr(self, attr_name: str, value: Any, indices: _Indices = None) -> None:  # noqa: ANN401
        """Not possible: the environments live in the engine."""
        raise AttributeError(
            f"{attr_name} cannot be set: make another FlightVecEnv, or call set_n_range"
        )

    def env_method(
        self,
        method_name: str,
        *method_args: Any,  # noqa: ANN401 - the method's
        indices: _Indices = None,
        **method_kwargs: Any,  # noqa: ANN401 - the method's
    ) -> list[Any]:
        """action_masks, a row an environment, or set_n_range, which must be for all."""
        chosen = list(self._get_indices(indices))
        if method_name == "action_masks":
            masks = self.vector.action_masks(*method_args, **method_kwargs)
            return [masks[i] for i in chosen]
        if method_name == "set_n_range":
            if len(chosen) != self.num_envs:
                raise ValueError("set_n_range is for all environments at once")
            self.vector.set_n_range(*method_args, **method_kwargs)
            return [None for _ in chosen]
        raise AttributeError(f"the environments have no method {method_name}")

    def env_is_wrapped(
        self, wrapper_class: type[gymnasium.Wrapper], indices: _Indices = None
    ) -> list[bool]:
        """Monitor is built in, in effect; there is no other wrapper."""
        from stable_baselines3.common.monitor import Monitor

        return [issubclass(wrapper_class, Monitor) for _ in self._get_indices(indices)]

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Environment i starts the scenario of seed + i at the next reset."""
        if seed is None:
            seed = int(np.random.SeedSequence().generate_state(1, np.uint32)[0])
        self._seeds = seeds_of(seed, self.num_envs)
        return self._seeds


def _row(infos: dict[str, Any], i: int) -> dict[str, Any]:
    return {
        key: value[i] if value.ndim > 1 else value[i].item()
        for key, value in infos.items()
        if not key.startswith("_")
    }
