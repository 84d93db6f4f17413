"""How fast the Go generators are beside flatland-rl's, generating the same.

    python python/bench/generate_peer.py --flatland PYTHON [--skyrail-root DIR] [--repeat 3]
        [--patience 10] [--json] [SET ...]

PYTHON is an interpreter that has flatland-rl 4.2.5, DIR a checkout with a Go toolchain at hand.

Both sides generate the environments whose parameters the golden files of the generators hold, from
two trains on 25x25 cells to 200 on 158x158: tracks, lines, timetable and the start of the episode,
without observations. SET is the name of one of them, or how it begins; without any it is all, which
takes some minutes.

Times are processor times of one process, in which the load of the machine shows little: of
flatland-rl of every repetition, with Python's garbage collector at work but nothing left to collect
from before; of the engine the mean of half a second, as often, Go's collector included. Both are
kept to one core and take turns with every set, so that a slow hour of the machine is one of both.
What takes flatland-rl longer than the patience, in seconds, it does once. The engine's benchmarks
are those of rail/generate, which `go test -bench` runs too.

Both sides must generate the same, or the exit status says so: 0 done, 1 fault, 2 usage, 4 the sides
differ. NumPy sorts as in its portable code, or flatland-rl lays other tracks on some machines.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import statistics
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _peer import (
    Benchmark,
    Fault,
    add_to,
    bench,
    build_benchmarks,
    check_versions,
    duration,
    options_parser,
    parsed,
    run_benchmarks,
    run_peer,
    timed,
    versions,
)

if TYPE_CHECKING:
    from flatland.envs.rail_env import RailEnv

PACKAGE = "rail/generate"
RECORDED = f"{PACKAGE}/testdata/generators"
TARGET = 100  # times as fast
LARGEST = "g28_158x158_41cities"  # which the engine is meant to generate in less than a second


def main() -> int:
    parser = options_parser(__doc__)
    parser.add_argument("--patience", type=float, default=10, help="seconds")
    parser.add_argument("sets", nargs="*", metavar="SET")
    return bench(parsed(parser), {"generate": measure_peer}, measure, as_text)


def measure(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    tests = build_benchmarks(options, folder, PACKAGE)
    names = chosen(options.skyrail_root, options.sets)
    peer: dict[str, Any] = {}
    engine: dict[str, Benchmark] = {}
    for repetition in range(options.repeat):
        for name in names:
            if not repetition or min(peer[name]["seconds"]) <= options.patience:
                add_to(peer, {name: generate(options, name)})
            add_to(engine, {name: run_engine(options, tests, name)})
    return make_report(options, names, peer, engine)


def chosen(root: Path, begins: list[str]) -> list[str]:
    """The names of the recorded sets that begin so; of all those of env_generator if none is."""
    names = sorted(file.name.removesuffix(".json.gz") for file in (root / RECORDED).glob("g*.gz"))
    if not names:
        raise Fault(f"cannot read {root / RECORDED}: is {root} a checkout?")
    # Those from g31 on are an error, a second reset, and small ones.
    found = [n for n in names if (n.startswith(tuple(begins)) if begins else n < "g31")]
    if not found:
        raise Fault(f"no set begins with {' or '.join(begins)}; there are {', '.join(names)}")
    return found


def recorded(root: Path, name: str) -> dict[str, Any]:
    with gzip.open(root / RECORDED / f"{name}.json.gz") as file:
        return json.load(file)


# ---------------------------------------------------------------------- flatland-rl


def generate(options: argparse.Namespace, name: str) -> dict[str, Any]:
    """A set in a process of the other interpreter."""
    # Without AVX-512, whose sort leaves equal values in another order.
    env = {"NPY_DISABLE_CPU_FEATURES": "AVX512F"}
    answer = run_peer(options, options.skyrail_root.resolve(), "generate", name, env)
    check_versions(options, answer["said"][0])
    return answer


def measure_peer(root: Path, name: str) -> dict[str, Any]:
    """The seconds that a set takes, and what came of it: lists of one repetition."""
    from flatland.core.env_observation_builder import DummyObservationBuilder
    from flatland.env_generation.env_generator import env_generator, env_generator_legacy

    run = recorded(root, name)
    given = {k: dict(v) if k == "speed_ratios" else v for k, v in run["params"].items()}
    make = env_generator_legacy if run.get("legacy_env_generator") else env_generator
    env_generator(seed=1, obs_builder_object=DummyObservationBuilder())  # so that all is imported
    made = []

    def run() -> None:
        made.append(make(**given, obs_builder_object=DummyObservationBuilder())[0])

    seconds = timed(run)
    told = [what_came(name, made[0])]
    return {"seconds": [seconds], "told": told, "said": [versions("numpy")]}


def what_came(name: str, env: RailEnv) -> dict[str, Any]:
    """What was generated, in the words of the engine's benchmark."""
    held = {(int(r), int(c)) for r, c in env.resource_map.level_free_positions}
    _, key, position, _, _ = env.np_random.get_state()
    grid = (
        f"{t} {int((r, c) in held)}\n"
        for r, row in enumerate(env.rail.grid.tolist())
        for c, t in enumerate(row)
    )
    return {
        "set": name,
        "width": env.width,
        "height": env.height,
        "trains": len(env.agents),
        "max_episode_steps": int(env._max_episode_steps),
        "grid": _digest("".join(grid).encode()),
        "timetable": _digest("".join(_timetable(env)).encode()),
        "stream": _digest(key.astype("<u4").tobytes()),
        "position": int(position),
    }


def _timetable(env: RailEnv) -> Iterable[str]:
    for agent in env.agents:
        (row, column), heading = agent.initial_configuration
        values = [row, column, int(heading), *agent.target, agent.speed_counter.max_speed]
        values += [agent.earliest_departure, agent.latest_arrival]
        times = (agent.waypoints_earliest_departure, agent.waypoints_latest_arrival)
        for stop, departure, arrival in zip(agent.waypoints, *times, strict=True):
            values += [*stop[0].position, "-" if departure is None else departure]
            values.append("-" if arrival is None else arrival)
        yield " ".join(map(str, values)) + "\n"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


# ---------------------------------------------------------------------- the engine


def run_engine(options: argparse.Namespace, tests: Path, name: str) -> Benchmark:
    names = "^BenchmarkEnvironment$"
    found, _ = run_benchmarks(options, tests, PACKAGE, names, {"SKYRAIL_BENCH": name})
    return found[f"Environment/{name}"]


# ---------------------------------------------------------------------- the report


def make_report(
    options: argparse.Namespace,
    names: list[str],
    peer: dict[str, Any],
    engine: dict[str, Benchmark],
) -> dict[str, Any]:
    rows, differences = [], []
    for name in names:
        theirs = peer[name]["seconds"]
        ours = [ns / 1e9 for ns in engine[name]["cpu-ns/op"]]
        want = peer[name]["told"][0]
        cities = len(recorded(options.skyrail_root, name)["city_positions"])
        ratio = min(theirs) / min(ours)
        rows.append(
            {
                "set": name,
                "size": f"{want['height']}x{want['width']}",
                "cities": cities,
                "trains": want["trains"],
                "flatland_seconds": theirs,
                "skyrail_seconds": ours,
                "ratio_best": ratio,
                "ratio_median": statistics.median(theirs) / statistics.median(ours),
                "reached": ratio >= TARGET,
                "allocations": max(engine[name]["allocs/op"]),
            }
        )
        differences += _differences(name, peer[name]["told"], engine[name]["told"])
    return {
        **peer[names[0]]["said"][0],
        "repeat": options.repeat,
        "patience": options.patience,
        "target": TARGET,
        "rows": rows,
        "smallest": min(rows, key=lambda row: row["ratio_best"]),
        "differences": differences,
    }


def _differences(name: str, theirs: list[dict], ours: list[dict]) -> list[str]:
    """One line for every run of either side that differs from flatland-rl's first."""
    want = theirs[0]
    if not ours:
        return [f"{name}: the engine told nothing"]
    return [
        f"{name}, {key}: got {run.get(key)} from {side}, want {value}"
        for side, runs in (("flatland-rl", theirs), ("skyrail", ours))
        for run in runs
        for key, value in want.items()
        if run.get(key) != value
    ]


def as_text(report: dict[str, Any]) -> str:
    lines = [
        f"flatland-rl {report['flatland']}, Python {report['python']}, NumPy {report['numpy']}; "
        f"processor time on one core.",
        f"Best of {report['repeat']} repetitions, and beside the ratio that of the medians; what "
        f"takes flatland-rl more than {report['patience']:g} s it does once.",
        "",
        f"{'generated':<34}{'size':>9}{'cities':>8}{'trains':>8}{'flatland':>14}{'skyrail':>14}"
        f"{'ratio':>9}{'median':>9}{'target':>9}{'allocations':>13}",
    ]
    for row in report["rows"]:
        theirs, ours = min(row["flatland_seconds"]), min(row["skyrail_seconds"])
        lines.append(
            f"{row['set']:<34}{row['size']:>9}{row['cities']:>8}{row['trains']:>8}"
            f"{duration(theirs):>14}{duration(ours):>14}{row['ratio_best']:>8.0f}x"
            f"{row['ratio_median']:>8.0f}x{report['target']:>8}x{row['allocations']:>13.0f}"
            f"{'' if row['reached'] else '  missed'}"
        )
    smallest = report["smallest"]
    lines += ["", f"The smallest ratio is {smallest['ratio_best']:.0f}x, of {smallest['set']}."]
    for row in report["rows"]:
        if row["set"] == LARGEST:
            lines.append(
                f"{row['size']} cells, {row['cities']} cities, {row['trains']} trains: "
                f"{duration(min(row['skyrail_seconds']))} (target: below 1 s)"
            )
    if report["differences"]:
        lines += ["The sides DIFFER:", *(f"  {line}" for line in report["differences"])]
    else:
        lines.append("Both sides generate the same tracks, trains, times and stream.")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
