"""What flatland-rl itself generates, and how what we generate runs in it, for the tests that compare with it.

flatland_generate.py generate SETS OUT
    generates an environment with each of the parameter sets of a JSON file
flatland_generate.py run FILE SEED ACTIONS OUT
    loads an environment file of ours, resets it with the seed (none: not at all), and runs random actions to its end

Both write JSON. NumPy has to sort as in its portable code, since the order of cities that are equally far depends on it:
set NPY_DISABLE_CPU_FEATURES=AVX512F.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
import traceback
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from flatland.core.env_observation_builder import DummyObservationBuilder
from flatland.env_generation.env_generator import env_generator, env_generator_legacy
from flatland.envs.agent_utils import EnvAgent
from flatland.envs.persistence import RailEnvPersister
from flatland.envs.rail_env import RailEnv
from flatland.envs.rail_generators import SparseRailGen

STAGES = ("rail_generators", "line_generators", "timetable_generators")


def check_sort() -> None:
    """Ends the script if NumPy does not sort as its portable code."""
    with gzip.open(Path(__file__).parent / "prim_argsort.json.gz") as recorded:
        for values, order in json.load(recorded):
            if np.argsort(np.array(values)).tolist() != order:
                sys.exit(
                    f"NumPy {np.__version__} leaves equal values in another order than its portable code, so flatland-rl "
                    "lays other tracks: set NPY_DISABLE_CPU_FEATURES to what its sort is made for here, such as AVX512F"
                )


def plain(value: object) -> object:
    """The number of what JSON does not know."""
    return value.item() if isinstance(value, np.generic) else int(value)


def cell(position: Iterable) -> list:
    return [int(v) for v in position]


def place(position: Iterable, heading: object) -> list:
    return [cell(position), None if heading is None else int(heading)]


def stream(env: RailEnv) -> dict[str, Any]:
    _, key, position, _, _ = env.np_random.get_state()
    return {"key": key.tolist(), "position": int(position)}


def described(agent: EnvAgent) -> dict[str, Any]:
    return {
        "handle": agent.handle,
        "initial": place(*agent.initial_configuration),
        "target": cell(agent.target),
        "targets": sorted(place(*t) for t in agent.targets),
        "speed": "/".join(map(str, agent.speed_counter.max_speed.as_integer_ratio())),
        "waypoints": [[place(w.position, w.direction) for w in stop] for stop in agent.waypoints],
        "earliest_departure": agent.earliest_departure,
        "latest_arrival": agent.latest_arrival,
        "waypoints_earliest_departure": agent.waypoints_earliest_departure,
        "waypoints_latest_arrival": agent.waypoints_latest_arrival,
    }


def stage_of(error: Exception) -> str:
    """The generator that an error comes from."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if (name := Path(frame.filename).stem) in STAGES:
            return name
    return ""


def refused(env: RailEnv) -> dict[str, bool] | None:
    """What is wrong with an environment that flatland-rl generates all the same."""
    if any(len(a.waypoints) != len(a.waypoints_latest_arrival) for a in env.agents):
        return {"unequal": True}  # trains with more or fewer stops than the first, whose times are not those of stops
    if env._max_episode_steps < 1:
        return {"no_steps": True}  # no train has a way to its target
    return None


def generate_one(given: dict[str, Any]) -> dict[str, Any]:
    make = env_generator_legacy if given.pop("legacy") else env_generator
    resets = given.pop("resets") or ()
    if given["speed_ratios"] is not None:
        given["speed_ratios"] = dict(given["speed_ratios"])
    products = []
    generate = SparseRailGen.generate

    def kept(*args: object, **kwargs: object) -> object:
        products.append(generate(*args, **kwargs))
        return products[-1]

    SparseRailGen.generate = kept
    try:
        env, _, _ = make(**given, obs_builder_object=DummyObservationBuilder())
        for seed in resets:
            if wrong := refused(env):
                return wrong
            env.reset(random_seed=seed)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}", "stage": stage_of(error)}
    finally:
        SparseRailGen.generate = generate
    if wrong := refused(env):
        return wrong
    (_, optionals), malfunction = products[-1], env.malfunction_generator.MFP
    hints = optionals["agents_hints"]
    return {
        "width": env.width,
        "height": env.height,
        "grid": env.rail.grid.tolist(),
        "city_positions": [cell(c) for c in hints["city_positions"]],
        "city_orientations": [int(o) for o in hints["city_orientations"]],
        "train_stations": [[[cell(c), int(k)] for c, k in city] for city in hints["train_stations"]],
        "level_free_positions": sorted(cell(c) for c in optionals.get("level_free_positions", ())),
        "resource_map_level_free_positions": sorted(cell(c) for c in env.resource_map.level_free_positions),
        "malfunction": [malfunction.malfunction_rate, malfunction.min_duration, malfunction.max_duration],
        "max_episode_steps": env._max_episode_steps,
        "random_seed": env.random_seed,
        "seed_history": env.seed_history,
        "stream": stream(env),
        "agents": [described(agent) for agent in env.agents],
    }


def generate(sets: Path, out: Path) -> None:
    write(out, [generate_one(given) for given in json.loads(sets.read_text())])


def run(file: Path, seed: str, actions: str, out: Path) -> None:
    env, _ = RailEnvPersister.load_new(str(file), obs_builder=DummyObservationBuilder())
    if seed != "none":
        env.reset(random_seed=int(seed))
    rng, steps = random.Random(int(actions)), []
    while not env.dones["__all__"]:
        weights = [1, 1, rng.choice([5, 25]), 1, rng.choice([0, 1])]
        told = rng.choices(range(5), weights, k=len(env.agents))
        _, rewards, _, _ = env.step(dict(enumerate(told)))
        steps.append(
            {
                "actions": told,
                "positions": [None if a.position is None else place(a.position, a.direction) for a in env.agents],
                "states": [int(a.state) for a in env.agents],
                "malfunctions": [a.malfunction_handler.malfunction_down_counter for a in env.agents],
                "rewards": [rewards[a.handle] for a in env.agents],
            }
        )
    write(out, {"steps": steps, "random_seed": env.random_seed, "seed_history": env.seed_history, "stream": stream(env)})


def write(out: Path, answer: object) -> None:
    out.write_text(json.dumps(answer, default=plain))


def main(command: str, *args: str) -> None:
    warnings.simplefilter("ignore")
    check_sort()
    if command == "generate":
        generate(Path(args[0]), Path(args[1]))
    elif command == "run":
        run(Path(args[0]), args[1], args[2], Path(args[3]))
    else:
        sys.exit(f"unknown command {command}")


if __name__ == "__main__":
    main(*sys.argv[1:])
