"""The vector environment beside Gymnasium's own, around the same single environments."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

from skyrail import _native
from skyrail.flight import Flight4DEnv, FlightState, FlightVectorEnv

MODES = list(AutoresetMode)


def _same_infos(got: dict[str, Any], want: dict[str, Any]) -> None:
    assert set(got) == set(want)
    for key, value in want.items():
        if key == "final_obs":
            for a, b in zip(got[key], value, strict=True):
                assert (a is None) == (b is None)
                assert data_equivalence(a, b)
        elif key == "final_info":
            assert set(got[key]) == set(value)
            marks = want["_final_info"]
            for name, figures in value.items():
                assert got[key][name].dtype == figures.dtype, name
                assert np.array_equal(got[key][name][marks], figures[marks]), name
        else:
            assert data_equivalence(got[key], value), key


OWN: dict[str, dict[str, Any]] = {
    "stock": {},
    "own functions": {
        "observation": lambda s: np.concatenate([s.level, s.speed], -1),
        "observation_space": spaces.Box(0, 1000, (10,), np.float64),
        "reward": lambda s: s.stock_reward - 2.0 * s.issued + 0.1 * s.action + s.step_idx,
    },
    "own reward": {"reward": lambda s: 1.0 * s.issued},
    "a dict": {
        "observation": lambda s: {
            "where": {"position": s.position, "level": s.level},
            "step": s.step_idx,
            "masks": s.action_masks,
        },
        "observation_space": spaces.Dict(
            {
                "step": spaces.Discrete(100),
                "where": spaces.Dict(
                    {
                        "level": spaces.Box(0, 500, (5,), np.float32),
                        "position": spaces.Box(-np.inf, np.inf, (5, 2), np.float64),
                    }
                ),
                "masks": spaces.MultiBinary(36),
            }
        ),
    },
    "a tuple": {
        "observation": lambda s: (s.speed, s.step_idx, [s.hold_left]),
        "observation_space": spaces.Tuple(
            (
                spaces.Box(0, 1000, (5,), np.float64),
                spaces.Box(0, 100, (), np.float32),
                spaces.Tuple((spaces.MultiDiscrete([9] * 5),)),
            )
        ),
    },
}


@pytest.mark.parametrize("own", OWN)
@pytest.mark.parametrize("mode", MODES, ids=str)
def test_it_is_gymnasiums_sync_vector_env(mode: AutoresetMode, own: str) -> None:
    options: dict[str, Any] = {"max_steps": 15} | OWN[own]
    n = 7
    ours = FlightVectorEnv(n, autoreset_mode=mode, **options)
    theirs = SyncVectorEnv([lambda: Flight4DEnv(**options)] * n, autoreset_mode=mode)
    assert ours.metadata["autoreset_mode"] == theirs.metadata["autoreset_mode"] == mode
    for name in (
        *("single_observation_space", "observation_space", "single_action_space", "action_space"),
    ):
        assert getattr(ours, name) == getattr(theirs, name)
    rng = np.random.default_rng(1)
    for seed in (3, [None, 4, 4, 5, None, 9, 2**33], None):
        got, want = ours.reset(seed=seed), theirs.reset(seed=seed)
        assert data_equivalence(got[0], want[0])
        _same_infos(got[1], want[1])
        for _ in range(60):
            actions = rng.integers(0, 36, n)
            got, want = ours.step(actions), theirs.step(actions)
            for part in range(4):
                assert data_equivalence(got[part], want[part])
            _same_infos(got[4], want[4])
            assert ours.observation_space.contains(got[0])
            masks = np.stack([env.unwrapped.action_masks() for env in theirs.envs])
            assert np.array_equal(ours.action_masks(), masks)
            ended = got[2] | got[3]
            if mode == AutoresetMode.DISABLED and ended.any():
                got = ours.reset(options={"reset_mask": ended})
                want = theirs.reset(options={"reset_mask": ended})
                assert data_equivalence(got[0], want[0])


@pytest.mark.parametrize("own", OWN)
def test_final_observations_stay(own: str) -> None:
    """They are of the step that ended the episode, also if the arrays are the engine's own."""
    options: dict[str, Any] = {"max_steps": 3, "autoreset_mode": "SameStep"} | OWN[own]
    env, want = FlightVectorEnv(2, copy=False, **options), FlightVectorEnv(2, **options)
    kept = []
    for each in (env, want):
        each.reset(seed=1)
        for _ in range(3):
            infos = each.step([1, 2])[4]
        kept.append(infos["final_obs"].tolist())
        for _ in range(3):
            each.step([1, 2])
    assert data_equivalence(kept[0], kept[1])


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("raised_by", ["reward", "observation"])
def test_after_an_error_in_ones_own_function(mode: AutoresetMode, raised_by: str) -> None:
    """The step has been flown, and what follows the end of an episode follows."""
    broken = False

    def observation(state: FlightState) -> np.ndarray:
        if broken and raised_by == "observation":
            raise ZeroDivisionError("mine")
        return state.level

    def reward(state: FlightState) -> np.ndarray:
        if broken and raised_by == "reward":
            raise ZeroDivisionError("mine")
        return 1.0 * state.issued

    space = spaces.Box(0, 500, (5,), np.float64)
    own = {"observation": observation, "observation_space": space, "reward": reward}
    env, same = (FlightVectorEnv(3, autoreset_mode=mode, max_steps=4, **own) for _ in range(2))
    env.reset(seed=1)
    same.reset(seed=1)
    rng = np.random.default_rng(0)
    for step in range(1, 14):
        actions = rng.integers(0, 36, 3)
        want = same.step(actions)
        if step % 4 == 0 or step in (5, 7):  # the last of an episode, the one after, another
            broken = True
            with pytest.raises(ZeroDivisionError, match="mine"):
                env.step(actions)
            broken = False
        else:
            got = env.step(actions)
            assert data_equivalence(got[:4], want[:4])
            _same_infos(got[4], want[4])
        assert env.state.step_idx.tolist() == same.state.step_idx.tolist()
        if mode == AutoresetMode.DISABLED and (want[2] | want[3]).all():
            with pytest.raises(RuntimeError, match="has ended"):
                env.step(actions)
            env.reset()
            same.reset()
    assert env.state.step_idx.max() < 4


def test_an_observation_that_its_space_does_not_have_is_refused() -> None:
    levels = {"level": spaces.Box(0, 500, (5,))}
    for space, made, about in (
        (spaces.Dict(levels), {"speed": 0}, r"has \['speed'\], its space asks for \['level'\]"),
        (spaces.Dict(levels), [0], "has a list, its space asks for"),
        (spaces.Dict(levels), {"level": np.zeros(5)}, r"shape \(5,\), its space asks for \(3, 5\)"),
        (spaces.Tuple([levels["level"]]), np.zeros((3, 5)), "not a tuple of 1"),
        (spaces.Tuple([levels["level"]]), (), "not a tuple of 1"),
    ):
        env = FlightVectorEnv(3, observation=lambda _, m=made: m, observation_space=space)
        with pytest.raises(ValueError, match=about):
            env.reset(seed=1)


class Named(FlightVectorEnv):
    """An environment with a constructor of its own, whose reward is a method."""

    def __init__(self, labels: list[str]) -> None:
        super().__init__(3, max_steps=9, reward=self.priced)
        self.labels = labels

    def priced(self, state: FlightState) -> np.ndarray:
        return -1.0 * len(self.labels) * state.issued


@pytest.mark.parametrize("way", ["pickle", "deepcopy"])
def test_a_subclass_is_copied_with_what_it_has(way: str) -> None:
    env = Named(["mine"])
    env.reset(seed=1)
    made = copy.deepcopy(env) if way == "deepcopy" else pickle.loads(pickle.dumps(env))
    assert type(made) is Named
    assert made.labels == ["mine"]
    assert made.labels is not env.labels
    made.labels.append("another")
    assert env.step([1, 2, 3])[1].tolist() == [-1.0] * 3
    assert made.step([1, 2, 3])[1].tolist() == [-2.0] * 3


def test_results_do_not_depend_on_threads() -> None:
    envs = [FlightVectorEnv(100, threads=threads) for threads in (1, 2, 5)]
    rng = np.random.default_rng(0)
    first = [env.reset(seed=1)[0] for env in envs]
    for _ in range(70):
        assert all(np.array_equal(first[0], other) for other in first)
        actions = rng.integers(0, 36, 100)
        first = [np.column_stack([o, r]) for o, r, *_ in (env.step(actions) for env in envs)]


def test_copy_false_hands_out_the_engines_arrays() -> None:
    env = FlightVectorEnv(4, copy=False)
    first, _ = env.reset(seed=1)
    second, rewards, *_ = env.step([1, 2, 3, 4])
    assert second is first
    kept = rewards.copy()
    third, *_ = FlightVectorEnv(4).reset(seed=1)
    assert not np.array_equal(first, third)
    env.step([0, 0, 0, 0])
    assert not np.array_equal(rewards, kept)
    safe = FlightVectorEnv(4)
    first, _ = safe.reset(seed=1)
    before = first.copy()
    safe.step([1, 2, 3, 4])
    assert np.array_equal(first, before)


@pytest.mark.parametrize("infos", [True, False])
def test_what_is_handed_out_is_the_callers_own(infos: bool) -> None:
    """Written over, it changes nothing: not what follows, nor a reset of some, nor the state."""
    env, twin = (
        FlightVectorEnv(5, autoreset_mode="Disabled", max_steps=9, infos=i) for i in (infos, True)
    )
    actions = np.random.default_rng(0)
    env.reset(seed=1)
    twin.reset(seed=1)
    for k in range(40):
        ended = env._ended.copy()
        if k % 7 == 0 or ended.any():
            mask = np.array([True, False, True, False, False]) | ended
            got, _ = env.reset(options={"reset_mask": mask})
            want, _ = twin.reset(options={"reset_mask": mask})
            assert np.array_equal(got, want)
        row = actions.integers(0, 36, 5)
        got, rewards, terminated, truncated, told = env.step(row)
        want, *others, tells = twin.step(row)
        assert np.array_equal(got, want)
        for mine, theirs in zip((rewards, terminated, truncated), others, strict=True):
            assert np.array_equal(mine, theirs)
        assert all(np.array_equal(told[key], tells[key]) for key in told)
        assert set(told) == (set(tells) if infos else set())
        for array in (got, rewards, terminated, truncated, *told.values()):
            if array.flags.writeable:
                array[...] = 1
        assert np.array_equal(env.state.stock_observation, want)
        assert np.array_equal(env.state.step_idx, twin.state.step_idx)
        assert np.array_equal(env.action_masks(), twin.action_masks())


def test_without_infos() -> None:
    env = FlightVectorEnv(3, autoreset_mode="SameStep", infos=False, max_steps=2)
    assert env.reset(seed=1)[1] == {}
    assert env.step([0, 0, 0])[4] == {}
    assert set(env.step([0, 0, 0])[4]) == {"final_obs", "_final_obs", "final_info", "_final_info"}


def test_without_infos_there_is_as_much_state() -> None:
    lean = FlightVectorEnv(5, autoreset_mode="SameStep", infos=False)
    other = FlightVectorEnv(5, autoreset_mode="SameStep")
    lean.reset(seed=1)
    other.reset(seed=1)
    actions = np.random.default_rng(0)
    for _ in range(60):
        row = actions.integers(0, 36, 5)
        lean.step(row)
        other.step(row)
        for name in (
            "step_idx",
            "congestion_total",
            "dt_exit",
            "exit_miss",
            "position",
            "hold_left",
        ):
            got, want = getattr(lean.state, name), getattr(other.state, name)
            assert np.array_equal(got, want), name
        for state in (lean.state, other.state):
            assert np.array_equal(state.action, row)


@pytest.mark.parametrize(
    ("actions", "error", "about"),
    [
        ([0, 1], ValueError, r"shape \(2,\), not \(3,\)"),
        ([[0, 1, 2]], ValueError, "shape"),
        ([0, 1, 36], ValueError, "environment 2: action 36 is outside"),
        ([0, -1, 0], ValueError, "environment 1: action -1 is outside"),
        ([0.0, 1.0, 2.0], TypeError, "must be integers, not float64"),
        (np.array([0, 1, 2**63], np.uint64), ValueError, "too large"),
        (["a", "b", "c"], TypeError, "must be integers"),
        (None, TypeError, "must be integers"),
    ],
)
def test_wrong_actions_are_refused_and_nothing_moves(
    actions: Any,  # noqa: ANN401 - whatever a policy answers
    error: type[Exception],
    about: str,
) -> None:
    env = FlightVectorEnv(3)
    env.reset(seed=1)
    with pytest.raises(error, match=about):
        env.step(actions)
    assert env.state.step_idx.tolist() == [0, 0, 0]


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint16, np.int64])
def test_actions_of_any_integers_and_strides(dtype: type) -> None:
    env, other = FlightVectorEnv(3), FlightVectorEnv(3)
    env.reset(seed=1)
    other.reset(seed=1)
    strided = np.array([1, 9, 2, 9, 3, 9], dtype)[::2]
    assert np.array_equal(env.step(strided)[0], other.step([1, 2, 3])[0])


@pytest.mark.parametrize(
    ("options", "error", "about"),
    [
        ({"reset_mask": [True, False, False]}, TypeError, "NumPy array of bool"),
        ({"reset_mask": np.array([1, 0, 0])}, TypeError, "NumPy array of bool"),
        ({"reset_mask": np.array([True])}, ValueError, r"shape \(1,\)"),
        ({"reset_mask": np.zeros(3, np.bool_)}, ValueError, "no environment"),
    ],
)
def test_wrong_reset_masks_are_refused(
    options: dict[str, Any], error: type[Exception], about: str
) -> None:
    env = FlightVectorEnv(3)
    env.reset(seed=1)
    with pytest.raises(error, match=about):
        env.reset(options=options)


@pytest.mark.parametrize(
    ("arguments", "error", "about"),
    [
        ({"num_envs": 0}, ValueError, r"num_envs is 0, it must be within 1\.\.1048576"),
        ({"num_envs": 2.5}, TypeError, r"num_envs is 2\.5, it must be a whole number"),
        ({"num_envs": 2**64 + 1}, ValueError, "num_envs is 18446744073709551617"),
        ({"threads": -1}, ValueError, "threads is -1"),
        ({"threads": 2.7}, TypeError, r"threads is 2\.7"),
        ({"threads": 2**64 + 1}, ValueError, "threads is 18446744073709551617"),
        ({"n_flights": 2**62}, ValueError, "n_flights is 4611686018427387904"),
        ({"gamma": float("inf")}, ValueError, "gamma is inf"),
    ],
)
def test_wrong_arguments_are_refused(
    arguments: dict[str, Any], error: type[Exception], about: str
) -> None:
    with pytest.raises(error, match=about):
        FlightVectorEnv(**arguments)


@pytest.mark.parametrize(
    ("seed", "error", "about"),
    [
        (2**64 - 2, ValueError, "seed is 18446744073709551614, it must be within"),
        (-1, ValueError, "seed is -1"),
        (1.0, TypeError, r"seed is 1\.0"),
        (True, TypeError, "seed is True"),
        (np.array(1.0), TypeError, "seed is array"),
        ("123", TypeError, "seed is '123'"),
        ([1, 2, 2.0], TypeError, r"seed\[2\] is 2\.0"),
        (bytearray(b"abc"), TypeError, "seed is bytearray"),
    ],
)
def test_wrong_seeds_are_refused(
    seed: Any,  # noqa: ANN401 - whatever a caller has
    error: type[Exception],
    about: str,
) -> None:
    with pytest.raises(error, match=about):
        FlightVectorEnv(3).reset(seed=seed)


def test_seeds_of_any_integers() -> None:
    env = FlightVectorEnv(3)
    want = env.reset(seed=[7, 8, 9])[0]
    for seed in (
        7,
        np.uint8(7),
        np.array(7),
        (7, 8, 9),
        np.array([7, 8, 9], np.uint64),
        range(7, 10),
    ):
        assert np.array_equal(env.reset(seed=seed)[0], want)
    env.reset(seed=2**64 - 3)


@pytest.mark.parametrize(
    ("options", "error", "about"),
    [
        ({"autoreset_mode": 3}, TypeError, "autoreset_mode is 3"),
        ({"autoreset_mode": "foo"}, ValueError, "one of NextStep, SameStep, Disabled"),
        ({"copy": "no"}, TypeError, "copy is 'no'"),
        ({"infos": 1}, TypeError, "infos is 1"),
        ({"reward": 5}, TypeError, "reward is 5, it must be a function"),
        ({"observation": 5}, TypeError, "observation is 5, it must be a function"),
        ({"observation": len, "observation_space": 5}, TypeError, "observation_space is 5"),
        ({"n_flights": 10**5000}, ValueError, "n_flights is a number of thousands of digits"),
    ],
)
def test_options_that_are_none(options: dict[str, Any], error: type[Exception], about: str) -> None:
    with pytest.raises(error, match=about):
        FlightVectorEnv(2, **options)


@pytest.mark.parametrize(
    ("actions", "error", "about"),
    [
        ([10**30, 0, 0], ValueError, "actions are too large"),
        ([-1, 2**63, 0], ValueError, "actions are too large"),
        ([[1], [2, 3], 4], ValueError, r"actions must have the shape \(3,\)"),
        ([None, 1, 2], TypeError, "actions must be integers"),
        ([0.5, 1, 2], TypeError, "actions must be integers"),
        ([True, False, True], TypeError, "actions must be integers"),
    ],
)
def test_actions_that_are_none(actions: Any, error: type[Exception], about: str) -> None:  # noqa: ANN401
    env = FlightVectorEnv(3)
    env.reset(seed=1)
    with pytest.raises(error, match=about):
        env.step(actions)
    assert (env.state.step_idx == 0).all()


def test_what_ones_own_functions_must_return() -> None:
    for made in (None, "much", [1.0, "a", 2.0]):
        env = FlightVectorEnv(3, reward=lambda _, made=made: made)
        env.reset(seed=1)
        with pytest.raises((TypeError, ValueError), match="the rewards"):
            env.step([0, 0, 0])
    space = gymnasium.spaces.Box(0, 1, (2,))
    env = FlightVectorEnv(2, observation=lambda _: "text", observation_space=space)
    with pytest.raises(TypeError, match="the observation is no array of float32"):
        env.reset(seed=1)


def test_a_reset_mask_stays_the_callers() -> None:
    env = FlightVectorEnv(3)
    env.reset(seed=1)
    mask = np.array([True, False, True])
    _, infos = env.reset(options={"reset_mask": mask})
    mask[:] = False
    assert infos["_n"].tolist() == [True, False, True]
    with pytest.raises(TypeError, match="options are 5"):
        env.reset(options=5)


def test_an_interrupt_in_a_step_loses_nothing_but_its_results() -> None:
    env = FlightVectorEnv(2, autoreset_mode="Disabled", max_steps=2)
    env.reset(seed=1)
    env.step([0, 0])
    step = env._sectors.step

    def interrupted(*arguments: Any) -> None:  # noqa: ANN401 - the step's
        step(*arguments)
        raise KeyboardInterrupt

    env._sectors.step = interrupted
    with pytest.raises(KeyboardInterrupt):
        env.step([0, 0])
    env._sectors.step = step
    with pytest.raises(RuntimeError, match="the episode of environment 0 has ended"):
        env.step([0, 0])


def test_seeds_and_streams_are_told_as_gymnasium_does() -> None:
    env = FlightVectorEnv(3)
    same = SyncVectorEnv([Flight4DEnv] * 3)
    assert env.np_random_seed == (-1, -1, -1)
    for seed in (5, None, [None, 9, None], [1, None, 3]):
        env.reset(seed=seed)
        same.reset(seed=seed)
        assert env.np_random_seed == same.np_random_seed
    streams = [s.bit_generator.state for s in env.np_random]
    assert streams == [s.bit_generator.state for s in same.get_attr("np_random")]
    env.np_random[0].random()
    assert streams == [s.bit_generator.state for s in env.np_random]


def test_more_refusals() -> None:
    with pytest.raises(ValueError, match="sometimes"):
        FlightVectorEnv(1, autoreset_mode="sometimes")
    env = FlightVectorEnv(3)
    for call in (lambda: env.step([0, 0, 0]), env.action_masks, lambda: env.state):
        with pytest.raises(gymnasium.error.ResetNeeded):
            call()
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.reset(options={"reset_mask": np.array([True, False, False])})
    with pytest.raises(ValueError, match="2 seeds for 3"):
        env.reset(seed=[1, 2])
    with pytest.raises(ValueError, match=r"seed\[1\] is -2"):
        env.reset(seed=[1, -2, 3])
    env.reset(seed=1)
    with pytest.raises(ValueError, match="n_range"):
        env.set_n_range(4, 2)
    env.close()
    env.close()
    for call in (lambda: env.step([0, 0, 0]), env.reset, env.action_masks, lambda: env.state):
        with pytest.raises(_native.ClosedError):
            call()
    odd = FlightVectorEnv(2, reward=lambda state: 0.0)
    odd.reset(seed=1)
    with pytest.raises(ValueError, match=r"rewards have the shape \(\)"):
        odd.step([0, 0])


def test_disabled_wants_a_reset() -> None:
    env = FlightVectorEnv(2, autoreset_mode="Disabled", max_steps=1)
    env.reset(seed=1)
    env.step([0, 0])
    with pytest.raises(RuntimeError, match="the episode of environment 0 has ended"):
        env.step([0, 0])


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("way", ["pickle", "deepcopy"])
def test_a_copy_goes_on_alike(mode: AutoresetMode, way: str) -> None:
    env = FlightVectorEnv(5, autoreset_mode=mode, max_steps=4)
    env.reset(seed=1)
    for _ in range(4):
        env.step([1, 2, 3, 4, 5])
    made = copy.deepcopy(env) if way == "deepcopy" else pickle.loads(pickle.dumps(env))
    if mode == AutoresetMode.DISABLED:
        with pytest.raises(RuntimeError, match="has ended"):
            made.step([0] * 5)
        for each in (env, made):
            each.reset()
    for _ in range(4):
        got, want = made.step([0, 9, 0, 7, 0]), env.step([0, 9, 0, 7, 0])
        assert data_equivalence(got[:4], want[:4])
        _same_infos(got[4], want[4])
    made.close()
    env.action_masks()


def test_a_state_of_many() -> None:
    env = FlightVectorEnv(6, n_flights=3, n_range=(2, 3))
    env.reset(seed=1)
    env.step([1] * 6)
    state = env.state
    assert isinstance(state, FlightState)
    assert state.position.shape == state.direction.shape == (6, 3, 2)
    assert state.level.shape == state.touched.shape == state.dt_exit.shape == (6, 3)
    assert state.step_idx.tolist() == [1] * 6
    assert state.action_masks.shape == (6, 22)
    for i in range(6):
        single = Flight4DEnv(n_flights=3, n_range=(2, 3))
        single.reset(seed=1 + i)
        single.step(1)
        for name in ("position", "level", "exit_time", "severity", "conflict_time", "exit_miss"):
            np.testing.assert_array_equal(
                getattr(state, name)[i], getattr(single.state, name), err_msg=name
            )


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_gymnasiums_processes(context: str) -> None:
    Flight4DEnv().reset(seed=1)  # the parent has used the engine
    env = AsyncVectorEnv([Flight4DEnv] * 3, context=context)
    try:
        got, _ = env.reset(seed=4)
        same = FlightVectorEnv(3)
        assert np.array_equal(got, same.reset(seed=4)[0])
        for _ in range(3):
            assert np.array_equal(env.step([1, 2, 3])[0], same.step([1, 2, 3])[0])
    finally:
        env.close()


def _step_in_a_child(env: FlightVectorEnv, queue: Any) -> None:  # noqa: ANN401 - a queue
    try:
        queue.put(env.step([0, 0])[1].tolist())
    except Exception as error:
        queue.put(type(error).__name__)


def test_a_vector_environment_does_not_survive_a_fork() -> None:
    env = FlightVectorEnv(2)
    env.reset(seed=1)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=_step_in_a_child, args=(env, queue))
    process.start()
    assert queue.get(timeout=60) == "StaleError"
    process.join(timeout=60)
    env.step([0, 0])


def test_threads_at_the_same_time() -> None:
    env = FlightVectorEnv(16, threads=2)
    env.reset(seed=1)
    failures: list[BaseException] = []

    def fly() -> None:
        own = Flight4DEnv()
        try:
            own.reset(seed=1)
            for k in range(300):
                env.step([0] * 16)  # one call at a time works on an environment
                own.step(k % 36)
                other = FlightVectorEnv(3, threads=2)
                other.reset(seed=k)
                other.close()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=fly) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


# ---------------------------------------------------------------------- leaks


def _memory() -> int:
    """Resident memory in bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _threads() -> int:
    return len(os.listdir("/proc/self/task"))


def _growth(work: Callable[[], None]) -> tuple[int, int, int]:
    work()  # whatever grows once
    before = _native.lib().handles(), _threads(), _memory()
    work()
    after = _native.lib().handles(), _threads(), _memory()
    return tuple(b - a for a, b in zip(before, after, strict=True))  # type: ignore[return-value]


def test_nothing_leaks_over_100_000_episodes() -> None:
    env = FlightVectorEnv(1024, autoreset_mode="SameStep", infos=False, max_steps=20)
    rng = np.random.default_rng(0)
    actions = rng.integers(0, 36, (50, 1024))
    env.reset(seed=1)
    episodes = 0

    def fly() -> None:
        nonlocal episodes
        for k in range(1250):
            _, _, terminated, truncated, _ = env.step(actions[k % 50])
            episodes += int(np.count_nonzero(terminated | truncated))

    handles, threads, memory = _growth(fly)
    assert episodes >= 100_000
    assert handles == 0
    assert threads <= 2
    assert memory < 30_000_000


def test_environments_that_are_dropped_are_given_back() -> None:
    def make() -> None:
        for _ in range(1500):
            env = Flight4DEnv()
            env.reset(seed=1)
            env.step(0)
            FlightVectorEnv(3, threads=2).reset(seed=1)
            pickle.loads(pickle.dumps(env)).close()

    handles, threads, memory = _growth(make)
    assert handles == 0
    assert threads <= 2
    assert memory < 30_000_000
