"""Gymnasium's spaces, which are made when somebody asks for one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._core import ACTIONS, Options

if TYPE_CHECKING:
    from gymnasium import spaces


def observation_space(options: Options, rows: int, columns: int) -> spaces.Box:
    """The space of one train's observation."""
    spaces = _spaces()
    low, high = (-1.0, 1.0) if options.observation == "flat_tree" else (-np.inf, np.inf)
    if options.observation == "dummy":
        low = high = 1.0
    return spaces.Box(low, high, options.shape(rows, columns), np.float64)


def action_space() -> spaces.Discrete:
    """The space of one train's action."""
    return _spaces().Discrete(ACTIONS)


def state_space(length: int) -> spaces.Box:
    return _spaces().Box(-np.inf, np.inf, (length,), np.float64)


def _spaces() -> Any:  # noqa: ANN401 - a module
    try:
        from gymnasium import spaces
    except ImportError as error:
        raise ImportError("spaces need Gymnasium: pip install 'skyrail[pettingzoo]'") from error
    return spaces
