"""The contract suite passes what it should and stops exactly where it should.

Every broken environment is the stock one with one thing wrong, so that it can fail nowhere else.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from itertools import count
from typing import Any

import gymnasium
import numpy as np
import pytest
from envs import Flight4DEnv
from gymnasium import spaces

from skyrail.contract import CHECKS, SCORED_KEYS, run

BROKEN: list[tuple[str, type[gymnasium.Env], str]] = []  # failing check, environment, part of line


def fails(check: str, line: str) -> Callable[[type[gymnasium.Env]], type[gymnasium.Env]]:
    """Marks an environment as failing that check with a line that has `line` in it."""

    def note(env: type[gymnasium.Env]) -> type[gymnasium.Env]:
        BROKEN.append((check, env, line))
        return env

    return note


class Remembering(Flight4DEnv):
    """Knows the seed of its last reset, to be wrong in one check only."""

    seed: int | None = None

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:  # noqa: ANN401
        self.seed = seed
        return super().reset(seed=seed, options=options)


def test_the_stock_environment_passes_all_24() -> None:
    report = run(Flight4DEnv)
    assert (report.passed, report.failure) == (True, None)
    assert [check.name for check in report.checks] == list(CHECKS)
    assert len(CHECKS) == 24
    assert not any(check.line for check in report.checks)
    assert json.loads(json.dumps(asdict(report)))["checks"][0] == {
        "name": "gymnasium_checker",
        "passed": True,
        "line": "",
    }


def test_it_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    class Warned(Flight4DEnv):
        def __init__(self, **kwargs: Any) -> None:  # noqa: ANN401
            super().__init__(**kwargs)
            self.observation_space = spaces.Box(-100.0, 100.0, (103,), np.float32)
            self.metadata = {}  # Gymnasium's checker has something to say about that

    assert run(Warned).failure is None
    assert tuple(capfd.readouterr()) == ("", "")


def test_the_environment_is_made_for_the_scored_scenario() -> None:
    made = []

    def make_env(**kwargs: int) -> Flight4DEnv:
        made.append(kwargs)
        return Flight4DEnv(**kwargs)

    assert run(make_env).passed
    assert {"n_flights": 5, "max_steps": 10} in made
    assert all(kwargs["n_flights"] == 5 and set(kwargs) == set(made[0]) for kwargs in made)
    assert {kwargs["max_steps"] for kwargs in made} == {10, 50}


def test_a_mask_without_a_gap_passes_with_a_note() -> None:
    class AllLegal(Flight4DEnv):
        def action_masks(self) -> np.ndarray:
            return np.ones(36, np.bool_)

    notes = {check.name: check.line for check in run(AllLegal).checks if check.line}
    assert notes == {
        "masked_action": "after reset(seed=4) every action is legal, so none could be tried"
    }


# ---------------------------------------------------------------------- the spaces


@fails("gymnasium_checker", "shape (102,)")
class NotInSpaceAtAll(Flight4DEnv):
    def _obs(self) -> np.ndarray:
        return super()._obs()[:-1]


@fails("gymnasium_checker", "(tests/test_contract.py:")
class ResetRaises(Flight4DEnv):
    def reset(self, **kwargs: Any) -> Any:  # noqa: ANN401
        raise KeyError("wind")


@fails("action_space", "one flat Discrete, it is MultiDiscrete([36])")
class ManyActions(Flight4DEnv):
    def __init__(self, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(**kwargs)
        self.action_space = spaces.MultiDiscrete([36])


@fails("action_space", "more than one action, it is Discrete(1)")
class OneAction(Flight4DEnv):
    def __init__(self, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(**kwargs)
        self.action_space = spaces.Discrete(1)


@fails("observation_space", "finite bounds, they reach from -inf to inf")
class Unbounded(Flight4DEnv):
    def __init__(self, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(**kwargs)
        self.observation_space = spaces.Box(-np.inf, np.inf, (103,), np.float32)


@fails("observation_space", "must be float32, its dtype is float64")
class Double(Flight4DEnv):
    def __init__(self, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(**kwargs)
        self.observation_space = spaces.Box(-1.0, 1.0, (103,), np.float64)

    def _obs(self) -> np.ndarray:
        return super()._obs().astype(np.float64)


@fails("observation_space", "one dimension, its shape is (1, 103)")
class TwoDimensions(Flight4DEnv):
    def __init__(self, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(**kwargs)
        self.observation_space = spaces.Box(-1.0, 1.0, (1, 103), np.float32)

    def _obs(self) -> np.ndarray:
        return super()._obs()[None]


@fails("observation_space", "must be a Box, it is MultiBinary(103)")
class NotABox(Flight4DEnv):
    def __init__(self, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(**kwargs)
        self.observation_space = spaces.MultiBinary(103)

    def _obs(self) -> np.ndarray:
        return (super()._obs() > 0.0).astype(np.int8)


class Offset(Flight4DEnv):
    """Declares another offset than the one its observation is made with."""

    declared: int

    def _obs(self) -> np.ndarray:
        self.mask_offset = 67
        obs = super()._obs()
        self.mask_offset = self.declared
        return obs


@fails("mask_offset", "it begins at 60 and has 36 entries, the observation has 103")
class WrongOffset(Offset):
    declared = 60

    def __init__(self, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(**kwargs)
        self.mask_offset = 60


@fails("mask_offset", "there must be features before the mask, which begins at 0")
class NoFeatures(Offset):
    declared = 0

    def __init__(self, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(**kwargs)
        self.mask_offset = 0


@fails("mask_offset", "must begin at 67, after 13 features of each of 5 aircraft and 2 more")
class OneFeatureMore(Offset):
    declared = 68

    def __init__(self, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(**kwargs)
        self.mask_offset = 68
        self.observation_space = spaces.Box(-1.0, 1.0, (104,), np.float32)

    def _obs(self) -> np.ndarray:
        return np.concatenate((np.zeros(1, np.float32), super()._obs()))


# ---------------------------------------------------------------------- reset and step


@fails("reset_returns", "observation left its space after reset(seed=0): min")
class OutOfSpaceFromSeed0(Remembering):
    def _obs(self) -> np.ndarray:
        return super()._obs() * (2.0 if self.seed == 0 else 1.0)


@fails("reset_returns", "must be a dict, it is list of 0")
class NoInfoFromSeed0(Remembering):
    def _info(self) -> Any:  # noqa: ANN401
        return [] if self.seed == 0 else super()._info()


@fails("step_returns", "terminated must be a bool, it is numpy.bool")
class NumpyBool(Flight4DEnv):
    def step(self, action: int) -> Any:  # noqa: ANN401
        obs, reward, terminated, truncated, info = super().step(action)
        return obs, reward, np.bool_(terminated), truncated, info


@fails("step_returns", "the reward must be one finite number, it is nan")
class NoReward(Remembering):
    def collision_charge(self) -> float:
        return np.nan

    def _is_collision(self) -> bool:
        return self.seed == 0


@fails("step_returns", "must be float32 of shape (103,), after reset(seed=0) and step(0) it is")
class ShortFromSeed0(Remembering):
    def step(self, action: int) -> Any:  # noqa: ANN401
        obs, *rest = super().step(action)
        return (obs[:-1] if self.seed == 0 else obs, *rest)


@fails("random_play", "in step 8 of random legal play from seed 1: min -1, max 1.5, entry 0")
class LeavesItsSpace(Flight4DEnv):
    def _obs(self) -> np.ndarray:
        obs = super()._obs()
        if self.step_idx >= 8:
            obs[0] = 1.5
        return obs


@fails("random_play", "action_masks() allows nothing; action 0, idle, must always be legal")
class NothingLegal(Flight4DEnv):
    def action_masks(self) -> np.ndarray:
        return np.zeros(36, np.bool_)


@fails("random_play", "NoMask has no action_masks(), which says what is legal now")
class NoMask(gymnasium.Wrapper):
    n_flights = 5

    def __init__(self, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(Flight4DEnv(**kwargs))


@fails("horizon", "must end within max_steps=10; from seed")
class DeafToMaxSteps(Flight4DEnv):
    def __init__(self, max_steps: int, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(max_steps=50, **kwargs)


@fails("horizon", "ended in step 5 with terminated=False, truncated=True, collided=False")
class GivesUp(Flight4DEnv):
    def step(self, action: int) -> Any:  # noqa: ANN401
        obs, reward, terminated, truncated, info = super().step(action)
        return obs, reward, terminated, truncated or self.step_idx >= 5, info


# ---------------------------------------------------------------------- seeding


@fails("same_seed", "two environments reset with seed 42 begin differently: entry 12 is")
class EachDifferent(Flight4DEnv):
    made = count()

    def __init__(self, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(**kwargs)
        self.number = next(self.made)

    def _obs(self) -> np.ndarray:
        obs = super()._obs()
        obs[12] = 1.0 / (1 + self.number)
        return obs


@fails("different_seeds", "seeds 1 and 2 give the same first observation")
class CoarseSeeds(Flight4DEnv):
    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:  # noqa: ANN401
        return super().reset(seed=None if seed is None else seed // 10)


@fails("same_trajectory", "two environments give different rewards, ")
class MoodyReward(Flight4DEnv):
    steps_flown = count()

    def _severity(self) -> float:
        return super()._severity() + (next(self.steps_flown) if self.step_idx >= 5 else 0)


@fails("same_trajectory", "two environments observe differently: entry 12 is")
class MoodyLater(EachDifferent):
    def _obs(self) -> np.ndarray:
        return super()._obs() if self.step_idx >= 3 else Flight4DEnv._obs(self)


@fails("no_carry_over", "begins differently after 15 steps of an earlier episode")
class Remembers(Flight4DEnv):
    steps_before = 0

    def reset(self, **kwargs: Any) -> Any:  # noqa: ANN401
        obs, info = super().reset(**kwargs)
        if self.steps_before >= 10:
            obs[12] = 0.5
        return obs, info

    def step(self, action: int) -> Any:  # noqa: ANN401
        answer = super().step(action)
        self.steps_before = self.step_idx
        return answer


# ---------------------------------------------------------------------- the mask


@fails("mask_shape", "must be bool, after 0 idle steps from seed 5 it is uint8")
class NumberMask(Flight4DEnv):
    def action_masks(self) -> np.ndarray:
        return super().action_masks().astype(np.uint8)


@fails("mask_shape", "must have the shape (36,), after 0 idle steps from seed 5 it has (35,)")
class ShortMask(Remembering):
    def action_masks(self) -> np.ndarray:
        return super().action_masks()[: 35 if self.seed == 5 else 36]

    def _obs(self) -> np.ndarray:
        return np.zeros(103, np.float32) if self.seed == 5 else super()._obs()


@fails("mask_shape", "must allow something, after 0 idle steps from seed 5 it allows nothing")
class EmptyMask(Remembering):
    def action_masks(self) -> np.ndarray:
        return super().action_masks() & (self.seed != 5)


@fails("mask_shape", "always allow action 0, idle; after 3 idle steps from seed 5 it does not")
class NeverIdle(Remembering):
    def action_masks(self) -> np.ndarray:
        mask = super().action_masks()
        mask[0] = self.step_idx < 3 or self.seed != 5
        return mask


@fails("mask_in_observation", "it has 1 for action 3, action_masks() has False")
class AllLegalItSays(Flight4DEnv):
    def _obs(self) -> np.ndarray:
        obs = super()._obs()
        obs[self.mask_offset :] = 1.0
        return obs


@fails("mask_in_observation", "must be 0 and 1, after 0 legal steps from seed 2 it has -1")
class SignedMask(Flight4DEnv):
    def _obs(self) -> np.ndarray:
        obs = super()._obs()
        obs[self.mask_offset :] = 2.0 * obs[self.mask_offset :] - 1.0
        return obs


@fails("masked_action", "it from 0 to 0")
class Indulgent(Flight4DEnv):
    def step(self, action: int) -> Any:  # noqa: ANN401
        return super().step(action if self.action_masks()[action] else 0)


@fails("masked_action", "info['clearances'] is 1, want 0")
class FliesWhatIsMasked(Flight4DEnv):
    def _info(self) -> dict[str, Any]:
        return super()._info() | {"clearances": self.n_clearances + self.n_invalids}


@fails("masked_action", "the info that step() returns has no 'invalids'")
class NeverCountsInvalids(Flight4DEnv):
    def _info(self) -> dict[str, Any]:
        info = super()._info()
        del info["invalids"]
        return info


# ---------------------------------------------------------------------- the scored figures


def _without(key: str, after: str) -> type[Flight4DEnv]:
    class Silent(Flight4DEnv):
        def _info(self) -> dict[str, Any]:
            info = super()._info()
            if after == ("step" if self.step_idx else "reset") and self.np_random_seed == 0:
                del info[key]
            return info

    Silent.__name__ = f"SilentOn_{key}_after_{after}"
    return Silent


for key in SCORED_KEYS:
    for after in ("reset", "step"):
        fails(f"info_{key}", f"the info that {after}() returns has no {key!r}")(
            _without(key, after)
        )


def _with(**figures: Any) -> type[Flight4DEnv]:  # noqa: ANN401
    class Wrong(Flight4DEnv):
        def _info(self) -> dict[str, Any]:
            return super()._info() | figures

    Wrong.__name__ = f"Says_{figures}"
    return Wrong


fails("kpi_kinds", "'congestion_events'] must be a whole number of at least 0, it is 0.5")(
    _with(congestion_events=0.5)
)
fails("kpi_kinds", "'aircraft_involved'] must be a whole number of at least 0, it is -1")(
    _with(aircraft_involved=-1)
)
fails("kpi_kinds", "'congestion_total'] must be a whole number of at least 0, it is None")(
    _with(congestion_total=None)
)
fails("kpi_kinds", "'exit_miss'] must be a finite number of at least 0, it is inf")(
    _with(exit_miss=float("inf"))
)
fails("kpi_kinds", "'exit_miss'] must be a finite number of at least 0, it is -0.1")(
    _with(exit_miss=-0.1)
)


@fails("kpi_kinds", "ValueError: The truth value of an array")
class CollidedEach(Flight4DEnv):
    def _info(self) -> dict[str, Any]:
        collided = np.zeros(5) if self.np_random_seed == 0 else self.collided
        return super()._info() | {"collided": collided}


@fails("kpi_monotonic", "info['clearances'] counts over the episode and must not go down; in step")
class Forgets(Flight4DEnv):
    def _info(self) -> dict[str, Any]:
        return super()._info() | {"clearances": self.n_clearances % 3}


@pytest.mark.parametrize(("check", "env", "line"), BROKEN, ids=lambda p: getattr(p, "__name__", ""))
def test_a_broken_environment_fails_exactly_there(
    check: str, env: type[Flight4DEnv], line: str
) -> None:
    report = run(env)
    failure = report.failure
    assert failure is not None
    assert failure.name == check, failure
    assert line in failure.line
    assert "\n" not in failure.line
    assert not report.passed
    assert [c.name for c in report.checks] == list(CHECKS)[: len(report.checks)]
    assert [c.passed for c in report.checks] == [True] * (len(report.checks) - 1) + [False]


def test_every_check_is_failed_by_something() -> None:
    assert {check for check, _, _ in BROKEN} == set(CHECKS)


# ---------------------------------------------------------------------- what the team's code raises


def _first_line(make_env: Callable[..., gymnasium.Env]) -> str:
    failure = run(make_env).failure
    assert failure is not None
    return failure.line


def test_an_exception_is_told_with_the_last_place_in_the_team_s_own_file() -> None:
    class Divides(Flight4DEnv):
        def _severity(self) -> float:
            return 1 / 0

    line = _first_line(Divides)
    assert line.startswith("ZeroDivisionError: division by zero (tests/test_contract.py:")
    assert line.endswith(" in _severity)")


def test_an_exception_inside_a_library_is_told_with_who_called_it() -> None:
    class Concatenates(Flight4DEnv):
        def _obs(self) -> np.ndarray:
            return np.concatenate([super()._obs(), np.zeros((1, 1))])

    line = _first_line(Concatenates)
    assert line.startswith("ValueError: all the input array")
    assert line.endswith(" in _obs)")


def test_one_that_asserts_is_told_by_its_own_words_and_place() -> None:
    class Asserts(Flight4DEnv):
        def step(self, action: int) -> Any:  # noqa: ANN401
            raise AssertionError("only idle\nis implemented")

    line = _first_line(Asserts)
    assert line.startswith("AssertionError: only idle is implemented (tests/test_contract.py:")


def test_one_that_cannot_be_made_so_is_told_why() -> None:
    class Fixed(Flight4DEnv):
        def __init__(self) -> None:
            super().__init__()

    assert "unexpected keyword argument 'n_flights'" in _first_line(Fixed)


def test_one_that_ends_the_program_only_fails() -> None:
    class Exits(Flight4DEnv):
        def reset(self, **kwargs: Any) -> Any:  # noqa: ANN401
            raise SystemExit(3)

    assert _first_line(Exits).startswith("SystemExit: 3 (tests/test_contract.py:")


def test_a_long_message_is_cut() -> None:
    class Wordy(Flight4DEnv):
        def _info(self) -> dict[str, Any]:
            raise RuntimeError("word " * 1_000)

    assert len(_first_line(Wordy)) < 400
