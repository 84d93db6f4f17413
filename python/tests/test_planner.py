"""The controllers as policies: the same actions as the command's, whichever way they are asked."""

from __future__ import annotations

import copy
import csv
import os
import pickle
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import golden
import numpy as np
import pytest
from envs.flight_4d import Flight4DEnv as StockEnv

from skyrail import _native
from skyrail.flight import Flight4DEnv, FlightVectorEnv
from skyrail.planner import FlightPolicy, demonstrations

ROOT = Path(__file__).resolve().parents[2]
CHECKPOINT = ROOT / "checkpoints" / "ppo.zip"
WAYS_TO_COPY: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda policy: pickle.loads(pickle.dumps(policy)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}


@pytest.mark.parametrize(
    "agent", ["noop", "random", "rule-based", "planner", "oracle", str(CHECKPOINT)]
)
def test_a_policy_is_the_commands_agent(agent: str, tmp_path: Path) -> None:
    """The trace that `skyrail flight submit` writes has the actions that the policy answers."""
    skyrail = os.environ["SKYRAIL"]
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("11\n12\n13\n14\n")
    out = tmp_path / "submission.csv"
    if agent == "oracle":  # is no entry; the planner gives the same figures
        plan = demonstrations("planner", 4, seed=11)
        want = {(e, s): a for e, s, a in zip(plan.episode, plan.step, plan.actions, strict=True)}
    else:
        command = [skyrail, "flight", "submit", "--agent", agent, "--seeds", str(seeds)]
        done = subprocess.run(
            [*command, "--out", str(out)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        want = {}
        with out.open(newline="") as file:
            for row in csv.DictReader(file):
                seed, step = row["id"][1:].split("_t")
                want[int(seed) - 11, int(step)] = int(row["action"])
    flown = demonstrations(agent, 4, seed=11, num_envs=3)
    got = zip(flown.episode.tolist(), flown.step.tolist(), flown.actions.tolist(), strict=True)
    for episode, step, action in got:
        assert action == want[episode, step], (episode, step)
    assert set(flown.episode.tolist()) == {0, 1, 2, 3}


def test_every_way_of_asking_gives_the_same_answer() -> None:
    env = FlightVectorEnv(6, autoreset_mode="SameStep")
    singles = [Flight4DEnv() for _ in range(6)]
    observations, _ = env.reset(seed=40)
    for i, single in enumerate(singles):
        single.reset(seed=40 + i)
    whole, rows = FlightPolicy("planner", nodes=5000), FlightPolicy("planner", nodes=5000)
    each = [FlightPolicy("planner", nodes=5000) for _ in singles]
    for _ in range(45):
        actions = whole.act(env)
        assert actions.dtype == np.int64
        assert rows.answer(observations).tolist() == actions.tolist()
        for single, policy, action in zip(singles, each, actions.tolist(), strict=True):
            assert policy.act(single) == action
            single.step(action)
        observations, *_ = env.step(actions)


def test_demonstrations_are_episodes_in_order() -> None:
    few, many = (demonstrations("planner", 9, seed=5, num_envs=n) for n in (2, 9))
    for a, b in zip(few, many, strict=True):
        assert np.array_equal(a, b)
    stock = StockEnv()
    start = 0
    for episode in range(9):
        observation, _ = stock.reset(seed=5 + episode)
        steps = np.flatnonzero(few.episode == episode)
        assert steps.tolist() == list(range(start, start + len(steps)))
        assert few.step[steps].tolist() == list(range(len(steps)))
        for k in steps.tolist():
            assert np.allclose(few.observations[k], observation, atol=1e-6)
            assert few.masks[k].tolist() == stock.action_masks().tolist()
            assert few.masks[k, few.actions[k]]
            observation, reward, terminated, truncated, _ = stock.step(int(few.actions[k]))
            assert golden.close(few.rewards[k], reward)
            assert (few.terminated[k], few.truncated[k]) == (terminated, truncated)
        assert terminated or truncated
        start += len(steps)
    assert start == len(few.actions)


def test_other_parameters() -> None:
    flown = demonstrations("rule-based", 3, n_flights=7, n_range=(4, 7), max_steps=9)
    assert flown.observations.shape[1] == 20 * 7 + 3
    assert flown.step.max() <= 8


@pytest.mark.parametrize(
    ("arguments", "error", "about"),
    [
        *(({"nodes": n}, ValueError, f"nodes is {n}") for n in (0, -3, 10**9 + 1, 2**64 + 5)),
        ({"nodes": 1.5}, TypeError, r"nodes is 1\.5, it must be a whole number"),
        ({"threads": -1}, ValueError, "threads is -1"),
        ({"threads": 2**64}, ValueError, "threads is 18446744073709551616"),
        ({"threads": None}, TypeError, "threads is None"),
        ({"name": "planner\0x"}, ValueError, "null character"),
        ({"name": None}, TypeError, "name is None, it must be a string or a path"),
        ({"name": "\udcff"}, ValueError, "no agent and no checkpoint"),
        ({"name": b"nobody"}, ValueError, "no agent and no checkpoint"),
    ],
)
def test_wrong_arguments_are_refused(
    arguments: dict[str, Any], error: type[Exception], about: str
) -> None:
    with pytest.raises(error, match=about):
        FlightPolicy(**arguments)


@pytest.mark.parametrize("name", [b"noop", "noop", CHECKPOINT, os.fsencode(CHECKPOINT)])
def test_a_name_may_be_any_kind_of_path(name: Any) -> None:  # noqa: ANN401
    assert FlightPolicy(name).name == os.fsdecode(name)


@pytest.mark.parametrize(
    ("arguments", "error", "about"),
    [
        ({"episodes": 0}, ValueError, "episodes is 0"),
        ({"episodes": 2.5}, TypeError, r"episodes is 2\.5"),
        ({"num_envs": 0}, ValueError, "num_envs is 0"),
        ({"num_envs": 2.5}, TypeError, r"num_envs is 2\.5"),
        ({"seed": -1}, ValueError, "seed is -1"),
        ({"seed": 2**64 - 2}, ValueError, "seed is 18446744073709551614"),
        ({"n_flights": 2**62}, ValueError, "n_flights is 4611686018427387904"),
        ({"policy": None}, TypeError, "name is None"),
    ],
)
def test_wrong_arguments_of_demonstrations(
    arguments: dict[str, Any], error: type[Exception], about: str
) -> None:
    with pytest.raises(error, match=about):
        demonstrations(**{"policy": "noop", "episodes": 3} | arguments)


@pytest.mark.parametrize("seed", [2**63 - 2, 2**64 - 5])
def test_demonstrations_of_large_seeds(seed: int) -> None:
    flown = demonstrations("noop", 5, seed=seed, num_envs=3)
    env = Flight4DEnv()
    for episode in range(5):
        first = flown.observations[np.flatnonzero(flown.episode == episode)[0]]
        assert np.array_equal(first, env.reset(seed=seed + episode)[0])


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no agent and no checkpoint"):
        FlightPolicy("nobody")
    other = tmp_path / "policy.zip"
    other.write_bytes(b"no zip")
    with pytest.raises(ValueError, match="zip"):
        FlightPolicy(str(other))
    policy = FlightPolicy("planner")
    with pytest.raises(TypeError, match="no environment"):
        policy.act(StockEnv())
    env = Flight4DEnv()
    with pytest.raises(_native.ResetNeededError):
        policy.act(env)
    env.reset(seed=1)
    env.close()
    with pytest.raises(_native.ClosedError):
        policy.act(env)
    with pytest.raises(TypeError, match="float32"):
        policy.answer(np.zeros((1, 103)))
    for shape in ((103,), (1, 102), (0, 103)):
        with pytest.raises(ValueError, match="shape"):
            policy.answer(np.zeros(shape, np.float32))
    with pytest.raises(ValueError, match="true state"):
        FlightPolicy("oracle").answer(np.zeros((1, 103), np.float32))
    rows = np.stack([env.reset(seed=1)[0] for env in (Flight4DEnv(), Flight4DEnv())])
    for idle in (0.0, np.nan):
        rows[1, 67] = idle
        for agent in ("planner", "rule-based", "random", "noop", str(CHECKPOINT)):
            with pytest.raises(ValueError, match=r"observation 1 .* idling is always legal"):
                FlightPolicy(agent).answer(rows)


class Named(FlightPolicy):
    """A policy with a constructor of its own."""

    def __init__(self, labels: list[str]) -> None:
        super().__init__("planner", nodes=3000)
        self.labels = labels


@pytest.mark.parametrize("way", ["pickle", "deepcopy", "copy"])
def test_a_subclass_is_copied_with_what_it_has(way: str) -> None:
    policy = Named(["mine"])
    made = WAYS_TO_COPY[way](policy)
    assert type(made) is Named
    assert (made.name, made.nodes, made.threads, made.labels) == ("planner", 3000, 0, ["mine"])
    assert (made.labels is policy.labels) == (way == "copy")
    env = Flight4DEnv()
    env.reset(seed=3)
    assert made.act(env) == policy.act(env)
    made.close()
    policy.act(env)


def test_a_policy_can_be_pickled_and_closed() -> None:
    policy = pickle.loads(pickle.dumps(FlightPolicy("planner", nodes=3000)))
    assert (policy.name, policy.nodes) == ("planner", 3000)
    env = Flight4DEnv()
    env.reset(seed=3)
    action = policy.act(env)
    handles = _native.lib().handles()
    policy.close()
    assert _native.lib().handles() == handles - 1
    assert policy.act(env) == action
