"""Flying an agent through episodes and adding the episodes up to a row of the board."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from skyrail.flight_agents import Agent
from skyrail.flight_numpy import Flight4DEnv


@dataclass(slots=True)
class Episode:
    """One flown episode and the figures it is scored by, as they stood after its last step."""

    seed: int
    completed: bool  # reached the last step; a mid-air exactly there still counts as completed
    congestion: int
    exit_miss: float
    max_exit_miss: float  # the worst single aircraft
    clearances: int
    aircraft_involved: int
    invalids: int
    actions: list[int] = field(repr=False)

    @property
    def steps(self) -> int:
        return len(self.actions)


@dataclass(slots=True, frozen=True)
class BoardRow:
    """An agent's totals. Each figure is better lower, and the earlier ones count first."""

    failed: int
    congestion: int
    exit_miss: float  # mean over the episodes
    clearances: int
    touched: int


def fly(env: Flight4DEnv, agent: Agent, seed: int) -> Episode:
    """Fly one episode to its end."""
    observation, info = env.reset(seed=seed)
    actions = []
    ended = False
    while not ended:
        action = agent.act(observation)
        observation, _, terminated, truncated, info = env.step(action)
        actions.append(action)
        ended = terminated or truncated
    return Episode(
        seed=seed,
        completed=len(actions) >= env.max_steps,
        congestion=info["congestion_total"],
        exit_miss=info["exit_miss"],
        max_exit_miss=max(env.exit_misses()),
        clearances=info["clearances"],
        aircraft_involved=info["aircraft_involved"],
        invalids=info["invalids"],
        actions=actions,
    )


def board_row(episodes: Sequence[Episode]) -> BoardRow:
    """Add up one agent's episodes, of which there must be at least one."""
    return BoardRow(
        failed=sum(not e.completed for e in episodes),
        congestion=sum(e.congestion for e in episodes),
        exit_miss=float(np.mean([e.exit_miss for e in episodes])),
        clearances=sum(e.clearances for e in episodes),
        touched=sum(e.aircraft_involved for e in episodes),
    )
