"""The railway from Python: golden episodes and observations, the checkers, copies, refusals."""

from __future__ import annotations

import contextlib
import copy
import json
import math
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import golden_rail as golden
import numpy as np
import pytest
from pettingzoo import ParallelEnv
from pettingzoo.test import parallel_api_test, parallel_seed_test
from pettingzoo.utils import BaseParallelWrapper
from readers import read_by_two

from skyrail import _native
from skyrail.rail import (
    COMPONENTS,
    RailAction,
    RailParallelEnv,
    RailPolicy,
    RailVectorEnv,
    TrainState,
)
from skyrail.rail._infos import Infos

OBSERVATIONS = ["dummy", "tree", "flat_tree", "global"]


def small(**options: Any) -> RailParallelEnv:  # noqa: ANN401 - of several kinds
    options = {"seed": 1, "n_agents": 5, "max_rail_pairs_in_city": 2, **options}
    return RailParallelEnv.generate(**options)


def published(**options: Any) -> RailParallelEnv:  # noqa: ANN401 - of several kinds
    return RailParallelEnv.from_file(golden.COMPETITION, **options)


# ---------------------------------------------------------------------- golden data


@pytest.mark.parametrize("path", golden.episodes(), ids=lambda p: p.name.split(".")[0])
def test_episode_equals_the_reference(path: Path) -> None:
    g = golden.load(path)
    state = golden.state_of_episode(g)
    envs = {
        reward: RailParallelEnv.from_file(state, reward=reward)
        for reward in ("default", "ecml2026", "components", "punctuality")
    }
    for train, agent in zip(envs["default"].trains, g["agents"], strict=True):
        times = zip(agent["wp_earliest"][1:-1], agent["wp_latest"][1:-1], strict=True)
        want = list(zip(agent["waypoints"][1:-1], times, strict=True))
        assert [([list(p) for p in s.places], s[1:]) for s in train.stops] == want
    punctual = np.zeros((len(g["agents"]), 2))
    n = len(g["agents"])
    _, infos = envs["default"].observe()
    assert digits(infos, "action_required", n) == g["info0"]["action_required"]
    for number, (actions, want) in enumerate(zip(g["actions"], g["steps"], strict=True), start=1):
        where = f"step {number}"
        rewards = {}
        for reward, env in envs.items():
            there = set(env.agents)
            # What is no action counts as none in flatland-rl.
            given = {i: int(a) for i, a in enumerate(actions) if a in "01234" and i in there}
            _, rewards[reward], terminations, truncations, infos = env.step(given)
            assert set(rewards[reward]) == there
        for i, counts in rewards["punctuality"].items():
            punctual[i] += counts
            assert counts.any() == (terminations[i] or truncations[i]), (where, i)
        check_step(env, want, where)
        zeros = [0.0] * n
        got = [[rewards[r].get(i, 0.0) for i in range(n)] for r in ("default", "ecml2026")]
        assert got == [want.get("r") or zeros, want.get("e") or zeros], where
        base = np.zeros((n, len(COMPONENTS)))
        for agent, parts in (want.get("base") or {}).items():
            for name, value in parts.items():
                base[int(agent), COMPONENTS.index(name)] = value
        for i, parts in rewards["components"].items():
            assert parts.tolist() == base[i].tolist(), (where, i)
        for i in there:
            info = infos[i]
            assert info["state"] == int(want["state"][i]), (where, i)
            assert info["speed"] == float(Fraction(want["speed"][i])), (where, i)
            assert info["malfunction"] == (want.get("malf") or zeros)[i], (where, i)
            assert info["action_required"] == (want["areq"][i] == "1"), (where, i)
            assert (terminations[i] or truncations[i]) == (want["done"][i] == "1"), (where, i)
            assert terminations[i] == (want["state"][i] == "6"), (where, i)
        assert env.agents == [i for i in range(n) if want["done"][i] == "0"], where
    final = g["final"]
    assert env.elapsed_steps == final["elapsed_steps"]
    assert (not env.agents) == final["done_all"]
    if final["done_all"]:
        assert punctual.tolist() == final["punctuality"]


def check_step(env: RailParallelEnv, want: dict[str, Any], where: str) -> None:
    n = len(env.possible_agents)
    states = env.state()[:-1].reshape(n, 9)
    nowhere = [-1, -1, -1]
    positions = [position or nowhere for position in want["pos"]]
    assert env.positions.tolist() == positions, where
    assert states[:, 1:4].tolist() == positions, where
    assert "".join(str(int(s)) for s in states[:, 0]) == want["state"], where
    assert states[:, 4].tolist() == (want.get("malf") or [0] * n), where
    assert states[:, 5].tolist() == [float(Fraction(s)) for s in want["speed"]], where
    assert states[:, 6].tolist() == [float(Fraction(d)) for d in want["dist"]], where


def digits(infos: dict[int, dict[str, Any]], key: str, n: int) -> str:
    return "".join(str(int(infos[i][key])) for i in range(n))


@pytest.mark.parametrize("path", golden.observations(), ids=lambda p: p.name.split(".")[0])
def test_observations_equal_the_reference(path: Path) -> None:
    g = golden.load(path)
    depth, radius = g["tree_max_depth"], g["observation_radius"]
    for number, moment in enumerate(g["snapshots"]):
        state = golden.state_of_moment(g, moment)
        for kind in ("tree", "flat_tree", "global"):
            env = RailParallelEnv.from_file(state, observation=kind, depth=depth, radius=radius)
            observed, _ = env.observe()
            assert list(observed) == [i for i, a in enumerate(moment["agents"]) if a["state"] != 6]
            for agent, got in observed.items():
                where = f"snapshot {number}, agent {agent}"
                assert got in env.observation_space(agent), where
                if kind == "tree":
                    assert got.tolist() == tree_rows(moment["tree"][agent], depth), where
                elif kind == "flat_tree":
                    assert got.tolist() == unrun(moment["norm"][agent]), where
                else:
                    check_global(env, got, g, moment["global"][agent])


def number_of(value: Any) -> float:  # noqa: ANN401 - a number, or "inf", "-inf"
    return float(value)


def unrun(runs: list[list[Any]]) -> list[float]:
    return [number_of(value) for count, value in runs for _ in range(count)]


def tree_rows(node: Any, depth: int) -> list[list[float]]:  # noqa: ANN401 - a node or "-inf"
    if node == "-inf":
        return [[-math.inf] * 12] * ((4 ** (depth + 1) - 1) // 3)
    rows = [[number_of(f) for f in node["f"]]]
    if depth:
        for branch in "LFRB":
            rows += tree_rows(node["c"][branch], depth - 1)
    return rows


def check_global(
    env: RailParallelEnv, got: np.ndarray, g: dict[str, Any], want: dict[str, Any]
) -> None:
    transitions, state, targets = env.split_global(got)
    bits = np.array(g["grid"])[..., None] >> np.arange(15, -1, -1) & 1
    assert np.array_equal(transitions, bits)
    assert np.array_equal(env.transitions, g["grid"])
    expected = np.full(state.shape, -1.0)
    expected[..., 4] = 0
    for row, column, channel, value in want["state"]:
        expected[int(row), int(column), int(channel)] = value
    assert np.array_equal(state, expected)
    expected = np.zeros(targets.shape)
    for row, column, channel in want["targets"]:
        expected[row, column, channel] = 1
    assert np.array_equal(targets, expected)


@pytest.mark.parametrize("policy", ["deadlock-avoidance", "shortest-path", "random"])
def test_engine_from_python_equals_the_command(policy: str) -> None:
    for rewards, name in (("ecml2026", "ecml2026"), ("components", "base-ecml2026")):
        told = json.loads(
            subprocess.run(
                [
                    *(
                        os.environ["SKYRAIL"],
                        "rail",
                        "run",
                        "--env",
                        golden.COMPETITION,
                        "--agent",
                        policy,
                    ),
                    *("--rewards", name, "--json"),
                ],
                check=True,
                capture_output=True,
            ).stdout
        )["runs"][0]
        env = published(reward=rewards)
        agent = RailPolicy(policy)
        total, arrived = np.zeros(8 if rewards == "components" else 1), 0
        while env.agents:
            _, reward, terminations, _, _ = env.step(agent.act(env))
            total += sum(reward.values())
            arrived += sum(terminations.values())
        assert (env.elapsed_steps, arrived) == (told["steps"], told["arrived"])
        assert env.max_episode_steps == told["max_episode_steps"]
        if rewards == "components":
            assert dict(zip(COMPONENTS, total.tolist(), strict=True)) == told["components"]


# ---------------------------------------------------------------------- the checkers


@pytest.mark.parametrize("make", [small, published], ids=["generated", "file"])
@pytest.mark.parametrize("observation", OBSERVATIONS)
def test_pettingzoo_finds_nothing(
    observation: str, make: Callable[..., RailParallelEnv], capsys: pytest.CaptureFixture[str]
) -> None:
    env = make(observation=observation)
    assert isinstance(env, ParallelEnv)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallel_api_test(env, num_cycles=1000 if observation != "global" else 60)
        parallel_seed_test(lambda: make(observation=observation), num_cycles=100)
    assert "Passed" in capsys.readouterr().out


@pytest.mark.parametrize("reward", ["ecml2026", "components", "multi-objective", "punctuality"])
def test_pettingzoo_finds_nothing_in_rewards(reward: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallel_api_test(small(reward=reward), num_cycles=500)


# ---------------------------------------------------------------------- the contract


@pytest.mark.parametrize("observation", OBSERVATIONS)
@pytest.mark.parametrize("reward", ["default", "ecml2026", "components"])
def test_the_quick_step_and_the_careful_one_are_the_same(observation: str, reward: str) -> None:
    quick = small(observation=observation, reward=reward, malfunction_interval=20)
    careful = copy.deepcopy(quick)
    policy = RailPolicy("deadlock-avoidance")
    left = paid = 0
    while quick.agents:
        assert "PyCapsule" in repr(quick._quick[0])
        careful._quick[0] = lambda _: None  # as without CPython; new when somebody leaves
        actions = policy.act(quick)
        ours, theirs = (
            quick.step({a: np.int64(m) for a, m in actions.items()}),
            careful.step(actions),
        )
        assert quick.agents == careful.agents
        assert list(map(type, ours)) == list(map(type, theirs))
        assert repr(ours) == repr(theirs)  # NaN and -0.0 too
        for agent, observed in ours[0].items():
            assert observed.tobytes() == theirs[0][agent].tobytes()
        left += len(quick.agents) < len(ours[2])
        paid += any(np.any(r) for r in ours[1].values())
    assert left > 1
    assert paid > left if reward != "default" else paid


def test_an_interrupt_in_a_step_leaves_no_agents_behind() -> None:
    env = small(n_agents=3, seed=0)
    env.reset(seed=0)
    policy = RailPolicy("shortest-path")
    keep = env._keep

    class Interrupting(type(env)):
        def _keep(self, agents: list[int]) -> None:
            self.__class__ = RailParallelEnv
            raise KeyboardInterrupt

    env.__class__ = Interrupting
    with pytest.raises(KeyboardInterrupt):
        while True:
            env.step(policy.act(env))
    assert env._keep == keep
    assert len(env.agents) == 3
    _, _, terminations, *_ = env.step({agent: 0 for agent in env.agents})
    assert len(terminations) < 3
    assert list(terminations) == env.agents


def test_the_list_of_agents_may_be_written_to() -> None:
    env = small(observation="flat_tree", depth=1)
    twin = copy.deepcopy(env)
    env.agents.remove(0)
    for actions in ({a: 2 for a in range(5)}, {a: 2 for a in range(1, 5)}):
        ours, theirs = env.step(actions), twin.step(actions)
        assert repr(ours) == repr(theirs)
        assert list(ours[0]) == list(range(5))


def test_an_action_may_step_the_same_railway() -> None:
    class Stepping:
        def __index__(self) -> int:
            env.step({agent: 0 for agent in env.agents})
            return 2

    class Interrupted:
        def __index__(self) -> int:
            raise KeyboardInterrupt

    def begun() -> RailParallelEnv:
        made = small(n_agents=4)
        made.reset(seed=1)
        for _ in range(25):
            made.step({a: 2 if a != 2 else 0 for a in made.agents})
        return made

    env, want = begun(), begun()
    env.step({0: 2, 1: 2, 2: 2, 3: Stepping()})
    want.step(dict.fromkeys(range(4), 0))
    want.step(dict.fromkeys(range(4), 2))
    assert env.save() == want.save()
    with pytest.raises(KeyboardInterrupt):
        env.step(dict.fromkeys(range(4), Interrupted()))
    with pytest.raises(ValueError, match="thousands of digits is outside"):
        env.step(dict.fromkeys(range(4), 10**5000))
    assert env.save() == want.save()


def test_threads_may_read_infos_at_the_same_time() -> None:
    env = small()

    def check(infos: Infos) -> None:
        assert all(infos[agent]["speed"] > 0 for agent in range(5))

    read_by_two(lambda: env.observe()[1], check)


def test_infos_are_made_as_any_dict() -> None:
    assert Infos.fromkeys([1]) == {1: None} == Infos({1: None})


@pytest.mark.parametrize("observation", ["dummy", "tree"])
def test_a_step_leaves_nothing_behind(observation: str) -> None:
    env = small(observation=observation)
    agents = range(5)
    move, none, missing = np.int64(2), {}, dict.fromkeys(range(4), 1)
    forward, mixed = dict.fromkeys(agents, move), dict.fromkeys(agents, 1) | {4: True}
    wrong = [dict.fromkeys(agents, bad) for bad in (99, 1.5, None, 2**70, -1)]
    start = env.save()
    for actions in (forward, mixed, none, missing, *wrong, {7: 0}, [0] * 5):

        def run(actions: Any = actions) -> None:  # noqa: ANN401 - of several kinds
            for k in range(2000):
                if k % 20 == 0:
                    env.load(start)
                with contextlib.suppress(ValueError, TypeError):
                    env.step(actions)

        def held() -> tuple[int, ...]:
            return sys.getrefcount(move), sys.getrefcount(None), sys.getallocatedblocks()

        run()
        before = held()
        run()
        assert np.allclose(before, held(), atol=200), actions


def test_agents_leave_when_done() -> None:
    env = published(observation="flat_tree", reward="ecml2026")
    policy = RailPolicy("deadlock-avoidance")
    left: dict[int, tuple[bool, bool]] = {}
    while env.agents:
        before = list(env.agents)
        told = env.step(policy.act(env))
        assert all(list(part) == before for part in told)
        _, _, terminations, truncations, infos = told
        for agent in before:
            if terminations[agent] or truncations[agent]:
                left[agent] = terminations[agent], truncations[agent]
                assert infos[agent]["state"] == TrainState.DONE
        assert env.agents == [a for a in before if a not in left]
        assert env.num_agents == len(env.agents)
    assert left == dict.fromkeys(range(6), (True, False))
    assert env.max_num_agents == 6
    env = published()
    for _ in range(env.max_episode_steps):
        told = env.step({})
    assert told[2:4] == (dict.fromkeys(range(6), False), dict.fromkeys(range(6), True))
    assert env.agents == []
    with pytest.raises(_native.ResetNeededError, match="the episode is done"):
        env.step({})
    env.reset()
    assert env.agents == list(range(6))


def test_actions_may_be_missing_but_not_wrong() -> None:
    env = small(n_agents=3)
    state = env.save()
    with pytest.raises(ValueError, match=r"agent 1: action 5 is outside 0\.\.4"):
        env.step({0: 0, 1: 5, 2: 0})
    with pytest.raises(ValueError, match=r"agent 2: action -1 is outside"):
        env.step({0: 0, 1: 1, 2: -1})
    with pytest.raises(ValueError, match=r"agent 0: action 256 is outside"):
        env.step({0: 256, 1: 1, 2: 1})
    with pytest.raises(TypeError, match=r"agent 1: action 1\.0 is not an integer"):
        env.step({0: 1, 1: 1.0, 2: 1})
    with pytest.raises(TypeError, match="not an integer"):
        env.step({0: np.array([1]), 1: 1, 2: 1})
    with pytest.raises(ValueError, match=r"there is no agent 3: agents are 0\.\.2"):
        env.step({0: 1, 1: 1, 2: 1, 3: 1})
    with pytest.raises(ValueError, match="there is no agent 'x'"):
        env.step({0: 1, "x": 1})
    with pytest.raises(TypeError, match="actions are a list"):
        env.step([1, 1, 1])
    assert env.save() == state
    twin = small(n_agents=3)
    for _ in range(30):
        env.step({0: RailAction.MOVE_FORWARD, 2: np.int64(2)})
        twin.step({0: 2, 1: 0, 2: 2})
    assert env.save() == twin.save()


def test_actions_of_those_who_left_are_not_looked_at() -> None:
    env, twin = published(), published()
    policy = RailPolicy("deadlock-avoidance")
    while len(env.agents) > 3:
        actions = policy.act(env)
        env.step(dict.fromkeys(env.possible_agents, 99) | actions)
        twin.step(actions)
    assert env.save() == twin.save()


def test_a_single_train() -> None:
    env = small(n_agents=1)
    while env.agents:
        observations, rewards, _, _, infos = env.step({0: 2})
        assert list(observations) == list(rewards) == list(infos) == [0]


def test_infos_are_a_dict_that_is_filled_late() -> None:
    env = small(reward="ecml2026")
    _, infos = env.reset(seed=2)
    want = {
        agent: {"action_required": False, "malfunction": 0, "speed": s, "state": TrainState.WAITING}
        for agent, s in enumerate(t.max_speed for t in env.trains)
    }

    def fresh() -> Infos:
        env.load(state)
        return env.observe()[1]

    state = env.save()
    assert isinstance(infos, dict)
    assert infos == want
    assert want == fresh()
    assert fresh() == fresh()
    assert not fresh() != want
    assert fresh() != {}
    assert dict(fresh()) == want
    assert {**fresh()} == want
    assert want | fresh() == want
    assert fresh() | {} == want
    assert list(fresh()) == list(range(5)) == list(fresh().keys())
    assert len(fresh()) == 5
    assert 4 in fresh()
    assert 5 not in fresh()
    assert fresh()[3] == want[3] == fresh().get(3)
    assert fresh().get(9, "none") == "none"
    assert list(fresh().values()) == list(want.values())
    assert list(fresh().items()) == list(want.items())
    assert fresh().copy() == want == copy.copy(fresh())
    assert copy.deepcopy(fresh()) == want == pickle.loads(pickle.dumps(fresh()))
    assert type(pickle.loads(pickle.dumps(fresh()))) is dict
    assert repr(fresh()) == repr(want)
    assert json.loads(json.dumps(fresh())) == json.loads(json.dumps(want))
    assert (lambda **kw: kw)(**{str(k): v for k, v in fresh().items()})["2"] == want[2]
    late = fresh()
    late[0]["mine"] = 1
    assert late[0]["mine"] == 1
    late[7] = {}
    del late[1]
    assert set(late) == {0, 2, 3, 4, 7}
    assert late.pop(2) == want[2]
    late = fresh()
    late.update({1: {}})
    assert late == {**want, 1: {}}
    # A later step does not show in infos that nobody has looked at yet.
    infos = fresh()
    for _ in range(5):
        env.step(dict.fromkeys(env.agents, 2))
    assert infos == want


def test_results_are_the_callers_own() -> None:
    env = small(observation="tree", reward="components")
    first, _ = env.reset(seed=1)
    kept = {agent: o.copy() for agent, o in first.items()}
    told = [env.step(dict.fromkeys(env.agents, 2)) for _ in range(40)]
    observations, rewards, terminations, truncations, infos = told[-1]
    assert not all(np.array_equal(first[agent], observations[agent]) for agent in kept)
    kept_infos, kept_last = dict(infos), {a: o.copy() for a, o in observations.items()}
    late = told[-2][4]
    for _ in range(10):
        env.step(dict.fromkeys(env.agents, 4))
    assert infos == kept_infos
    assert late != env.observe()[1]
    assert all(np.array_equal(observations[a], kept_last[a]) for a in kept_last)
    assert all(np.array_equal(first[agent], kept[agent]) for agent in kept)
    # Arrays of rewards are read-only, whether there were any or not.
    env, some = small(reward="components", observation="tree"), 0
    while env.agents:
        _, rewards, *_ = env.step(dict.fromkeys(env.agents, 2))
        some += any(reward.any() for reward in rewards.values())
        assert not any(reward.flags.writeable for reward in rewards.values())
    assert 0 < some < env.elapsed_steps
    env = small(reward="components")
    observations, rewards, terminations, truncations, _ = env.step({})
    observations.clear()
    terminations.clear()
    truncations.clear()
    rewards.clear()
    assert all(len(part) == 5 for part in env.step({}))


def test_masks_are_sampled_from() -> None:
    env = small()
    env.reset(seed=3)
    rng = np.random.default_rng(1)
    offered = np.zeros(5, int)
    while env.agents:
        masks = env.action_masks()
        assert masks.shape == (5, 5)
        assert masks[:, 0].all()
        offered += masks.sum(0)
        for agent in env.agents:
            assert env.action_mask(agent).tolist() == masks[agent].tolist()
            action = env.action_space(agent).sample(mask=env.action_mask(agent))
            assert masks[agent, action]
        env.step({a: int(rng.choice(np.flatnonzero(masks[a]))) for a in env.agents})
    assert (offered > 0).all()


def test_facts() -> None:
    env = published()
    assert env.transitions.shape == (120, 150)
    assert env.max_episode_steps == 494
    assert env.elapsed_steps == 0
    train = env.trains[0]
    assert (train.start, train.heading, train.target) == ((51, 72), 1, (3, 145))
    assert env.state().shape == env.state_space.shape == (55,)
    assert env.state() in env.state_space
    assert env.deadlocked.tolist() == [False] * 6
    assert env.unwrapped is env
    assert set(env.observation_spaces) == set(env.action_spaces) == set(range(6))
    with pytest.raises(ValueError, match="there is no agent 6"):
        env.action_space(6)


def test_seeds() -> None:
    env, twin = small(), small()
    env.reset(seed=5)
    grid = env.transitions
    twin.reset(seed=5)
    assert np.array_equal(twin.transitions, grid)
    twin.reset(seed=6)
    assert not np.array_equal(twin.transitions, grid)
    twin.reset(seed=5)
    assert_same(env.reset(), twin.reset())
    assert np.array_equal(twin.transitions, env.transitions)
    assert not np.array_equal(twin.transitions, grid)
    assert twin.trains == env.trains
    for bad, error in (
        *((-1, ValueError), (2**64, ValueError)),
        *((1.5, TypeError), ("1", TypeError), (True, TypeError)),
    ):
        with pytest.raises(error, match="seed"):
            env.reset(seed=bad)
    env.reset(seed=np.uint64(2**64 - 1))


def test_fresh_episodes_depend_on_their_seed_alone() -> None:
    def episode(env: RailParallelEnv, seed: int) -> bytes:
        env.reset(seed=seed)
        for _ in range(80):
            env.step(dict.fromkeys(env.agents, 2))
        return env.save()

    for make in (small, published):
        fresh = make(fresh=True, **({"malfunction_interval": 40} if make is small else {}))
        first = episode(fresh, 1)
        episode(fresh, 2)
        again = episode(fresh, 1)
        assert again[:100] == first[:100]
        assert np.array_equal(
            RailParallelEnv.from_file(again).state(), RailParallelEnv.from_file(first).state()
        )


def test_generators_take_the_names_of_the_reference() -> None:
    env = RailParallelEnv.generate(
        seed=4,
        n_agents=3,
        x_dim=31,
        y_dim=28,
        n_cities=2,
        grid_mode=True,
        max_rails_between_cities=1,
        max_rail_pairs_in_city=1,
        line_length=2,
        malfunction_interval=-1,
        speed_ratios={1.0: 0.5, 0.5: 0.5},
        p_level_free=0.0,
        post_seed=None,
    )
    assert env.transitions.shape == (28, 31)
    assert {t.max_speed for t in env.trains} <= {1.0, 0.5}
    env = RailParallelEnv.generate(
        seed=np.int64(4), n_agents=np.uint8(3), grid_mode=np.True_, p_level_free=np.float32(0.5)
    )
    assert len(env.agents) == 3


@pytest.mark.parametrize(
    ("parameters", "error", "match"),
    [
        ({"n_agent": 3}, TypeError, "there is no parameter 'n_agent'; there are seed, n_agents"),
        ({"N_Agents": 3}, TypeError, "there is no parameter 'N_Agents'"),
        ({"seed": None}, TypeError, "seed is missing"),
        ({"seed": "1"}, TypeError, "seed is '1', it must be a whole number"),
        ({"seed": 2**64}, ValueError, f"seed is {2**64}"),
        ({"post_seed": -1}, ValueError, "post_seed is -1"),
        ({"n_agents": 2.5}, TypeError, r"n_agents is 2\.5, it must be a whole number"),
        ({"n_agents": True}, TypeError, "n_agents is True"),
        ({"n_agents": None}, TypeError, "n_agents is None"),
        ({"n_agents": math.nan}, TypeError, "n_agents is nan"),
        ({"n_agents": 10**30}, ValueError, "n_agents is 10000"),
        ({"n_agents": 0}, ValueError, "n_agents 0: want 1 to"),
        ({"n_agents": object()}, TypeError, "n_agents is <object"),
        ({"x_dim": np.array([30])}, TypeError, "x_dim is array"),
        ({"n_cities": 1}, ValueError, "n_cities 1: a railway needs two cities"),
        ({"grid_mode": "yes"}, TypeError, "grid_mode is 'yes', it must be True or False"),
        ({"p_level_free": math.nan}, ValueError, "p_level_free is nan, it must be a finite"),
        ({"p_level_free": "0.5"}, TypeError, r"p_level_free is '0\.5'"),
        ({"speed_ratios": [[1, 1]]}, TypeError, "speed_ratios is .*, it must be a dict"),
        ({"speed_ratios": {"a": 1}}, TypeError, "speed_ratios is 'a', it must be a number"),
        ({"speed_ratios": {1.0: 0.5}}, ValueError, "speed_ratios .*probabilities"),
        ({"malfunction_interval": 0.5}, TypeError, r"malfunction_interval is 0\.5"),
    ],
)
def test_parameters_that_are_none(
    parameters: dict[str, Any], error: type[Exception], match: str
) -> None:
    for make in (RailParallelEnv.generate, lambda **given: RailVectorEnv.generate(2, **given)):
        with pytest.raises(error, match=match) as told:
            make(**{"seed": 1, **parameters})
        assert "json" not in str(told.value)
        assert "Go" not in str(told.value)


def test_none_means_what_it_does_in_flatland() -> None:
    never = small(malfunction_interval=None)
    assert never.save() == small(malfunction_interval=0).save()
    assert never.save() != small().save()
    assert small(speed_ratios=None, post_seed=None).save() == small().save()


def test_no_railway_comes_of_a_seed() -> None:
    env = uneven()
    for _ in range(20):
        env.step({})
    with pytest.raises(ValueError, match=r"^seed 323516: line_length 3: train 1 has 2 stops and"):
        env.reset(seed=323516)
    assert env.elapsed_steps == 20
    env.step({})
    # The next on that stream is there; flatland-rl's reset() makes it as well.
    env = uneven()
    with pytest.raises(ValueError, match="seed 323516"):
        env.reset(seed=323516)
    env.reset()
    assert [train.start for train in env.trains] == [(23, 6), (7, 6), (6, 25)]


def uneven(**options: Any) -> RailParallelEnv:  # noqa: ANN401 - of several kinds
    return RailParallelEnv.generate(**UNEVEN, **options)


UNEVEN = {
    **{"seed": 750, "n_agents": 3, "n_cities": 3, "grid_mode": True, "line_length": 3},
    **{"max_rail_pairs_in_city": 2, "max_rails_between_cities": 1},
}


def test_files_and_suites(tmp_path: Path) -> None:
    data = golden.COMPETITION.read_bytes()
    assert RailParallelEnv.from_file(data).save() == published().save()
    level = tmp_path / "level_0"
    level.mkdir()
    (level / "level_0_scenario_2.pkl.gz").write_bytes(data)
    env = RailParallelEnv.from_suite(tmp_path, 0, 2, fresh=True)
    assert env.save() == published().save()
    (level / "level_0_scenario_2.pkl.gz").unlink()
    assert pickle.loads(pickle.dumps(env)).save() == env.save()
    with pytest.raises(ValueError, match=r"there is no .*level_0_scenario_2\.pkl"):
        RailParallelEnv.from_suite(tmp_path, 0, 2)
    with pytest.raises(FileNotFoundError):
        RailParallelEnv.from_file(tmp_path / "none.pkl")
    for bad in (b"", b"hello", data[:1000], published().save()[:5000]):
        with pytest.raises(ValueError, match=r"."):
            RailParallelEnv.from_file(bad)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"observation": "trees"}, ValueError),
        ({"reward": "best"}, ValueError),
        ({"depth": 11}, ValueError),
        ({"depth": -1}, ValueError),
        ({"depth": 1.5}, TypeError),
        ({"depth": True}, TypeError),
        ({"radius": -1}, ValueError),
        ({"radius": float("nan")}, ValueError),
        ({"radius": None}, TypeError),
        ({"observation": ["tree"]}, TypeError),
        ({"reward": None}, TypeError),
        ({"fresh": "no"}, TypeError),
    ],
)
def test_options_that_are_none(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error, match=next(iter(options))):
        small(**options)


# ---------------------------------------------------------------------- copies


@pytest.mark.parametrize("make", [small, published], ids=["generated", "file"])
@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))],
    ids=["copy", "deepcopy", "pickle"],
)
@pytest.mark.parametrize("fresh", [False, True])
def test_copies_go_on_alike(
    make: Callable[..., RailParallelEnv],
    duplicate: Callable[[RailParallelEnv], RailParallelEnv],
    fresh: bool,
) -> None:
    env = make(observation="flat_tree", reward="ecml2026", fresh=fresh)
    policy = RailPolicy("random", seed=3)
    for _ in range(40):
        env.step(policy.act(env))
    twin = duplicate(env)
    assert twin is not env
    assert twin.agents == env.agents
    for _ in range(3):
        while env.agents:
            actions = policy.act(env)
            assert_same(env.step(actions), twin.step(actions))
        assert env.save() == twin.save()
        assert_same(env.reset(), twin.reset())
    twin.step({})
    assert env.elapsed_steps == 0


class Mine(RailParallelEnv):
    """A subclass with attributes and an __init__ of its own."""

    def __init__(self, *made: Any, bonus: float) -> None:  # noqa: ANN401 - whatever makes one
        self.before = [bonus]
        super().__init__(*made)
        self.seen: list[int] = []

    @classmethod
    def with_bonus(cls, bonus: float) -> Mine:
        made = small(observation="tree")
        return cls(made._source, made._options, bonus=bonus)


@pytest.mark.parametrize(
    "duplicate",
    [
        copy.copy,
        copy.deepcopy,
        *(lambda e, p=p: pickle.loads(pickle.dumps(e, p)) for p in range(6)),
    ],
)
def test_copies_take_along_what_is_ones_own(
    duplicate: Callable[[RailParallelEnv], RailParallelEnv],
) -> None:
    env = Mine.with_bonus(2.5)
    env.step({})
    env.seen.append(7)
    env.action_space(1).seed(3)
    twin = duplicate(env)
    assert type(twin) is Mine
    assert (twin.before, twin.seen) == ([2.5], [7])
    assert (twin.seen is env.seen) == (duplicate is copy.copy)
    assert twin.save() == env.save()
    drawn = [env.action_space(1).sample() for _ in range(20)]
    assert [twin.action_space(1).sample() for _ in range(20)] == drawn
    assert_same(twin.step({}), env.step({}))
    twin.close()
    env.step({})


def test_copies_refer_to_each_other_as_the_originals_do() -> None:
    env = small()
    env.me = env
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert twin.me is twin


def assert_same(got: tuple[Any, ...], want: tuple[Any, ...]) -> None:
    for g, w in zip(got, want, strict=True):
        assert list(g) == list(w)
        for key in g:
            if isinstance(g[key], np.ndarray):
                assert g[key].tobytes() == w[key].tobytes()
            else:
                assert g[key] == w[key]


def test_states_are_put_back() -> None:
    env = published(observation="tree")
    start = env.save()
    policy = RailPolicy("deadlock-avoidance")
    while len(env.agents) > 4:
        env.step(policy.act(env))
    other = copy.copy(env)
    env.load(start)
    assert (env.agents, env.elapsed_steps) == (list(range(6)), 0)
    env.load(other)
    assert (env.agents, env.elapsed_steps) == (other.agents, other.elapsed_steps)
    assert env.save() == other.save()
    assert_same(env.observe(), other.observe())
    with pytest.raises(ValueError, match="5 trains for one of 6"):
        env.load(small())
    with pytest.raises(ValueError, match="not the state"):
        env.load(b"nothing")
    for buffer in (bytearray(start), memoryview(start), np.frombuffer(start, np.uint8)):
        env.load(other)
        env.load(buffer)
        assert env.save() == start
    env.load(BaseParallelWrapper(BaseParallelWrapper(other)))
    assert env.save() == other.save()
    for wrong in (None, 5, "state", [1], RailVectorEnv.of([env]), BaseParallelWrapper(object())):
        with pytest.raises(TypeError, match="the state is a"):
            env.load(wrong)
    other.close()
    with pytest.raises(_native.ClosedError):
        env.load(other)


def test_use_after_close() -> None:
    env = small(observation="tree")
    handles = _native.lib().handles()
    env.close()
    env.close()
    assert _native.lib().handles() == handles - 1
    for use in (
        env.reset,
        lambda: env.step({}),
        lambda: env.step(dict.fromkeys(range(5), 0)),
        env.action_masks,
        env.state,
        env.save,
        env.observe,
        lambda: copy.copy(env),
        lambda: pickle.dumps(env),
        lambda: env.trains,
        lambda: RailPolicy("forward").act(env),
    ):
        with pytest.raises(_native.ClosedError):
            use()


def test_nothing_is_kept() -> None:
    handles = _native.lib().handles()
    for _ in range(50):
        env = small(n_agents=2)
        env.step({})
        RailPolicy("forward").act(env)
    del env
    assert _native.lib().handles() <= handles + 2


def test_threads_have_environments_of_their_own() -> None:
    results: dict[int, bytes] = {}

    def run(k: int) -> None:
        env = small(observation="flat_tree")
        env.reset(seed=9)
        for _ in range(60):
            env.step(dict.fromkeys(env.agents, 2))
        results[k] = env.save()

    threads = [threading.Thread(target=run, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    assert len(set(results.values())) == 1


# ---------------------------------------------------------------------- processes


def _finish(env: RailParallelEnv) -> bytes:
    while env.agents:
        env.step(dict.fromkeys(env.agents, 2))
    return env.save()


def _in_child(env: RailParallelEnv, pipe: Any) -> None:  # noqa: ANN401 - a connection
    try:
        env.step({})
    except _native.StaleError as error:
        told = f"stale: {error}"
    else:
        told = "it went on"
    mine = small(n_agents=2)
    mine.reset(seed=1)
    pipe.send((told, _finish(mine)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_has_to_make_its_own() -> None:
    env = small(n_agents=2)
    here, there = multiprocessing.Pipe()
    context = multiprocessing.get_context("fork")
    child = context.Process(target=_in_child, args=(env, there))
    child.start()
    assert here.poll(60)
    told, end = here.recv()
    child.join(60)
    assert child.exitcode == 0
    assert told.startswith("stale: ")
    env.reset(seed=1)
    assert _finish(env) == end


def test_spawn_takes_environments_along() -> None:
    env = small(n_agents=2)
    env.step({0: 2})
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        end = pool.apply(_finish, (env,))
    assert _finish(env) == end


def test_neither_pettingzoo_nor_gymnasium_is_needed() -> None:
    script = """
import sys
sys.modules["pettingzoo"] = sys.modules["gymnasium"] = None
from skyrail.rail import RailParallelEnv, RailPolicy, RailVectorEnv
env = RailParallelEnv.generate(seed=1, n_agents=3)
policy = RailPolicy("deadlock-avoidance")
while env.agents:
    env.step(policy.act(env))
assert env.num_agents == 0 and env.max_num_agents == 3 and env.unwrapped is env
try:
    env.action_space(0)
except ImportError as error:
    assert "Gymnasium" in str(error)
else:
    raise AssertionError("a space without Gymnasium")
RailVectorEnv.generate(2, seed=1, n_agents=3).step([[0] * 3] * 2)
assert "flatland" not in sys.modules
"""
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True)


# ---------------------------------------------------------------------- policies


@pytest.mark.parametrize("name", ["do-nothing", "random", "forward", "shortest-path"])
def test_policies_answer_for_those_who_are_there(name: str) -> None:
    env = published()
    policy = RailPolicy(name)
    for _ in range(200):
        actions = policy.act(env)
        assert list(actions) == env.agents
        assert all(type(a) is int and 0 <= a <= 4 for a in actions.values())
        env.step(actions)
    assert pickle.loads(pickle.dumps(policy)).name == name


def test_policies_that_are_none() -> None:
    with pytest.raises(ValueError, match=r"unknown policy \"nobody\"; the policies are do-nothing"):
        RailPolicy("nobody")
    for name in (None, 5, ["forward"]):
        with pytest.raises(TypeError, match="name is"):
            RailPolicy(name)
    with pytest.raises(ValueError, match="null character"):
        RailPolicy("forward\0")
    for seed, error in ((-1, ValueError), (2**32, ValueError), (1.5, TypeError), (None, TypeError)):
        with pytest.raises(error, match="seed"):
            RailPolicy("random", seed=seed)
    policy = RailPolicy()
    for env in (None, 5, policy):
        with pytest.raises(TypeError, match="no environment"):
            policy.act(env)
    policy.close()
    with pytest.raises(_native.ClosedError):
        policy.act(small())
