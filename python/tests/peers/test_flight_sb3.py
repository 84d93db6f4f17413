"""The air sector in Stable-Baselines3: its checker, its vector environments, MaskablePPO."""

from __future__ import annotations

import os
import pickle
import subprocess
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import data_equivalence
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecMonitor

from skyrail.flight import Flight4DEnv, FlightState
from skyrail.flight.sb3 import FlightVecEnv


def test_the_checker_finds_nothing() -> None:
    check_env(Flight4DEnv())
    space = spaces.Box(-1, 1, (5,), np.float32)
    check_env(
        Flight4DEnv(
            observation=lambda state: state.severity,
            observation_space=space,
            reward=lambda state: float(-state.collided),
        )
    )


OWN: dict[str, dict[str, Any]] = {
    "stock": {},
    "own functions": {
        "observation": lambda s: s.speed,
        "observation_space": spaces.Box(0, 1000, (5,), np.float32),
        "reward": lambda s: -1.0 * s.issued,
    },
    "a dict": {
        "observation": lambda s: {"speed": s.speed, "step": s.step_idx},
        "observation_space": spaces.Dict(
            {"speed": spaces.Box(0, 1000, (5,), np.float32), "step": spaces.Discrete(99)}
        ),
    },
    "a tuple": {
        "observation": lambda s: (s.speed, s.level),
        "observation_space": spaces.Tuple(
            (spaces.Box(0, 1000, (5,), np.float32), spaces.Box(0, 999, (5,), np.float64))
        ),
    },
}


@pytest.mark.parametrize("own", OWN)
def test_it_is_a_dummy_vec_env_of_monitored_environments(own: str) -> None:
    options: dict[str, Any] = {"max_steps": 12} | OWN[own]
    n = 6
    ours = FlightVecEnv(n, **options)
    theirs = DummyVecEnv([lambda: Monitor(Flight4DEnv(**options))] * n)
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert ours.env_is_wrapped(Monitor) == theirs.env_is_wrapped(Monitor)
    rng = np.random.default_rng(3)
    for seed in (5, None):
        if seed is not None:
            assert list(ours.seed(seed)) == list(theirs.seed(seed))
        assert data_equivalence(_plain(ours.reset()), _plain(theirs.reset()))
        for _ in range(40):
            assert np.array_equal(get_action_masks(ours), get_action_masks(theirs))
            actions = rng.integers(0, 36, n)
            got, want = ours.step(actions), theirs.step(actions)
            for a, b in zip(got[:3], want[:3], strict=True):
                assert data_equivalence(_plain(a), _plain(b))
            for done, a, b in zip(got[2], got[3], want[3], strict=True):
                if not done:
                    assert a == {}
                    continue
                assert set(a) == set(b)
                assert a["episode"]["l"] == b["episode"]["l"]
                assert a["episode"]["r"] == pytest.approx(b["episode"]["r"], abs=1e-6)
                last = a.pop("terminal_observation"), b.pop("terminal_observation")
                assert data_equivalence(*last)
                for key in set(a) - {"episode"}:
                    np.testing.assert_array_equal(a[key], b[key], err_msg=key)
                    assert type(a[key]) is type(b[key]), key


def _plain(observation: Any) -> Any:  # noqa: ANN401 - an observation
    """With a dict where they have an OrderedDict."""
    return dict(observation) if isinstance(observation, dict) else observation


ATTRIBUTES = (
    *("n_flights", "n_actions", "max_steps", "n_lo", "n_hi", "gamma", "w_safe", "mask_offset"),
    *("action_space", "observation_space", "render_mode", "metadata", "spec", "DT", "vel_max"),
    *("n", "m", "step_idx", "alt0", "hold_left", "n_clearances", "congestion_total", "collided"),
)


@pytest.mark.parametrize("own", OWN)
def test_attributes_are_those_of_a_dummy_vec_env(own: str) -> None:
    options: dict[str, Any] = {"max_steps": 12, "gamma": 0.5} | OWN[own]
    ours = FlightVecEnv(3, **options)
    theirs = DummyVecEnv([lambda: Flight4DEnv(**options)] * 3)
    with pytest.raises(gymnasium.error.ResetNeeded):
        ours.get_attr("n")
    for env in (ours, theirs):
        env.env_method("set_n_range", 1, 5)
        env.seed(4)
        env.reset()
    for _ in range(16):
        for env in (ours, theirs):
            env.step(np.array([1, 9, 2]))
        for name in ATTRIBUTES:
            for indices in (None, [2, 0], 1):
                got, want = ours.get_attr(name, indices), theirs.get_attr(name, indices)
                np.testing.assert_equal(got, want, err_msg=name)
                assert [type(a) for a in got] == [type(b) for b in want], name
        for got, want in zip(ours.get_attr("np_random"), theirs.get_attr("np_random"), strict=True):
            assert got.bit_generator.state == want.bit_generator.state
    for name in (*ATTRIBUTES, "action_masks", "nothing"):
        assert ours.has_attr(name) == theirs.has_attr(name) == (name != "nothing")
    with pytest.raises(AttributeError, match="nothing"):
        ours.get_attr("nothing")


def test_after_an_error_in_ones_own_function() -> None:
    """Length and return are of the episode at hand; the rewards of that step are lost."""
    broken = False

    def reward(state: FlightState) -> np.ndarray:
        if broken:
            raise ZeroDivisionError("mine")
        return np.ones_like(state.stock_reward)

    env = FlightVecEnv(2, max_steps=5, reward=reward)
    env.seed(1)  # of some seeds there is a mid-air within a few steps
    env.reset()
    idle = np.zeros(2, int)
    lengths, returns = [], []
    for step in range(1, 21):
        broken = step in (5, 12)  # the end of an episode, and amid another
        if broken:
            with pytest.raises(ZeroDivisionError, match="mine"):
                env.step(idle)
            continue
        _, _, dones, infos = env.step(idle)
        if dones.any():
            assert dones.all()
            lengths.append(infos[0]["episode"]["l"])
            returns.append(infos[0]["episode"]["r"])
    assert lengths == [5, 5, 5]
    assert returns == [5, 4, 5]
    with pytest.raises(ValueError, match="seed is -5"):
        env.seed(-5)


def test_methods_and_attributes() -> None:
    env = FlightVecEnv(3)
    env.reset()
    assert is_masking_supported(env)
    assert [mask.shape for mask in env.env_method("action_masks", indices=[0, 2])] == [(36,)] * 2
    env.env_method("set_n_range", 3, 3)
    env.reset()
    assert env.vector.state.n.tolist() == [3, 3, 3]
    assert env.get_attr("mask_offset") == [67] * 3
    with pytest.raises(ValueError, match="all environments at once"):
        env.env_method("set_n_range", 3, 3, indices=1)
    with pytest.raises(AttributeError, match="no method nothing"):
        env.env_method("nothing")
    with pytest.raises(AttributeError, match="cannot be set"):
        env.set_attr("w_safe", 1.0)
    with pytest.raises(TypeError, match="decided by Stable-Baselines3"):
        FlightVecEnv(3, autoreset_mode="Disabled")
    with pytest.raises(TypeError, match="decided by Stable-Baselines3"):
        FlightVecEnv(3, copy=False)
    made = pickle.loads(pickle.dumps(env))
    for a, b in zip(made.step(np.zeros(3, int))[:3], env.step(np.zeros(3, int))[:3], strict=True):
        assert np.array_equal(a, b)
    VecMonitor(FlightVecEnv(2)).reset()


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_subproc_vec_env(method: str) -> None:
    Flight4DEnv().reset(seed=1)  # the parent has used the engine
    env = SubprocVecEnv([Flight4DEnv] * 3, start_method=method)
    same = FlightVecEnv(3)
    try:
        for each in (env, same):
            each.seed(4)
        assert np.array_equal(env.reset(), same.reset())
        for _ in range(60):
            got, want = env.step([1, 2, 3]), same.step(np.array([1, 2, 3]))
            assert np.array_equal(got[0], want[0])
            assert np.array_equal(got[1].astype(np.float32), want[1])  # theirs are float64
            assert np.array_equal(got[2], want[2])
        assert np.array_equal(get_action_masks(env), get_action_masks(same))
    finally:
        env.close()


@pytest.mark.parametrize("vector", [False, True], ids=["single", "vector"])
def test_maskable_ppo_learns_and_the_command_flies_it(vector: bool, tmp_path: Path) -> None:
    env = FlightVecEnv(8) if vector else Flight4DEnv()
    model = MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=32, n_epochs=1, seed=1)
    model.learn(512)
    model.save(tmp_path / "policy.zip")
    command = [os.environ["SKYRAIL"], "flight", "compare", "--limit", "3"]
    done = subprocess.run(
        [*command, "--agent", str(tmp_path / "policy.zip")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "policy.zip" in done.stdout
