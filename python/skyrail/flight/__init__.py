"""The Flight Challenge's environments, flown by the engine that scores.

`Flight4DEnv`
    one sector as a Gymnasium environment, a drop-in for the starter kit's and some hundred times
    faster; also `gymnasium.make("skyrail/Flight4D-v0")`.
`FlightVectorEnv`
    many sectors, stepped in parallel, with Gymnasium's vector interface.
`skyrail.flight.sb3.FlightVecEnv`
    the same for Stable-Baselines3, with masks for sb3-contrib's MaskablePPO.
`FlightState`
    what one's own observation and reward are made of.

The environments need Gymnasium; importing this package registers skyrail/Flight4D-v0 with it if it
is installed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._core import Conflict, FlightState

if TYPE_CHECKING:
    from .env import Flight4DEnv
    from .vector import FlightVectorEnv

__all__ = ["Conflict", "Flight4DEnv", "FlightState", "FlightVectorEnv"]

_MODULES = {"Flight4DEnv": ".env", "FlightVectorEnv": ".vector"}  # of what needs Gymnasium


def __getattr__(name: str) -> Any:  # noqa: ANN401 - classes that are imported when asked for
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(_MODULES[name], __name__), name)
    except ImportError as error:
        raise ImportError(
            f"{__name__}.{name} needs Gymnasium 1.1 or later, pip install 'gymnasium>=1.1': {error}"
        ) from error


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _register() -> None:
    """Tell Gymnasium of skyrail/Flight4D-v0, if there is a Gymnasium."""
    try:
        from gymnasium.envs import registration
    except ImportError:
        return
    if "skyrail/Flight4D-v0" not in registration.registry:
        registration.register(
            id="skyrail/Flight4D-v0",
            entry_point="skyrail.flight.env:Flight4DEnv",
            vector_entry_point="skyrail.flight.vector:FlightVectorEnv",
        )


_register()
