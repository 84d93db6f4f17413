"""Skyrail's controllers as policies: to compare with, to learn from, to fly.

`FlightPolicy`, `demonstrations`
    the air sector's planner and reference agents, and what they do in many episodes, as arrays.
`RailPolicy`
    the railway's agents.

    from skyrail.planner import FlightPolicy, demonstrations

    flown = demonstrations("planner", episodes=1000)
    flown.observations, flown.actions, flown.masks
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .flight._crew import Demonstrations, FlightPolicy, demonstrations

if TYPE_CHECKING:
    from .rail import RailPolicy

__all__ = ["Demonstrations", "FlightPolicy", "RailPolicy", "demonstrations"]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a class that is imported when asked for
    if name == "RailPolicy":
        from .rail import RailPolicy

        return RailPolicy
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
