"""Records what published policies answer in environments of flatland-rl 4.2.5.

Usage: record.py OUTPUT_FOLDER [TRAJECTORIES]. The environment of each file is described as it is
before its first step; each policy then starts from a fresh copy of it. TRAJECTORIES is a folder of
recorded ones (malfunction_deadlock_avoidance_heuristics/Test_00), which are converted instead.
"""

from __future__ import annotations

import csv
import gzip
import json
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from flatland.envs.line_generators import sparse_line_generator
from flatland.envs.malfunction_generators import MalfunctionParameters, ParamMalfunctionGen
from flatland.envs.observations import FullEnvObservation
from flatland.envs.persistence import RailEnvPersister
from flatland.envs.rail_env import RailEnv
from flatland.envs.rail_env_action import RailEnvActions
from flatland.envs.rail_env_policies import ShortestPathPolicy
from flatland.envs.rail_generators import sparse_rail_generator
from flatland.envs.step_utils.states import TrainState
from flatland_baselines.deadlock_avoidance_heuristic.policy.deadlock_avoidance_policy import (
    DeadlockAvoidanceHeuristics,
    DeadLockAvoidancePolicy,
)
from flatland_baselines.do_nothing_heuristic.do_nothing_policy import DoNothingPolicy
from flatland_baselines.forward_only_heuristic.forward_only_policy import ForwardOnlyPolicy

Actions = dict[int, int]
Policy = Callable[[RailEnv], Actions]
MOVING = [RailEnvActions.MOVE_FORWARD, RailEnvActions.MOVE_LEFT, RailEnvActions.MOVE_RIGHT]

# name: size, cities, trains, line length, seed, malfunction rate, speeds, bridges, steps recorded
ENVIRONMENTS = {
    "small": (30, 2, 7, 2, 11, 0.0, {1.0: 1.0}, 0.0, 400),
    "speeds": (
        35,
        3,
        20,
        2,
        12,
        1 / 150,
        {1.0: 0.25, 0.5: 0.25, 1 / 3: 0.25, 0.25: 0.25},
        0.0,
        400,
    ),
    "stops3": (40, 4, 16, 3, 13, 0.0, {1.0: 0.5, 0.5: 0.5}, 0.0, 400),
    "stops3-malfunctions": (40, 4, 25, 3, 14, 1 / 100, {1.0: 0.5, 0.5: 0.5}, 0.0, 400),
    "stops4": (45, 5, 30, 4, 15, 1 / 300, {1.0: 0.3, 0.8: 0.3, 0.6: 0.2, 0.5: 0.2}, 0.0, 400),
    "jam": (50, 5, 80, 3, 16, 1 / 300, {1.0: 1.0}, 0.0, 250),
    "bridges": (40, 4, 40, 3, 18, 1 / 200, {1.0: 0.5, 0.5: 0.5}, 1.0, 300),
    "busy-bridges": (35, 3, 60, 2, 391368, 0.0, {1.0: 1.0}, 1.0, 250),
    "large": (90, 12, 150, 2, 19, 1 / 500, {1.0: 0.5, 0.5: 0.5}, 0.5, 500),
}


def make(name: str) -> RailEnv:
    """Returns the environment of a name, at the start of its episode."""
    size, cities, trains, stops, seed, rate, speeds, bridges, _ = ENVIRONMENTS[name]
    parameters = MalfunctionParameters(malfunction_rate=rate, min_duration=5, max_duration=20)
    env = RailEnv(
        width=size,
        height=size,
        rail_generator=sparse_rail_generator(
            max_num_cities=cities, seed=seed, max_rail_pairs_in_city=2, p_level_free=bridges
        ),
        line_generator=sparse_line_generator(speed_ratio_map=speeds, seed=seed, line_length=stops),
        number_of_agents=trains,
        obs_builder_object=FullEnvObservation(),
        malfunction_generator=ParamMalfunctionGen(parameters),
        random_seed=seed,
    )
    env.reset(random_seed=seed)
    resource = env.resource_map.get_resource

    def plain(c: Any) -> Any:  # noqa: ANN401
        # NumPy's integers break the comparison of a cell with a bridge.
        return resource(None if c is None else ((int(c[0][0]), int(c[0][1])), int(c[1])))

    env.resource_map.get_resource = plain
    return env


def configuration(c: Any) -> list[int | None]:  # noqa: ANN401
    """Returns [row, column, heading or None] of a configuration or a waypoint."""
    position, heading = c
    return [int(position[0]), int(position[1]), None if heading is None else int(heading)]


def describe(env: RailEnv) -> dict[str, Any]:
    """Returns what of an environment decides its future."""
    _, key, pos, has_gauss, gauss = env.np_random.get_state()
    malfunction = env.malfunction_process_data
    return {
        "width": env.width,
        "height": env.height,
        "grid": [int(v) for v in env.rail.grid.flatten()],
        "level_free": sorted([int(r), int(c)] for r, c in env.resource_map.level_free_positions),
        "max_episode_steps": int(env._max_episode_steps),
        "stream": {
            "key": [int(k) for k in key],
            "pos": int(pos),
            "has_gauss": has_gauss,
            "gauss": gauss,
        },
        "malfunction": [
            float(malfunction.malfunction_rate),
            int(malfunction.min_duration),
            int(malfunction.max_duration),
        ],
        "trains": [
            {
                "initial": configuration(a.initial_configuration),
                "target": [int(v) for v in a.target],
                "stops": [
                    [configuration((w.position, w.direction)) for w in g] for g in a.waypoints
                ],
                "earliest": [None if t is None else int(t) for t in a.waypoints_earliest_departure],
                "latest": [None if t is None else int(t) for t in a.waypoints_latest_arrival],
                "max_speed": str(Fraction(a.speed_counter.max_speed)),
                "earliest_departure": int(a.earliest_departure),
                "latest_arrival": int(a.latest_arrival),
            }
            for a in env.agents
        ],
    }


def number(action: Any) -> int:  # noqa: ANN401
    """Returns the number of an action."""
    return int(getattr(action, "value", action))


def published(policy: Any) -> Policy:  # noqa: ANN401
    """Returns a policy that observes the environment as a whole."""

    def act(env: RailEnv) -> Actions:
        handles = list(env.get_agent_handles())
        return {h: number(a) for h, a in policy.act_many(handles, [env] * len(handles)).items()}

    return act


def first_of_its_kind(policy: Policy) -> Policy:
    """Returns a policy that moves by the first of FORWARD, LEFT, RIGHT with the same effect.

    flatland-rl's shortest path policy goes through a set, whose order differs between processes.
    """

    def act(env: RailEnv) -> Actions:
        actions = policy(env)
        for h, a in actions.items():
            here = env.agents[h].current_configuration
            if here is None or RailEnvActions(a) not in MOVING:
                continue
            effect = env.rail.apply_action_independent(RailEnvActions(a), here)
            actions[h] = next(
                m.value for m in MOVING if env.rail.apply_action_independent(m, here) == effect
            )
        return actions

    return act


def nearest(env: RailEnv) -> Actions:
    """Chooses of FORWARD, LEFT, RIGHT the first that leads nearest, by flatland-rl's distances."""
    distances = env.distance_map.get()
    actions = {}
    for a in env.agents:
        best, actions[a.handle] = float("inf"), 0
        if a.state == TrainState.DONE:
            continue
        for m in MOVING:
            effect = env.rail.apply_action_independent(
                m, a.current_configuration or a.initial_configuration
            )
            if effect is None:
                continue
            (position, heading), _ = effect
            distance = distances[a.handle, position[0], position[1], heading]
            if distance < best:
                best, actions[a.handle] = distance, m.value
    return actions


POLICIES: dict[str, Callable[[], Policy]] = {
    "do-nothing": lambda: published(DoNothingPolicy()),
    "forward": lambda: published(ForwardOnlyPolicy()),
    "shortest-path": lambda: nearest,
    "shortest-path-reference": lambda: first_of_its_kind(published(ShortestPathPolicy())),
    "deadlock-avoidance": lambda: published(
        DeadlockAvoidanceHeuristics(
            use_alternative_at_first_intermediate_and_then_always_first_strategy=1
        )
    ),
    "heuristics-direct": lambda: published(DeadlockAvoidanceHeuristics()),
    "deadlock-avoidance-classic": lambda: published(DeadLockAvoidancePolicy()),
    "classic-by-stops": lambda: published(
        DeadLockAvoidancePolicy(
            use_alternative_at_first_intermediate_and_then_always_first_strategy=1
        )
    ),
}


def run(env: RailEnv, policy: Policy, steps: int) -> dict[str, Any]:
    """Runs an episode and returns the actions and states of each step, a string of digits each."""
    actions, states, failure = [], [], None
    for _ in range(steps):
        try:
            answer = policy(env)
        except Exception as e:
            failure = f"{type(e).__name__}: {e}"[:200]
            break
        actions.append("".join(str(answer[h]) for h in env.get_agent_handles()))
        _, _, done, _ = env.step(answer)
        states.append("".join(str(a.state.value) for a in env.agents))
        if done["__all__"]:
            break
    return {"actions": actions, "states": states, "failure": failure}


def trajectories(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Converts recorded trajectories."""
    for level in sorted(folder.iterdir()):
        name = f"{folder.name}_{level.name}"
        env, _ = RailEnvPersister.load_new(
            str(level / "serialised_state" / f"{name}.pkl"), obs_builder=FullEnvObservation()
        )
        recorded: dict[int, Actions] = defaultdict(dict)
        with open(level / "event_logs" / "ActionEvents.discrete_action.tsv") as f:
            for row in csv.DictReader(f, delimiter="\t"):
                recorded[int(row["env_time"])][int(row["agent_id"])] = int(row["action"])
        episode = describe(env)
        episode["policies"] = {
            "deadlock-avoidance-classic": run(
                env, lambda e, r=recorded: r[e._elapsed_steps], len(recorded)
            )
        }
        yield name, episode


def episodes() -> Iterator[tuple[str, dict[str, Any]]]:
    """Makes the environments and runs every policy in each."""
    for name, parameters in ENVIRONMENTS.items():
        episode = describe(make(name))
        episode["policies"] = {
            p: run(make(name), of(), parameters[-1]) for p, of in POLICIES.items()
        }
        yield name, episode


def main() -> None:
    """Writes the files."""
    warnings.simplefilter("ignore")
    out = Path(sys.argv[1])
    for name, episode in trajectories(Path(sys.argv[2])) if len(sys.argv) > 2 else episodes():
        for p, r in episode["policies"].items():
            arrived = r["states"][-1].count("6") if r["states"] else 0
            print(
                name,
                p,
                len(r["actions"]),
                "steps",
                arrived,
                "of",
                len(episode["trains"]),
                r["failure"],
                flush=True,
            )
        data = json.dumps(episode, separators=(",", ":")).encode()
        (out / f"{name}.json.gz").write_bytes(gzip.compress(data, 9, mtime=0))


if __name__ == "__main__":
    main()
