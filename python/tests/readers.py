"""Two threads that read the same thing at the same time."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any


def read_by_two(make: Callable[[], Any], check: Callable[[Any], None], rounds: int = 300) -> None:
    """Have two threads check what is made, in every round another; raise what they raise."""
    failures: list[BaseException] = []

    def read(made: Any, start: threading.Barrier) -> None:  # noqa: ANN401 - whatever is made
        try:
            start.wait()
            check(made)
        except BaseException as error:
            failures.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(rounds):
            shared = make(), threading.Barrier(2)
            threads = [threading.Thread(target=read, args=shared) for _ in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    finally:
        sys.setswitchinterval(interval)
    if failures:
        raise failures[0]
