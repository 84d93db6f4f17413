"""The scored scenario. These figures describe it; changing them here changes no score."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

SCORE_VERSION = "2.0.0"

SIM_DT = 2  # seconds in a step

EXIT_MISS_BUCKET = 0.005  # mean exit misses that round to the same multiple of this are a tie


@dataclass(frozen=True)
class ScenarioConfig:
    """The traffic that is scored: n_flights aircraft, n_range of them converging.

    max_steps: steps in an episode. hold_steps: how long temporary clearances last.
    """

    n_flights: int = 5
    n_range: tuple[int, int] = (2, 4)
    max_steps: int = 50
    hold_steps: int = 5

    def as_env_kwargs(self) -> dict[str, Any]:
        """What to make a `Flight4DEnv` with."""
        return asdict(self)

    @property
    def exit_time_scale(self) -> float:
        """Seconds of lateness that miss the exit as much as one level does."""
        return float(self.hold_steps * SIM_DT)


SCENARIO = ScenarioConfig()
