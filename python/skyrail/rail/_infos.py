"""The infos of a step, which are worked out when somebody looks at them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any

from ._core import INFO_BYTES, TrainState

_STATES = tuple(TrainState)


class Infos(dict[int, dict[str, Any]]):
    """A dict of infos by train; its keys are there from the start, the values when asked for.

    `_raw` holds what Railways.info was after the step, None once the values are there.
    """

    __slots__ = ("_raw",)

    _raw: bytes | None

    @classmethod
    def of(cls, blank: dict[int, Any], raw: bytes) -> Infos:
        infos = cls(blank)
        infos._raw = raw
        return infos

    def _fill(self) -> None:
        raw = getattr(self, "_raw", None)
        if raw is None:
            return
        n = len(raw) // INFO_BYTES
        told = struct.unpack(f"={n}d{n}i{n}b{n}?", raw)
        # Another thread may read, and fill it as well, at any moment.
        for train in list(dict.keys(self)):
            if dict.get(self, train) is None:
                info = {
                    "action_required": told[3 * n + train],
                    "malfunction": told[n + train],
                    "speed": told[train],
                    "state": _STATES[told[2 * n + train]],
                }
                dict.__setitem__(self, train, info)
        self._raw = None

    def __getitem__(self, train: int) -> dict[str, Any]:
        self._fill()
        return dict.__getitem__(self, train)

    def __iter__(self) -> Iterator[int]:
        # That there is one keeps dict(infos) and **infos from reading values that are not there.
        return dict.__iter__(self)

    def __reduce_ex__(self, _: Any) -> tuple[Any, ...]:  # noqa: ANN401 - as object has it
        return dict, (dict(self),)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Infos):
            other._fill()
        self._fill()
        return dict.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]


def _filled(name: str) -> Callable[..., Any]:
    plain = getattr(dict, name)

    def method(self: Infos, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as dict has it
        self._fill()
        return plain(self, *args, **kwargs)

    method.__name__, method.__doc__ = name, plain.__doc__
    return method


for _name in (
    *("get", "values", "items", "pop", "popitem", "setdefault", "update", "copy", "clear"),
    *("__setitem__", "__delitem__", "__repr__", "__or__", "__ror__", "__ior__"),
):
    setattr(Infos, _name, _filled(_name))
del _name
