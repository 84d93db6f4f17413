"""How fast the Go engine is beside the stock Python environment, flying the same.

    python python/bench/flight_peer.py --skyrail PATH [--episodes 100] [--repeat 5] [--json]

Both sides fly the public seeds with the three reference agents, one episode after the other, and
must arrive at the same board. Two times are taken of each:

in process
    the peer: from the first reset to the last step, agents included, imports not;
    the engine: the time it tells on standard error (the whole process if it tells none).
whole process
    from starting the process to its end: interpreter, imports, printing.

Each is the best of --repeat runs. Exit status: 0 done, 1 fault, 2 usage, 4 the boards differ.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import re
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "skyrail" / "stock")]  # runs from a checkout, uninstalled

import gymnasium
import numpy as np
from agents import Noop4DController, Priority4DController, RandomLegalController
from envs import Flight4DEnv

from skyrail.flight_rollout import BoardRow, Episode, board_row, fly

AGENTS = {
    "noop": Noop4DController,
    "random": RandomLegalController,
    "rule-based": Priority4DController,
}


class Fault(Exception):
    """Something the bench cannot go on without; the message says what to do."""


@dataclass
class Timing:
    """The runs of one side. Seconds, one entry a run; `board` is of the last run."""

    in_process: list[float] = field(default_factory=list)
    whole_process: list[float] = field(default_factory=list)
    board: dict[str, BoardRow] = field(default_factory=dict)
    reports_own_time: bool = True


def main() -> int:
    options = _options()
    try:
        if options.peer_process:
            print(json.dumps(fly_peer([int(line) for line in sys.stdin])))
            return 0
        seeds = public_seeds(options.skyrail)[: options.episodes]
        if len(seeds) < options.episodes:
            raise Fault(f"the engine knows {len(seeds)} public seeds; ask for no more --episodes")
        peer, steps = time_peer(seeds, options.repeat)
        engine = time_engine(options.skyrail, len(seeds), options.repeat)
    except Fault as fault:
        print(f"flight_peer: {fault}", file=sys.stderr)
        return 1
    report = make_report(peer, engine, steps, len(seeds))
    print(json.dumps(report, indent=2) if options.json else as_text(report))
    return 0 if report["boards_agree"] else 4


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--skyrail", metavar="PATH", help="the skyrail binary")
    parser.add_argument("--episodes", type=int, default=100, help="the first so many public seeds")
    parser.add_argument("--repeat", type=int, default=5, help="runs of each side, the best counts")
    parser.add_argument("--json", action="store_true")
    # The peer's whole process is this script again: seeds on stdin, figures on stdout.
    parser.add_argument("--peer-process", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.skyrail is None and not options.peer_process:
        parser.error("--skyrail PATH is needed")
    if options.episodes < 1 or options.repeat < 1:
        parser.error("--episodes and --repeat must be at least 1")
    return options


# ---------------------------------------------------------------------- the peer


def fly_peer(seeds: list[int]) -> dict[str, Any]:
    """Fly every agent over the seeds in this process."""
    started = time.perf_counter()
    flown = {name: _fly_agent(name, seeds) for name in AGENTS}
    elapsed = time.perf_counter() - started
    return {
        "elapsed_seconds": elapsed,
        "steps": sum(e.steps for episodes in flown.values() for e in episodes),
        "board": {name: asdict(board_row(episodes)) for name, episodes in flown.items()},
    }


def _fly_agent(name: str, seeds: list[int]) -> list[Episode]:
    env, agent = Flight4DEnv(), AGENTS[name]()
    return [fly(env, agent, seed) for seed in seeds]


def time_peer(seeds: list[int], repeat: int) -> tuple[Timing, int]:
    """The peer's runs, each in a process of its own, and the steps flown in one run."""
    timing, steps = Timing(), 0
    command = [sys.executable, str(Path(__file__).resolve()), "--peer-process"]
    for _ in range(repeat):
        output, _, seconds = _run(command, stdin="\n".join(map(str, seeds)))
        figures = json.loads(output)
        timing.in_process.append(figures["elapsed_seconds"])
        timing.whole_process.append(seconds)
        timing.board = {name: BoardRow(**row) for name, row in figures["board"].items()}
        steps = figures["steps"]
    return timing, steps


# ---------------------------------------------------------------------- the engine


def public_seeds(skyrail: str) -> list[int]:
    """The seeds that `skyrail flight seeds` prints, in its order."""
    output, _, _ = _run([skyrail, "flight", "seeds"])
    lines = (line.partition("#")[0].strip() for line in output.splitlines())
    return [int(line) for line in lines if line]


def time_engine(skyrail: str, episodes: int, repeat: int) -> Timing:
    command = [skyrail, "flight", "compare", "-j", "1", "--json", "--limit", str(episodes)]
    for name in AGENTS:
        command += ["--agent", name]
    timing = Timing()
    for _ in range(repeat):
        output, remarks, seconds = _run(command)
        own_seconds, timing.board = parse_elapsed(remarks), parse_compare(output)
        timing.reports_own_time = own_seconds is not None
        timing.in_process.append(seconds if own_seconds is None else own_seconds)
        timing.whole_process.append(seconds)
    return timing


def parse_elapsed(remarks: str) -> float | None:
    """The seconds of "flew 300 episodes in 0.0123 s", None if nothing like it was said."""
    told = re.search(r"^flew \d+ episodes in (\d+\.\d+) s$", remarks, re.MULTILINE)
    return float(told[1]) if told else None


def parse_compare(output: str) -> dict[str, BoardRow]:
    """The board over all seeds of `compare --json`; of several the first with every agent."""
    try:
        for board in json.loads(output)["boards"]:
            rows = {row["agent"]: _parse_row(row) for row in board["rows"]}
            if set(AGENTS) <= rows.keys():
                return {name: rows[name] for name in AGENTS}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Fault(f"compare --json is not as expected: {error!r}") from error
    raise Fault(f"compare --json has no board with all of {', '.join(AGENTS)}")


def _parse_row(row: dict[str, Any]) -> BoardRow:
    return BoardRow(
        failed=int(row["failed"]),
        congestion=int(row["congestion"]),
        exit_miss=float(row["exit_miss"]),
        clearances=int(row["clearances"]),
        touched=int(row["touched"]),
    )


def _run(command: list[str], stdin: str = "") -> tuple[str, str, float]:
    """Standard output, standard error and wall time of a process."""
    started = time.perf_counter()
    try:
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=True)
    except OSError as error:
        raise Fault(f"cannot run {command[0]}: {error.strerror}") from error
    except subprocess.CalledProcessError as error:
        raise Fault(
            f"{' '.join(command)} ended with status {error.returncode}: {error.stderr.strip()}"
        ) from error
    return done.stdout, done.stderr, time.perf_counter() - started


# ---------------------------------------------------------------------- the report


def make_report(peer: Timing, engine: Timing, steps: int, episodes: int) -> dict[str, Any]:
    differences = board_differences(peer.board, engine.board)
    report: dict[str, Any] = {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "gymnasium": gymnasium.__version__,
        "machine": platform.machine(),
        "agents": list(AGENTS),
        "episodes_per_agent": episodes,
        "runs": len(peer.in_process),
        "steps": steps,
        "engine_reports_own_time": engine.reports_own_time,
        "boards_agree": not differences,
        "board_differences": differences,
        "peer_board": {name: asdict(row) for name, row in peer.board.items()},
    }
    for scope in ("in_process", "whole_process"):
        runs = {"peer": getattr(peer, scope), "engine": getattr(engine, scope)}
        best = {side: min(seconds) for side, seconds in runs.items()}
        report[scope] = {
            side: {
                "seconds": best[side],
                "steps_per_second": steps / best[side],
                "all_runs": runs[side],
            }
            for side in runs
        }
        report[scope]["ratio"] = best["peer"] / best["engine"]
    return report


def board_differences(peer: dict[str, BoardRow], engine: dict[str, BoardRow]) -> list[str]:
    """One line for every figure that differs; exit_miss may differ by 1e-9."""
    differences = []
    for name in AGENTS:
        theirs = asdict(engine[name])
        for key, value in asdict(peer[name]).items():
            same = (
                math.isclose(value, theirs[key], rel_tol=1e-9, abs_tol=1e-9)
                if key == "exit_miss"
                else value == theirs[key]
            )
            if not same:
                differences.append(f"{name} {key}: peer {value}, engine {theirs[key]}")
    return differences


def as_text(report: dict[str, Any]) -> str:
    own_time = (
        "time the engine reports for itself"
        if report["engine_reports_own_time"]
        else "the engine reports no time of its own, so its whole process stands in"
    )
    lines = [
        f"Flight Challenge: {report['episodes_per_agent']} public seeds, each flown by "
        f"{', '.join(report['agents'])}; one episode after the other.",
        f"peer: stock envs.Flight4DEnv, Python {report['python']}, NumPy {report['numpy']}, "
        f"Gymnasium {report['gymnasium']}, {report['machine']}",
        "engine: skyrail flight compare -j 1",
        "",
        f"{'measured':<16}{'side':<8}{'steps':>8}{'seconds':>11}{'steps/s':>12}{'ratio':>9}",
    ]
    for scope in ("in_process", "whole_process"):
        for side in ("peer", "engine"):
            figures = report[scope][side]
            ratio = f"{report[scope]['ratio']:.1f}x" if side == "engine" else ""
            lines.append(
                f"{scope.replace('_', ' '):<16}{side:<8}{report['steps']:>8}"
                f"{figures['seconds']:>11.4f}{figures['steps_per_second']:>12.0f}{ratio:>9}"
            )
    lines += [
        "",
        f"Best of {report['runs']} runs. In process: flying only, no start-up, no imports "
        f"({own_time}).",
        "Whole process: start to end, interpreter and imports included.",
        "Steps are counted by the peer; the engine flew as many if the boards agree.",
    ]
    if report["boards_agree"]:
        lines.append("The boards agree.")
    else:
        lines += ["The boards DIFFER:", *(f"  {line}" for line in report["board_differences"])]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
