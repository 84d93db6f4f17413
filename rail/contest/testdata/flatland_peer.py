"""What flatland-rl itself makes of random railways, for the tests that compare with it.

flatland_peer.py record OUT SEED COUNT
    runs random policies in random environments, each into a trajectory directory
flatland_peer.py evaluate DIR EPISODE REWARDS
    evaluates a trajectory of ours; fails if it does not agree
flatland_peer.py continue FILE OUT SEED
    loads an environment file of ours and runs it to its end, into a trajectory directory
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

from flatland.core.effects_generator import make_multi_effects_generator
from flatland.core.env_observation_builder import DummyObservationBuilder
from flatland.core.policy import Policy
from flatland.env_generation.env_generator import env_generator
from flatland.envs import rewards as reward_functions
from flatland.envs.malfunction_effects_generators import (
    IntermediateStopMalfunctionEffectsGenerator,
)
from flatland.envs.persistence import RailEnvPersister
from flatland.envs.rail_env import RailEnv
from flatland.evaluators.trajectory_evaluator import TrajectoryEvaluator
from flatland.trajectories.policy_runner import PolicyRunner
from flatland.trajectories.trajectories import Trajectory

REWARDS = {
    "default": reward_functions.DefaultRewards,
    "ecml2026": reward_functions.ECML2026Rewards,
    "base-default": reward_functions.BaseDefaultRewards,
    "multi-objective": reward_functions.BasicMultiObjectiveRewards,
    "punctuality": reward_functions.PunctualityRewards,
}


class RandomPolicy(Policy):
    """Draws every action, some more often than others."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.weights = [rng.choice([0.2, 1, 4]) for _ in range(5)]
        self.weights[2] *= rng.choice([1, 5, 25])

    def act(self, observation: object, **kwargs: object) -> int:
        return self.rng.choices(range(5), self.weights)[0]


def with_plain_cells(env: RailEnv) -> RailEnv:
    """flatland-rl fails where it compares a bridge with a cell of NumPy integers."""
    resource = env.resource_map.get_resource

    def plain(c: tuple | None) -> object:
        return resource(None if c is None else ((int(c[0][0]), int(c[0][1])), int(c[1])))

    env.resource_map.get_resource = plain
    return env


def random_env(rng: random.Random, name: str) -> RailEnv:
    """Draws until flatland-rl can generate what was drawn."""
    while True:
        effects = None
        if rng.random() < 0.5:
            effects = IntermediateStopMalfunctionEffectsGenerator(0.3, 1, 6, rng.choice([0, 20]))
            if rng.random() < 0.3:
                effects = make_multi_effects_generator(
                    effects, IntermediateStopMalfunctionEffectsGenerator(0.1, 2, 3, 0)
                )
        parameters = {
            "n_agents": rng.randint(1, 12),
            "x_dim": rng.randint(30, 40),
            "y_dim": rng.randint(30, 40),
            "n_cities": rng.randint(2, 3),
            "max_rail_pairs_in_city": rng.randint(1, 3),
            "max_rails_between_cities": rng.randint(1, 3),
            "grid_mode": rng.random() < 0.3,
            "p_level_free": rng.choice([0, 0.5, 1]),
            "line_length": rng.randint(2, 3),
            "malfunction_interval": rng.choice([20, 100, 540]),
            "malfunction_duration_min": rng.randint(1, 5),
            "malfunction_duration_max": rng.randint(5, 20),
            "seed": rng.randrange(2**31),
        }
        try:
            env, _, _ = env_generator(
                **parameters,
                obs_builder_object=DummyObservationBuilder(),
                rewards=REWARDS[name](),
                effects_generator=effects,
            )
        except (ValueError, IndexError, AssertionError):
            continue  # no room for the cities, or fewer cities than a line has stops
        if env._max_episode_steps < 1:
            continue  # no train has a way to its target
        # with too few cities some trains get fewer times than they have stops
        if all(len(a.waypoints) == len(a.waypoints_latest_arrival) for a in env.agents):
            return with_plain_cells(env)


def record(out: Path, seed: int, count: int) -> None:
    rng = random.Random(seed)
    for k in range(count):
        name = rng.choice(list(REWARDS))
        episode = f"{name}_{k}"
        data_dir = out / episode
        data_dir.mkdir(parents=True)
        PolicyRunner.create_from_policy(
            policy=RandomPolicy(rng),
            data_dir=data_dir,
            env=random_env(rng, name),
            snapshot_interval=rng.choice([0, 40]),
            ep_id=episode,
            tqdm_kwargs={"disable": True},
        )


def evaluate(data_dir: Path, episode: str, rewards: str) -> None:
    trajectory = Trajectory.load_existing(data_dir=data_dir, ep_id=episode)
    load = trajectory.load_env
    trajectory.load_env = lambda *args, **kwargs: with_plain_cells(load(*args, **kwargs))
    TrajectoryEvaluator(trajectory).evaluate(
        tqdm_kwargs={"disable": True},
        rewards=REWARDS[rewards](),
        # what is no number flatland-rl reads back as text, and cannot compare
        skip_rewards=rewards not in ("default", "ecml2026"),
        ignoring_action_required=False,
    )


def go_on(file: Path, out: Path, seed: int) -> None:
    env, _ = RailEnvPersister.load_new(
        str(file), obs_builder=DummyObservationBuilder(), rewards=REWARDS["ecml2026"]()
    )
    out.mkdir(parents=True)
    PolicyRunner.create_from_policy(
        policy=RandomPolicy(random.Random(seed)),
        data_dir=out,
        env=with_plain_cells(env),
        snapshot_interval=0,
        ep_id="continued",
        tqdm_kwargs={"disable": True},
        start_step=env._elapsed_steps,
    )


def main(command: str, *args: str) -> None:
    if command == "record":
        record(Path(args[0]), int(args[1]), int(args[2]))
    elif command == "evaluate":
        evaluate(Path(args[0]), args[1], args[2])
    elif command == "continue":
        go_on(Path(args[0]), Path(args[1]), int(args[2]))
    else:
        sys.exit(f"unknown command {command}")


if __name__ == "__main__":
    main(*sys.argv[1:])
