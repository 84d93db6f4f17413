"""Scenarios, conflicts, congestion and mid-airs equal the reference's, on the boundaries too."""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from typing import Any

import golden
import numpy as np
import pytest
from envs import CollisionCourseSimulator, Flight, Flight4DEnv
from envs.simulator import Conflict

SCENARIOS = golden.load("scenarios")
RESETS = golden.load("resets")
CRAFTED = golden.load("crafted")
CONFLICTS = golden.load("conflicts")


def _check_aircraft(env: Flight4DEnv, want: list[list[str]]) -> None:
    assert len(env.sim.flights) == len(want)
    for flight, state in zip(env.sim.flights, want, strict=True):
        assert golden.all_close(list(flight.get_5_tuple()), state), (flight, state)


def _scenario_seed(env: Flight4DEnv) -> int:
    return int(env.sim.rng.bit_generator.seed_seq.entropy)


@pytest.mark.parametrize("want", SCENARIOS, ids=lambda s: str(s["seed"]))
def test_scenario_equals_the_reference(want: dict[str, Any]) -> None:
    env = Flight4DEnv()
    _, info = env.reset(seed=want["seed"])
    assert (info["n"], info["m"]) == (want["n"], want["m"])
    assert (env.sim.n, env.sim.m) == (want["n"], want["m"])
    assert _scenario_seed(env) == want["scenario_seed"]
    assert env.sim.sim_time == want["shift_steps"] * env.DT
    assert golden.all_close([env.sim.collision_x, env.sim.collision_y], want["hotspot"])
    _check_aircraft(env, want["flights"])
    assert golden.all_close(env.s_total.tolist(), want["distance_to_exit"])
    assert golden.all_close(env.t_target.tolist(), want["target_time"])


def test_first_observations_are_the_same_bytes() -> None:
    env = Flight4DEnv()
    same = 0
    for want in SCENARIOS:
        observation, _ = env.reset(seed=want["seed"])
        same += zlib.crc32(observation.astype("<f4").tobytes()) == want["obs_crc32"]
    # A libm whose sine or cosine rounds differently may cost a few.
    assert same >= 0.99 * len(SCENARIOS), f"{same} of {len(SCENARIOS)} identical"


def test_resets_without_a_seed_go_on_along_the_stream() -> None:
    env = Flight4DEnv()
    env.reset(seed=12345)
    for want in RESETS["resets_after_seed_12345"]:
        _check_reset(env, want)


def test_the_stream_does_not_depend_on_the_steps_flown() -> None:
    env = Flight4DEnv()
    env.reset(seed=777)
    for _ in range(5):
        env.step(0)
    _check_reset(env, RESETS["reset_after_seed_777_and_five_steps"])


def _check_reset(env: Flight4DEnv, want: dict[str, Any]) -> None:
    _, info = env.reset()
    assert (info["n"], _scenario_seed(env)) == (want["n"], want["scenario_seed"])
    _check_aircraft(env, want["flights"])


def test_a_simulator_by_itself_draws_the_scenario_of_its_stream() -> None:
    want = SCENARIOS[0]
    rng = np.random.default_rng(want["scenario_seed"])
    sim = CollisionCourseSimulator(want["n"], want["m"], rng=rng)
    for flight, state in zip(sim.flights, want["flights"], strict=True):
        assert golden.all_close(list(flight.get_5_tuple()), state)


def test_without_init_flights_the_sector_is_empty() -> None:
    assert CollisionCourseSimulator(2, 3, init_flights=False).flights == []


# ---------------------------------------------------------------------- conflicts


def _check_conflicts(got: Sequence[Conflict], want: list[dict[str, Any]]) -> None:
    assert [(c.i, c.j) for c in got] == [(c["i"], c["j"]) for c in want]
    for conflict, expected in zip(got, want, strict=True):
        for name in ("t_enter", "t_cpa", "duration", "d_cpa", "d_alt", "severity"):
            figure = getattr(conflict, name)
            assert golden.close(figure, expected[name]), (name, figure, expected[name])


def _aircraft(state: Sequence[str | float]) -> Flight:
    x, y, altitude, velocity, heading = map(float, state)
    return Flight(heading, velocity, altitude, x, y)


@pytest.mark.parametrize("case", CRAFTED, ids=lambda c: c["name"])
def test_crafted_situation_equals_the_reference(case: dict[str, Any]) -> None:
    env = Flight4DEnv()
    env.reset(seed=0)
    env.sim.flights = [_aircraft(state) for state in case["flights"]]
    _check_conflicts(env.sim.predict_conflicts(case["horizon"]), case["conflicts"])
    assert env._count_congestion() == case["congestion"]
    assert env._is_collision() == case["collision"]


@pytest.mark.parametrize("case", CONFLICTS, ids=lambda c: f"{c['seed']}-step-{c['step']}")
def test_predicted_conflicts_of_an_idle_episode_equal_the_reference(case: dict[str, Any]) -> None:
    env = Flight4DEnv()
    env.reset(seed=case["seed"])
    for _ in range(case["step"]):
        env.step(0)
    _check_conflicts(env.sim.predict_conflicts(case["horizon"]), case["conflicts"])


def test_a_conflict_tells_where_it_is() -> None:
    sim = CollisionCourseSimulator(0, 0, init_flights=False)
    east, west = Flight(0.0, 200.0, 290.0, -4_000.0, 100.0), Flight(180.0, 300.0, 302.0, 6_000.0)
    (conflict,) = sim.predict_conflicts(100.0, [east, west])
    assert golden.close(conflict.t_cpa, 20.0)  # 10 km apart, closing at 500 m/s
    assert golden.all_close(list(conflict.center), [0.0, 50.0])
    assert conflict.radius == sim.hotspot_limit == 1_000.0
    assert golden.close(conflict.severity, math.exp(-0.1) * math.exp(-0.5))
    assert sim.predict_conflicts(17.0, [east, west]) == []
    assert sim.predict_conflicts(0.0, [east, east]) == []


def test_congestion_groups_each_aircraft_with_those_after_it() -> None:
    sim = CollisionCourseSimulator(0, 0, init_flights=False)
    flights = [
        Flight(0.0, 200.0, 290.0),
        Flight(0.0, 200.0, 302.0, 1_000.0),  # at the separation, which is too close
        Flight(0.0, 200.0, 314.0, 500.0),  # two levels above the first, one above the second
        Flight(0.0, 200.0, 290.0, 5_000.0),
    ]
    centers, altitudes = sim.find_congestion(flights)
    assert [center.tolist() for center in centers] == [[500.0, 0.0], [750.0, 0.0]]
    assert altitudes == [296.0, 308.0]


@pytest.mark.parametrize(
    ("flight", "want"),
    [
        (Flight(0.0, 200.0, 290.0), 50.0),
        (Flight(90.0, 200.0, 290.0, 0.0, -12_000.0), 110.0),  # outside, on its way in
        (Flight(0.0, 200.0, 290.0, 10_001.0), 0.0),  # gone
        (Flight(0.0, 200.0, 290.0, 0.0, 10_001.0), 0.0),  # passing by
        (Flight(45.0, 200.0, 290.0, 0.0, -25_000.0), 0.0),  # passing by a corner
    ],
    ids=["inside", "outside", "gone", "beside", "corner"],
)
def test_time_to_exit(flight: Flight, want: float) -> None:
    sim = CollisionCourseSimulator(0, 0, init_flights=False)
    assert golden.close(sim.time_to_exit(flight), want)


@pytest.mark.parametrize(
    ("what", "low", "high"),
    [("pos", -1e4, 1e4), ("vel", 200, 515), ("alt", 290, 398), ("heading", 0, 360)],
)
def test_norm_and_denorm_undo_each_other(what: str, low: float, high: float) -> None:
    sim = CollisionCourseSimulator(0, 0, init_flights=False)
    norm, denorm = getattr(sim, f"norm_{what}"), getattr(sim, f"denorm_{what}")
    assert (norm(low), norm(high)) == (-1.0 if what == "pos" else 0.0, 1.0)
    assert (denorm(norm(low)), denorm(norm(high))) == (low, high)


def test_the_clock_runs_back_as_it_ran_on() -> None:
    sim = CollisionCourseSimulator(2, 3, rng=np.random.default_rng(0))
    before, time = [f.get_5_tuple() for f in sim.flights], sim.sim_time
    sim.advance_clock()
    for flight, (x, y, *_) in zip(sim.flights, before, strict=True):
        assert golden.close(math.hypot(flight.x - x, flight.y - y), 2.0 * flight.velocity)
    sim.reverse_clock()
    assert sim.sim_time == time
    for flight, state in zip(sim.flights, before, strict=True):
        assert golden.all_close(list(flight.get_5_tuple()), list(state))


# ---------------------------------------------------------------------- one aircraft


def test_an_aircraft_flies_where_it_heads() -> None:
    flight = Flight(heading=90.0, velocity=300.0, altitude=350.0, x=1.0, time=4)
    flight.advance_clock(2)
    assert golden.all_close(list(flight.get_5_tuple()), [1.0, 600.0, 350.0, 300.0, 90.0])
    assert flight.get_5_tuple_dict()["altitude"] == 350.0
    assert list(flight.get_5_tuple_dict()) == list(Flight.TUPLE5KEYS)
    assert flight.time == 6
    flight.heading = 0.0
    assert flight.get_heading_unit_vectors() == (1.0, 0.0)


def test_changes_are_bounded_below_only() -> None:
    flight = Flight(0.0, 235.0, 302.0, VEL_MIN=200, ALT_MIN=290)
    flight.change_altitude(-24)
    flight.change_velocity(-70)
    assert (flight.altitude, flight.velocity) == (290, 200)
    flight.change_altitude(1_000)
    flight.change_velocity(1_000)
    assert (flight.altitude, flight.velocity) == (1_290, 1_200)
