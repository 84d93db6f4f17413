"""How fast skyrail.rail is beside flatland-rl's own PettingZoo environment, running the same.

    python python/bench/rail_env_peer.py --flatland PYTHON [--repeat 3] [--json]

PYTHON is an interpreter that has flatland-rl 4.2.5, PettingZoo and Gymnasium.

flatland-rl gives the competition's published environment and two larger ones that it generates.
Skyrail plays some episodes in each with its deadlock avoidance, and some with random actions. Then
both sides load the same files and are given the same actions, as plain numbers by agent:

dummy
    whole episodes without observations: RailParallelEnv beside PettingZooParallelEnvWrapper.
    Between them both reset, with a seed and the same trains; the time of that does not count.
tree
    some of its steps with the flattened and normalised trees of depth 2 of all trains, in
    flatland-rl without a predictor (with one it takes twice as long and sees the same).

Times are processor times of the calls of step in one process: of flatland-rl of every repetition,
of Skyrail the mean of half a second, as often, all threads and collectors included. Both are kept
to one core, and take turns. The best of the repetitions count.

Both sides must get the same rewards in the first episode, see the same and end alike. (In later
ones flatland-rl's rewards for stops of which several platforms were served depend on the order of a
hash set.) flatland-rl keeps agents that are
done, with rewards of 0; Skyrail's leave. Exit status: 0 done, 1 fault, 2 usage, 4 the sides differ.
"""

from __future__ import annotations

import argparse
import copy
import gc
import json
import math
import statistics
import sys
import time
import types
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _peer import (
    ROOT,
    bench,
    check_versions,
    competition,
    options_parser,
    parsed,
    ready,
    run_peer,
    versions,
)

if TYPE_CHECKING:
    from flatland.envs.rail_env import RailEnv

DEPTH = 2


@dataclass
class Course:
    """A railway that both sides run. Without parameters it is the competition's."""

    name: str
    about: str
    episodes: int  # without trees
    first: int  # of the steps with trees, counted from 0
    trees: int  # how many of them
    generate: dict[str, Any] | None = None


COURSES = [
    Course("competition", "6 trains, 120x150, the competition's", 20, 50, 150),
    Course(
        "sparse_50",
        "50 trains, 60x60, generated",
        1,
        60,
        60,
        {"n_agents": 50, "x_dim": 60, "y_dim": 60, "n_cities": 5, "seed": 11},
    ),
    Course(
        "sparse_200",
        "200 trains, 80x80, generated",
        1,
        60,
        20,
        {"n_agents": 200, "x_dim": 80, "y_dim": 80, "n_cities": 12, "seed": 12},
    ),
]

POLICIES = ["deadlock-avoidance", "random"]
TARGETS = {"dummy": 100, "tree": 200}


def main() -> int:
    return bench(parsed(options_parser(__doc__, go=False)), PEER, measure, as_text)


def measure(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    (folder / "competition.pkl").write_bytes(competition(ROOT))
    said = run_peer(options, folder, "prepare")
    check_versions(options, said)
    for course in COURSES:
        record(folder, course)
    runs: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for _ in range(options.repeat):
        for course in COURSES:
            of = runs.setdefault(course.name, {"flatland": [], "skyrail": []})
            of["flatland"].append(run_peer(options, folder, "measure", course.name))
            of["skyrail"].append(measure_skyrail(folder, course))
    return make_report(options.repeat, said, runs)


def _figures() -> list[tuple[str, str]]:
    return [(policy, kind) for policy in POLICIES for kind in TARGETS]


# ---------------------------------------------------------------------- flatland-rl


def prepare(folder: Path, _: str) -> dict[str, Any]:
    """Generate the environments that are not there yet, and save them."""
    from flatland.core.env_observation_builder import DummyObservationBuilder
    from flatland.env_generation.env_generator import env_generator
    from flatland.envs.persistence import RailEnvPersister

    for course in COURSES:
        if course.generate:
            env, _, _ = env_generator(
                **course.generate,
                max_rail_pairs_in_city=2,
                max_rails_between_cities=2,
                malfunction_interval=540,
                obs_builder_object=DummyObservationBuilder(),
            )
            RailEnvPersister.save(env, str(folder / f"{course.name}.pkl"))
    return versions("pettingzoo", "gymnasium", "numpy")


def measure_flatland(folder: Path, name: str) -> dict[str, Any]:
    """Seconds a step by figure, and what came of it."""
    # flatland-rl's observations for Gymnasium import a type of Ray, which is not used.
    for module in ("ray", "ray.rllib", "ray.rllib.utils", "ray.rllib.utils.typing"):
        sys.modules.setdefault(module, types.ModuleType(module))
    sys.modules["ray.rllib.utils.typing"].MultiAgentDict = dict
    from flatland.ml.observations.flatten_tree_observation_for_rail_env import (
        FlattenedNormalizedTreeObsForRailEnv,
    )
    from flatland.ml.observations.gym_observation_builder import DummyObservationBuilderGym
    from flatland.ml.pettingzoo.pettingzoo_parallel_rail_env import PettingZooParallelEnvWrapper

    course = next(c for c in COURSES if c.name == name)
    answer = {}
    for policy, kind in _figures():
        env = _load(folder / f"{name}.pkl")
        builder = DummyObservationBuilderGym()
        if kind == "tree":
            for given in _actions(folder, course, policy)[0][: course.first]:
                env.step(given)
            builder = FlattenedNormalizedTreeObsForRailEnv(max_depth=DEPTH)
        env.obs_builder = builder
        builder.set_env(env)
        builder.reset()
        wrapper = PettingZooParallelEnvWrapper(env)
        stay = dict.fromkeys(env.get_agent_handles(), 0)
        seconds, rewards, observations = 0.0, [], {}
        episodes = _measured(folder, course, policy, kind)
        for number, actions in enumerate(episodes):
            if number:
                keep = {"regenerate_rail": False, "regenerate_schedule": False}
                wrapper.reset(seed=number, options=keep)
            by_agent = [{**stay, **given} for given in actions]
            gc.collect()
            started = time.process_time()
            for given in by_agent:
                observations, reward, _, _, _ = wrapper.step(given)
                rewards.append(reward)
            seconds += time.process_time() - started
        answer[f"{policy}, {kind}"] = {
            "seconds": seconds / len(rewards),
            **_seen(rewards, observations, episodes),
            "over": bool(env.dones["__all__"]),
            "arrived": sum(agent.state == 6 for agent in env.agents),
        }
    return answer


def _load(file: Path) -> RailEnv:
    """The environment of a file, made ready for a run."""
    from flatland.core.env_observation_builder import DummyObservationBuilder
    from flatland.envs.persistence import RailEnvPersister

    env, _ = RailEnvPersister.load_new(str(file), obs_builder=DummyObservationBuilder())
    return ready(env)


PEER = {"prepare": prepare, "measure": measure_flatland}


# ---------------------------------------------------------------------- both


Actions = list[dict[int, int]]


def _actions(folder: Path, course: Course, policy: str) -> list[Actions]:
    """Of every episode and step the actions of the agents that are still there."""
    episodes = json.loads((folder / f"{course.name}.{policy}.json").read_text())
    return [[{int(a): action for a, action in given.items()} for given in e] for e in episodes]


def _measured(folder: Path, course: Course, policy: str, kind: str) -> list[Actions]:
    """What is measured of them."""
    episodes = _actions(folder, course, policy)
    if kind == "tree":
        return [episodes[0][course.first : course.first + course.trees]]
    return episodes


def _seen(
    rewards: list[dict[int, float]], observations: dict[int, Any], episodes: list[Actions]
) -> dict[str, float]:
    """What both sides must have got alike: the rewards of the first episode, and the last
    observations of the agents that were still there.
    """
    first = rewards[: len(episodes[0])]
    last = sorted(episodes[-1][-1])
    return {
        "steps": len(rewards),
        "reward": math.fsum(float(r) for step in first for r in step.values()),
        "observed": math.fsum(float(observations[agent].sum()) for agent in last),
    }


# ---------------------------------------------------------------------- Skyrail


def record(folder: Path, course: Course) -> None:
    """What the policies do in an episode."""
    sys.path.insert(0, str(ROOT / "python"))
    from skyrail.rail import RailParallelEnv, RailPolicy

    for name in POLICIES:
        env = RailParallelEnv.from_file(folder / f"{course.name}.pkl")
        policy = RailPolicy(name, seed=1)
        episodes = []
        for number in range(course.episodes):
            if number:
                env.reset(seed=number)
            episodes.append([])
            while env.agents:
                episodes[-1].append(policy.act(env))
                env.step(episodes[-1][-1])
        (folder / f"{course.name}.{name}.json").write_text(json.dumps(episodes))


def measure_skyrail(folder: Path, course: Course) -> dict[str, Any]:
    from skyrail.rail import RailParallelEnv

    answer = {}
    for policy, kind in _figures():
        observation = "dummy" if kind == "dummy" else "flat_tree"
        env = RailParallelEnv.from_file(
            folder / f"{course.name}.pkl", observation=observation, depth=DEPTH
        )
        if kind == "tree":
            for given in _actions(folder, course, policy)[0][: course.first]:
                env.step(given)
        episodes = _measured(folder, course, policy, kind)
        seconds, steps = 0.0, 0
        again = copy.copy(env)
        step = again.step
        gc.collect()
        while seconds < 0.5:
            again.load(env)  # which leaves nothing to collect
            for number, actions in enumerate(episodes):
                if number:
                    again.reset(seed=number)
                started = time.process_time()
                for given in actions:
                    step(given)
                seconds += time.process_time() - started
                steps += len(actions)
        rewards, observations, last = [], {}, copy.copy(env)
        for number, actions in enumerate(episodes):
            if number:
                last.reset(seed=number)
            for given in actions:
                observations, reward, _, _, _ = last.step(given)
                rewards.append(reward)
        states = last.state()[:-1].reshape(-1, 9)[:, 0]
        answer[f"{policy}, {kind}"] = {
            "seconds": seconds / steps,
            **_seen(rewards, observations, episodes),
            "over": not last.agents,
            "arrived": int((states == 6).sum()),
        }
    return answer


# ---------------------------------------------------------------------- the report


def make_report(
    repeat: int,
    said: dict[str, Any],
    runs: dict[str, dict[str, list[dict[str, Any]]]],
) -> dict[str, Any]:
    rows, differences = [], []
    for course in COURSES:
        for policy, kind in _figures():
            figure = f"{policy}, {kind}"
            sides = {side: [r[figure] for r in of] for side, of in runs[course.name].items()}
            theirs = [r["seconds"] for r in sides["flatland"]]
            ours = [r["seconds"] for r in sides["skyrail"]]
            want = sides["flatland"][0]
            for side, all_runs in sides.items():
                differences += [
                    f"{course.name}, {figure}, {key}: got {run[key]} from {side}, want {want[key]}"
                    for run in all_runs
                    for key in want
                    if key != "seconds"
                    and not math.isclose(run[key], want[key], rel_tol=1e-9, abs_tol=1e-9)
                ]
            rows.append(
                {
                    "course": course.name,
                    "policy": policy,
                    "observation": kind,
                    "flatland_seconds": theirs,
                    "skyrail_seconds": ours,
                    "ratio_best": min(theirs) / min(ours),
                    "ratio_median": statistics.median(theirs) / statistics.median(ours),
                    "target": TARGETS[kind],
                    **{key: want[key] for key in ("steps", "arrived", "reward")},
                }
            )
    return {
        **said,
        "repeat": repeat,
        "call_seconds": _call_seconds(),
        "courses": [asdict(course) for course in COURSES],
        "rows": rows,
        "differences": differences,
    }


def _call_seconds() -> float:
    """What one call into the library takes that does nothing."""
    from skyrail import _native

    call = _native.lib().fast.skyrail_abi
    best = math.inf
    for _ in range(20):
        started = time.perf_counter()
        for _ in range(10_000):
            call()
        best = min(best, (time.perf_counter() - started) / 10_000)
    return best


def as_text(report: dict[str, Any]) -> str:
    lines = [
        f"flatland-rl {report['flatland']}, PettingZoo {report['pettingzoo']}, Python "
        f"{report['python']}; processor time on one core, of one step of all trains.",
        f"Best of {report['repeat']} repetitions, and beside the ratio that of the medians. One "
        f"call into the library takes {report['call_seconds'] * 1e9:.0f} ns.",
        "",
        f"{'actions, observation':<28}{'steps':>7}{'flatland':>13}{'skyrail':>12}{'skyrail/s':>12}"
        f"{'ratio':>9}{'median':>9}{'target':>9}",
    ]
    for course in report["courses"]:
        lines.append(f"{course['name']}: {course['about']}")
        for row in report["rows"]:
            if row["course"] != course["name"]:
                continue
            theirs, ours = min(row["flatland_seconds"]), min(row["skyrail_seconds"])
            lines.append(
                f"  {row['policy'] + ', ' + row['observation']:<26}{row['steps']:>7}"
                f"{theirs * 1e6:>10.0f} us{ours * 1e6:>9.2f} us{1 / ours:>12.0f}"
                f"{row['ratio_best']:>8.0f}x{row['ratio_median']:>8.0f}x{row['target']:>8}x"
                f"{'' if row['ratio_best'] >= row['target'] else '  missed'}"
            )
    lines.append("")
    if report["differences"]:
        lines += ["The sides DIFFER:", *(f"  {line}" for line in report["differences"])]
    else:
        lines.append("Both sides got the same rewards, saw the same trees and ended alike.")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
