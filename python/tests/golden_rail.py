"""The golden data in ../rail/testdata, recorded from flatland-rl, and environments of it.

The recordings are no environment files, so they are written here in the form in which the engine
saves an environment (rail/binary.go).
"""

from __future__ import annotations

import gzip
import json
import struct
from fractions import Fraction
from pathlib import Path
from typing import Any

TESTDATA = Path(__file__).resolve().parents[2] / "rail" / "testdata"
COMPETITION = TESTDATA.parent / "railfile/testdata/files/v4/level_0_scenario_1.pkl.gz"

CONDITIONS = {
    "on_map": 1,
    "stopped_at_waypoint": 2,
    "stopped_intermediate_and_range": 3,
    "stopped_cells_and_range": 4,
    "any": 5,
}

NOWHERE = (0, 0, -1)


def load(path: Path) -> Any:  # noqa: ANN401 - JSON
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def episodes() -> list[Path]:
    return sorted(p for p in (TESTDATA / "engine").glob("*.json.gz") if p.name[0] in "grst")


def observations() -> list[Path]:
    found = [*(TESTDATA / "engine").glob("obs*.gz"), *(TESTDATA / "observations").glob("obs*.gz")]
    return sorted(found)


def state_of_episode(g: dict[str, Any]) -> bytes:
    """The environment of a recorded episode before its first step."""
    w = _Writer(g["width"], g["height"], g["grid"])
    w.cells(g["level_free"])
    w.ints(g["max_episode_steps"])
    w.delta(g["acceleration_delta"])
    w.delta(g["braking_delta"])
    w.bools(not g["remove_agents_at_target"])
    w.ints(len(g["agents"]))
    for a in g["agents"]:
        w.ints(*a["initial"], *(a["targets"][0][:2] if a["targets"] else (0, 0)))
        w.fraction(a["max_speed"])
        w.ints(a["earliest_departure"], a["latest_arrival"], len(a["waypoints"]))
        for alternatives, earliest, latest in zip(
            a["waypoints"], a["wp_earliest"], a["wp_latest"], strict=True
        ):
            w.time(latest)
            w.time(earliest)
            w.ints(len(alternatives))
            for row, column, heading in alternatives:
                w.ints(row, column, -1 if heading is None else heading)
    w.moment(0, g["rng_state"])
    w.effects(g["effects"], g.get("malfunction_cache"))
    for a in g["agents"]:
        w.train(NOWHERE, 0, a["initial_speed"], 0)
    w.books([_platforms(g, a) for a in g["agents"]])
    return bytes(w.data)


def state_of_moment(g: dict[str, Any], moment: dict[str, Any]) -> bytes:
    """The environment of a recorded observation, without the timetables, which are not recorded."""
    w = _Writer(g["width"], g["height"], g["grid"])
    w.cells([])
    w.ints(0)
    w.delta({"kind": "float", "value": 1.0})
    w.delta({"kind": "float", "value": -1.0})
    w.bools(False)
    w.ints(len(g["agents"]))
    for a in g["agents"]:
        w.ints(*a["initial"], *a["targets_in_set_order"][0][:2])
        w.fraction(a["max_speed"])
        w.ints(0, 0, 0)
    w.moment(moment["elapsed"], {"key": [1] * 624, "pos": 624, "has_gauss": 0, "gauss": 0.0})
    w.effects([], None)
    for a in moment["agents"]:
        w.train(a["config"] or NOWHERE, a["state"], a["speed"], a["malf"])
    w.books([0] * len(g["agents"]))
    return bytes(w.data)


def _platforms(g: dict[str, Any], agent: dict[str, Any]) -> int:
    """In how many configurations a train may serve a stop between its start and its target."""
    return len(
        {
            tuple(c)
            for stop in agent["waypoints"][1:-1]
            for c in stop
            if c[2] is not None and 0 <= c[0] < g["height"] and 0 <= c[1] < g["width"]
        }
    )


class _Writer:
    """Words of 64 bits, little-endian, and single bytes."""

    def __init__(self, width: int, height: int, grid: list[list[int]]) -> None:
        self.data = bytearray(b"rail\x00\x01")
        self.ints(width, height, width * height)
        for row in grid:
            self.data += struct.pack(f"<{width}H", *row)

    def ints(self, *values: int) -> None:
        for v in values:
            self.data += struct.pack("<q", v)

    def floats(self, *values: float) -> None:
        self.data += struct.pack(f"<{len(values)}d", *values)

    def bools(self, *values: bool) -> None:
        self.data += bytes(map(bool, values))

    def fraction(self, text: str) -> None:
        f = Fraction(text)
        if max(abs(f.numerator), f.denominator) < 2**63:
            self.ints(f.numerator, f.denominator)
        else:
            self.ints(len(str(f)), 0)
            self.data += str(f).encode()

    def cells(self, cells: list[list[int]]) -> None:
        self.ints(len(cells))
        for row, column in cells:
            self.ints(row, column)

    def time(self, step: int | None) -> None:
        self.bools(step is not None)
        self.ints(step or 0)

    def delta(self, delta: dict[str, Any]) -> None:
        exact = delta["kind"] == "fraction"
        self.ints(1 if exact else 2)
        self.fraction(delta["value"] if exact else "0")
        self.floats(0.0 if exact else float(delta["value"]))

    def moment(self, elapsed: int, stream: dict[str, Any]) -> None:
        """The reward function, the steps, the stream and that there was no seed."""
        self.ints(1, 0)
        self.floats(1, 0, 0, 1, 0.2, 0.5, 0)
        self.ints(elapsed, 0)
        self.bools(False)
        self.stream(stream)
        self.bools(True)
        self.ints(0, 0)

    def stream(self, stream: dict[str, Any]) -> None:
        self.bools(bool(stream["has_gauss"]))
        self.floats(stream["gauss"])
        self.ints(stream["pos"])
        self.data += struct.pack("<624I", *stream["key"])

    def effects(self, effects: list[dict[str, Any]], cache: dict[str, Any] | None) -> None:
        self.ints(len(effects))
        for effect in effects:
            kind = effect["kind"]
            if kind == "param":
                self.ints(0)
                self.generator(effect, cache)
            elif kind == "conditional":
                self.ints(1)
                self.generator(effect, None)
                self.time(effect.get("earliest_malfunction"))
                most = effect.get("max_num_malfunctions")
                self.ints(most or 0, 0)
                self.bools(most is not None)
                self.condition(effect.get("condition"))
            else:
                self.ints(2)
                self.parameters(effect)
                self.bools(kind == "legacy_none")

    def parameters(self, effect: dict[str, Any]) -> None:
        self.floats(effect.get("rate", 0.0))
        self.ints(effect.get("min_duration", 0), effect.get("max_duration", 0))

    def generator(self, effect: dict[str, Any], cache: dict[str, Any] | None) -> None:
        self.parameters(effect)
        self.ints(cache["rand_idx"] if cache else 0, 0)
        self.bools(cache is not None)
        if cache:
            self.stream(cache["rng_state_at_cache"])

    def condition(self, c: dict[str, Any] | None) -> None:
        c = c or {}
        self.ints(CONDITIONS[c["name"]] if c else 0, c.get("start") or 0, c.get("end") or 0)
        self.cells(c.get("cells") or [])
        self.ints(len(c.get("of") or []))
        for other in c.get("of") or []:
            self.condition(other)

    def train(self, at: Any, state: int, speed: str, malfunction: int) -> None:  # noqa: ANN401
        self.ints(*at, *NOWHERE, state, -1, -1)
        self.fraction(speed)
        self.fraction("0")
        self.bools(True)
        self.ints(malfunction, 0)
        self.time(None)
        self.bools(*[False] * 9)

    def books(self, platforms: list[int]) -> None:
        """Rewards of 0, and no stop served yet."""
        self.floats(*[0.0] * len(platforms))
        for _ in range(sum(platforms)):
            self.bools(False)
            self.ints(0, 0)
        for _ in platforms:
            self.ints(-1)
            self.fraction("0")
            self.bools(False)
        self.bools(False)
