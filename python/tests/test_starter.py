"""The starter folder as a team gets it: its environment passes, its policy beats doing nothing."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import skyrail

PACKAGE = Path(skyrail.__file__).parent
KEYS = ("team", "algo", "env_entry_point", "policy_entry_point", "deterministic", "notes")

# Run in the team's folder, as its own process: it has packages of the same names as ours.
TRY_IT = """
import json, sys
from dataclasses import asdict
from envs.flight_4d import Flight4DEnv
from envs.my_env import MyFlightEnv
from policy.example import ExamplePolicy
from skyrail.contract import run
from skyrail.flight_rollout import board_row, fly

seeds = json.load(sys.stdin)
report = run(MyFlightEnv)
mine, stock = MyFlightEnv(), Flight4DEnv()
for env in (mine, stock):
    env.reset(seed=seeds[0])
    env.t_target -= 15.0  # all of them late
(a, reward, *_), (b, stock_reward, *_) = mine.step(0), stock.step(0)
print(json.dumps({
    "where": sys.modules["envs.my_env"].__file__,
    "checks": len(report.checks),
    "failure": report.failure and asdict(report.failure),
    "rewards": [reward, stock_reward],
    "differing": sorted({int(i) % 13 for i in (a != b).nonzero()[0]}),
    "lateness": [float(a[6]), float(b[6])],
    "row": asdict(board_row([fly(mine, ExamplePolicy(), seed) for seed in seeds])),
}))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("team")
    caches = shutil.ignore_patterns("__pycache__")
    for part in ("stock", "starter"):
        shutil.copytree(PACKAGE / part, folder, dirs_exist_ok=True, ignore=caches)
    return folder


@pytest.fixture(scope="module")
def tried(folder: Path) -> dict:
    seeds = [1829385696, *range(30)]
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.append({str(PACKAGE.parent)!r})\n{TRY_IT}"],
        input=json.dumps(seeds),
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_its_environment_passes_the_contract(folder: Path, tried: dict) -> None:
    assert Path(tried["where"]) == folder / "envs" / "my_env.py"
    assert (tried["checks"], tried["failure"]) == (24, None)


def test_its_environment_shows_lateness_and_rewards_differently(tried: dict) -> None:
    assert tried["differing"] == [6]
    assert tried["lateness"] == pytest.approx([15.0 / 20.0, math.tanh(15.0 / 10.0)])
    mine, stock = tried["rewards"]
    assert mine > stock  # conflicts to come weigh less


def test_its_policy_beats_doing_nothing(tried: dict) -> None:
    row = tried["row"]
    assert row["failed"] < 31 / 2  # idle, all of them fail
    assert 0 < row["clearances"] < 31 * 20


def test_its_manifest_names_every_key_and_what_is_there(folder: Path) -> None:
    lines = (folder / "submission.yaml").read_text(encoding="utf-8").splitlines()
    given = dict(line.removeprefix("# ").split(": ", 1) for line in lines if _is_key(line))
    assert tuple(given) == KEYS
    for key in ("env_entry_point", "policy_entry_point"):
        module, _, name = given[key].partition(":")
        source = folder.joinpath(*module.split(".")).with_suffix(".py")
        assert f"class {name}" in source.read_text(encoding="utf-8")


def _is_key(line: str) -> bool:
    return line.removeprefix("# ").split(":")[0] in KEYS


def test_its_readme_names_only_files_that_are_there(folder: Path) -> None:
    readme = (folder / "README.md").read_text(encoding="utf-8")
    for name in ("envs/my_env.py", "envs/flight_4d.py", "policy/example.py", "submission.yaml"):
        assert name in readme
        assert (folder / name).is_file()
    for name in ("agents", "policies", "competition/config.py"):
        assert name in readme
        assert (folder / name).exists()
