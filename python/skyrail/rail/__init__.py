"""The railway (Flatland), run by the engine that scores.

`RailParallelEnv`
    one railway as a PettingZoo parallel environment, a hundred times as fast as flatland-rl's own.
`RailVectorEnv`
    many railways, stepped in parallel, in flat arrays.
`RailPolicy`
    the stock policies, such as deadlock-avoidance, for both.
`skyrail.rail.effects`
    effects of our own that flatland-rl can run, `TrackClosures`; needs flatland-rl.

None of the environments needs flatland-rl. PettingZoo and Gymnasium are used where they are
installed; spaces need Gymnasium. Importing the package imports none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._core import COMPONENTS, RailAction, Stop, Train, TrainState
    from .env import RailParallelEnv
    from .policy import RailPolicy
    from .vector import RailVectorEnv

__all__ = [
    "COMPONENTS",
    "RailAction",
    "RailParallelEnv",
    "RailPolicy",
    "RailVectorEnv",
    "Stop",
    "Train",
    "TrainState",
]

_MODULES = {"RailParallelEnv": "env", "RailPolicy": "policy", "RailVectorEnv": "vector"}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - what is imported when asked for
    from importlib import import_module

    if name in __all__:
        return getattr(import_module(f".{_MODULES.get(name, '_core')}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
