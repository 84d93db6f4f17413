"""How fast the air sector's environments are beside the starter kit's, in one run.

    python python/bench/flight_env_peer.py [--rounds 7] [--threads 2] [--json]

The peer is the pure-Python environment of the starter kit. It and Flight4DEnv fly the same
episodes with the same random actions, and must arrive at the same figures. Both take turns, a
moment each, with the vector environments; a row's speed is the median of its rounds, and its ratio
the median of the ratios within a round.

Exit status: 0 done, 2 usage, 4 the figures differ.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "skyrail" / "stock")]  # runs from a checkout, uninstalled

import gymnasium
import numpy as np
from envs import Flight4DEnv as StarterEnv

from skyrail import _native
from skyrail.flight import Flight4DEnv, FlightVectorEnv

PEER = "starter kit's Flight4DEnv"
Run = Callable[[], tuple[int, float]]  # steps flown, seconds


def single(env: Any, steps: int, masked: bool) -> Run:  # noqa: ANN401 - one of the two
    """Fly random actions, legal ones only if masked, from reset to reset."""
    draws = np.random.default_rng(0).integers(0, 2**31, steps).tolist()

    def run() -> tuple[int, float]:
        env.reset(seed=0)
        started = time.perf_counter()
        for draw in draws:
            if masked:
                legal = np.flatnonzero(env.action_masks())
                action = int(legal[draw % len(legal)])
            else:
                action = draw % 36
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()
        return steps, time.perf_counter() - started

    return run


def batch(envs: int, threads: int, steps: int, **options: bool) -> Run:
    """Step a vector environment, which resets itself."""
    env = FlightVectorEnv(envs, threads=threads, autoreset_mode="SameStep", **options)
    actions = np.random.default_rng(0).integers(0, 36, (steps, envs))
    env.reset(seed=0)
    for row in actions[:20]:
        env.step(row)

    def run() -> tuple[int, float]:
        started = time.perf_counter()
        for row in actions:
            env.step(row)
        return envs * steps, time.perf_counter() - started

    return run


def same_figures(episodes: int = 40) -> bool:
    """Whether both environments fly the same from the same seeds and actions."""
    ours, peer = Flight4DEnv(), StarterEnv()
    actions = np.random.default_rng(1)
    for seed in range(episodes):
        ours.reset(seed=seed)
        peer.reset(seed=seed)
        ended = False
        while not ended:
            action = int(actions.integers(0, 36))
            a, b = ours.step(action), peer.step(action)
            ended = a[2] or a[3]
            if a[2:4] != b[2:4] or not np.isclose(a[1], b[1], rtol=1e-9, atol=1e-9):
                return False
            if a[4]["congestion_total"] != b[4]["congestion_total"]:
                return False
            if not np.allclose(a[0], b[0], atol=1e-6):
                return False
    return True


def call_costs() -> dict[str, float]:
    """Nanoseconds of one call into the library, the best of many rounds."""
    nothing = _native.lib().fast.skyrail_abi
    one = FlightVectorEnv(1, infos=False, copy=False, autoreset_mode="SameStep")
    one.reset(seed=0)
    idle = np.zeros(1, np.int64)
    calls = {"a call that does nothing": nothing, "FlightVectorEnv(1).step": lambda: one.step(idle)}
    costs = {}
    for name, call in calls.items():
        best = float("inf")
        for _ in range(20):
            started = time.perf_counter()
            for _ in range(2000):
                call()
            best = min(best, (time.perf_counter() - started) / 2000)
        costs[name] = best * 1e9
    return costs


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7, help="how often each takes its turn")
    parser.add_argument("--threads", type=int, default=2, help="of the vector environments")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.rounds < 1 or options.threads < 1:
        parser.error("--rounds and --threads must be at least 1")
    if not same_figures():
        print("flight_env_peer: the environments do not fly the same", file=sys.stderr)
        return 4
    threads = options.threads
    cores = "core" if threads == 1 else "cores"
    runs: dict[str, tuple[str, Run]] = {
        PEER: (PEER, single(StarterEnv(), 3000, masked=False)),
        "Flight4DEnv": (PEER, single(Flight4DEnv(), 150_000, masked=False)),
        f"{PEER}, legal actions": ("", single(StarterEnv(), 3000, masked=True)),
        "Flight4DEnv, legal actions": (
            f"{PEER}, legal actions",
            single(Flight4DEnv(), 60_000, masked=True),
        ),
        "FlightVectorEnv(64), one core": (PEER, batch(64, 1, 3000)),
        f"FlightVectorEnv(1024), {threads} {cores}": (PEER, batch(1024, threads, 300)),
        f"FlightVectorEnv(1024, copy=False, infos=False), {threads} {cores}": (
            PEER,
            batch(1024, threads, 300, copy=False, infos=False),
        ),
    }
    speeds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(options.rounds):
        for name, (_, run) in runs.items():
            steps, seconds = run()
            speeds[name].append(steps / seconds)
    rows = []
    for name, (beside, _) in runs.items():
        row: dict[str, Any] = {"what": name, "steps_per_second": statistics.median(speeds[name])}
        if beside and beside != name:
            ratios = [a / b for a, b in zip(speeds[name], speeds[beside], strict=True)]
            row["ratio"] = statistics.median(ratios)
        rows.append(row)
    report = {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "gymnasium": gymnasium.__version__,
        "rounds": options.rounds,
        "rows": rows,
        "nanoseconds": call_costs(),
    }
    print(json.dumps(report, indent=2) if options.json else as_text(report))
    return 0


def as_text(report: dict[str, Any]) -> str:
    width = max(len(row["what"]) for row in report["rows"])
    lines = [f"{'the air sector':{width}}  steps/s     beside the starter kit's"]
    for row in report["rows"]:
        ratio = f"{row['ratio']:.0f}x" if "ratio" in row else ""
        lines.append(f"{row['what']:{width}}  {row['steps_per_second']:9,.0f}   {ratio}".rstrip())
    lines += [f"{name}: {ns:.0f} ns" for name, ns in report["nanoseconds"].items()]
    lines.append(
        f"Python {report['python']}, NumPy {report['numpy']}, Gymnasium {report['gymnasium']}; "
        f"medians of {report['rounds']} rounds"
    )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
