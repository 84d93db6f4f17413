"""Many railways from Python: rows beside single environments, autoreset modes, refusals."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import golden_rail as golden
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from pettingzoo.utils import BaseParallelWrapper

from skyrail import _native
from skyrail.rail import RailParallelEnv, RailPolicy, RailVectorEnv

OBSERVATIONS = ["dummy", "tree", "flat_tree", "global"]
SMALL = {"seed": 1, "n_agents": 4, "max_rail_pairs_in_city": 2, "malfunction_interval": 50}
INFOS = {"state", "position", "malfunction", "speed", "action_required", "elapsed"}


def small(num_envs: int = 3, **options: Any) -> RailVectorEnv:  # noqa: ANN401 - of several kinds
    return RailVectorEnv.generate(num_envs, **{**SMALL, **options})


def single(**options: Any) -> RailParallelEnv:  # noqa: ANN401 - of several kinds
    return RailParallelEnv.generate(**{**SMALL, **options})


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
@pytest.mark.parametrize(
    ("observation", "reward"),
    [
        ("dummy", "default"),
        ("tree", "components"),
        ("flat_tree", "ecml2026"),
        ("global", "default"),
    ],
)
def test_rows_are_those_of_single_environments(mode: str, observation: str, reward: str) -> None:
    e, n = 3, 4
    options = {"observation": observation, "depth": 1, "reward": reward}
    envs = small(e, autoreset_mode=AutoresetMode(mode), threads=2, **options)
    assert (envs.num_envs, envs.n_trains, envs.autoreset_mode) == (e, n, mode)
    assert envs.train_mask.all()
    own = [single(**options) for _ in range(e)]
    observations, infos = envs.reset(seed=[7, None, 9])
    # Those that have not been seeded go on along their streams, which begin alike.
    begun = [own[0].reset(seed=7), own[1].reset(), own[2].reset(seed=9)]
    for i in range(e):
        check(observations[i], infos, i, *begun[i])
    over = [False] * e
    rng = np.random.default_rng(3)
    ends = 0
    for step in range(900):
        actions = np.where(rng.random((e, n)) < 0.8, 2, rng.integers(0, 5, (e, n)))
        if mode == "Disabled" and any(over):
            observations, infos = envs.reset(options={"reset_mask": np.array(over)})
            for i in np.flatnonzero(over):
                check(observations[i], infos, i, *own[i].reset())
            over = [False] * e
        given = actions.astype(np.int8) if step % 2 else actions
        observations, rewards, terminations, truncations, infos = envs.step(given)
        assert observations.shape == (e, n, *envs.single_observation_space.shape)
        assert terminations.shape == truncations.shape == (e, n)
        assert set(infos) >= INFOS | {"all_done"}
        for i in range(e):
            if mode == "NextStep" and over[i]:
                over[i] = False
                check(observations[i], infos, i, *own[i].reset())
                assert not rewards[i].any()
                assert not (terminations[i] | truncations[i] | infos["all_done"][i]).any()
                continue
            there = own[i].agents
            o, r, te, tr, inf = own[i].step({a: int(actions[i, a]) for a in there})
            for a in there:
                assert np.array_equal(rewards[i, a], r[a])
                assert (terminations[i, a], truncations[i, a]) == (te[a], tr[a])
            gone = np.setdiff1d(np.arange(n), there)
            assert terminations[i, gone].all()
            assert not rewards[i, gone].any()
            over[i] = not own[i].agents
            ends += over[i]
            assert infos["all_done"][i] == over[i]
            if over[i] and mode == "SameStep":
                over[i] = False
                check(infos["final_obs"][i], infos["final_info"], i, o, inf)
                o, inf = own[i].reset()
            check(observations[i], infos, i, o, inf)
    assert ends > 2 * e


def check(
    observed: np.ndarray,
    infos: dict[str, np.ndarray],
    i: int,
    observations: dict[int, np.ndarray],
    single_infos: dict[int, dict[str, Any]],
) -> None:
    for agent, observation in observations.items():
        assert observed[agent].tobytes() == observation.tobytes()
        for key, value in single_infos[agent].items():
            assert infos[key][i, agent] == value


@pytest.mark.parametrize("observation", ["dummy", "flat_tree"])
def test_smaller_railways_are_padded(observation: str) -> None:
    parts = [
        single(observation=observation, n_agents=2),
        RailParallelEnv.from_file(golden.COMPETITION, observation=observation),
        single(observation=observation, n_agents=5),
    ]
    envs = RailVectorEnv.of(parts, autoreset_mode="SameStep")
    assert envs.train_mask.sum(1).tolist() == [2, 6, 5]
    assert len(envs.trains(1)) == 6
    assert [envs.transitions(i).shape for i in range(3)] == [(30, 30), (120, 150), (30, 30)]
    padding = ~envs.train_mask
    envs.reset(seed=1)
    for _ in range(400):
        observations, rewards, terminations, truncations, infos = envs.step(
            np.where(padding, 99, 2)
        )
        assert not observations[padding].any()
        assert not rewards[padding].any()
        assert terminations[padding].all()
        assert not truncations[padding].any()
        assert (infos["state"][padding] == -1).all()
        assert (infos["position"][padding] == -1).all()
        assert not infos["speed"][padding].any()
        assert (envs.action_masks()[padding] == [True, False, False, False, False]).all()
    assert (envs.max_episode_steps == [e.max_episode_steps for e in parts]).sum() >= 1
    with pytest.raises(ValueError, match="another size"):
        RailVectorEnv.of(
            [
                single(observation="global"),
                RailParallelEnv.from_file(golden.COMPETITION, observation="global"),
            ]
        )
    with pytest.raises(ValueError, match="environment 1 is observed as"):
        RailVectorEnv.of([single(), single(observation="tree")])
    with pytest.raises(ValueError, match="there is no environment"):
        RailVectorEnv.of([])
    for wrong in (envs, None, BaseParallelWrapper(object())):
        with pytest.raises(TypeError, match=r"environment 1 is a \w+, no RailParallelEnv"):
            RailVectorEnv.of([single(), wrong])
    wrapped = RailVectorEnv.of([BaseParallelWrapper(part) for part in parts])
    assert [wrapped.save(i) for i in range(3)] == [part.save() for part in parts]


def test_threads_do_not_matter() -> None:
    ends = set()
    for threads in (1, 2, 4):
        envs = small(9, observation="flat_tree", threads=threads, autoreset_mode="SameStep")
        envs.reset(seed=5)
        rng = np.random.default_rng(1)
        for _ in range(300):
            observations, *_ = envs.step(rng.integers(0, 5, (9, 4)))
        ends.add((b"".join(envs.save(i) for i in range(9)), observations.tobytes()))
    assert len(ends) == 1


def test_seeds() -> None:
    envs, others = small(), small()
    a, _ = envs.reset(seed=10)
    b, _ = others.reset(seed=[10, 11, 12])
    assert np.array_equal(a, b)
    assert [envs.save(i) for i in range(3)] == [others.save(i) for i in range(3)]
    assert not np.array_equal(envs.transitions(0), envs.transitions(1))
    state = envs.save(1)
    envs.reset(seed=20, options={"reset_mask": np.array([True, False, True])})
    assert envs.save(1) == state
    states = [envs.save(i) for i in range(3)]
    for bad, error in (
        ([1, 2], ValueError),
        (-1, ValueError),
        (2**64 - 1, ValueError),
        ([1, 2, 2**64], ValueError),
        ([1, 2, 1.5], TypeError),
        ([1, 2, True], TypeError),
        ("abc", TypeError),
        (1.0, TypeError),
    ):
        with pytest.raises(error, match="seed"):
            envs.reset(seed=bad)
    for mask, error in (
        (np.ones(2, bool), ValueError),
        (np.zeros(3, bool), ValueError),
        (np.ones(3, int), TypeError),
        ([True, False, True], TypeError),
    ):
        with pytest.raises(error, match="reset_mask"):
            envs.reset(options={"reset_mask": mask})
    assert [envs.save(i) for i in range(3)] == states
    envs.reset(seed=2**64 - 3)
    envs.reset(seed=np.array([1, 2, 2**64 - 1], np.uint64))


def test_actions_that_are_none() -> None:
    envs = small()
    before = [envs.save(i) for i in range(3)]
    wrong = np.full((3, 4), 2)
    wrong[1, 2] = 5
    for bad, error, match in (
        (wrong, ValueError, r"environment 1: train 2: action 5 is outside 0\.\.4"),
        (-wrong, ValueError, "action -2"),
        (wrong.astype(np.int8), ValueError, "action 5"),
        (wrong + 256, ValueError, "action 258"),
        (wrong.astype(float), TypeError, "must be integers"),
        (np.zeros((3, 5), int), ValueError, "shape"),
        (np.zeros((3, 5), np.int8), ValueError, "shape"),
        ([[0] * 4] * 2, ValueError, "shape"),
        (None, TypeError, "integers"),
    ):
        with pytest.raises(error, match=match):
            envs.step(bad)
    assert [envs.save(i) for i in range(3)] == before
    envs.step([[0] * 4] * 3)
    envs.step(np.zeros((4, 3), np.int8).T)


def test_a_step_after_the_end_needs_a_reset() -> None:
    envs = small(2, autoreset_mode="Disabled")
    envs.reset(seed=1)
    infos: dict[str, Any] = {"all_done": np.zeros(2, bool)}
    while not infos["all_done"].any():
        infos = envs.step(np.zeros((2, 4), int))[-1]
    with pytest.raises(_native.ResetNeededError, match="the episode is done"):
        envs.step(np.zeros((2, 4), int))
    envs.reset(options={"reset_mask": infos["all_done"]})
    envs.step(np.zeros((2, 4), int))
    with pytest.raises(ValueError, match="autoreset_mode is 'Never'"):
        small(autoreset_mode="Never")


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_a_reset_that_makes_no_railway(mode: str) -> None:
    uneven = RailParallelEnv.generate(
        **{"seed": 750, "n_agents": 3, "n_cities": 3, "grid_mode": True, "line_length": 3},
        **{"max_rail_pairs_in_city": 2, "max_rails_between_cities": 1},
        malfunction_interval=None,
    )
    begun = False
    uneven.step({})  # breakdowns take their numbers from the stream once
    for seed in range(100):
        try:
            uneven.reset(seed=seed)
            begun = True
            uneven.reset()
        except ValueError:
            if begun:
                break
        begun = False
    envs = RailVectorEnv.of([single(n_agents=3), uneven], autoreset_mode=mode)
    envs.reset(seed=[5, seed])
    actions = np.full((2, 3), 2, np.int8)
    error = None
    rounds = ends = 0
    while rounds < 2000 and error is None:
        before = [envs.save(i) for i in range(2)]
        try:
            infos = envs.step(actions)[4]
        except ValueError as told:
            error = str(told)
        else:
            rounds += 1
            ends += infos["all_done"][1]
    assert error is not None
    assert ends == 1
    assert error.startswith(f"environment 1: the next railway after seed {seed}: ")
    assert "line_length 3: train " in error
    assert [envs.save(i) for i in range(2)] == before
    twin = pickle.loads(pickle.dumps(copy.deepcopy(envs)))
    assert [twin.save(i) for i in range(2)] == before
    with pytest.raises(ValueError, match="environment 1: the next railway"):
        envs.step(actions)
    while True:  # the next railway but one may be none either
        try:
            _, infos = envs.reset(options={"reset_mask": np.array([False, True])})
            break
        except ValueError:
            continue
    assert infos["elapsed"][1] == 0
    assert envs.save(0) == before[0]
    envs.step(actions)


def test_arrays_are_the_callers_own_unless_they_are_not() -> None:
    envs = small(observation="tree")
    first, infos = envs.reset(seed=1)
    kept, speed = first.copy(), infos["speed"].copy()
    for _ in range(20):
        envs.step(np.full((3, 4), 2))
    assert np.array_equal(first, kept)
    assert np.array_equal(infos["speed"], speed)
    first[:] = 0
    envs = small(observation="tree", copy=False)
    first, _ = envs.reset(seed=1)
    assert np.array_equal(first, kept)
    second = envs.step(np.full((3, 4), 2))[0]
    assert np.shares_memory(first, second)
    with pytest.raises(ValueError, match="read-only"):
        first[:] = 0


@pytest.mark.parametrize("name", ["deadlock-avoidance", "random", "shortest-path"])
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_policies_answer_all(name: str, mode: str) -> None:
    envs = RailVectorEnv.from_file(golden.COMPETITION, 3, autoreset_mode=mode)
    envs.reset(seed=4)
    own = RailParallelEnv.from_file(golden.COMPETITION)
    own.reset(seed=4)
    policy, mine = RailPolicy(name), RailPolicy(name)
    for _ in range(700):
        actions = policy.act(envs)
        assert (actions.shape, actions.dtype) == ((3, 6), np.int8)
        if own.agents:
            want = mine.act(own)
            assert {a: actions[0, a] for a in own.agents} == want
            own.step(want)
            if mode == "SameStep" and not own.agents:
                own.reset()
        else:
            own.reset()
        envs.step(actions)
    if name == "random":
        assert not np.array_equal(actions[0], actions[1])


@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy, lambda envs: pickle.loads(pickle.dumps(envs))],
    ids=["copy", "deepcopy", "pickle"],
)
@pytest.mark.parametrize("fresh", [False, True])
def test_copies_go_on_alike(
    duplicate: Callable[[RailVectorEnv], RailVectorEnv], fresh: bool
) -> None:
    options = {"observation": "flat_tree", "fresh": fresh}
    parts = [
        single(**options),
        RailParallelEnv.from_file(golden.COMPETITION, **options),
        single(**options, n_agents=2),
    ]
    envs = RailVectorEnv.of(parts, autoreset_mode="SameStep")
    envs.reset(seed=1)
    rng = np.random.default_rng(1)
    for _ in range(30):
        envs.step(rng.integers(0, 5, (3, 6)))
    twins = duplicate(envs)
    assert twins.autoreset_mode == "SameStep"
    for _ in range(600):
        actions = rng.integers(0, 5, (3, 6))
        got, want = twins.step(actions), envs.step(actions)
        for g, w in zip(got[:4], want[:4], strict=True):
            assert g.tobytes() == w.tobytes()
    assert [twins.save(i)[:9000] for i in range(3)] == [envs.save(i)[:9000] for i in range(3)]


class Mine(RailVectorEnv):
    """A subclass with attributes of its own."""

    def __init__(self, *made: Any, bonus: float = 1.0) -> None:  # noqa: ANN401 - whatever makes one
        super().__init__(*made)
        self.bonus = [bonus]


@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy, *(lambda e, p=p: pickle.loads(pickle.dumps(e, p)) for p in (0, 5))],
)
def test_copies_take_along_what_is_ones_own(
    duplicate: Callable[[RailVectorEnv], RailVectorEnv],
) -> None:
    envs = Mine.generate(2, **SMALL)
    assert type(envs) is Mine
    envs.bonus.append(3.0)
    envs.note = "mine"
    twins = duplicate(envs)
    assert type(twins) is Mine
    assert (twins.bonus, twins.note) == ([1.0, 3.0], "mine")
    assert (twins.bonus is envs.bonus) == (duplicate is copy.copy)
    twins.step(np.zeros((2, 4), int))
    envs.step(np.zeros((2, 4), int))
    assert [twins.save(i) for i in range(2)] == [envs.save(i) for i in range(2)]


def test_states_are_put_back() -> None:
    envs = small(observation="tree")
    envs.reset(seed=3)
    state = envs.save(2)
    first, _ = envs.observe()
    for _ in range(10):
        envs.step(np.full((3, 4), 2))
    envs.load(0, state)
    observations, infos = envs.observe()
    assert np.array_equal(observations[0], first[2])
    assert infos["elapsed"].tolist() == [0, 10, 10]
    for i, error in (
        *((3, ValueError), (-1, ValueError), (2**64, ValueError)),
        *((0.0, TypeError), (None, TypeError)),
    ):
        for use in (envs.save, envs.trains, envs.transitions, lambda i: envs.load(i, state)):
            with pytest.raises(error, match=f"i is {i}, it must be"):
                use(i)
    with pytest.raises(TypeError, match="the state is a NoneType"):
        envs.load(0, None)
    assert envs.deadlocked.shape == envs.distances.shape == envs.travelled.shape == (3, 4)


def test_suites(tmp_path: Path) -> None:
    level = tmp_path / "level_1"
    level.mkdir()
    (level / "level_1_scenario_3.pkl.gz").write_bytes(golden.COMPETITION.read_bytes())
    envs = RailVectorEnv.from_suite(tmp_path, 1, 3, 2)
    assert envs.save(1) == RailParallelEnv.from_file(golden.COMPETITION).save()


def test_options_of_other_names() -> None:
    env = RailParallelEnv.generate(seed=1, n_agents=2, x_dim=30, y_dim=30, n_cities=2)
    with pytest.raises(
        TypeError, match=r"no option 'observation'; there are autoreset_mode, threads"
    ):
        RailVectorEnv.of([env], observation="tree")
    with pytest.raises(TypeError, match=r"no option 'foo'; there are autoreset_mode, .*, fresh"):
        RailVectorEnv.from_file(env.save(), 2, foo=3)
    for make in (RailParallelEnv.generate, lambda **p: RailVectorEnv.generate(2, **p)):
        with pytest.raises(
            TypeError, match=r"no parameter 'infos'; there are seed, .*, observation"
        ):
            make(seed=1, infos=False)


def test_numbers_of_environments_that_are_none() -> None:
    for n, error in (
        *((0, ValueError), (-1, ValueError), (2**21, ValueError), (2**64 + 1, ValueError)),
        *((2.5, TypeError), ("2", TypeError), (None, TypeError), (True, TypeError)),
    ):
        with pytest.raises(error, match="num_envs is"):
            small(n)
    for threads, error in ((-1, ValueError), (2**64 + 1, ValueError), (2.7, TypeError)):
        with pytest.raises(error, match="threads is"):
            small(threads=threads)
    for name, value in (("copy", "no"), ("autoreset_mode", None), ("autoreset_mode", [])):
        with pytest.raises(TypeError, match=f"{name} is"):
            small(**{name: value})
    with pytest.raises(TypeError, match="'colour'"):
        RailVectorEnv.from_file(golden.COMPETITION, 1, colour="red")
    with pytest.raises(TypeError, match="'depth'"):
        RailVectorEnv.of([single()], depth=2)


def test_use_after_close() -> None:
    envs = small()
    envs.close()
    envs.close()
    for use in (
        envs.reset,
        envs.observe,
        lambda: envs.step(np.zeros((3, 4), int)),
        envs.action_masks,
        lambda: envs.save(0),
        lambda: copy.copy(envs),
        lambda: RailPolicy().act(envs),
    ):
        with pytest.raises(_native.ClosedError):
            use()


def test_two_threads_may_ask_one_policy() -> None:
    script = """
import threading
from skyrail.rail import RailParallelEnv, RailPolicy, RailVectorEnv
parameters = dict(seed=3, n_agents=4, x_dim=30, y_dim=30, n_cities=2)
one, many = RailParallelEnv.generate(**parameters), RailVectorEnv.generate(300, **parameters)
policy = RailPolicy("forward")
def ask(env):
    for _ in range(300):
        policy.act(env)
threads = [threading.Thread(target=ask, args=(env,)) for env in (one, many)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(policy.act(many).shape, len(policy.act(one)))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.stdout, done.stderr, done.returncode) == ("(300, 4) 4\n", "", 0)
