"""A dict that is worked out when somebody looks at it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any


class LateDict(dict[str, Any]):
    """A dict in every way; only making it is cheap, for those that nobody looks at.

    `_raw` is what `_work_out` makes the items of, None once it has. What is there before `_raw` is
    set stays. One item should be: what reads a dict in C asks at first whether there is any.
    """

    __slots__ = ("_raw",)
    _raw: Any

    def _work_out(self, raw: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever a kind keeps
        raise NotImplementedError

    def _fill(self) -> None:
        raw = getattr(self, "_raw", None)
        if raw is None:
            return
        # Another thread may read, and work it out as well, at any moment.
        for key, value in self._work_out(raw).items():
            dict.setdefault(self, key, value)
        self._raw = None

    def __missing__(self, key: str) -> Any:  # noqa: ANN401 - a value
        self._fill()
        if not dict.__contains__(self, key):
            raise KeyError(key)
        return dict.__getitem__(self, key)

    def __eq__(self, other: object) -> bool:
        self._fill()
        if isinstance(other, LateDict):
            other._fill()
        return dict.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def __iter__(self) -> Iterator[str]:
        self._fill()
        return dict.__iter__(self)

    def __reduce__(self) -> tuple[Any, ...]:
        self._fill()
        return dict, (dict(self),)

    def __copy__(self) -> dict[str, Any]:
        return dict(self)

    copy = __copy__


def _filled(name: str) -> Callable[..., Any]:
    method = getattr(dict, name)

    def call(self: LateDict, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as dict's own
        self._fill()
        return method(self, *args, **kwargs)

    call.__name__ = name
    call.__doc__ = method.__doc__
    return call


for _name in (
    *("__contains__", "__delitem__", "__ge__", "__gt__", "__ior__", "__le__", "__len__", "__lt__"),
    *("__or__", "__repr__", "__reversed__", "__ror__", "__setitem__"),
    *("clear", "get", "items", "keys", "pop", "popitem", "setdefault", "update", "values"),
):
    setattr(LateDict, _name, _filled(_name))
