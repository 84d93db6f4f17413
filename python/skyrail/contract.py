"""The contract suite: 24 checks that an environment must pass before a policy is flown with it.

    report = run(lambda **kwargs: MyFlightEnv(**kwargs))
    print(report.failure or "all passed")

They ask only what scoring needs: spaces, seeding, endings, the mask and the scored figures. What
an observation means, how the reward is made and what a clearance does is the team's own business.
"""

from __future__ import annotations

import math
import sysconfig
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from numpy.typing import NDArray

FEATURES_PER_AIRCRAFT, GLOBAL_FEATURES = 13, 2

COUNTS = ("congestion_events", "congestion_total", "clearances", "invalids", "aircraft_involved")
SCORED_KEYS = (*COUNTS, "collided", "exit_miss")
CUMULATIVE_KEYS = ("clearances", "invalids", "congestion_total")

SCENARIO = {"n_flights": 5, "max_steps": 50}

MakeEnv = Callable[..., gymnasium.Env]


@dataclass(frozen=True)
class Check:
    """How one check went. `line` says why it failed, or what a pass does not cover; one line."""

    name: str
    passed: bool
    line: str = ""


@dataclass
class Report:
    """The checks that were made, in order, up to and with the first that failed."""

    checks: list[Check] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return self.failure is None

    @property
    def failure(self) -> Check | None:
        """The check that failed."""
        return next((check for check in self.checks if not check.passed), None)


class Unmet(Exception):
    """What a check asks for is not so; the message says what is instead."""


def run(make_env: MakeEnv) -> Report:
    """Make the checks, stopping at the first that fails.

    make_env(**kwargs) makes a fresh environment; it gets n_flights=5 and max_steps, 50 or fewer.
    Whatever the environment raises, SystemExit included, is a failure of the check that met it.
    """
    report = Report()
    make_scenario = partial(_make, make_env)
    for name, check in CHECKS.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                note = check(make_scenario)
        except Unmet as unmet:
            report.checks.append(Check(name, False, _one_line(str(unmet))))
            break
        except (Exception, SystemExit) as error:
            report.checks.append(Check(name, False, _blame(error)))
            break
        report.checks.append(Check(name, True, note or ""))
    return report


# ---------------------------------------------------------------------- the spaces


def gymnasium_checker(make: MakeEnv) -> None:
    try:
        check_env(make(), skip_render_check=True)
    except AssertionError as complaint:
        # Gymnasium does not show the values; the checks that come after do.
        for check in (reset_returns, step_returns):
            try:
                check(make)
            except Unmet as found:
                raise Unmet(f"{str(complaint).splitlines()[0]} ({found})") from None
        raise


def action_space(make: MakeEnv) -> None:
    space = make().action_space
    if not isinstance(space, spaces.Discrete):
        raise Unmet(f"action_space must be one flat Discrete, it is {space}")
    if not space.n > 1:
        raise Unmet(f"action_space must offer more than one action, it is {space}")


def observation_space(make: MakeEnv) -> None:
    space = make().observation_space
    if not isinstance(space, spaces.Box):
        raise Unmet(f"observation_space must be a Box, it is {space}")
    if len(space.shape) != 1:
        raise Unmet(f"observation_space must have one dimension, its shape is {space.shape}")
    if space.dtype != np.float32:
        raise Unmet(f"observation_space must be float32, its dtype is {space.dtype}")
    if not (np.isfinite(space.low).all() and np.isfinite(space.high).all()):
        low, high = space.low.min(), space.high.max()
        raise Unmet(f"observation_space must have finite bounds, they reach from {low} to {high}")


def mask_offset(make: MakeEnv) -> None:
    env = make()
    offset = _mask_offset(env)
    length, actions = env.observation_space.shape[0], int(env.action_space.n)
    if offset <= 0:
        raise Unmet(f"there must be features before the mask, which begins at {offset}")
    if offset + actions != length:
        raise Unmet(
            f"the mask must be the end of the observation: it begins at {offset} and has "
            f"{actions} entries, the observation has {length}"
        )
    want = FEATURES_PER_AIRCRAFT * env.n_flights + GLOBAL_FEATURES
    if offset != want:
        raise Unmet(
            f"the mask must begin at {want}, after {FEATURES_PER_AIRCRAFT} features of each of "
            f"{env.n_flights} aircraft and {GLOBAL_FEATURES} more; it begins at {offset}"
        )


# ---------------------------------------------------------------------- reset and step


def reset_returns(make: MakeEnv) -> None:
    env = make()
    answer = env.reset(seed=0)
    if not (isinstance(answer, tuple) and len(answer) == 2):
        raise Unmet(f"reset() must return (observation, info), it returned {_kind(answer)}")
    observation, info = answer
    _must_be_in_space(env, observation, "after reset(seed=0)")
    if not isinstance(info, dict):
        raise Unmet(f"the info that reset() returns must be a dict, it is {_kind(info)}")


def step_returns(make: MakeEnv) -> None:
    env = make()
    env.reset(seed=0)
    answer = env.step(0)
    if not (isinstance(answer, tuple) and len(answer) == 5):
        raise Unmet(
            "step() must return (observation, reward, terminated, truncated, info), it returned "
            f"{_kind(answer)}"
        )
    observation, reward, terminated, truncated, info = answer
    _must_be_in_space(env, observation, "after reset(seed=0) and step(0)")
    if not (np.isscalar(reward) and np.isfinite(float(reward))):
        raise Unmet(f"the reward must be one finite number, it is {reward!r}")
    for name, value in (("terminated", terminated), ("truncated", truncated)):
        if not isinstance(value, bool):
            raise Unmet(f"{name} must be a bool, it is {_kind(value)}; bool(...) makes it one")
    if not isinstance(info, dict):
        raise Unmet(f"the info that step() returns must be a dict, it is {_kind(info)}")


def random_play(make: MakeEnv) -> None:
    env = make()
    env.reset(seed=1)
    rng = np.random.default_rng(1)
    for step in range(1, 201):
        observation, _, terminated, truncated, _ = env.step(_legal_action(env, rng))
        _must_be_in_space(env, observation, f"in step {step} of random legal play from seed 1")
        if terminated or truncated:
            env.reset()


def horizon(make: MakeEnv) -> None:
    # Several seeds, since idling ends in a mid-air on some of them, which shows nothing.
    env = make(max_steps=10)
    for seed in range(3, 11):
        _ends_in_time(env, seed)


def _ends_in_time(env: gymnasium.Env, seed: int, steps: int = 10) -> None:
    env.reset(seed=seed)
    for step in range(1, steps + 1):
        *_, terminated, truncated, info = env.step(0)
        if step < steps and (terminated or truncated):
            if not (terminated and _figure(info, "collided")):
                raise Unmet(
                    f"an idle episode of max_steps={steps} from seed {seed} ended in step {step} "
                    f"with terminated={terminated}, truncated={truncated}, "
                    f"collided={info['collided']}; only a mid-air may end it early"
                )
            return
    if not (terminated or truncated):
        raise Unmet(
            f"an idle episode must end within max_steps={steps}; from seed {seed} it goes on "
            f"after {steps}"
        )


# ---------------------------------------------------------------------- seeding


def same_seed(make: MakeEnv) -> None:
    first, second = (make().reset(seed=42)[0] for _ in range(2))
    _must_be_equal(first, second, "two environments reset with seed 42 begin differently")


def different_seeds(make: MakeEnv) -> None:
    first, second = (make().reset(seed=seed)[0] for seed in (1, 2))
    if np.array_equal(first, second):
        raise Unmet("seeds 1 and 2 give the same first observation; reset() must use its seed")


def same_trajectory(make: MakeEnv) -> None:
    flown = [_fly(make(), seed=7, steps=20) for _ in range(2)]
    for step, ((obs1, reward1), (obs2, reward2)) in enumerate(zip(*flown, strict=False)):
        where = f"after {step} steps of seed 7 with the same actions, two environments"
        _must_be_equal(obs1, obs2, f"{where} observe differently")
        if not np.array_equal(reward1, reward2):
            raise Unmet(f"{where} give different rewards, {float(reward1)} and {float(reward2)}")
    if len(flown[0]) != len(flown[1]):
        lengths = " and ".join(str(len(trajectory) - 1) for trajectory in flown)
        raise Unmet(f"two episodes of seed 7 with the same actions end after {lengths} steps")


def no_carry_over(make: MakeEnv) -> None:
    env = make()
    trajectory = _fly(env, seed=11, steps=15)
    again, _ = env.reset(seed=11)
    steps = len(trajectory) - 1
    _must_be_equal(
        trajectory[0][0],
        again,
        f"reset(seed=11) begins differently after {steps} steps of an earlier episode; something "
        "of it is left over",
    )


# ---------------------------------------------------------------------- the mask


def mask_shape(make: MakeEnv) -> None:
    env = make()
    env.reset(seed=5)
    n = int(env.action_space.n)
    for step in range(20):
        where = f"after {step} idle steps from seed 5"
        mask = np.asarray(env.action_masks())
        if mask.shape != (n,):
            raise Unmet(f"action_masks() must have the shape ({n},), {where} it has {mask.shape}")
        if mask.dtype != np.bool_:
            raise Unmet(f"action_masks() must be bool, {where} it is {mask.dtype}")
        if not mask.any():
            raise Unmet(f"action_masks() must allow something, {where} it allows nothing")
        if not mask[0]:
            raise Unmet(f"action_masks() must always allow action 0, idle; {where} it does not")
        _, _, terminated, truncated, _ = env.step(0)
        if terminated or truncated:
            return


def mask_in_observation(make: MakeEnv) -> None:
    env = make()
    observation, _ = env.reset(seed=2)
    rng = np.random.default_rng(2)
    for step in range(20):
        where = f"after {step} legal steps from seed 2"
        shown, mask = observation[_mask_offset(env) :], np.asarray(env.action_masks())
        others = shown[(shown != 0.0) & (shown != 1.0)]
        if others.size:
            raise Unmet(f"the mask in the observation must be 0 and 1, {where} it has {others[0]}")
        wrong = np.flatnonzero(shown.astype(bool) != mask)
        if wrong.size:
            action = wrong[0]
            raise Unmet(
                f"the observation must end with what action_masks() says; {where} it has "
                f"{shown[action]:g} for action {action}, action_masks() has {mask[action]}"
            )
        observation, _, terminated, truncated, _ = env.step(_legal_action(env, rng))
        if terminated or truncated:
            return


def masked_action(make: MakeEnv) -> str | None:
    env = make()
    env.reset(seed=4)
    masked = np.flatnonzero(~np.asarray(env.action_masks()))
    if not masked.size:
        return "after reset(seed=4) every action is legal, so none could be tried"
    action = int(masked[0])
    before = _figure(env.step(0)[4], "invalids")
    info = env.step(action)[4]
    after, clearances = _figure(info, "invalids"), _figure(info, "clearances")
    if after != before + 1:
        raise Unmet(
            f"an action that is masked must be counted in info['invalids']: action {action} took "
            f"it from {before} to {after}"
        )
    if clearances != 0:
        raise Unmet(
            f"an action that is masked must not be flown: after action {action} "
            f"info['clearances'] is {clearances}, want 0"
        )
    return None


# ---------------------------------------------------------------------- the scored figures


def info_key(key: str, make: MakeEnv) -> None:
    env = make()
    _, info = env.reset(seed=0)
    if key not in info:
        raise Unmet(f"the info that reset() returns has no {key!r}; scores are made of it")
    if key not in env.step(0)[4]:
        raise Unmet(f"the info that step() returns has no {key!r}; scores are made of it")


def kpi_kinds(make: MakeEnv) -> None:
    env = make()
    env.reset(seed=0)
    info = env.step(0)[4]
    for key in COUNTS:
        value = info[key]
        if not (_is_number(value) and int(value) == value and value >= 0):
            raise Unmet(f"info[{key!r}] must be a whole number of at least 0, it is {value!r}")
    bool(info["collided"])  # raises for an array of several
    miss = info["exit_miss"]
    if not (_is_number(miss) and miss >= 0.0):
        raise Unmet(f"info['exit_miss'] must be a finite number of at least 0, it is {miss!r}")


def kpi_monotonic(make: MakeEnv) -> None:
    env = make()
    env.reset(seed=6)
    rng = np.random.default_rng(6)
    last = dict.fromkeys(CUMULATIVE_KEYS, 0)
    for step in range(1, env.max_steps + 1):
        _, _, terminated, truncated, info = env.step(_legal_action(env, rng))
        for key, before in last.items():
            if info[key] < before:
                raise Unmet(
                    f"info[{key!r}] counts over the episode and must not go down; in step {step} "
                    f"of seed 6 it went from {before} to {info[key]}"
                )
            last[key] = info[key]
        if terminated or truncated:
            return


CHECKS: dict[str, Callable[[MakeEnv], str | None]] = {
    check.__name__: check
    for check in (
        gymnasium_checker,
        action_space,
        observation_space,
        mask_offset,
        reset_returns,
        step_returns,
        random_play,
        horizon,
        same_seed,
        different_seeds,
        same_trajectory,
        no_carry_over,
        mask_shape,
        mask_in_observation,
        masked_action,
    )
}
CHECKS |= {f"info_{key}": partial(info_key, key) for key in SCORED_KEYS}
CHECKS |= {check.__name__: check for check in (kpi_kinds, kpi_monotonic)}


# ---------------------------------------------------------------------- how checks look


def _make(make_env: MakeEnv, **overrides: int) -> gymnasium.Env:
    return make_env(**(SCENARIO | overrides))


def _mask_offset(env: gymnasium.Env) -> int:
    declared = getattr(env, "mask_offset", None)
    if declared is None:
        return int(env.observation_space.shape[0] - env.action_space.n)
    return int(declared)


def _legal_action(env: gymnasium.Env, rng: np.random.Generator) -> int:
    if not hasattr(env, "action_masks"):
        raise Unmet(f"{type(env).__name__} has no action_masks(), which says what is legal now")
    legal = np.flatnonzero(np.asarray(env.action_masks()))
    if not legal.size:
        raise Unmet("action_masks() allows nothing; action 0, idle, must always be legal")
    return int(rng.choice(legal))


def _fly(env: gymnasium.Env, seed: int, steps: int) -> list[tuple[NDArray[np.float32], Any]]:
    """Observation and reward of every step of random legal play; the first is the reset's."""
    observation, _ = env.reset(seed=seed)
    trajectory: list[tuple[NDArray[np.float32], Any]] = [(observation, 0.0)]
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        observation, reward, terminated, truncated, _ = env.step(_legal_action(env, rng))
        trajectory.append((observation, reward))
        if terminated or truncated:
            break
    return trajectory


def _must_be_in_space(env: gymnasium.Env, observation: Any, where: str) -> None:  # noqa: ANN401
    space = env.observation_space
    if observation in space:
        return
    if not isinstance(observation, np.ndarray):
        raise Unmet(f"the observation must be an array, {where} it is {_kind(observation)}")
    if observation.shape != space.shape or not np.can_cast(observation.dtype, space.dtype):
        raise Unmet(
            f"the observation must be {space.dtype} of shape {space.shape}, {where} it is "
            f"{observation.dtype} of shape {observation.shape}"
        )
    within = (observation >= space.low) & (observation <= space.high)
    raise Unmet(
        f"the observation left its space {where}: min {observation.min():g}, "
        f"max {observation.max():g}, entry {int(np.argmin(within))} is the first outside"
    )


def _must_be_equal(first: NDArray[Any], second: NDArray[Any], line: str) -> None:
    if np.array_equal(first, second):
        return
    if first.shape != second.shape:
        raise Unmet(f"{line}: shapes {first.shape} and {second.shape}")
    entry = int(np.argmax(first != second))
    raise Unmet(f"{line}: entry {entry} is {float(first[entry])} and {float(second[entry])}")


def _figure(info: dict[str, Any], key: str) -> Any:  # noqa: ANN401 - whatever the team put there
    if key not in info:
        raise Unmet(f"the info that step() returns has no {key!r}; scores are made of it")
    return info[key]


def _is_number(value: Any) -> bool:  # noqa: ANN401
    """Whether it is one finite number; NumPy's count too, and arrays without a dimension."""
    try:
        return np.ndim(value) == 0 and not isinstance(value, str) and math.isfinite(value)
    except (TypeError, ValueError):
        return False


def _kind(value: Any) -> str:  # noqa: ANN401
    name = type(value).__module__ + "." + type(value).__qualname__
    return name.removeprefix("builtins.") + (
        f" of {len(value)}" if isinstance(value, tuple | list) else ""
    )


# ---------------------------------------------------------------------- what the team's code raised

_OURS = [
    Path(__file__).resolve().parent,
    Path(gymnasium.__file__).resolve().parent,
    Path(np.__file__).resolve().parent,
    *(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "purelib", "platlib")),
]


def _blame(error: BaseException) -> str:
    """One line: the exception, and the last place in the team's own files that it passed."""
    message = str(error)
    places = [f for f in traceback.extract_tb(error.__traceback__) if _is_theirs(f.filename)]
    if isinstance(error, AssertionError) and message and not places:
        return _one_line(message)  # Gymnasium's checker found fault, and says so in words
    line = _one_line(type(error).__name__ + (f": {message}" if message else ""))
    if not places:
        return line
    file = "/".join(Path(places[-1].filename).parts[-2:])
    return f"{line} ({file}:{places[-1].lineno} in {places[-1].name})"


def _is_theirs(filename: str) -> bool:
    if filename.startswith("<"):  # code without a file
        return False
    file = Path(filename).resolve()
    return not any(file.is_relative_to(folder) for folder in _OURS)


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 300 else line[:297] + "..."
