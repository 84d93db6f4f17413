"""Whole episodes equal the reference's, and the environment is a good Gymnasium citizen."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import golden
import gymnasium
import numpy as np
import pytest
from envs.flight_4d import (
    CLEARANCE_NAMES,
    FEATURE_NAMES,
    FL_DEC,
    FL_DEC2_T,
    FL_INC,
    FL_INC2_T,
    N_CLEARANCES,
    N_FEATS,
    N_GLOBALS,
    RESUME,
    SPD_DN_T,
    SPD_UP_T,
    Flight4DEnv,
)
from envs.simulator import Conflict
from gymnasium.utils.env_checker import check_env

import skyrail

EPISODES = golden.load("episodes")
RESETS = golden.load("resets")

# A C library that rounds a sine or a hyperbolic tangent differently may cost a last bit.
OBSERVATION_TOLERANCE = 1e-6
IDENTICAL_SHARE = 0.99


def _env(config: dict[str, Any]) -> Flight4DEnv:
    return Flight4DEnv(**config)


@pytest.mark.parametrize(
    "episode", EPISODES, ids=lambda e: f"{e['seed']}-{e['mode']}-{len(e['config'])}"
)
def test_episode_equals_the_reference(episode: dict[str, Any]) -> None:
    golden.check_episode(_env(episode["config"]), episode, _check_observation)


def _check_observation(got: np.ndarray, encoded: str, where: str) -> None:
    want = golden.observation(encoded)
    assert got.dtype == np.float32
    assert got.shape == want.shape
    off = np.abs(got - want)
    worst = int(np.argmax(off))
    assert off[worst] <= OBSERVATION_TOLERANCE, (where, worst, got[worst], want[worst])


def test_nearly_all_observations_are_bit_identical() -> None:
    identical = total = 0
    for episode in EPISODES:
        env = _env(episode["config"])
        pairs = [(env.reset(seed=episode["seed"])[0], episode["first_obs"])]
        pairs += [(env.step(step["action"])[0], step["obs"]) for step in episode["steps"]]
        total += len(pairs)
        identical += sum(
            got.astype("<f4").tobytes() == golden.observation(want).tobytes() for got, want in pairs
        )
    assert identical >= IDENTICAL_SHARE * total, f"{identical} of {total} identical"


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
    assert (steps >= case["max_steps"]) == case["completed"]
    assert info["congestion_total"] == case["congestion"]
    assert golden.close(reward, case["reward_last"])


@pytest.mark.parametrize("case", RESETS["large_deviations"], ids=lambda c: str(c["seed"]))
def test_an_episode_of_large_deviations_equals_the_reference(case: dict[str, Any]) -> None:
    env = _env(case["config"])
    env.reset(seed=case["seed"])
    for want in case["steps"]:
        _, reward, _, _, info = env.step(want["action"])
        assert golden.close(reward, want["reward"])
        assert golden.close(info["exit_miss"], want["exit_miss"])
        assert golden.all_close(info["dt_exit"].tolist(), want["dt_exit"])


def test_the_cost_of_deviation_is_clipped_at_one_for_each_aircraft() -> None:
    env = Flight4DEnv(w_safe=3.0)
    env.reset(seed=0)
    env.sim.predict_conflicts = lambda horizon: []
    env.t_target[:] = -1e6
    _, reward, *_ = env.step(0)
    assert golden.close(reward, -3.0)


def test_the_first_of_two_equally_severe_conflicts_is_shown() -> None:
    env = Flight4DEnv()
    env.reset(seed=0)
    env.step_idx = 49  # one step of 2 s is left
    common = dict(t_enter=0.0, duration=1.0, d_cpa=0.0, d_alt=0.0, center=(0.0, 0.0), radius=1e3)
    first = Conflict(i=0, j=1, t_cpa=6.0, severity=0.5, **common)
    env.sim.predict_conflicts = lambda horizon: [first, first._replace(j=2, t_cpa=2.0)]
    urgency = env._obs()[FEATURE_NAMES.index("t_conflict") : env.mask_offset : N_FEATS][:4]
    assert urgency.tolist() == [6.0 / 4.0 - 1.0, 6.0 / 4.0 - 1.0, 2.0 / 2.0 - 1.0, 1.0]


def test_gymnasium_finds_nothing_to_complain_about() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Without a registered id the checker cannot try render modes, of which there are none.
        warnings.filterwarnings("ignore", message=".*alternative render modes.*")
        check_env(Flight4DEnv())


def test_same_seed_and_actions_give_the_same_episode() -> None:
    first, second = Flight4DEnv(), Flight4DEnv()
    second.reset(seed=99)  # nothing of an earlier episode may remain
    second.step(2)
    observations = [env.reset(seed=4)[0] for env in (first, second)]
    assert np.array_equal(*observations)
    rng = np.random.default_rng(0)
    for _ in range(50):
        action = int(rng.choice(np.flatnonzero(first.action_masks())))
        (obs1, *outcome1, info1), (obs2, *outcome2, info2) = first.step(action), second.step(action)
        assert np.array_equal(obs1, obs2)
        assert outcome1 == outcome2
        np.testing.assert_equal(info1, info2)


def test_different_seeds_give_different_episodes() -> None:
    env = Flight4DEnv()
    first, second = (env.reset(seed=seed)[0] for seed in (1, 2))
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("action", [-1, 36, 10**9])
def test_an_action_outside_the_space_is_refused(action: int) -> None:
    env = Flight4DEnv()
    env.reset(seed=0)
    with pytest.raises(ValueError, match=rf"action {action} is outside 0\.\.35"):
        env.step(action)
    assert env.step_idx == 0


@pytest.mark.parametrize("action", [1.5, [1, 2], np.array([]), None, "1"])
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


def test_a_step_needs_a_reset() -> None:
    with pytest.raises(gymnasium.error.ResetNeeded):
        Flight4DEnv().step(0)


def test_a_masked_action_is_counted_and_not_flown() -> None:
    flown, idle = Flight4DEnv(), Flight4DEnv()
    flown.reset(seed=0)
    idle.reset(seed=0)
    masked = int(np.flatnonzero(~flown.action_masks())[0])
    observation, reward, *_, info = flown.step(masked)
    want, want_reward, *_ = idle.step(0)
    assert (info["invalids"], info["clearances"], info["aircraft_involved"]) == (1, 0, 0)
    assert np.array_equal(observation, want)
    assert reward == want_reward


def test_the_mask_is_the_tail_of_the_observation() -> None:
    env = Flight4DEnv()
    observation, _ = env.reset(seed=3)
    for action in (0, 2, 5, 0):
        mask = env.action_masks()
        assert mask.dtype == np.bool_
        assert mask[0]
        assert np.array_equal(observation[-36:] == 1.0, mask)
        observation, *_ = env.step(action)


def test_quirk_a_slow_down_from_the_highest_speed_ends_above_it() -> None:
    env = Flight4DEnv()
    seen = 0.0
    for seed in range(200):
        env.reset(seed=seed)
        fastest = int(np.argmax(env.v0))
        flight = env.sim.flights[fastest]
        slow_down = 1 + 7 * fastest + SPD_DN_T
        if env.v0[fastest] == 515.0 and env.action_masks()[slow_down]:
            env.step(slow_down)
            assert flight.velocity == 480.0
            for _ in range(env.hold_steps):
                env.step(0)
            seen = flight.velocity
            break
    assert seen == 550.0


@pytest.mark.parametrize("lo_hi", [(0, 3), (4, 3), (2, 6)])
def test_set_n_range_refuses_what_does_not_fit(lo_hi: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="n_range"):
        Flight4DEnv().set_n_range(*lo_hi)


def test_set_n_range_takes_effect_at_the_next_reset() -> None:
    env = Flight4DEnv()
    env.set_n_range(5, 5)
    assert [env.reset(seed=seed)[1]["n"] for seed in range(4)] == [5] * 4


@pytest.mark.parametrize("name", ["n_flights", "max_steps", "hold_steps", "max_clearances"])
def test_a_parameter_below_one_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} is 0"):
        Flight4DEnv(**{name: 0})


def test_the_vocabulary_is_the_reference_s() -> None:
    clearances = (FL_DEC, FL_INC, FL_DEC2_T, FL_INC2_T, SPD_DN_T, SPD_UP_T, RESUME)
    assert clearances == tuple(range(N_CLEARANCES)) == tuple(range(7))
    assert CLEARANCE_NAMES[FL_INC2_T] == "FL_INC2_T"
    assert (N_FEATS, N_GLOBALS) == (len(FEATURE_NAMES), 2)
    assert " ".join(FEATURE_NAMES) == (
        "x y alt vel sin_hdg cos_hdg dt_exit d_alt n_clearances hold_left severity t_conflict "
        "active"
    )


def test_the_state_is_arrays_with_one_entry_an_aircraft() -> None:
    env = Flight4DEnv()
    for reset in range(2):
        env.reset(seed=reset)
        floats = (env.alt0, env.v0, env.s_total, env.t_target, env.s_flown, env.t_exit_actual)
        counts = (env.per_aircraft_clearances, env.hold_left, env.pulse_left, env.pulse_sign)
        for dtype, arrays in ((float, floats), (np.int64, counts), (np.bool_, (env.touched,))):
            assert [(a.shape, a.dtype) for a in arrays] == [((5,), dtype)] * len(arrays)
        assert np.isnan(env.t_exit_actual).all()
        env.step(int(np.flatnonzero(env.action_masks())[1]))
        assert (env.s_flown == env.DT * np.array([f.velocity for f in env.sim.flights])).all()
        assert env.touched.sum() == env.per_aircraft_clearances.sum() == env.n_clearances == 1
        for _ in range(60):
            env.step(0)
        assert np.isfinite(env.t_exit_actual).any()
        assert (np.isfinite(env.t_exit_actual) == (env.s_flown >= env.s_total)).all()


# ---------------------------------------------------------------------- what a subclass may change

UP_TWO = 1 + FL_INC2_T  # aircraft 0 of seed 0 may


def _flown(replacements: dict[str, Any], actions: list[int]) -> tuple[Flight4DEnv, list[Any]]:
    """A subclass's environment after `actions`, and what its last step answered."""
    env = type("Edited", (Flight4DEnv,), replacements)()
    env.reset(seed=0)
    for action in actions:
        answer = env.step(action)
    return env, list(answer)


@pytest.mark.parametrize(
    ("name", "replacement", "actions", "seen", "want"),
    [
        ("_obs", lambda self: "mine", [0], lambda env, answer: answer[0], "mine"),
        ("_info", lambda self: "mine", [0], lambda env, answer: answer[4], "mine"),
        ("_severity", lambda self: 7.0, [0], lambda env, answer: round(answer[1], 6), -21.0),
        (
            "_deviation",
            lambda self: np.full(5, 100.0),
            [0],
            lambda env, answer: answer[1] < -300.0,
            True,
        ),
        (
            "_exit_deviation",
            lambda self: (np.full(5, 10.0), np.full(5, -2.0)),
            [0],
            lambda env, answer: (answer[4]["exit_miss"], *answer[0][6:8].tolist()),
            (3.0, float(np.float32(np.tanh(1.0))), float(np.float32(np.tanh(-1.0)))),
        ),
        (
            "_record_exits",
            lambda self, v_before: self.t_exit_actual.fill(v_before[0]),
            [0],
            lambda env, answer: (answer[4]["dt_exit"] == env.v0[0] - env.t_target).all(),
            True,
        ),
        (
            "_issue",
            lambda self, i, cmd: setattr(self, "told", (i, cmd)),
            [UP_TWO],
            lambda env, answer: (env.told, answer[4]["clearances"], answer[4]["d_alt_exit"][0]),
            ((0, FL_INC2_T), 1, 0.0),
        ),
        (
            "_advance_holds",
            lambda self: None,
            [UP_TWO] + [0] * 8,
            lambda env, answer: (env.hold_left[0], answer[4]["d_alt_exit"][0]),
            (5, 2.0),
        ),
        (
            "_restore",
            lambda self, i: None,
            [UP_TWO] + [0] * 8,
            lambda env, answer: (env.hold_left[0], answer[4]["d_alt_exit"][0]),
            (0, 2.0),
        ),
        (
            "_count_congestion",
            lambda self: 3,
            [0, 0],
            lambda env, answer: (answer[4]["congestion_events"], answer[4]["congestion_total"]),
            (3, 6),
        ),
        (
            "_is_collision",
            lambda self: True,
            [0],
            lambda env, answer: (answer[2], answer[4]["collided"], answer[1] < -9 * 49),
            (True, True, True),
        ),
        (
            "_distance_to_boundary",
            lambda self, flight: flight.altitude,
            [0],
            lambda env, answer: (env.s_total == env.alt0).all(),
            True,
        ),
        (
            "_on_plan",
            lambda self, i: False,
            [0],
            lambda env, answer: env.action_masks()[1 + RESUME :: N_CLEARANCES].all(),
            True,
        ),
        (
            "action_masks",
            lambda self: np.arange(36) == 0,
            [UP_TWO],
            lambda env, answer: (answer[4]["invalids"], answer[0][-36:].sum()),
            (1, 1.0),
        ),
    ],
)
def test_a_step_goes_through_what_a_subclass_overrides(
    name: str,
    replacement: Callable[..., Any],
    actions: list[int],
    seen: Callable[[Flight4DEnv, list[Any]], Any],
    want: Any,  # noqa: ANN401
) -> None:
    assert seen(*_flown({name: replacement}, actions)) == want
    if name not in ("_obs", "_info", "_issue"):  # what makes no difference would show nothing
        assert seen(*_flown({}, actions)) != want


def test_a_mid_air_costs_what_the_subclass_charges() -> None:
    collide = {"_is_collision": lambda self: True}
    _, (_, usual, *_) = _flown(collide, [0])
    _, (_, free, *_) = _flown({**collide, "collision_charge": lambda self: 0.0}, [0])
    assert golden.close(free - usual, 3.0 * 3.0 * 49)


# ---------------------------------------------------------------------- as a package


def test_gymnasium_makes_it() -> None:
    env = gymnasium.make("Flight4DEnv-v0", max_steps=20)
    assert type(env.unwrapped) is Flight4DEnv
    observation, _ = env.reset(seed=5)
    assert np.array_equal(observation, Flight4DEnv(max_steps=20).reset(seed=5)[0])


def test_importing_it_brings_in_little_and_twice_does_no_harm() -> None:
    code = """
import sys, warnings
warnings.simplefilter("error")
import envs, agents, competition.config
for name in [name for name in sys.modules if name.startswith("envs")]:
    del sys.modules[name]
import envs
print(*({"torch", "matplotlib", "stable_baselines3", "yaml"} & set(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=skyrail.STOCK,
        check=False,
    )
    assert (done.stdout.strip(), done.stderr) == ("", "")
