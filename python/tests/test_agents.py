"""The reference agents fly the 100 public seeds action for action as the reference did."""

from __future__ import annotations

import zlib
from typing import Any

import golden
import numpy as np
import pytest
from agents import Noop4DController, Priority4DController, RandomLegalController
from agents.rule_based_4d import decode
from competition.config import EXIT_MISS_BUCKET, SCENARIO, SCORE_VERSION, SIM_DT
from envs import Flight4DEnv

from skyrail.flight_rollout import BoardRow, Episode, board_row, fly

BOARD = golden.load("board")

AGENTS = {
    "rule-based": Priority4DController,
    "random": RandomLegalController,
    "noop": Noop4DController,
}

# The published board; exit_miss as printed there, four decimals.
PUBLISHED = {
    "rule-based": BoardRow(20, 96, 0.5700, 727, 231),
    "random": BoardRow(76, 667, 0.7012, 2947, 497),
    "noop": BoardRow(100, 752, 0.0, 0, 0),
}


@pytest.fixture(scope="module", params=list(PUBLISHED))
def flown(request: pytest.FixtureRequest) -> tuple[str, list[Episode]]:
    """An agent and its episodes: one environment and one agent throughout, as on a board."""
    env, agent = Flight4DEnv(**SCENARIO.as_env_kwargs()), AGENTS[request.param]()
    return request.param, [fly(env, agent, want["seed"]) for want in BOARD[request.param]]


def test_every_episode_equals_the_reference(flown: tuple[str, list[Episode]]) -> None:
    name, episodes = flown
    assert len(episodes) == 100
    for episode, want in zip(episodes, BOARD[name], strict=True):
        assert episode.actions == want["actions"], episode
        assert _integers(episode) == {key: want[key] for key in _integers(episode)}
        assert golden.close(episode.exit_miss, want["exit_miss"]), episode
        assert golden.close(episode.max_exit_miss, want["max_exit_miss"]), episode


def _integers(episode: Episode) -> dict[str, Any]:
    return {
        "steps": episode.steps,
        "completed": episode.completed,
        "congestion": episode.congestion,
        "clearances": episode.clearances,
        "aircraft_involved": episode.aircraft_involved,
        "invalids": episode.invalids,
    }


def test_the_totals_are_the_published_board(flown: tuple[str, list[Episode]]) -> None:
    name, episodes = flown
    got, want = board_row(episodes), PUBLISHED[name]
    assert (got.failed, got.congestion, got.clearances, got.touched) == (
        want.failed,
        want.congestion,
        want.clearances,
        want.touched,
    )
    assert round(got.exit_miss, 4) == want.exit_miss


def test_the_priority_controller_knows_a_new_episode_by_its_step() -> None:
    env, agent = Flight4DEnv(), Priority4DController()
    for want in BOARD["rule-based"][:5]:
        observation, _ = env.reset(seed=want["seed"])  # without agent.reset()
        for action in want["actions"]:
            assert agent.predict(observation) == (action, None)
            observation, *_ = env.step(action)


def test_the_random_agent_makes_its_stream_at_the_first_observation_only() -> None:
    first, _ = Flight4DEnv().reset(seed=1)
    second, _ = Flight4DEnv().reset(seed=2)
    agent = RandomLegalController(seed=9)
    rng = np.random.default_rng([9, zlib.crc32(first.astype("<f4").tobytes())])
    for observation in (first, second, first):
        want = rng.choice(np.flatnonzero(observation[-36:] > 0.5))
        action, state = agent.predict(observation, deterministic=False)
        assert (action, state) == (want, None)
        assert isinstance(action, np.int64)
    agent.reset()
    rng = np.random.default_rng([9, zlib.crc32(second.astype("<f4").tobytes())])
    want = rng.choice(np.flatnonzero(second[-36:] > 0.5))
    assert agent.predict(second)[0] == want


@pytest.mark.parametrize("seed", range(20))
def test_decode_gives_back_what_the_observation_was_made_from(seed: int) -> None:
    env = Flight4DEnv()
    env.reset(seed=seed)
    env.step(int(np.flatnonzero(env.action_masks())[1]))
    observation, *_ = env.step(0)
    seen = decode(observation, env.n_flights, env.max_steps, env.hold_steps)
    flights = env.sim.flights
    conflicts = env.sim.predict_conflicts((env.max_steps - env.step_idx) * env.DT)
    assert seen["step"] == pytest.approx(2.0, abs=1e-4)
    np.testing.assert_allclose(seen["x"], [f.x for f in flights], atol=1.0)
    np.testing.assert_allclose(seen["y"], [f.y for f in flights], atol=1.0)
    np.testing.assert_allclose(seen["level"], [(f.altitude - 290) / 12 for f in flights], atol=1e-4)
    np.testing.assert_allclose(seen["d_alt"], env._exit_deviation()[1], atol=1e-4)
    np.testing.assert_allclose(
        seen["hold_left"], np.maximum(env.hold_left, env.pulse_left), atol=1e-4
    )
    for i in range(env.n_flights):
        mine = [c for c in conflicts if i in (c.i, c.j)]
        worst = max(mine, key=lambda c: c.severity, default=None)
        severity, t_conflict = (worst.severity, worst.t_cpa) if worst else (0.0, np.inf)
        assert seen["severity"][i] == pytest.approx(severity, abs=1e-4)
        assert seen["t_conflict"][i] == pytest.approx(t_conflict, abs=1e-2)


def test_the_scored_scenario_is_the_environment_s_default() -> None:
    env = Flight4DEnv()
    assert SCENARIO.as_env_kwargs() == {
        "n_flights": env.n_flights,
        "n_range": (env.n_lo, env.n_hi),
        "max_steps": env.max_steps,
        "hold_steps": env.hold_steps,
    }
    assert SIM_DT == env.DT
    assert SCENARIO.exit_time_scale == 10.0
    assert (SCORE_VERSION, EXIT_MISS_BUCKET) == ("2.0.0", 0.005)
    with pytest.raises(AttributeError):
        SCENARIO.max_steps = 60  # type: ignore[misc]
