"""What callers give, read in one way everywhere: numbers, seeds, masks, names, bytes.

What is of the wrong kind is a TypeError, what is out of range a ValueError; both name the argument.
NumPy's numbers are as good as Python's. True and False are no numbers.
"""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_ENVS = 2**20
MAX_THREADS = 2**31 - 1  # no more work than there are environments
LAST_SEED = 2**64 - 1


def whole(name: str, value: Any, low: int, high: int) -> int:  # noqa: ANN401 - whatever a caller has
    """A whole number within low..high, both included."""
    try:
        number = None if isinstance(value, bool | np.bool_) else operator.index(value)
    except TypeError:
        number = None
    if number is None:
        raise TypeError(f"{name} is {value!r}, it must be a whole number")
    if not low <= number <= high:
        raise ValueError(f"{name} is {shown(number)}, it must be within {low}..{high}")
    return number


def shown(value: object) -> str:
    """A value as errors show it; Python does not write out numbers of thousands of digits."""
    try:
        return repr(value)
    except ValueError:
        return "a number of thousands of digits"


def real(name: str, value: Any) -> float:  # noqa: ANN401 - whatever a caller has
    """A finite number."""
    try:
        finite = None if isinstance(value, bool | np.bool_) else math.isfinite(value)
    except TypeError:
        finite = None
    except OverflowError:  # a whole number that no float comes near
        finite = False
    if finite is None:
        raise TypeError(f"{name} is {value!r}, it must be a number")
    if not finite:
        raise ValueError(f"{name} is {shown(value)}, it must be a finite number")
    return float(value)


def one_seed(value: Any) -> int:  # noqa: ANN401 - whatever a caller has
    """The seed of one environment."""
    return whole("seed", value, 0, LAST_SEED)


def seeds_of(value: Any, envs: int) -> list[int | None]:  # noqa: ANN401 - whatever a caller has
    """A seed for each of so many environments; None for those that get none.

    From one seed s those are s, s + 1 and so on; a sequence has one, or None, for each.
    """
    several = value.ndim > 0 if isinstance(value, np.ndarray) else isinstance(value, Sequence)
    if not several or isinstance(value, str | bytes | bytearray):
        first = whole("seed", value, 0, LAST_SEED - envs + 1)
        return [first + i for i in range(envs)]
    if len(value) != envs:
        raise ValueError(f"{len(value)} seeds for {envs} environments")
    return [
        None if seed is None else whole(f"seed[{i}]", seed, 0, LAST_SEED)
        for i, seed in enumerate(value)
    ]


def reset_mask(options: dict[str, Any] | None, envs: int) -> NDArray[np.bool_] | None:
    """options["reset_mask"]: which of so many environments to reset. None if it is not there."""
    if options is not None and not isinstance(options, dict):
        raise TypeError(f"options are {options!r}, they must be a dict or None")
    mask = (options or {}).get("reset_mask")
    if mask is None:
        return None
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
        raise TypeError("options['reset_mask'] must be a NumPy array of bool")
    if mask.shape != (envs,):
        raise ValueError(f"options['reset_mask'] has the shape {mask.shape}, not ({envs},)")
    if not mask.any():
        raise ValueError("options['reset_mask'] chooses no environment")
    return mask.copy()


def one_of(name: str, value: Any, choices: Collection[str]) -> str:  # noqa: ANN401
    """A name that is one of some."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r}, it must be a string")
    if value not in choices:
        raise ValueError(f"{name} is {value!r}, it must be one of {', '.join(choices)}")
    return value


def flag(name: str, value: Any) -> bool:  # noqa: ANN401 - whatever a caller has
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} is {value!r}, it must be True or False")
    return bool(value)


def text(name: str, value: Any) -> str:  # noqa: ANN401 - whatever a caller has
    """A name or a path, which has no null character: that would end it in C."""
    try:
        given = os.fsdecode(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}, it must be a string or a path") from None
    if "\0" in given:
        raise ValueError(f"{name} is {value!r}, which has a null character in it")
    return given


def octets(name: str, value: Any) -> NDArray[np.uint8]:  # noqa: ANN401 - whatever a caller has
    """What bytes, a bytearray or another buffer holds. Not a copy, if it is contiguous."""
    try:
        view = memoryview(value)
    except TypeError:
        raise TypeError(f"{name} is a {type(value).__name__}, it must be bytes") from None
    return np.frombuffer(view if view.c_contiguous else view.tobytes(), np.uint8)
