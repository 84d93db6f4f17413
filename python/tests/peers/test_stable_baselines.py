"""The real Stable-Baselines3 beside Skyrail. Run by `make test-peers`, which installs it.

SKYRAIL is the binary, SKYRAIL_PYTHON this interpreter.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

HERE = Path(__file__).resolve()
PACKAGE = HERE.parents[2] / "skyrail"
REPOSITORY = HERE.parents[3]
sys.path[:0] = [str(PACKAGE / "stock")]

import torch  # noqa: E402
from envs.flight_4d import Flight4DEnv  # noqa: E402
from policies import AutoregressivePolicy  # noqa: E402
from sb3_contrib import TRPO, MaskablePPO  # noqa: E402
from stable_baselines3 import A2C, DQN, PPO  # noqa: E402

SKYRAIL = os.environ["SKYRAIL"]
EPISODES = 6

AUTOREGRESSIVE = {"n_flights": 5, "n_feats": 13, "n_globals": 2, "n_clearances": 7, "hidden": 32}


def skyrail(*arguments: str | Path) -> str:
    run = subprocess.run([SKYRAIL, *map(str, arguments)], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def published_seeds() -> list[int]:
    return [int(line) for line in skyrail("flight", "seeds").splitlines() if line[:1].isdigit()]


def shaken(model: Any) -> Any:  # noqa: ANN401 - any algorithm
    """The model with weights large enough that its answers differ between observations."""
    torch.manual_seed(1)
    with torch.no_grad():
        for name, p in model.policy.named_parameters():
            if "value" not in name:
                p.add_(0.5 * torch.randn_like(p))
    return model


def flown_by(model: Any, env: Flight4DEnv, seed: int, masked: bool = False) -> list[int]:  # noqa: ANN401
    """The actions of an episode, flown in Python, idled to its horizon."""
    observation, _ = env.reset(seed=seed)
    actions: list[int] = []
    ended = False
    while not ended:
        more = {"action_masks": env.action_masks()} if masked else {}
        action = int(model.predict(observation, deterministic=True, **more)[0])
        observation, _, terminated, truncated, _ = env.step(action)
        actions.append(action)
        ended = terminated or truncated
    return actions + [0] * (env.max_steps - len(actions))


def trace(path: Path) -> dict[int, list[int]]:
    actions: dict[int, list[int]] = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            seed, step = row["id"][1:].split("_t")
            actions.setdefault(int(seed), []).append(int(row["action"]))
            assert int(step) == len(actions[int(seed)]) - 1
    return actions


def flown_by_skyrail(tmp_path: Path, agent: Path) -> dict[int, list[int]]:
    out = tmp_path / "submission.csv"
    skyrail("flight", "submit", "--agent", agent, "--limit", EPISODES, "--out", out)
    return trace(out)


MODELS: dict[str, Callable[[Flight4DEnv], Any]] = {
    "ppo": lambda env: PPO("MlpPolicy", env, device="cpu"),
    "ppo-relu": lambda env: PPO(
        "MlpPolicy",
        env,
        policy_kwargs={"net_arch": [48, 24], "activation_fn": torch.nn.ReLU},
        device="cpu",
    ),
    "a2c": lambda env: A2C("MlpPolicy", env, device="cpu"),
    "dqn": lambda env: DQN("MlpPolicy", env, buffer_size=10, device="cpu"),
    "maskable": lambda env: MaskablePPO("MlpPolicy", env, device="cpu"),
    "autoregressive": lambda env: PPO(
        AutoregressivePolicy, env, policy_kwargs=AUTOREGRESSIVE, device="cpu"
    ),
    # Nothing that the engine reads by itself: these go to the worker.
    "trpo": lambda env: TRPO("MlpPolicy", env, device="cpu"),
    "ppo-gsde-free-softplus": lambda env: PPO(
        "MlpPolicy", env, policy_kwargs={"activation_fn": torch.nn.Softplus}, device="cpu"
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_checkpoint_flies_as_in_stable_baselines(name: str, tmp_path: Path) -> None:
    env = Flight4DEnv()
    model = shaken(MODELS[name](env))
    path = tmp_path / f"{name}.zip"
    model.save(path)
    ours = flown_by_skyrail(tmp_path, path)
    theirs = {
        seed: flown_by(model, env, seed, masked=name == "maskable")
        for seed in published_seeds()[:EPISODES]
    }
    assert ours == theirs
    assert len({tuple(actions) for actions in theirs.values()}) > 1, "it does the same everywhere"


def submission(tmp_path: Path, files: dict[str, str | Path]) -> Path:
    path = tmp_path / "team.zip"
    with zipfile.ZipFile(path, "w") as z:
        for name, content in files.items():
            if isinstance(content, Path):
                z.write(content, name)
            else:
                z.writestr(name, content)
    return path


def ingest(path: Path, *arguments: str) -> dict[str, Any]:
    out = skyrail("flight", "ingest", "--zip", path, "--limit", str(EPISODES), *arguments)
    return json.loads(out)


def test_a_submission_with_a_checkpoint_needs_no_cage(tmp_path: Path) -> None:
    model = shaken(MODELS["autoregressive"](Flight4DEnv()))
    model.save(tmp_path / "policy.zip")
    path = submission(
        tmp_path,
        {"submission.yaml": "team: net\n", "model/policy.zip": tmp_path / "policy.zip"},
    )
    result = ingest(path, "--contract")
    assert result["ok"] and result["isolation"] == "native"


def test_a_checkpoint_in_an_environment_of_the_team_runs_in_the_cage(tmp_path: Path) -> None:
    """The observation is theirs, the network is loaded by the real library, the score is ours."""
    scaled = (
        "from envs.flight_4d import Flight4DEnv\n\n"
        "class Half(Flight4DEnv):\n"
        "    def _obs(self):\n"
        "        obs = super()._obs()\n"
        "        obs[: self.mask_offset] *= 0.5\n"
        "        return obs\n"
    )
    stock = {f"envs/{p.name}": p for p in sorted((PACKAGE / "stock" / "envs").glob("*.py"))}
    model = shaken(MODELS["autoregressive"](Flight4DEnv()))
    model.save(tmp_path / "policy.zip")
    path = submission(
        tmp_path,
        {
            "submission.yaml": "team: half\nenv_entry_point: envs.half:Half\n",
            "envs/half.py": scaled,
            "model/policy.zip": tmp_path / "policy.zip",
            **stock,
        },
    )
    out = tmp_path / "submission.csv"
    result = ingest(path, "--contract", "--out", str(out))
    assert result["ok"] and result["isolation"] == "cage" and result["contract"] == "24 passed"

    class Half(Flight4DEnv):
        def _obs(self) -> Any:  # noqa: ANN401
            obs = super()._obs()
            obs[: self.mask_offset] *= 0.5
            return obs

    assert trace(out) == {s: flown_by(model, Half(), s) for s in published_seeds()[:EPISODES]}


def test_the_shipped_checkpoint_flies_as_in_stable_baselines(tmp_path: Path) -> None:
    shipped = REPOSITORY / "checkpoints" / "ppo.zip"
    model = MaskablePPO.load(shipped, device="cpu")
    env = Flight4DEnv()
    theirs = {
        seed: flown_by(model, env, seed, masked=True) for seed in published_seeds()[:EPISODES]
    }
    assert flown_by_skyrail(tmp_path, shipped) == theirs


def test_the_training_script_of_the_starter_kit_trains(tmp_path: Path) -> None:
    kit = tmp_path / "kit"
    skyrail("flight", "starter", kit)
    run = subprocess.run(
        [sys.executable, "train.py", "--steps", "2000", "--envs", "4", "--hidden", "16"],
        cwd=kit,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "failed, congestion" in run.stdout
    trained = kit / "runs" / "ppo"
    # What the script says of the seeds it evaluates on is what the engine says.
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("".join(f"{seed}\n" for seed in range(700_000, 700_100)))
    board = json.loads(
        skyrail(
            "flight",
            "compare",
            "--agent",
            kit / "runs" / "ppo" / "policy.zip",
            "--seeds",
            seeds,
            "--json",
        )
    )
    row = board["boards"][0]["rows"][0]
    with (trained / "progress.csv").open(newline="") as file:
        told = list(csv.DictReader(file))[-1]
    assert (row["failed"], row["congestion"]) == (int(told["failed"]), int(told["congestion"]))
    assert row["exit_miss"] == pytest.approx(float(told["exit_miss"]), abs=1e-4)


def test_a_network_trained_in_an_environment_of_ones_own_is_handed_in_with_it(
    tmp_path: Path,
) -> None:
    kit = tmp_path / "kit"
    skyrail("flight", "starter", kit)
    options = [
        "--env",
        "envs.my_env:MyFlightEnv",
        "--steps",
        "2000",
        "--envs",
        "4",
        "--hidden",
        "16",
    ]
    run = subprocess.run(
        [sys.executable, "train.py", *options], cwd=kit, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr
    files: dict[str, str | Path] = {f"envs/{p.name}": p for p in (kit / "envs").glob("*.py")}
    files["model/policy.zip"] = kit / "runs" / "ppo" / "policy.zip"
    files["submission.yaml"] = "team: own\nenv_entry_point: envs.my_env:MyFlightEnv\n"
    result = ingest(submission(tmp_path, files), "--contract")
    assert result["ok"] and result["isolation"] == "cage" and result["contract"] == "24 passed"


def test_probabilities_add_up_in_the_autoregressive_policy() -> None:
    env = Flight4DEnv()
    model = shaken(MODELS["autoregressive"](env))
    observation, _ = env.reset(seed=3)
    logs = model.policy.get_distribution(torch.as_tensor(observation[None])).log_probs()
    chances = logs.exp()[0].detach().numpy()
    assert float(chances.sum()) == pytest.approx(1.0, abs=1e-5)
    assert np.all(chances[~env.action_masks()] == 0.0)
