"""The shared library and Python's side of it: what cannot be loaded, forks, signals, objects."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from skyrail import ClosedError, _native
from skyrail.planner import RailPolicy
from skyrail.rail import RailParallelEnv

TRY = """
from skyrail import LibraryError
from skyrail.flight import Flight4DEnv
try:
    Flight4DEnv()
except LibraryError as error:
    print(error)
"""


def run(script: str, **variables: str) -> str:
    """What a fresh interpreter prints, which must end well within a minute."""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


# ---------------------------------------------------------------------- what cannot be loaded


@pytest.mark.parametrize("share", [0.0, 0.02, 0.6, 0.999])
def test_a_library_that_was_cut_off_is_refused(share: float, tmp_path: Path) -> None:
    whole = _native.find().read_bytes()
    cut = tmp_path / "libskyrail.so"
    cut.write_bytes(whole[: int(share * len(whole))])
    said = run(TRY, SKYRAIL_LIBRARY=str(cut))
    assert said.startswith(f"cannot load {cut}: ")


def test_a_file_that_is_no_library_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("not a library, and longer than the header of one would have to be\n" * 2)
    assert run(TRY, SKYRAIL_LIBRARY=str(other)).startswith(f"cannot load {other}: ")


@pytest.mark.parametrize(
    ("source", "about"),
    [
        ("int other(void) { return 0; }", "has no skyrail_abi"),
        (
            "int skyrail_abi(void) { return 77; } char *skyrail_error(void) { return 0; }",
            "has version 77",
        ),
        (
            f"int skyrail_abi(void) {{ return {_native.ABI}; }} "
            "char *skyrail_error(void) { return 0; } long long skyrail_handles(void) { return 0; }",
            "has no skyrail_flight_create",
        ),
    ],
)
def test_a_library_of_another_version_is_refused(source: str, about: str, tmp_path: Path) -> None:
    code, library = tmp_path / "other.c", tmp_path / "other.so"
    code.write_text(source)
    compiler = os.environ.get("CC", "cc")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, code], check=True)
    said = run(TRY, SKYRAIL_LIBRARY=str(library))
    assert said.startswith(f"{library} has ")
    assert about in said
    assert "install both together" in said


def test_a_library_that_is_not_there_is_refused(tmp_path: Path) -> None:
    said = run(TRY, SKYRAIL_LIBRARY=str(tmp_path / "none.so"))
    assert said == f"there is no {tmp_path}/none.so: SKYRAIL_LIBRARY names no file\n"


# ---------------------------------------------------------------------- while it is loaded

SLOW = """
import os, signal, threading
from skyrail import _native
from skyrail.flight import FlightVectorEnv

def fly():
    env = FlightVectorEnv(256, threads=2)
    env.reset(seed=5)
    for _ in range(20):
        env.step([0] * 256)
    env.close()

def in_a_child():
    pid = os.fork()
    if pid == 0:
        signal.alarm(30)  # a hang is a failure
        try:
            fly()
        except BaseException:
            os._exit(1)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0

load = _native.Library.__init__
"""


def test_a_fork_while_another_thread_loads() -> None:
    run(
        SLOW
        + """
loading, go_on = threading.Event(), threading.Event()
def slowly(library, path):
    _native.Library.__init__ = load
    load(library, path)
    loading.set()
    go_on.wait(0.3)
_native.Library.__init__ = slowly
other = threading.Thread(target=fly)
other.start()
loading.wait()
in_a_child()
other.join()
assert _native.lib().handles() == 0
"""
    )


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("handler", ["fly", "in_a_child"])
def test_a_signal_in_the_middle_of_loading(handler: str, moment: str) -> None:
    run(
        SLOW
        + f"""
signal.signal(signal.SIGUSR1, lambda *_: {handler}())
def interrupted(library, path):
    _native.Library.__init__ = load
    if "{moment}" == "after":
        load(library, path)
    signal.raise_signal(signal.SIGUSR1)
    if "{moment}" == "before":
        load(library, path)
_native.Library.__init__ = interrupted
fly()
assert _native.lib() is _native.lib()
"""
    )


def test_the_child_of_a_fork_in_the_middle_of_loading_goes_on() -> None:
    run(
        SLOW
        + """
def forked(library, path):
    global child
    _native.Library.__init__ = load
    load(library, path)
    child = os.fork()
    if child == 0:
        signal.alarm(30)
_native.Library.__init__ = forked
fly()
if child:
    assert os.waitpid(child, 0)[1] == 0
"""
    )


# ---------------------------------------------------------------------- objects


def test_an_object_is_called_by_its_name() -> None:
    policy = RailPolicy("forward")
    env = RailParallelEnv.generate(seed=1, n_agents=2, x_dim=30, y_dim=30, n_cities=2)
    policy.close()
    with pytest.raises(ClosedError, match="the policy is closed"):
        policy.act(env)
    env.close()
    with pytest.raises(ClosedError, match="the environment is closed"):
        env.save()
    said = run(
        """
import os
from skyrail import StaleError
from skyrail.flight import Flight4DEnv
from skyrail.planner import FlightPolicy
policy = FlightPolicy("noop")
if os.fork() == 0:
    env = Flight4DEnv()
    env.reset(seed=1)
    try:
        policy.act(env)
    except StaleError as error:
        print(error)
else:
    os.wait()
"""
    )
    assert said.startswith("this policy was made before the process was forked")


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, np.array])
def test_a_state_may_be_any_kind_of_bytes(kind: type) -> None:
    env = RailParallelEnv.generate(seed=1, n_agents=2, x_dim=30, y_dim=30, n_cities=2)
    env.reset(seed=1)
    state = env.save()
    for _ in range(3):
        env.step({agent: 2 for agent in env.agents})
    given = np.frombuffer(state, np.uint8) if kind is np.array else kind(state)
    env.load(given)
    assert env.save() == state


@pytest.mark.parametrize("state", ["text", None, 5, ["a"]])
def test_a_state_must_be_bytes(state: object) -> None:
    env = RailParallelEnv.generate(seed=1, n_agents=2, x_dim=30, y_dim=30, n_cities=2)
    with pytest.raises(TypeError, match=r"the state is a .*, it must be bytes"):
        env._railways.load(0, state)  # type: ignore[arg-type]


def test_saving_while_another_thread_resets() -> None:
    env = RailParallelEnv.generate(seed=1, n_agents=2, x_dim=30, y_dim=30, n_cities=2)
    small = env.save()
    for _ in range(40):
        env.step({agent: 2 for agent in env.agents})
    large = env.save()
    assert len(large) != len(small)
    over = threading.Event()
    saved: list[bytes] = []
    failures: list[BaseException] = []

    def save() -> None:
        try:
            while not over.is_set():
                saved.append(env.save())
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=save)
    thread.start()
    for _ in range(2000):
        env._railways.load(0, small)
        env._railways.load(0, large)
    over.set()
    thread.join()
    assert failures == []
    assert set(saved) <= {small, large}


# ---------------------------------------------------------------------- memory

LIMITED = """
import copy
import resource
from pathlib import Path
from skyrail.flight import Flight4DEnv, FlightVectorEnv
from skyrail.planner import FlightPolicy, demonstrations
from skyrail.rail import RailParallelEnv, RailVectorEnv

def copies(env):
    return [copy.copy(env) for _ in range(1000)]

Flight4DEnv()
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + {mib} * 2**20,) * 2)
try:
    made = {made}
except MemoryError as error:
    print(error)
env = FlightVectorEnv(8)
env.reset(seed=1)
env.step([0] * 8)
"""


@pytest.mark.parametrize("mib", [300, 1000, 3000])
@pytest.mark.parametrize(
    "made",
    [
        "FlightVectorEnv(2**20, n_flights=64)",
        "FlightVectorEnv(2**20)",
        "demonstrations('planner', 2**20, num_envs=2**20)",
        "RailVectorEnv.generate(2**19, seed=1, n_agents=20, x_dim=40, y_dim=40, n_cities=3)",
        "RailVectorEnv.of([RailParallelEnv.generate(seed=1, n_agents=20, n_cities=2)] * 2**19)",
        "copies(RailVectorEnv.generate(500, seed=1, n_agents=5, n_cities=2))",
    ],
)
def test_too_many_environments_are_a_memory_error(made: str, mib: int) -> None:
    said = run(LIMITED.format(mib=mib, made=made))
    assert said.startswith("this needs about "), said
