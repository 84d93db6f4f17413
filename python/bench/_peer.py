"""What the benches beside flatland-rl share: both sides' processes on one core, and their answers.

A bench is a script that runs under this interpreter, and again, as the peer's process, under the
one that has flatland-rl. `bench` is the whole of it but for what is measured.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flatland.envs.rail_env import RailEnv

ROOT = Path(__file__).resolve().parents[2]
COMPETITION = "rail/railfile/testdata/files/v4/level_0_scenario_1.pkl.gz"
FLATLAND = "4.2.5"


class Fault(Exception):
    """Something the bench cannot go on without; the message says what to do."""


# What the peer's process can be asked for: its answer for a folder and a name, which goes through
# JSON.
Commands = Mapping[str, Callable[[Path, str], dict[str, Any]]]


def bench(
    options: argparse.Namespace,
    commands: Commands,
    measure: Callable[[argparse.Namespace, Path], dict[str, Any]],
    as_text: Callable[[dict[str, Any]], str],
) -> int:
    """Measure and print, and return the exit status; in the peer's process, answer a command."""
    if options.peer:
        command, folder, name = options.peer
        with contextlib.redirect_stdout(sys.stderr):  # flatland-rl prints
            answer = commands[command](Path(folder), name)
        print(json.dumps(answer))
        return 0
    script = Path(sys.argv[0]).stem
    try:
        _keep_to_one_core()
        with tempfile.TemporaryDirectory(prefix=f"{script}_") as folder:
            report = measure(options, Path(folder))
    except Fault as fault:
        print(f"{script}: {fault}", file=sys.stderr)
        return 1
    print(json.dumps(report, indent=2) if options.json else as_text(report))
    return 4 if report["differences"] else 0


def options_parser(about: str | None, go: bool = True) -> argparse.ArgumentParser:
    """The options that all have, and those of benches that build Go's benchmarks."""
    made = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--flatland", metavar="PYTHON", help="an interpreter with flatland-rl")
    if go:
        made.add_argument("--skyrail-root", metavar="DIR", type=Path, default=ROOT)
        made.add_argument("--go", default="go", help="the go command")
    made.add_argument("--repeat", type=int, default=3, help="repetitions of each side")
    made.add_argument("--json", action="store_true")
    # The peer's process is the script again, under the other interpreter.
    made.add_argument("--peer", nargs=3, help=argparse.SUPPRESS)
    return made


def parsed(made: argparse.ArgumentParser) -> argparse.Namespace:
    """The options that were given."""
    options = made.parse_args()
    if options.flatland is None and not options.peer:
        made.error("--flatland PYTHON is needed")
    if options.repeat < 1:
        made.error("--repeat must be at least 1")
    return options


def _keep_to_one_core() -> None:
    """This process and all that it starts, where the system can."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def add_to(all_runs: dict[str, Any], run: dict[str, Any]) -> None:
    """Put the lists of one repetition behind those of the ones before."""
    for key, value in run.items():
        if isinstance(value, list):
            all_runs.setdefault(key, []).extend(value)
        else:
            add_to(all_runs.setdefault(key, {}), value)


def competition(root: Path) -> bytes:
    """The competition's published environment, a pickle."""
    try:
        return gzip.decompress((root / COMPETITION).read_bytes())
    except OSError as error:
        raise Fault(f"cannot read {root / COMPETITION}: is {root} a checkout?") from error


def duration(value: float) -> str:
    """A time, as tables have it."""
    return f"{value * 1e3:.3f} ms" if value >= 1e-4 else f"{value * 1e6:.2f} us"


# ---------------------------------------------------------------------- processes


def run(
    command: list[str], cwd: Path | None = None, env: dict[str, str] | None = None
) -> tuple[str, int]:
    """Standard output of a process, and the most memory it had, in KiB, 0 if unknown."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        try:
            process = subprocess.Popen(
                command, cwd=cwd, env={**os.environ, **(env or {})}, stdout=out, stderr=err
            )
        except OSError as error:
            raise Fault(f"cannot run {command[0]}: {error.strerror}") from error
        status, peak = _wait(process)
        out.seek(0)
        err.seek(0)
        output = out.read()
        if status:
            told = f"{output[-2000:]}\n{err.read()[-2000:]}".strip()
            raise Fault(f"{' '.join(command)} ended with status {status}: {told}")
    return output, peak


def _wait(process: subprocess.Popen[bytes]) -> tuple[int, int]:
    if not hasattr(os, "wait4"):
        return process.wait(), 0
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_maxrss // (1024 if sys.platform == "darwin" else 1)


def run_peer(
    options: argparse.Namespace,
    folder: Path,
    command: str,
    name: str = "",
    env: dict[str, str] | None = None,
) -> dict[str, Any]:
    """What a command of the peer answers, in a process of the other interpreter."""
    script = str(Path(sys.argv[0]).resolve())
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    output, _ = run(
        [options.flatland, "-W", "ignore", script, "--peer", command, str(folder), name],
        env={**one_thread, **(env or {})},
    )
    return json.loads(output)


def check_versions(options: argparse.Namespace, said: dict[str, Any]) -> None:
    if said["flatland"] != FLATLAND:
        raise Fault(f"{options.flatland} has flatland-rl {said['flatland']}, want {FLATLAND}")


# ---------------------------------------------------------------------- Go's benchmarks


# A benchmark is a dictionary of lists: figures by unit, one entry a run, and under "told" what it
# told, an object a run.
Benchmark = dict[str, list[Any]]


def build_benchmarks(options: argparse.Namespace, folder: Path, package: str) -> Path:
    """The benchmarks of a package of the checkout as a program."""
    tests = folder / "bench.test"
    run(
        [options.go, "test", "-c", "-o", str(tests), f"./{package}"], options.skyrail_root.resolve()
    )
    return tests


def run_benchmarks(
    options: argparse.Namespace,
    tests: Path,
    package: str,
    names: str,
    env: dict[str, str],
    time_each: str = "0.5s",
) -> tuple[dict[str, Benchmark], int]:
    """Those with such names, by name, and the most memory they had, in KiB."""
    output, peak = run(
        [
            str(tests),
            "-test.run=^$",
            f"-test.bench={names}",
            "-test.cpu=1",
            f"-test.benchtime={time_each}",
        ],
        cwd=(options.skyrail_root / package).resolve(),
        env=env,
    )
    return _parse_benchmarks(output), peak


def _parse_benchmarks(output: str) -> dict[str, Benchmark]:
    """What `go test -bench` printed."""
    found: dict[str, Benchmark] = {}
    last = None
    for line in output.splitlines():
        if result := re.match(r"Benchmark(\S+)\s+\d+\t(.*)", line):
            last = found.setdefault(result[1], {"told": []})
            for figure in result[2].split("\t"):
                value, unit = figure.split()
                last.setdefault(unit, []).append(float(value))
        elif last and (told := re.match(r"\s+\S+\.go:\d+: \w+ (\{.*\})$", line)):
            last["told"].append(json.loads(told[1]))
    if not found:
        raise Fault(f"the benchmarks printed nothing that is known: {output[-500:]}")
    return found


# ---------------------------------------------------------------------- in the peer's process


def versions(*packages: str) -> dict[str, str]:
    """Of flatland-rl, Python and packages."""
    from importlib.metadata import version

    told = {package: version(package) for package in packages}
    return {"flatland": version("flatland-rl"), "python": sys.version.split()[0], **told}


def timed(call: Callable[..., object], *args: object) -> float:
    """The processor time of a call, in seconds."""
    gc.collect()  # or a run pays for what others left
    started = time.process_time()
    call(*args)
    return time.process_time() - started


def ready(env: RailEnv) -> RailEnv:
    """An environment made ready for a run."""
    if env.resource_map.level_free_positions:
        # flatland-rl fails where it compares a bridge with a cell of NumPy integers.
        resource = env.resource_map.get_resource

        def plain(c: tuple | None) -> object:
            return resource(None if c is None else ((int(c[0][0]), int(c[0][1])), int(c[1])))

        env.resource_map.get_resource = plain
    env.record_steps = False  # a recording, which Skyrail does not make either
    return env
