"""Effects of Skyrail's own for flatland-rl 4.2.5.

An environment file names an effect by its class, `skyrail.rail.effects.TrackClosures`, so
flatland-rl finds it where this package is on the import path:

    env, _ = RailEnvPersister.load_new("level_6_scenario_1.pkl")
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypedDict

from flatland.core.effects_generator import EffectsGenerator

if TYPE_CHECKING:
    from flatland.envs.rail_env import RailEnv

MAX_STEPS = 1 << 20


class Closure(TypedDict):
    """Cells that are shut in every step with from_step <= elapsed steps < until_step."""

    from_step: int
    until_step: int
    cells: list[tuple[int, int]]  # (row, column), at least one


class TrackClosures(EffectsGenerator["RailEnv"]):
    """Infrastructure disruptions: tracks that are closed for a time, and stop the trains on them.

    `closures` are mappings as `Closure`, in any order; steps are 0 to 1 048 576. Cells outside of
    the grid are not noticed here, the engine refuses them.

    At the start of a step each train on the map, by handle, that is in a cell of an open closure
    breaks down until the closure ends, of several until the last end: if it is not broken its
    counter becomes the steps from this one to `until_step`, so that it can go again in that step.
    One that is broken for less has its counter raised to that, which is not another malfunction.
    Trains off the map are left alone.

    It draws no random number and keeps no state, so a loaded or reset environment has the same
    closures. Raises `ValueError` for closures that are none.
    """

    def __init__(self, closures: Iterable[Mapping[str, Any]] = ()) -> None:
        super().__init__()
        self.closures: list[Closure] = [_closure(i, c) for i, c in enumerate(closures)]

    def on_episode_step_start(self, env: RailEnv, *args: object, **kwargs: object) -> RailEnv:
        now = env._elapsed_steps
        until: dict[tuple[int, int], int] = {}
        for closure in self.closures:
            if closure["from_step"] <= now < closure["until_step"]:
                for cell in closure["cells"]:
                    until[cell] = max(until.get(cell, 0), closure["until_step"])
        if not until:
            return env
        for agent in env.agents:
            if not agent.state.is_on_map_state():
                continue
            left = until.get(agent.position, now) - now
            handler = agent.malfunction_handler
            down = handler.malfunction_down_counter
            if down == 0:
                handler.malfunction_down_counter = left  # counts a malfunction if left is not 0
            elif down < left:
                handler.from_dict({**handler.to_dict(), "malfunction_down_counter": left})
        return env

    def __getstate__(self) -> dict[str, Any]:
        closures = [{**c, "cells": list(c["cells"])} for c in self.closures]
        return {"cls": self.fullname, "specs": {"kwargs": {"closures": closures}}}


def _closure(i: int, given: Mapping[str, Any]) -> Closure:
    try:
        first, end, cells = (given[key] for key in ("from_step", "until_step", "cells"))
        closure = Closure(
            from_step=_whole(first),
            until_step=_whole(end),
            cells=[(_whole(row), _whole(col)) for row, col in cells],
        )
    except (KeyError, TypeError, ValueError, OverflowError) as e:
        raise ValueError(
            f"closure {i}: want a mapping with from_step, until_step and cells, whole numbers and "
            f"pairs of them, got {given!r}"
        ) from e
    if not 0 <= closure["from_step"] < closure["until_step"] <= MAX_STEPS:
        raise ValueError(
            f"closure {i}: from step {closure['from_step']} until step {closure['until_step']}: "
            f"want 0 <= from_step < until_step <= {MAX_STEPS}"
        )
    if not closure["cells"]:
        raise ValueError(f"closure {i}: it has no cells: name at least one, or leave it out")
    return closure


def _whole(number: Any) -> int:  # noqa: ANN401
    if isinstance(number, bool) or number != int(number):
        raise ValueError(f"{number!r} is not a whole number")
    return int(number)
