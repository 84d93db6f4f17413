"""The shared library with the simulators: finding it, loading it, what its answers mean.

`lib()` is the library of this process. The header skyrail.h says what its functions do. They are
called through ctypes without argument types, which is twice as fast, so that arguments must be of
the right kind: `c_int64` for 64-bit integers, plain ints for 32-bit ones, addresses as `c_void_p`.

A process that forks leaves the library unusable in the child, since only one of its threads is
there. The child therefore loads a copy of its own, and environments made before the fork refuse to
work in it with a `StaleError`.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import struct
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ._errors import ClosedError, FaultError, LibraryError, ResetNeededError, StaleError

ABI = 1

LIBRARY_NAME = {"darwin": "libskyrail.dylib", "win32": "libskyrail.dll"}.get(
    sys.platform, "libskyrail.so"
)


class TooSmallError(FaultError):
    """There is no room for what is to be written: another thread has changed what it takes."""


_EXCEPTIONS: dict[int, type[Exception]] = {
    -1: ClosedError,
    -2: ValueError,
    -3: ValueError,
    -4: ResetNeededError,
    -5: TooSmallError,
    -6: FaultError,
    -7: MemoryError,
}


class _Functions:
    """Says of a function that a library lacks what that means."""

    _name: str

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - a function of ctypes
        try:
            return super().__getattr__(name)  # type: ignore[misc]
        except AttributeError:
            if not name.startswith("skyrail_"):
                raise
            raise LibraryError(
                f"{self._name} has no {name}: it is not of the same version as this package, "
                "install both together"
            ) from None


class _Fast(_Functions, ctypes.PyDLL):
    pass


class _Free(_Functions, ctypes.CDLL):
    pass


class Library:
    """The loaded library. `free` lets other Python threads run during a call, `fast` does not."""

    def __init__(self, path: Path | str) -> None:
        _check_whole(Path(path))
        try:
            self.fast = _Fast(str(path))
            self.free = _Free(str(path))
        except OSError as error:
            raise LibraryError(f"cannot load {path}: {error}") from error
        abi = self.fast.skyrail_abi
        text = self.fast.skyrail_error
        if abi() != ABI:
            raise LibraryError(
                f"{path} has version {abi()} of the interface, this package needs {ABI}: "
                "install both together"
            )
        text.restype = ctypes.c_char_p
        self._error = text
        self.fast.skyrail_handles.restype = ctypes.c_int64

    def handles(self) -> int:
        """How many environments are open in this process."""
        return int(self.fast.skyrail_handles())

    def long(self, name: str) -> Callable[..., int]:
        """A function that returns a 64-bit integer; others return 32 bits."""
        function = getattr(self.free, name)
        function.restype = ctypes.c_int64
        return function

    def exception(self, code: int) -> Exception:
        """What a negative answer means; to be asked for in the thread that got it."""
        text = self._error().decode("utf-8", "replace")
        return _EXCEPTIONS.get(code, FaultError)(text)

    def checked(self, answer: int) -> int:
        """The answer, unless it is an error, which is raised."""
        if answer < 0:
            raise self.exception(answer)
        return answer


def _check_whole(path: Path) -> None:
    """Refuse an ELF file whose end is missing, which would end the process when it is loaded."""
    with contextlib.suppress(OSError), path.open("rb") as file:
        header = file.read(64)
        if len(header) == 64 and header.startswith(b"\x7fELF\x02\x01"):
            # The section headers are the last thing in it: where, how large each, how many.
            offset, size, count = struct.unpack_from("<40xQ10xHH", header)
            if path.stat().st_size < offset + size * count:
                raise LibraryError(f"cannot load {path}: its end is missing, install it again")


def find() -> Path:
    """Where the library is: $SKYRAIL_LIBRARY, or beside this file."""
    given = os.environ.get("SKYRAIL_LIBRARY")
    path = Path(given).resolve() if given else Path(__file__).resolve().parent / LIBRARY_NAME
    if not path.is_file():
        raise LibraryError(
            f"there is no {path}: "
            + (
                "SKYRAIL_LIBRARY names no file"
                if given
                else "`pip install ./python` in a checkout of Skyrail builds and installs it"
            )
        )
    return path


# Held over a fork, so that no child is made while another thread loads. The thread that loads can
# come here again, in the handler of a signal, and can fork there.
_lock = threading.RLock()
_library: Library | None = None
_began = False  # to load it, in this process or in an ancestor
_forked = False  # an ancestor of this process had begun to load it


def lib() -> Library:
    """The library, loaded when this is first called."""
    global _library, _began
    if _library is None:
        with _lock:
            while _library is None:
                process, _began = os.getpid(), True
                library = _load_copy(find()) if _forked else Library(find())
                if _library is None and process == os.getpid():
                    _library = library
    return _library


def _load_copy(path: Path) -> Library:
    """Load a copy under another name: the loader would give back what the parent has loaded."""
    if hasattr(os, "memfd_create"):
        with contextlib.suppress(OSError, LibraryError):
            return _load_from_memory(path)
    handle, name = tempfile.mkstemp(suffix=path.suffix)
    os.close(handle)
    try:
        shutil.copyfile(path, name)
        return Library(name)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(name)


def _load_from_memory(path: Path) -> Library:
    descriptor = os.memfd_create(path.name)
    try:
        with open(descriptor, "wb", closefd=False) as copy:
            copy.write(path.read_bytes())
        # By a name that no ancestor has used: the loader compares names.
        return Library(f"/proc/{os.getpid()}/fd/{descriptor}")
    finally:
        os.close(descriptor)


class Native:
    """One object of the library, given back when it is closed or no longer referred to.

    `handle` goes into calls. `fast` is the function that is called most, and raises once the object
    is closed or was left behind by a fork; everything else goes through `call`. quick[0] is the
    place for something quicker, which then is refused likewise; until then it answers None.
    """

    __slots__ = (
        "__weakref__",
        "_dead",
        "_finalizer",
        "_kind",
        "fast",
        "handle",
        "lib",
        "number",
        "quick",
    )

    def __init__(self, kind: str, handle: int, library: Library, fast: str) -> None:
        self._kind = kind
        self._dead: tuple[type[Exception], str] | None = None
        self.lib = library
        self.number = handle
        self.handle = ctypes.c_int64.from_param(handle)  # what ctypes would make of it in each call
        self.fast: Callable[..., int] = getattr(library.fast, f"skyrail_{kind}_{fast}")
        self.quick: list[Callable[..., Any]] = [_nothing]
        destroy = getattr(library.free, f"skyrail_{kind}_destroy")
        self._finalizer = weakref.finalize(self, _destroy, destroy, self.handle, os.getpid())
        self._finalizer.atexit = False  # the process takes everything with it
        _natives.add(self)

    def call(self, name: str, *arguments: Any) -> int:  # noqa: ANN401 - what ctypes takes
        """Call a function on the object, without the lock of the interpreter; raise its error."""
        if self._dead is not None:
            self._refuse()
        function = getattr(self.lib.free, f"skyrail_{self._kind}_{name}")
        return self.lib.checked(function(self.handle, *arguments))

    def long(self, name: str, *arguments: Any) -> int:  # noqa: ANN401 - what ctypes takes
        """As call, for a function that returns 64 bits."""
        if self._dead is not None:
            self._refuse()
        function = self.lib.long(f"skyrail_{self._kind}_{name}")
        return self.lib.checked(function(self.handle, *arguments))

    def alive(self) -> None:
        """Raise what every call would if the object is closed or was left behind by a fork."""
        if self._dead is not None:
            self._refuse()

    def close(self) -> None:
        """Give the object back. Closing again does nothing."""
        self._finalizer()
        self._kill(ClosedError, f"the {self._noun} is closed; make a new one")

    def _kill(self, error: type[Exception], why: str) -> None:
        if self._dead is None:
            self._dead = error, why
        self.fast = self.quick[0] = self._refuse

    def _refuse(self, *_: object) -> NoReturn:
        error, why = self._dead or (ClosedError, f"the {self._noun} is closed")
        raise error(why)

    @property
    def _noun(self) -> str:
        return "environment" if self._kind in ("flight", "rail") else "policy"


def _nothing(*_: object) -> None:
    return None


def _destroy(destroy: Callable[..., int], handle: object, process: int) -> None:
    if os.getpid() == process:
        destroy(handle)


_natives: weakref.WeakSet[Native] = weakref.WeakSet()


def _after_fork() -> None:
    """In the child: what the parent has loaded is of no use."""
    global _library, _forked, _lock
    _lock = threading.RLock()
    _library, _forked = None, _began
    for native in list(_natives):
        native._finalizer.detach()
        native._kill(
            StaleError,
            f"this {native._noun} was made before the process was forked: make it in the child, or "
            "hand it over pickled, as the start methods spawn and forkserver do",
        )


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=lambda: _lock.acquire(),
        after_in_parent=lambda: _lock.release(),
        after_in_child=_after_fork,
    )


def address(array: NDArray[Any] | None) -> ctypes.c_void_p:
    """Where a contiguous array begins; NULL for None. The caller keeps the array alive."""
    if array is None:
        return ctypes.c_void_p(None)
    if not array.flags.c_contiguous:
        raise ValueError("the array is not contiguous")
    return ctypes.c_void_p(array.ctypes.data)


def integers(
    values: Any,  # noqa: ANN401 - whatever a caller has
    shape: tuple[int, ...],
    what: str,
) -> NDArray[np.int64]:
    """Values as a contiguous array of int64 of this shape. TypeError unless they are integers."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{what} must have the shape {shape}: {error}") from None
    if array.dtype.kind not in "iu" and not isinstance(values, np.ndarray):
        exact = np.asarray(values, object)  # what is too large for NumPy is still an integer
        if exact.size and all(type(v) is int for v in exact.flat):
            raise ValueError(f"{what} are too large, or too far below 0")
    if array.dtype.kind not in "iu":
        raise TypeError(f"{what} must be integers, not {array.dtype}")
    if array.shape != shape:
        raise ValueError(f"{what} have the shape {array.shape}, not {shape}")
    if array.dtype == np.uint64 and array.size and array.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{what} are too large: {array.max()}")
    return np.ascontiguousarray(array, np.int64)
