"""The examples, run for a minute instead of twenty, by `make test-peers`. SKYRAIL is the binary."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SKYRAIL = os.environ["SKYRAIL"]
QUICK = ("--threads", "1", "--points", "2")


def run(example: str, *options: str | Path) -> str:
    command = [sys.executable, str(EXAMPLES / example), *map(str, options)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# ---------------------------------------------------------------------- flight

FIGURES = ("failed", "congestion", "exit_miss", "clearances", "touched")


def scores(folder: Path) -> list[tuple[float, ...]]:
    """The curve without its times: a row of figures for every network that was scored."""
    with (folder / "curve.csv").open(newline="") as file:
        return [tuple(float(row[key]) for key in FIGURES) for row in csv.DictReader(file)]


def board(tmp_path: Path, agent: str | Path) -> tuple[float, ...]:
    """What the command says of an agent on the seeds of the curve."""
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("".join(f"{seed}\n" for seed in range(700_000, 700_500)))
    command = [SKYRAIL, "flight", "compare", "--agent", str(agent), "--seeds", str(seeds), "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout)["boards"][0]["rows"][0]
    return tuple(round(float(row[key]), 4) for key in FIGURES)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What some seconds of training leave behind."""
    folder = tmp_path_factory.mktemp("flight")
    told = run("flight_ppo.py", "--steps", "60000", "--envs", "128", *QUICK, "--out", folder)
    assert "rule-based: 82 failed, congestion 448" in told
    return folder


def test_ppo_learns_to_avoid_collisions(trained: Path) -> None:
    curve = scores(trained)
    assert curve[0][0] > 450, "untrained, nearly every episode fails"
    assert min(curve)[0] < 300


def test_the_best_network_is_kept_and_flies_as_scored(trained: Path, tmp_path: Path) -> None:
    assert board(tmp_path, trained / "policy.zip") == min(scores(trained))


def test_the_agent_to_beat_is_the_boards(tmp_path: Path) -> None:
    assert board(tmp_path, "rule-based")[:2] == (82, 448)


def test_the_curve_is_drawn(trained: Path) -> None:
    assert "<svg" in (trained / "curve.svg").read_text()


def test_training_goes_on_from_a_checkpoint(trained: Path, tmp_path: Path) -> None:
    options = ["--steps", "20000", "--envs", "128", *QUICK, "--out", tmp_path]
    run("flight_ppo.py", *options, "--init", trained / "policy.zip")
    assert scores(tmp_path)[0] == min(scores(trained))
    assert len(set(scores(tmp_path))) > 1, "nothing was learned"


def test_a_run_of_so_many_steps_can_be_repeated(tmp_path: Path) -> None:
    options = ["--steps", "8192", "--envs", "64", *QUICK]
    for folder in (tmp_path / "first", tmp_path / "again"):
        run("flight_ppo.py", *options, "--out", folder)
    assert scores(tmp_path / "first") == scores(tmp_path / "again")
    assert len(set(scores(tmp_path / "first"))) > 1, "nothing was learned"


def test_the_challenges_network_is_trained_in_the_same_way(tmp_path: Path) -> None:
    options = ["--steps", "8192", "--envs", "64", *QUICK]
    run("flight_ppo.py", *options, "--policy", "autoregressive", "--out", tmp_path)
    assert board(tmp_path, tmp_path / "policy.zip") == min(scores(tmp_path))


# ---------------------------------------------------------------------- rail


def arrivals(folder: Path) -> list[tuple[float, float]]:
    with (folder / "curve.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return [(float(row["arrived"]), float(row["normalized_reward"])) for row in rows]


def test_trains_learn_to_arrive(tmp_path: Path) -> None:
    told = run("rail_ppo.py", "--updates", "60", *QUICK, "--out", tmp_path)
    curve = arrivals(tmp_path)
    (untrained, reward), (arrived, better) = curve[0], max(curve)
    assert arrived > untrained + 0.3
    assert better > reward + 0.2
    # The rows before the curve are the stock policies', by name.
    rivals = {
        name.strip(): float(score.split("reward")[1])
        for name, _, score in (line.partition(":") for line in told.splitlines()[:4])
    }
    assert list(rivals) == ["do-nothing", "random", "forward", "shortest-path"]
    assert better > max(rivals["do-nothing"], rivals["random"], rivals["forward"])

    again = tmp_path / "again"
    run("rail_ppo.py", "--updates", "1", "--init", tmp_path / "policy.pt", "--out", again)
    assert arrivals(again)[0] == max(curve), "the network that was kept is the best one"
