"""Closed tracks in flatland-rl itself, for the test that compares with it.

closures_peer.py run FILE ACTIONS STEP SAVED OUT
    loads an environment file of ours, gives each step its actions, saves the environment after
    STEP steps and writes what became of the trains
closures_peer.py refuse FILE
    fails unless skyrail.rail.effects refuses every list of closures in FILE
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import skyrail.rail  # noqa: F401

assert not any(name.startswith("flatland") for name in sys.modules), "skyrail.rail imports it"

from flatland.core.env_observation_builder import DummyObservationBuilder
from flatland.envs.persistence import RailEnvPersister
from flatland.envs.rail_env import RailEnv
from flatland_peer import REWARDS, with_plain_cells


def trains(env: RailEnv, rewards: dict, dones: dict, infos: dict) -> list[dict]:
    return [
        {
            "position": None if a.position is None else [*map(int, a.position), int(a.direction)],
            "state": int(a.state),
            "malfunction": a.malfunction_handler.malfunction_down_counter,
            "malfunctions": a.malfunction_handler.num_malfunctions,
            "distance": str(a.speed_counter.distance),
            "reward": rewards[i],
            "done": dones[i],
            "info": {
                "action_required": bool(infos["action_required"][i]),
                "malfunction": infos["malfunction"][i],
                "speed": str(infos["speed"][i]),
                "state": int(infos["state"][i]),
            },
        }
        for i, a in enumerate(env.agents)
    ]


def run(file: str, actions: str, save_step: int, saved: str, out: str) -> None:
    env, _ = RailEnvPersister.load_new(
        file, obs_builder=DummyObservationBuilder(), rewards=REWARDS["ecml2026"]()
    )
    with_plain_cells(env)
    steps = []
    for k, given in enumerate(json.loads(Path(actions).read_text()), 1):
        _, rewards, dones, infos = env.step(dict(enumerate(given)))
        steps.append({"done": dones["__all__"], "trains": trains(env, rewards, dones, infos)})
        if k == save_step:
            RailEnvPersister.save(env, saved)
    Path(out).write_text(json.dumps(steps))


def refuse(file: str) -> None:
    from skyrail.rail.effects import TrackClosures

    for name, closures in json.loads(Path(file).read_text()).items():
        try:
            TrackClosures(closures)
        except ValueError as e:
            print(f"{name}: {e}")
        else:
            sys.exit(f"{name} is not refused")


def main(command: str, *args: str) -> None:
    if command == "run":
        run(args[0], args[1], int(args[2]), args[3], args[4])
    elif command == "refuse":
        refuse(args[0])
    else:
        sys.exit(f"unknown command {command}")


if __name__ == "__main__":
    main(*sys.argv[1:])
