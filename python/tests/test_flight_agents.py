"""The reference agents fly the 100 public seeds action for action as the reference did."""

from __future__ import annotations

from typing import Any

import golden
import pytest

from skyrail.flight_agents import make_agent
from skyrail.flight_numpy import Flight4DEnv
from skyrail.flight_rollout import BoardRow, Episode, board_row, fly

BOARD = golden.load("board")

# The published board; exit_miss as printed there, four decimals.
PUBLISHED = {
    "rule-based": BoardRow(20, 96, 0.5700, 727, 231),
    "random": BoardRow(76, 667, 0.7012, 2947, 497),
    "noop": BoardRow(100, 752, 0.0, 0, 0),
}


@pytest.fixture(scope="module", params=list(PUBLISHED))
def flown(request: pytest.FixtureRequest) -> tuple[str, list[Episode]]:
    """An agent and its episodes: one environment and one agent throughout, as on a board."""
    env, agent = Flight4DEnv(), make_agent(request.param)
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


def test_an_unknown_agent_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="noop, random, rule-based"):
        make_agent("autopilot")
