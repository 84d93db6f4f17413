"""What flatland-rl itself makes of files that we write, for the tests that compare with it.

flatland_products.py IN OUT
    loads rail.pkl, line.pkl, timetable.pkl and stations.pkl of the folder IN with its file generators, writes each again into
    the folder OUT as its wrappers do, and saves the environment that the first three make as environment.pkl there
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

from flatland.core.env_observation_builder import DummyObservationBuilder
from flatland.envs.line_generators import FileLineGenerator
from flatland.envs.persistence import RailEnvPersister
from flatland.envs.rail_env import RailEnv
from flatland.envs.rail_generators import FileRailFromGridGen
from flatland.envs.timetable_generators import FileTimetableGenerator


def main(given: Path, out: Path) -> None:
    rail, line = FileRailFromGridGen(given / "rail.pkl"), FileLineGenerator(given / "line.pkl")
    timetable = FileTimetableGenerator(given / "timetable.pkl")
    stations = pickle.loads((given / "stations.pkl").read_bytes())

    grid, hints = rail.generate(0, 0, 0)
    FileRailFromGridGen.save(out / "rail.pkl", (grid, hints))
    FileLineGenerator.save(out / "line.pkl", line.generate(grid, 0))
    FileTimetableGenerator.save(out / "timetable.pkl", timetable.generate())
    (out / "stations.pkl").write_bytes(pickle.dumps(stations))

    env = RailEnv(
        width=grid.width,
        height=grid.height,
        rail_generator=FileRailFromGridGen.wrap(rail, out / "wrapped_rail.pkl"),
        line_generator=FileLineGenerator.wrap(line, out / "wrapped_line.pkl"),
        timetable_generator=FileTimetableGenerator.wrap(timetable, out / "wrapped_timetable.pkl"),
        number_of_agents=len(line.generate(grid, 0).agent_waypoints),
        obs_builder_object=DummyObservationBuilder(),
    )
    env.reset(random_seed=1)
    RailEnvPersister.save(env, str(out / "environment.pkl"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
