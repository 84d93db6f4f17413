"""Whole episodes equal the reference's, and the environment is a good Gymnasium citizen."""

from __future__ import annotations

import warnings
from typing import Any

import golden
import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from skyrail.flight_numpy import Flight4DEnv
from skyrail.flight_sector import Aircraft, Conflict

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
    env = _env(episode["config"])
    observation, _ = env.reset(seed=episode["seed"])
    _check_observation(observation, episode["first_obs"], "after reset")
    for number, want in enumerate(episode["steps"], start=1):
        observation, reward, terminated, truncated, info = env.step(want["action"])
        where = f"step {number}"
        got = {
            "terminated": terminated,
            "truncated": truncated,
            "congestion": info["congestion_events"],
            **{
                key: info[key]
                for key in ("clearances", "invalids", "aircraft_involved", "collided")
            },
        }
        assert got == {key: want[key] for key in got}, where
        assert golden.close(reward, want["reward"]), (where, reward, want["reward"])
        assert golden.close(info["exit_miss"], want["exit_miss"]), where
        assert golden.all_close(info["dt_exit"].tolist(), want["dt_exit"]), where
        assert golden.all_close(info["d_alt_exit"].tolist(), want["d_alt_exit"]), where
        for index, (a, state) in enumerate(zip(env.aircraft, want["flights"], strict=True)):
            assert golden.all_close([a.x, a.y, a.level, a.speed], state), (where, index)
        _check_observation(observation, want["obs"], where)
    assert info["congestion_total"] == sum(step["congestion"] for step in episode["steps"])


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
    env.conflicts = []
    for a in env.aircraft:
        a.t_target = -1e6
    assert golden.close(env.reward(issued=False), -3.0)


def test_the_first_of_two_equally_severe_conflicts_is_shown() -> None:
    env = Flight4DEnv()
    env.reset(seed=0)
    env.steps = 49  # one step of 2 s is left
    common = {"t_enter": 0.0, "duration": 1.0, "d_cpa": 0.0, "d_alt": 0.0, "severity": 0.5}
    env.conflicts = [Conflict(0, 1, t_cpa=6.0, **common), Conflict(0, 2, t_cpa=2.0, **common)]
    urgency = env.features()[11::13][:4]
    assert urgency == [2.0 * 6.0 / 8.0 - 1.0, 2.0 * 6.0 / 8.0 - 1.0, 2.0 * 2.0 / 4.0 - 1.0, 1.0]


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
    assert env.steps == 0


def test_an_action_must_be_an_integer() -> None:
    env = Flight4DEnv()
    env.reset(seed=0)
    with pytest.raises(TypeError):
        env.step(1.5)  # type: ignore[arg-type]


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


def test_a_narrower_mask_of_a_subclass_is_obeyed() -> None:
    class LevelsOnly(Flight4DEnv):
        def legal_clearances(self, a: Aircraft) -> list[bool]:
            return [*super().legal_clearances(a)[:2], *[False] * 5]

    env = LevelsOnly()
    env.reset(seed=0)
    *_, info = env.step(7)
    assert info["invalids"] == 1


def test_quirk_a_slow_down_from_the_highest_speed_ends_above_it() -> None:
    env = Flight4DEnv()
    seen = 0.0
    for seed in range(200):
        env.reset(seed=seed)
        fastest = max(range(5), key=lambda i: env.aircraft[i].speed)
        a = env.aircraft[fastest]
        slow_down = 1 + 7 * fastest + 4
        if a.entry_speed == 515.0 and env.action_masks()[slow_down]:
            env.step(slow_down)
            assert a.speed == 480.0
            for _ in range(env.hold_steps):
                env.step(0)
            seen = a.speed
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


def test_unknown_reset_options_are_refused() -> None:
    with pytest.raises(ValueError, match="wind"):
        Flight4DEnv().reset(seed=0, options={"wind": 3})
