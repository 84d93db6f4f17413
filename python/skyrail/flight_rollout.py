"""Flying an agent through episodes and adding the episodes up to a row of the board."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Agent(Protocol):
    """Whoever answers observations as the agents of `stock/agents` do.

    If it has a reset(), that is called before each episode.
    """

    def predict(self, obs: NDArray[np.float32], deterministic: bool = True) -> tuple[Any, Any]:
        """The action, an integer, and a state that nobody reads."""


class Env(Protocol):
    """What flying needs of an environment like `envs.Flight4DEnv`."""

    max_steps: int
    hold_steps: int
    DT: float

    def reset(self, *, seed: int | None = None) -> tuple[NDArray[np.float32], dict[str, Any]]: ...

    def step(
        self, action: int
    ) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]: ...


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


def fly(env: Env, agent: Agent, seed: int) -> Episode:
    """Fly one episode to its end."""
    observation, info = env.reset(seed=seed)
    if reset := getattr(agent, "reset", None):
        reset()
    actions = []
    ended = False
    while not ended:
        action = int(agent.predict(observation, deterministic=True)[0])
        observation, _, terminated, truncated, info = env.step(action)
        actions.append(action)
        ended = terminated or truncated
    late = np.abs(info["dt_exit"]) / (env.hold_steps * env.DT)
    return Episode(
        seed=seed,
        completed=len(actions) >= env.max_steps,
        congestion=info["congestion_total"],
        exit_miss=info["exit_miss"],
        max_exit_miss=float(np.max(late + np.abs(info["d_alt_exit"]))),
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
