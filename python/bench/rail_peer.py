"""How fast the Go railway engine is beside flatland-rl, running the same.

    python python/bench/rail_peer.py --flatland PYTHON [--skyrail-root DIR] [--repeat 3] [--json]

PYTHON is an interpreter that has flatland-rl 4.2.5, DIR a checkout with a Go toolchain at hand.

flatland-rl takes the competition's published environment and generates two larger ones, and records
an episode in each. Then both sides load the same files and give the same actions:

load
    an environment from its file.
steps
    a whole episode without observations, in an environment that is fresh from its file.
trees
    some of its steps, each with the trees of depth 2 of all trains: without and with a predictor
    (of which the engine needs none, the trees are the same). The engine's are flattened and
    normalised too, for information.
verify
    the recorded trajectory, from reading its directory on.

Times are processor times of one process, in which the load of the machine shows little: of
flatland-rl of every repetition, with Python's garbage collector at work but nothing left to collect
from before; of the engine the mean of half a second, as often, Go's collector included. Both are
kept to one core, and take turns with every course, so that a slow hour of the machine is one of
both. The engine's benchmarks are those of rail/contest, which `go test -bench` runs
too.

Both sides must end every episode and see every tree alike, and the engine must agree with every
row of the recordings, or its benchmark fails. Exit status: 0 done, 1 fault, 2 usage, 4 the sides
differ.
"""

from __future__ import annotations

import argparse
import csv
import gc
import json
import math
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _peer import (
    Benchmark,
    add_to,
    bench,
    build_benchmarks,
    check_versions,
    competition,
    duration,
    options_parser,
    parsed,
    ready,
    run_benchmarks,
    run_peer,
    timed,
    versions,
)

if TYPE_CHECKING:
    from flatland.core.policy import Policy
    from flatland.envs.observations import Node, TreeObsForRailEnv
    from flatland.envs.rail_env import RailEnv
    from flatland.envs.rail_env_action import RailEnvActions


@dataclass
class Course:
    """An episode that both sides run. Without parameters it is the competition's."""

    name: str
    about: str
    first: int  # of the steps with trees, counted from 0
    trees: int  # how many of them
    seed: int
    generate: dict[str, Any] | None = None


COURSES = [
    Course("competition", "6 trains, 120x150, the competition's", 100, 390, seed=1),
    Course(
        "sparse_50",
        "50 trains, 60x60, generated",
        100,
        100,
        seed=11,
        generate={"n_agents": 50, "x_dim": 60, "y_dim": 60, "n_cities": 5},
    ),
    Course(
        "sparse_200",
        "200 trains, 80x80, generated",
        100,
        30,
        seed=12,
        generate={"n_agents": 200, "x_dim": 80, "y_dim": 80, "n_cities": 12},
    ),
]


@dataclass
class Figure:
    """A line of the table."""

    name: str
    peer: str  # which of flatland-rl's times
    benchmark: str  # of the engine
    unit: str  # what the time is of
    target: int | None  # how many times as fast the engine is meant to be; None: for information


# flatland-rl's own flattened trees need Gymnasium, so the engine's stand beside its plain ones. A
# kept observer does not work out anew what depends on the tracks only.
MEASURED = [
    Figure("load", "load", "Load/{}", "load", 50),
    Figure("steps", "steps", "Episode/{}", "step", 200),
    Figure("trees", "trees", "Trees/{}/tree", "step", 500),
    Figure("trees, predictor", "trees, predictor", "Trees/{}/tree", "step", 500),
    Figure("trees, observer kept", "trees", "Trees/{}/kept", "step", None),
    Figure("trees, flattened", "trees", "Trees/{}/flat", "step", None),
    Figure("trees, normalised", "trees", "Trees/{}/normalized", "step", None),
    Figure("verify", "verify", "Verify/{}", "trajectory", 100),
]


def main() -> int:
    return bench(parsed(options_parser(__doc__)), PEER, measure, as_text)


def measure(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    (folder / "competition.pkl").write_bytes(competition(options.skyrail_root))
    tests = build_benchmarks(options, folder, PACKAGE)
    said = run_peer(options, folder, "record")
    check_versions(options, said)
    plan = [{"episode": c.name, "first": c.first, "trees": c.trees} for c in COURSES]
    (folder / "bench.json").write_text(json.dumps(plan))
    peer: dict[str, Any] = {}
    engine: dict[str, Benchmark] = {}
    for _ in range(options.repeat):
        for course in COURSES:
            add_to(peer, {course.name: run_peer(options, folder, "measure", course.name)})
            add_to(engine, run_engine(options, folder, tests, course))
    return make_report(options.repeat, said, peer, engine, run_largest(options, tests))


# ---------------------------------------------------------------------- flatland-rl


def record(folder: Path, _: str) -> dict[str, Any]:
    """Record an episode of every course, a folder each."""
    from flatland.trajectories.policy_runner import PolicyRunner

    for course in COURSES:
        env = _generated(course) if course.generate else _load(folder / "competition.pkl")
        data_dir = folder / course.name
        data_dir.mkdir()
        PolicyRunner.create_from_policy(
            policy=_wanderers(env, course.seed),
            data_dir=data_dir,
            env=env,
            snapshot_interval=0,
            ep_id=course.name,
            tqdm_kwargs={"disable": True},
        )
    return versions("numpy")


def _generated(course: Course) -> RailEnv:
    from flatland.core.env_observation_builder import DummyObservationBuilder
    from flatland.env_generation.env_generator import env_generator
    from flatland.envs.rewards import ECML2026Rewards

    env, _, _ = env_generator(
        **course.generate,
        max_rail_pairs_in_city=2,
        max_rails_between_cities=2,
        malfunction_interval=540,
        seed=course.seed,
        obs_builder_object=DummyObservationBuilder(),
        rewards=ECML2026Rewards(),
    )
    return env


def _load(file: Path, prepared: bool = True) -> RailEnv:
    """The environment of a file, made ready for a run."""
    from flatland.core.env_observation_builder import DummyObservationBuilder
    from flatland.envs.persistence import RailEnvPersister
    from flatland.envs.rewards import ECML2026Rewards

    env, _ = RailEnvPersister.load_new(
        str(file), obs_builder=DummyObservationBuilder(), rewards=ECML2026Rewards()
    )
    return ready(env) if prepared else env


def _wanderers(env: RailEnv, seed: int) -> Policy:
    """A policy: mostly the shortest way, sometimes anything."""
    from flatland.core.policy import Policy
    from flatland.envs.rail_env_action import RailEnvActions

    rng = random.Random(seed)
    ways = (RailEnvActions.MOVE_LEFT, RailEnvActions.MOVE_FORWARD, RailEnvActions.MOVE_RIGHT)
    distances = env.distance_map.get()

    def choose(handle: int) -> RailEnvActions:
        if rng.random() < 0.05:
            return RailEnvActions(rng.randrange(5))
        agent = env.agents[handle]
        at = agent.current_configuration or agent.initial_configuration
        best, nearest = RailEnvActions.MOVE_FORWARD, math.inf
        for way in ways:
            to = env.rail.apply_action_independent(way, at)
            if to is not None:
                (row, column), heading = to[0]
                distance = distances[handle, row, column, heading]
                if distance < nearest:
                    best, nearest = way, distance
        return best

    class Wanderers(Policy):
        def act_many(
            self, handles: list[int], observations: list, **kwargs: object
        ) -> dict[int, RailEnvActions]:
            return {handle: choose(handle) for handle in handles}

    return Wanderers()


def measure_peer(folder: Path, name: str) -> dict[str, Any]:
    """Times in seconds of a course by figure, and what came of it: lists of one repetition."""
    course = next(c for c in COURSES if c.name == name)
    file = folder / name / "serialised_state" / f"{name}.pkl"
    actions = _recorded_actions(folder / name)
    _load(file)  # so that all is imported
    times = {"load": [timed(_load, file, False)]}
    seconds, end = _run_episode(_load(file), actions)
    times["steps"] = [seconds]
    trees = []
    for figure, builder in _tree_builders():
        seconds, seen = _run_trees(_load(file), actions, course, builder())
        times[figure] = [seconds]
        trees.append(seen)
    times["verify"] = [timed(_verify, folder / name, name)]
    return {"times": times, "ends": [end], "trees": trees}


def _recorded_actions(data_dir: Path) -> list[dict[int, RailEnvActions]]:
    from flatland.envs.rail_env_action import RailEnvActions

    steps: list[dict[int, RailEnvActions]] = []
    with open(data_dir / "event_logs" / "ActionEvents.discrete_action.tsv", newline="") as table:
        for row in csv.DictReader(table, delimiter="\t"):
            if int(row["env_time"]) == len(steps):
                steps.append({})
            steps[-1][int(row["agent_id"])] = RailEnvActions(int(row["action"]))
    return steps


def _run_episode(env: RailEnv, actions: list[dict[int, RailEnvActions]]) -> tuple[float, dict]:
    totals = [0.0] * env.get_num_agents()
    rewards = []
    gc.collect()
    started = time.process_time()
    for given in actions:
        rewards.append(env.step(given)[1])
    seconds = time.process_time() - started
    for step in rewards:
        for handle, reward in step.items():
            totals[handle] += reward
    end = {
        "steps": env._elapsed_steps,
        "over": bool(env.dones["__all__"]),
        "arrived": sum(agent.state == 6 for agent in env.agents),
        "reward": sum(totals),
    }
    return seconds, end


def _tree_builders() -> list[tuple[str, Callable[[], TreeObsForRailEnv]]]:
    from flatland.envs.observations import TreeObsForRailEnv
    from flatland.envs.predictions import ShortestPathPredictorForRailEnv

    return [
        ("trees", lambda: TreeObsForRailEnv(max_depth=2)),
        (
            "trees, predictor",
            lambda: TreeObsForRailEnv(max_depth=2, predictor=ShortestPathPredictorForRailEnv()),
        ),
    ]


def _run_trees(
    env: RailEnv,
    actions: list[dict[int, RailEnvActions]],
    course: Course,
    builder: TreeObsForRailEnv,
) -> tuple[float, dict[str, float]]:
    for given in actions[: course.first]:
        env.step(given)
    env.obs_builder = builder
    builder.set_env(env)
    gc.collect()
    started = time.process_time()
    builder.reset()
    for given in actions[course.first : course.first + course.trees]:
        trees = env.step(given)[0]
    seconds = time.process_time() - started
    nodes = [node for tree in trees.values() for node in _nodes(tree)]
    values = (float(v) for node in nodes for v in node[:-1])
    return seconds, {"nodes": len(nodes), "sum": sum(v for v in values if math.isfinite(v))}


def _nodes(tree: Node | float) -> Iterator[Node]:
    if isinstance(tree, tuple):
        yield tree
        for child in (tree.childs or {}).values():
            yield from _nodes(child)


def _verify(data_dir: Path, episode: str) -> None:
    from flatland.envs.rewards import ECML2026Rewards
    from flatland.evaluators.trajectory_evaluator import TrajectoryEvaluator
    from flatland.trajectories.trajectories import Trajectory

    trajectory = Trajectory.load_existing(data_dir=data_dir, ep_id=episode)
    load = trajectory.load_env
    trajectory.load_env = lambda *args, **kwargs: ready(load(*args, **kwargs))
    TrajectoryEvaluator(trajectory).evaluate(
        tqdm_kwargs={"disable": True}, rewards=ECML2026Rewards()
    )


PEER = {"record": record, "measure": measure_peer}

# ---------------------------------------------------------------------- the engine


PACKAGE = "rail/contest"


def run_engine(
    options: argparse.Namespace, folder: Path, tests: Path, course: Course
) -> dict[str, Benchmark]:
    """The benchmarks of a course by name."""
    names = f"^Benchmark(Load|Episode|Step|Trees|Verify)$/^{course.name}$"
    found, _ = run_benchmarks(options, tests, PACKAGE, names, {"SKYRAIL_BENCH": str(folder)})
    return found


def run_largest(options: argparse.Namespace, tests: Path) -> dict[str, float]:
    """The memory of the largest environment, in MB."""
    found, peak = run_benchmarks(options, tests, PACKAGE, "^BenchmarkLargest$", {}, "1x")
    return {"live_mb": found["Largest"]["live-MB"][0], "peak_process_mb": peak * 1024 / 1e6}


# ---------------------------------------------------------------------- the report


def make_report(
    repeat: int,
    said: dict[str, Any],
    peer: dict[str, Any],
    engine: dict[str, Benchmark],
    largest: dict[str, float],
) -> dict[str, Any]:
    rows, differences, allocations = [], [], {}
    for course in COURSES:
        theirs = peer[course.name]
        for figure in MEASURED:
            rows.append(_row(course, figure, theirs["times"], engine))
        differences += _differences(course, "end", theirs["ends"], engine[f"Episode/{course.name}"])
        for form in ("tree", "flat", "normalized", "kept"):
            benchmark = engine[f"Trees/{course.name}/{form}"]
            differences += _differences(course, "trees", theirs["trees"], benchmark)
        step = engine[f"Step/{course.name}"]
        allocations[course.name] = {
            where: max(step[f"{where}-allocs"]) for where in ("first", "between", "last")
        }
    return {
        **said,
        "repeat": repeat,
        "courses": [asdict(course) for course in COURSES],
        "rows": rows,
        "ends": {course.name: peer[course.name]["ends"][0] for course in COURSES},
        "differences": differences,
        "allocations": allocations,
        "largest": largest,
    }


def _row(
    course: Course,
    figure: Figure,
    peer_times: dict[str, list[float]],
    engine: dict[str, Benchmark],
) -> dict[str, Any]:
    figures = engine[figure.benchmark.format(course.name)]
    steps = figures.get("steps/op", [1])[0]
    theirs = [seconds / steps for seconds in peer_times[figure.peer]]
    ours = [ns / steps / 1e9 for ns in figures["cpu-ns/op"]]
    ratio = min(theirs) / min(ours)
    return {
        "course": course.name,
        "measured": figure.name,
        "of_one": figure.unit,
        "flatland_seconds": theirs,
        "skyrail_seconds": ours,
        "ratio_best": ratio,
        "ratio_median": statistics.median(theirs) / statistics.median(ours),
        "target": figure.target,
        "reached": figure.target is None or ratio >= figure.target,
    }


def _differences(course: Course, what: str, theirs: list[dict], ours: Benchmark) -> list[str]:
    """One line for every run of either side that differs from flatland-rl's first."""
    want = theirs[0]
    if not ours["told"]:
        return [f"{course.name}, {what}: the engine told nothing"]
    differences = []
    for side, runs in (("flatland-rl", theirs), ("skyrail", ours["told"])):
        for run in runs:
            for key, value in want.items():
                if not math.isclose(run[key], value, rel_tol=1e-9, abs_tol=1e-9):
                    differences.append(
                        f"{course.name}, {what}, {key}: got {run[key]} from {side}, want {value}"
                    )
    return differences


def as_text(report: dict[str, Any]) -> str:
    lines = [
        f"flatland-rl {report['flatland']}, Python {report['python']}, NumPy {report['numpy']}; "
        f"ECML 2026 rewards; processor time on one core.",
        f"Best of {report['repeat']} repetitions, and beside the ratio that of the medians.",
        "",
        f"{'measured':<24}{'of one':<12}{'flatland':>14}{'skyrail':>14}{'flatland/s':>12}"
        f"{'skyrail/s':>12}{'ratio':>9}{'median':>9}{'target':>9}",
    ]
    for course in report["courses"]:
        lines.append(f"{course['name']}: {course['about']}")
        for row in report["rows"]:
            if row["course"] != course["name"]:
                continue
            theirs, ours = min(row["flatland_seconds"]), min(row["skyrail_seconds"])
            target = f"{row['target']}x" if row["target"] else ""
            lines.append(
                f"  {row['measured']:<22}{row['of_one']:<12}"
                f"{duration(theirs):>14}{duration(ours):>14}"
                f"{1 / theirs:>12.4g}{1 / ours:>12.0f}{row['ratio_best']:>8.0f}x"
                f"{row['ratio_median']:>8.0f}x{target:>9}"
                f"{'' if row['reached'] else '  missed'}"
            )
        end = report["ends"][course["name"]]
        allocations = report["allocations"][course["name"]]
        lines += [
            f"  the episode: {end['steps']} steps, {end['arrived']} trains arrived, total reward "
            f"{end['reward']:g}; trees of steps {course['first'] + 1} to "
            f"{course['first'] + course['trees']}",
            f"  allocations of the engine: {allocations['first']:.0f} in the first step, "
            f"{allocations['between']:.0f} in all steps between, {allocations['last']:.0f} in "
            f"the last",
        ]
    largest = report["largest"]
    lines += [
        "",
        f"532 trains, 120x150, 532 distance maps: {largest['live_mb']:.1f} MB live, the process "
        f"{largest['peak_process_mb']:.1f} MB at its peak (target: below 64 MB)",
    ]
    if report["differences"]:
        lines += ["The sides DIFFER:", *(f"  {line}" for line in report["differences"])]
    else:
        lines.append(
            "Both sides end every episode alike and see the same trees; all recorded rows agree."
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
