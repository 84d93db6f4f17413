"""The engine from Python: golden episodes, the starter's environment beside it, the checkers."""

from __future__ import annotations

import contextlib
import copy
import ctypes
import json
import multiprocessing
import pickle
import subprocess
import sys
import threading
import warnings
from typing import Any

import golden
import gymnasium
import numpy as np
import pytest
from envs.flight_4d import Flight4DEnv as StockEnv
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from readers import read_by_two

from skyrail import _native
from skyrail.flight import Flight4DEnv, FlightState
from skyrail.flight._core import Parameters, configuration
from skyrail.flight.env import Info

EPISODES = golden.load("episodes")
RESETS = golden.load("resets")


@pytest.mark.parametrize(
    "episode", EPISODES, ids=lambda e: f"{e['seed']}-{e['mode']}-{len(e['config'])}"
)
def test_episode_equals_the_reference(episode: dict[str, Any]) -> None:
    def bits(got: np.ndarray, encoded: str, where: str) -> None:
        assert got.tobytes() == golden.observation(encoded).tobytes(), where

    golden.check_episode(Flight4DEnv(**episode["config"]), episode, bits)


def test_the_quick_step_and_the_careful_one_are_the_same() -> None:
    quick, careful = Flight4DEnv(), Flight4DEnv()
    assert "PyCapsule" in repr(quick._quick[0])
    careful._quick[0] = lambda _: None  # as without CPython
    actions = np.random.default_rng(3)
    for seed in range(20):
        quick.reset(seed=seed)
        careful.reset(seed=seed)
        ended = False
        while not ended:
            action = actions.integers(0, 36)
            ours, theirs = quick.step(action), careful.step(int(action))
            assert list(map(type, ours)) == list(map(type, theirs))
            assert np.array_equal(ours[0], theirs[0])
            assert ours[1:4] == theirs[1:4]
            assert repr(ours[4]) == repr(theirs[4])
            assert quick.state.action == careful.state.action == action
            assert quick.state.issued == careful.state.issued
            ended = ours[2] or ours[3]


def test_a_step_leaves_nothing_behind() -> None:
    env = Flight4DEnv()
    env.reset(seed=0)
    for action in (0, np.int64(3), True, 99, 1.5, None, 2**70):  # flown, and not flown
        with contextlib.suppress(ValueError, TypeError):
            env.step(action)
        before = sys.getrefcount(action), sys.getrefcount(None), sys.getallocatedblocks()
        for _ in range(5000):
            with contextlib.suppress(ValueError, TypeError):
                env.step(action)
        after = sys.getrefcount(action), sys.getrefcount(None), sys.getallocatedblocks()
        assert np.allclose(before, after, atol=200), action


@pytest.mark.parametrize("case", RESETS["mid_air_at_the_horizon"], ids=lambda c: str(c["seed"]))
def test_a_mid_air_exactly_at_the_last_step_is_both_endings(case: dict[str, Any]) -> None:
    env = Flight4DEnv(max_steps=case["max_steps"])
    env.reset(seed=case["seed"])
    terminated = truncated = False
    steps = 0
    while not (terminated or truncated):
        _, reward, terminated, truncated, info = env.step(0)
        steps += 1
    assert (terminated, truncated) == (case["terminated"], case["truncated"])
    assert info["congestion_total"] == case["congestion"]
    assert golden.close(reward, case["reward_last"])


ATTRIBUTES = (
    *("n", "m", "alt0", "v0", "s_total", "s_flown", "t_target", "t_exit_actual", "hold_left"),
    *("pulse_left", "pulse_sign", "step_idx", "n_clearances", "n_invalids", "touched", "collided"),
    *("per_aircraft_clearances", "last_congestion", "congestion_total"),
    *("n_flights", "n_lo", "n_hi", "max_steps", "hold_steps", "w_safe", "w_clearance", "gamma"),
    *("collision_rate", "max_clearances", "n_actions", "mask_offset", "DT", "DALT", "DVEL"),
    *("ALT_MIN_SEP", "AIRSPACE", "D_SEP", "COLLISION_RADIUS", "vel_min", "vel_max"),
)


def test_every_attribute_is_the_starters() -> None:
    ours, stock = Flight4DEnv(), StockEnv()
    rng = np.random.default_rng(2)
    for seed in (5, 6, None, None):  # None goes on along the stream
        ours.reset(seed=seed)
        stock.reset(seed=seed)
        for _ in range(50):
            assert ours.action_masks().tolist() == stock.action_masks().tolist()
            action = int(rng.integers(0, 36))
            got, want = ours.step(action), stock.step(action)
            assert golden.close(got[1], want[1])
            assert got[2:4] == want[2:4]
            assert list(got[4]) == list(want[4])
            for name in ATTRIBUTES:
                a, b = getattr(ours, name), getattr(stock, name)
                np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9, err_msg=name)
                assert np.asarray(a).dtype.kind == np.asarray(b).dtype.kind, name
            for a, b in zip(ours.predicted_conflicts(), stock._predicted_conflicts(), strict=True):
                for field in a._fields:
                    x, y = getattr(a, field), getattr(b, field)
                    np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-6, err_msg=field)


def test_the_observation_ends_with_the_mask() -> None:
    env = Flight4DEnv(n_flights=7, n_range=(3, 7))
    observation, _ = env.reset(seed=1)
    assert env.observation_space.contains(observation)
    assert observation[env.mask_offset :].tolist() == env.action_masks().tolist()


def test_the_random_stream_is_the_starters_and_can_be_led() -> None:
    ours, stock = Flight4DEnv(), StockEnv()
    for env in (ours, stock):
        env.reset(seed=8)
        env.reset()
    assert ours.np_random.bit_generator.state == stock.np_random.bit_generator.state
    for env in (ours, stock):
        env.np_random.integers(0, 100, 3)  # somebody draws in between
    first, second = (env.reset()[0] for env in (ours, stock))
    assert np.allclose(first, second, atol=1e-6)
    assert ours.np_random.bit_generator.state == stock.np_random.bit_generator.state
    for env in (ours, stock):
        env.np_random = np.random.default_rng(77)
    first, second = (env.reset()[0] for env in (ours, stock))
    assert np.allclose(first, second, atol=1e-6)
    ours.np_random = np.random.Generator(np.random.MT19937(1))
    with pytest.raises(ValueError, match="PCG64"):
        ours.reset()
    for env in (ours, stock):
        before = env.np_random
        first = env.reset(seed=6)[0]
        assert env.np_random is not before  # a seed makes another generator
    assert np.array_equal(first, ours.reset(seed=6)[0])
    assert ours.np_random.bit_generator.state == stock.np_random.bit_generator.state


def test_without_a_seed_two_environments_differ() -> None:
    first, second = Flight4DEnv().reset()[0], Flight4DEnv().reset()[0]
    assert not np.array_equal(first, second)


def test_set_n_range() -> None:
    env = Flight4DEnv()
    env.set_n_range(5, 5)
    env.reset(seed=1)
    assert (env.n, env.m, env.n_lo, env.n_hi) == (5, 0, 5, 5)
    for bad in ((0, 2), (3, 2), (1, 6)):
        with pytest.raises(ValueError, match="n_range"):
            env.set_n_range(*bad)
    assert (env.n_lo, env.n_hi) == (5, 5)


def test_gymnasium_finds_nothing_to_complain_about() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Without a registered id the checker cannot try render modes, of which there are none.
        warnings.filterwarnings("ignore", message=".*alternative render modes.*")
        check_env(Flight4DEnv())
        check_env(Flight4DEnv(n_flights=2, n_range=(1, 2)))


def test_it_is_registered() -> None:
    env = gymnasium.make("skyrail/Flight4D-v0", max_steps=7)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)
    env.reset(seed=1)
    for step in range(7):
        *_, truncated, _ = env.step(0)
        assert truncated == (step == 6)
    made = gymnasium.make_vec("skyrail/Flight4D-v0", num_envs=3)
    assert made.reset(seed=1)[0].shape == (3, 103)
    assert made.unwrapped.__class__.__name__ == "FlightVectorEnv"


@pytest.mark.parametrize(
    "script",
    [
        "import skyrail.flight, gymnasium; env = gymnasium.make('skyrail/Flight4D-v0')",
        "import gymnasium; env = gymnasium.make('skyrail.flight:skyrail/Flight4D-v0')",
    ],
)
def test_importing_the_package_registers_it(script: str) -> None:
    script += "; print(env.reset(seed=1)[0].shape)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "(103,)\n", done.stderr


def test_without_gymnasium_the_rest_works() -> None:
    script = """
import sys
import threading
sys.modules["gymnasium"] = sys.modules["pettingzoo"] = None  # as if it were not installed
import skyrail, skyrail.flight, skyrail.rail
from skyrail.planner import demonstrations
print(len(demonstrations("rule-based", 3).actions) > 50)
try:
    skyrail.flight.Flight4DEnv
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.startswith(
        "True\nskyrail.flight.Flight4DEnv needs Gymnasium 1.1 or later, "
        "pip install 'gymnasium>=1.1': import of gymnasium"
    )


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize("action", [-1, 36, 10**9, 2**32 + 1, 2**64, np.int64(36)])
def test_an_action_outside_the_space_is_refused(action: Any) -> None:  # noqa: ANN401
    env = Flight4DEnv()
    env.reset(seed=0)
    with pytest.raises(ValueError, match=rf"action {int(action)} is outside 0\.\.35"):
        env.step(action)
    assert env.step_idx == 0


@pytest.mark.parametrize("action", [1.5, [1, 2], np.array([]), None, "1", True, np.float32(1)])
def test_an_action_must_be_one_integer(action: Any) -> None:  # noqa: ANN401
    env = Flight4DEnv()
    env.reset(seed=0)
    with pytest.raises(TypeError, match="is not one integer"):
        env.step(action)
    assert env.step_idx == 0


@pytest.mark.parametrize(
    "action", [2, np.int64(2), np.uint8(2), np.array(2), np.array([2]), np.array([[2]], np.int32)]
)
def test_an_action_may_be_any_kind_of_integer(action: Any) -> None:  # noqa: ANN401
    env = Flight4DEnv()
    env.reset(seed=0)
    _, reward, terminated, truncated, info = env.step(action)
    assert info["clearances"] == 1
    assert [type(value) for value in (reward, terminated, truncated)] == [float, bool, bool]


@pytest.mark.parametrize(
    ("parameters", "error", "about"),
    [
        ({"n_flights": 0}, ValueError, r"n_flights is 0, it must be within 1\.\.64"),
        ({"n_flights": -1}, ValueError, "n_flights is -1"),
        ({"n_flights": 65}, ValueError, "n_flights is 65"),
        ({"n_flights": 2**31}, ValueError, "n_flights is 2147483648"),
        ({"n_flights": 2**64 + 5}, ValueError, "n_flights is 18446744073709551621"),
        ({"n_flights": 2.5}, TypeError, r"n_flights is 2\.5, it must be a whole number"),
        ({"n_flights": float("inf")}, TypeError, "n_flights is inf"),
        ({"n_flights": "five"}, TypeError, "n_flights is 'five'"),
        ({"n_flights": None}, TypeError, "n_flights is None"),
        ({"n_flights": True}, TypeError, "n_flights is True"),
        ({"n_flights": np.bool_(True)}, TypeError, "n_flights is"),
        ({"n_flights": [5]}, TypeError, r"n_flights is \[5\]"),
        ({"n_flights": 1}, ValueError, r"n_range is \(2, 4\).* n_flights = 1"),
        ({"n_range": (0, 3)}, ValueError, r"n_range is \(0, 3\)"),
        ({"n_range": (4, 9)}, ValueError, r"n_range is \(4, 9\)"),
        ({"n_range": (2**64, 4)}, ValueError, "n_range is 18446744073709551616"),
        ({"n_range": 3}, TypeError, "n_range is 3, it must be two whole numbers"),
        ({"n_range": (1, 2, 3)}, TypeError, r"n_range is \(1, 2, 3\)"),
        ({"n_range": (2.0, 4)}, TypeError, r"n_range is 2\.0"),
        ({"max_steps": 0}, ValueError, "max_steps is 0"),
        ({"max_steps": float("inf")}, TypeError, "max_steps is inf"),
        ({"hold_steps": -1}, ValueError, "hold_steps is -1"),
        ({"max_clearances": 0}, ValueError, "max_clearances is 0"),
        ({"w_safe": float("nan")}, ValueError, "w_safe is nan, it must be a finite number"),
        ({"w_safe": 10**400}, ValueError, "w_safe is 1000"),
        ({"w_clearance": "much"}, TypeError, "w_clearance is 'much', it must be a number"),
        ({"collision_rate": None}, TypeError, "collision_rate is None"),
        ({"gamma": True}, TypeError, "gamma is True"),
        ({"observation": lambda state: 0}, ValueError, "observation_space"),
        ({"observation_space": spaces.Discrete(2)}, ValueError, "observation of your own"),
    ],
)
def test_wrong_parameters_are_refused(
    parameters: dict[str, Any], error: type[Exception], about: str
) -> None:
    with pytest.raises(error, match=about):
        Flight4DEnv(**parameters)


def test_parameters_may_be_numpys_numbers() -> None:
    env = Flight4DEnv(np.uint8(5), np.array([2, 4]), max_steps=np.int64(7), w_safe=np.float32(3))
    assert (env.n_flights, env.n_lo, env.n_hi, env.max_steps, env.w_safe) == (5, 2, 4, 7, 3.0)
    assert [type(n) for n in (env.n_flights, env.n_lo, env.w_safe)] == [int, int, float]


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("n_flights", 1, 64),
        *((name, 1, 1_000_000) for name in ("max_steps", "hold_steps", "max_clearances")),
    ],
)
def test_the_limits_are_the_engines(name: str, low: int, high: int) -> None:
    for value in (low - 1, low, high, high + 1):
        given = Parameters(n_range=(1, 1))._replace(**{name: value})
        library = _native.lib()
        create = library.long("skyrail_flight_create")
        one = ctypes.c_int64(1)
        answer = create(ctypes.byref(configuration(given)), one, one, 0)
        try:
            Flight4DEnv(**given._asdict())
            taken = True
        except ValueError as error:
            taken = False
            assert str(error) == str(library.exception(answer))
        assert (answer > 0) == taken == (low <= value <= high)
        if taken:
            library.free.skyrail_flight_destroy(ctypes.c_int64(answer))


def test_parameters_are_read_only() -> None:
    with pytest.raises(AttributeError):
        Flight4DEnv().w_safe = 1.0


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_out_of_range_is_refused(seed: int) -> None:
    with pytest.raises(ValueError, match=f"seed is {seed}, it must be within"):
        Flight4DEnv().reset(seed=seed)


@pytest.mark.parametrize("seed", [1.5, "1", True, [1]])
def test_a_seed_must_be_an_integer(seed: Any) -> None:  # noqa: ANN401
    with pytest.raises(TypeError, match=r"seed is .*, it must be a whole number"):
        Flight4DEnv().reset(seed=seed)


def test_before_the_first_reset() -> None:
    env = Flight4DEnv()
    for call in (lambda: env.step(0), env.action_masks, lambda: env.n, lambda: env.state):
        with pytest.raises(gymnasium.error.ResetNeeded):
            call()
    assert env.sim is None


def test_after_close() -> None:
    env = Flight4DEnv()
    env.reset(seed=1)
    env.close()
    env.close()
    for call in (
        *(lambda: env.step(0), env.reset, env.action_masks, lambda: env.alt0, lambda: env.n),
        *(env.predicted_conflicts, lambda: env.set_n_range(2, 2), lambda: pickle.dumps(env)),
    ):
        with pytest.raises(_native.ClosedError, match="closed"):
            call()


# ---------------------------------------------------------------------- copies


def _ways_to_copy() -> dict[str, Any]:
    return {
        "pickle": lambda env: pickle.loads(pickle.dumps(env)),
        "deepcopy": copy.deepcopy,
        "copy": copy.copy,
    }


@pytest.mark.parametrize("way", _ways_to_copy())
@pytest.mark.parametrize("led", [False, True], ids=["own stream", "np_random was asked for"])
def test_a_copy_goes_on_alike_and_by_itself(way: str, led: bool) -> None:
    env = Flight4DEnv(max_steps=20)
    env.set_n_range(3, 5)
    env.reset(seed=3)
    env.reset()
    if led:
        env.np_random.random()
    for action in (3, 0, 15):
        last = env.step(action)
    made = _ways_to_copy()[way](env)
    assert made.n_lo == 3
    assert (made.step_idx, made.state.stock_reward) == (3, last[1])
    for _ in range(3):
        for action in (1, 0, 9, 35, 22, 0) * 4:
            got, want = made.step(action), env.step(action)
            assert np.array_equal(got[0], want[0])
            assert got[1:4] == want[1:4]
        assert np.array_equal(made.reset()[0], env.reset()[0])
    made.close()
    env.step(0)


class Named(Flight4DEnv):
    """An environment with a constructor of its own, whose reward is a method."""

    def __init__(self, labels: list[str]) -> None:
        super().__init__(max_steps=9, reward=self.priced)
        self.labels = labels

    def priced(self, state: FlightState) -> float:
        return -1.0 * len(self.labels) * state.issued


@pytest.mark.parametrize("way", _ways_to_copy())
def test_a_subclass_is_copied_with_what_it_has(way: str) -> None:
    env = Named(["mine"])
    env.reset(seed=1)
    made = _ways_to_copy()[way](env)
    assert type(made) is Named
    assert made.labels == ["mine"]
    assert (made.labels is env.labels) == (way == "copy")
    made.labels = ["mine", "another"]
    assert env.step(1)[1] == -1.0
    if way != "copy":  # in which the method is still that of the other
        assert made.step(1)[1] == -2.0


def test_a_copy_before_the_first_reset() -> None:
    made = pickle.loads(pickle.dumps(Flight4DEnv()))
    with pytest.raises(gymnasium.error.ResetNeeded):
        made.step(0)
    assert np.array_equal(made.reset(seed=1)[0], Flight4DEnv().reset(seed=1)[0])


def test_foreign_bytes_are_refused() -> None:
    env = Flight4DEnv()
    state = env.__getstate__() | {"_begun": True, "_saved": b"something else"}
    with pytest.raises(ValueError, match="state of an environment"):
        Flight4DEnv.__new__(Flight4DEnv).__setstate__(state)


# ---------------------------------------------------------------------- one's own


def _positions(state: FlightState) -> np.ndarray:
    return state.position / 10_000.0


def test_own_observation_and_reward() -> None:
    space = spaces.Box(-100, 100, (5, 2), np.float32)
    seen: list[tuple[float, int, int]] = []

    def reward(state: FlightState) -> float:
        seen.append((float(state.stock_reward), int(state.issued), int(state.action)))
        return -float(state.congestion_events) - 0.5 * state.issued

    env = Flight4DEnv(observation=_positions, observation_space=space, reward=reward)
    stock = Flight4DEnv()
    observation, _ = env.reset(seed=3)
    stock.reset(seed=3)
    assert env.observation_space is space
    assert space.contains(observation)
    given = 0
    for action in (0, 2, 2, 9, 1, 1):
        observation, got, terminated, truncated, info = env.step(action)
        _, want, *rest = stock.step(action)
        assert np.array_equal(observation, (stock.state.position / 10_000).astype(np.float32))
        assert seen[-1] == (want, stock.n_clearances - given, action)
        given = stock.n_clearances
        assert got == -info["congestion_events"] - 0.5 * seen[-1][1]
        assert [terminated, truncated] == rest[:2]
    assert given == 5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*alternative render modes.*")
        check_env(Flight4DEnv(observation=_positions, observation_space=space, reward=reward))


def test_an_observation_of_another_shape_is_refused() -> None:
    space = spaces.Box(-1, 1, (3,), np.float32)
    env = Flight4DEnv(observation=_positions, observation_space=space)
    with pytest.raises(ValueError, match=r"shape \(5, 2\), its space asks for \(3,\)"):
        env.reset(seed=1)


def test_an_error_in_ones_own_function_comes_through() -> None:
    def broken(state: FlightState) -> float:
        raise ZeroDivisionError("mine")

    env = Flight4DEnv(reward=broken)
    env.reset(seed=1)
    with pytest.raises(ZeroDivisionError, match="mine"):
        env.step(0)
    assert env.step_idx == 1


def test_the_state_is_read_only_and_of_now() -> None:
    env = Flight4DEnv()
    env.reset(seed=3)
    state = env.state
    x = float(state.position[0, 0])
    with pytest.raises(ValueError, match="read-only"):
        state.position[0, 0] = 0.0
    env.step(0)
    assert env.state is state
    assert float(state.position[0, 0]) != x
    moved = state.position[0, 0] - x
    assert moved == pytest.approx(2 * state.speed[0] * state.direction[0, 0])


# ---------------------------------------------------------------------- info


def test_infos_are_equal_whether_they_were_read_or_not() -> None:
    env = Flight4DEnv(n_flights=1, n_range=(1, 1))
    first, second = (env.reset(seed=1)[1] for _ in range(2))
    assert first == second
    assert not first != second
    assert env.reset(seed=1)[1] != env.step(1)[4]


def test_threads_may_read_an_info_at_the_same_time() -> None:
    env = Flight4DEnv()
    env.reset(seed=3)

    def check(info: Info) -> None:
        assert info["exit_miss"] >= 0
        assert len(info) == 11

    read_by_two(lambda: env.reset()[1], check)


def test_what_ones_own_functions_must_be_and_return() -> None:
    space = spaces.Box(0, 1, (2,))
    for options, about in (
        ({"reward": 5}, "reward is 5, it must be a function"),
        ({"observation": 5, "observation_space": space}, "observation is 5, it must be a function"),
        (
            {"observation": len, "observation_space": 7},
            "observation_space is 7, it must be a space",
        ),
    ):
        with pytest.raises(TypeError, match=about):
            Flight4DEnv(**options)
    for made in (None, "much", [1, 2]):
        env = Flight4DEnv(reward=lambda _, made=made: made)
        env.reset(seed=1)
        with pytest.raises(TypeError, match=r"the reward is .*, it must be a number"):
            env.step(0)
    env = Flight4DEnv(observation=lambda _: "text", observation_space=space)
    with pytest.raises(TypeError, match="the observation is no array of float32"):
        env.reset(seed=1)


def test_actions_are_what_says_it_is_an_integer() -> None:
    class Three:
        def __index__(self) -> int:
            return 3

    class Interrupted:
        def __index__(self) -> int:
            raise KeyboardInterrupt

    for options in ({}, {"reward": lambda _: 0.0}):
        env = Flight4DEnv(**options)
        env.reset(seed=1)
        env.step(Three())
        env.step(3)
        with pytest.raises(KeyboardInterrupt):
            env.step(Interrupted())
        with pytest.raises(ValueError, match="thousands of digits is outside"):
            env.step(10**5000)
        assert env.step_idx == 2
    with pytest.raises(TypeError, match="np_random is 5"):
        env.np_random = 5


def test_info_is_a_dict_in_every_way() -> None:
    def fresh() -> Info:
        env = Flight4DEnv()
        env.reset(seed=3)
        return env.step(2)[4]

    want = dict(fresh())
    assert list(want) == [
        *("n", "m", "congestion_events", "congestion_total", "clearances", "invalids"),
        *("aircraft_involved", "collided", "dt_exit", "d_alt_exit", "exit_miss"),
    ]
    assert isinstance(fresh(), dict)
    np.testing.assert_equal({**fresh()}, want)
    np.testing.assert_equal(fresh().copy(), want)
    np.testing.assert_equal(copy.copy(fresh()), want)
    np.testing.assert_equal(copy.deepcopy(fresh()), want)
    np.testing.assert_equal(pickle.loads(pickle.dumps(fresh())), want)
    np.testing.assert_equal(fresh() | {}, want)
    np.testing.assert_equal({} | fresh(), want)
    np.testing.assert_equal(dict(fresh().items()), want)
    assert list(fresh().keys()) == list(want)
    assert len(list(fresh().values())) == len(fresh()) == len(want)
    assert "n" in fresh()
    assert "nothing" not in fresh()
    assert fresh().get("clearances") == fresh()["clearances"] == 1
    assert fresh().get("nothing", 7) == 7
    assert fresh().pop("invalids") == 0
    assert repr(fresh()) == repr(want)
    assert bool(fresh())
    assert json.dumps(fresh(), default=lambda a: a.tolist()) == json.dumps(
        want, default=lambda a: a.tolist()
    )
    with pytest.raises(KeyError, match="nothing"):
        fresh()["nothing"]
    info = fresh()
    info["mine"] = 1
    assert list(info) == [*want, "mine"]
    info = fresh()
    info[7] = info["clearances"] = "mine"  # any key, and one that is there
    np.testing.assert_equal(dict(info), want | {"clearances": "mine", 7: "mine"})
    assert list(info) == [*want, 7]
    info = fresh()
    del info["n"]
    assert "n" not in info
    assert [type(value) for value in (want["n"], want["collided"], want["exit_miss"])] == [
        *(int, bool, float)
    ]


def test_an_info_stays_that_of_its_step() -> None:
    env = Flight4DEnv()
    env.reset(seed=3)
    infos = [env.step(action)[4] for action in (2, 9, 16, 0)]
    assert [info["clearances"] for info in infos] == [1, 2, 3, 3]


# ---------------------------------------------------------------------- processes


def _fly_in_a_child(env: Flight4DEnv | None, queue: Any) -> None:  # noqa: ANN401 - a queue
    try:
        if env is None:
            env = Flight4DEnv()
            env.reset(seed=5)
        queue.put(env.step(2)[1])
    except Exception as error:
        queue.put(f"{type(error).__name__}: {error}")


def _in_a_child(method: str, env: Flight4DEnv | None) -> Any:  # noqa: ANN401 - what it sends
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    process = context.Process(target=_fly_in_a_child, args=(env, queue))
    process.start()
    got = queue.get(timeout=60)
    process.join(timeout=60)
    assert process.exitcode == 0
    return got


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes(method: str) -> None:
    env = Flight4DEnv()
    env.reset(seed=5)
    want = copy.deepcopy(env).step(2)[1]
    assert _in_a_child(method, None) == want  # made in the child, after the parent used the engine
    got = _in_a_child(method, env)
    if method == "fork":
        assert got.startswith("StaleError: this environment was made before the process was forked")
    else:
        assert got == want
    assert env.step(2)[1] == want


def test_a_child_of_a_child() -> None:
    script = """
import os
from skyrail.flight import Flight4DEnv
def fly():
    env = Flight4DEnv()
    env.reset(seed=5)
    return env.step(2)[1]
want = fly()
for depth in range(4):
    pid = os.fork()
    if pid:
        _, status = os.waitpid(pid, 0)
        os._exit(status >> 8)
    assert fly() == want
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_grandchild_steps_with_several_threads() -> None:
    script = """
import os, signal
from skyrail.flight import FlightVectorEnv
def fly():
    env = FlightVectorEnv(64, threads=2)
    env.reset(seed=5)
    for _ in range(20):
        rewards = env.step([0] * 64)[1]
    return rewards.tolist()
want = fly()
for depth in range(3):
    pid = os.fork()
    if pid:
        _, status = os.waitpid(pid, 0)
        os._exit(status >> 8 or status)
    signal.alarm(60)  # a hang is a failure
    assert fly() == want
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_streams_of_many_threads_are_their_own() -> None:
    wrong: list[object] = []

    def reset(seed: int) -> None:
        led, own = Flight4DEnv(), Flight4DEnv()
        try:
            for env in (led, own):
                env.reset(seed=seed)
            assert led.np_random is led.np_random  # from now on Python leads
            for _ in range(500):
                if not np.array_equal(led.reset()[0], own.reset()[0]):
                    wrong.append(seed)
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=reset, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
