"""Train a controller for the Flight Challenge with PPO, in minutes and without a GPU.

    pip install './python[train]'
    python flight_ppo.py --minutes 20 --out runs/flight
    skyrail flight compare --agent rule-based --agent runs/flight/policy.zip

writes policy.zip, the best network of the run by the challenge's rank; curve.csv, how the networks
on the way scored; and curve.svg, a picture of that. They are scored on seeds of their own: the
published ones stay unseen, and can tell afterwards what the network is worth.

    python flight_ppo.py --policy autoregressive          # the challenge's network
    python flight_ppo.py --init runs/flight/policy.zip    # go on from a network
    python flight_ppo.py --steps 1000000 --threads 1      # the same network every time

What to edit first: `reward`, then the settings of PPO in `new_model`.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback

import skyrail
from skyrail.flight import FlightState, FlightVectorEnv
from skyrail.flight.sb3 import FlightVecEnv
from skyrail.planner import FlightPolicy

MAX_STEPS = 50
EVALUATION_SEEDS = range(700_000, 700_500)

Model = PPO | MaskablePPO
Controller = Callable[[FlightVectorEnv, NDArray[np.float32]], NDArray[np.int64]]


def reward(state: FlightState) -> NDArray[np.float64]:
    """What the rank counts, as a reward: (E,) for E sectors.

    The challenge's own reward is about predicted conflicts and the plan. It does not know losses of
    separation, which come second in the rank. Here an episode costs

        50    if it fails, and 1 for each step that is not flown
        1     for each pair and step too close
        3     for an exit miss of 1 at the end
        0.05  for a clearance

    That alone comes late. So each step also costs something for what is foreseen: half the severity
    of each aircraft's worst conflict, and a tenth of the exit miss.
    """
    ended = state.terminated | state.truncated
    failed = ended & (state.step_idx < MAX_STEPS)
    cost = (
        failed * (50.0 + MAX_STEPS - state.step_idx)
        + 1.0 * state.congestion_events
        + (3.0 * ended + 0.1) * state.exit_miss
        + 0.05 * state.issued
        + 0.5 * state.severity.sum(axis=-1)
    )
    return -0.1 * cost  # so that an episode's sum is some units, as the value head likes it


class Sectors(FlightVecEnv):
    """Sectors whose last step is an end like any other.

    To a truncated episode Stable-Baselines3 adds what it might have earned by going on. But here
    the clock is observed, and after the last step there is nothing.
    """

    def step_wait(self) -> Any:  # noqa: ANN401 - as there
        observations, rewards, dones, infos = super().step_wait()
        for i in np.flatnonzero(dones):
            infos[i]["TimeLimit.truncated"] = False
        return observations, rewards, dones, infos


class Score(NamedTuple):
    """The figures of the board, over all episodes. In this order, smaller is better."""

    failed: int
    congestion: int
    exit_miss: float  # the mean
    clearances: int
    touched: int

    def rank(self) -> tuple[int, ...]:
        """What the board sorts by: an exit miss counts in steps of 0.005."""
        return self._replace(exit_miss=round(self.exit_miss / 0.005))

    def __str__(self) -> str:
        return (
            f"{self.failed} failed, congestion {self.congestion}, exit miss {self.exit_miss:.4f}, "
            f"{self.clearances} clearances, {self.touched} touched"
        )


def fly(controller: Controller, seeds: Sequence[int]) -> Score:
    """Fly the episode of each seed, all side by side."""
    env = FlightVectorEnv(len(seeds), autoreset_mode="SameStep", infos=False)
    observations, _ = env.reset(seed=list(seeds))
    flying = np.ones(len(seeds), np.bool_)
    scores: list[Score] = []
    for step in range(1, MAX_STEPS + 1):
        actions = controller(env, observations)
        observations, _, terminated, truncated, infos = env.step(actions)
        for i in np.flatnonzero(flying & (terminated | truncated)):
            last = {key: values[i] for key, values in infos["final_info"].items()}
            scores.append(
                Score(
                    failed=int(step < MAX_STEPS),
                    congestion=int(last["congestion_total"]),
                    exit_miss=float(last["exit_miss"]) / len(seeds),
                    clearances=int(last["clearances"]),
                    touched=int(last["aircraft_involved"]),
                )
            )
        flying &= ~(terminated | truncated)
    env.close()
    return Score(*map(sum, zip(*scores, strict=True)))


def best_actions(model: Model) -> Controller:
    """The network's most probable legal actions: how `skyrail flight` flies it."""

    def answer(env: FlightVectorEnv, observations: NDArray[np.float32]) -> NDArray[np.int64]:
        masks = {"action_masks": env.action_masks()} if isinstance(model, MaskablePPO) else {}
        return model.predict(observations, deterministic=True, **masks)[0]

    return answer


def rule_based() -> Controller:
    """The agent to beat."""
    agent = FlightPolicy("rule-based")
    return lambda env, _: agent.act(env)


class Budget:
    """How long a run is: in steps if there are any, else by the clock."""

    def __init__(self, minutes: float, steps: int | None) -> None:
        self.minutes = minutes
        self.steps = steps
        self.flown = 0
        self.began = time.monotonic()

    def elapsed(self) -> float:
        """Minutes since the beginning."""
        return (time.monotonic() - self.began) / 60.0

    def spent(self) -> float:
        """The share that is over, 0 to 1."""
        share = self.flown / self.steps if self.steps else self.elapsed() / self.minutes
        return min(share, 1.0)


class Curve(BaseCallback):
    """Score the network again and again, keep the best, and end the run in time."""

    def __init__(self, budget: Budget, out: Path, points: int) -> None:
        super().__init__()
        self.budget = budget
        self.out = out
        self.points = points
        self.rows: list[tuple[float, int, Score]] = []

    def _on_rollout_start(self) -> None:
        self.model.ent_coef = 0.01 * (1.0 - self.budget.spent())  # explore first
        if self.budget.spent() * self.points >= len(self.rows):
            self.score()

    def _on_step(self) -> bool:
        self.budget.flown = self.num_timesteps
        return self.budget.spent() < 1.0

    def _on_training_end(self) -> None:
        self.score()

    def score(self) -> None:
        score = fly(best_actions(self.model), EVALUATION_SEEDS)
        minutes = self.budget.elapsed()
        print(f"{minutes:6.1f} min {self.num_timesteps:10d} steps: {score}", flush=True)
        if all(score.rank() < before.rank() for _, _, before in self.rows):
            # Without the schedule, which is a function of this file.
            self.model.save(self.out / "policy.zip", exclude=["learning_rate", "lr_schedule"])
        self.rows.append((minutes, self.num_timesteps, score))
        with (self.out / "curve.csv").open("w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["minutes", "steps", "episodes", *Score._fields])
            for at, steps, s in self.rows:
                row = s._replace(exit_miss=round(s.exit_miss, 4))
                table.writerow([round(at, 2), steps, len(EVALUATION_SEEDS), *row])

    def draw(self, rival: Score) -> None:
        """The failed episodes over the minutes, beside those of the agent to beat."""
        import matplotlib
        from matplotlib import pyplot

        matplotlib.use("svg")
        matplotlib.rcParams["svg.fonttype"] = "none"  # letters as letters: a small file
        percent = 100.0 / len(EVALUATION_SEEDS)
        figure, axes = pyplot.subplots(figsize=(7.0, 3.5), layout="constrained")
        axes.plot(
            [minutes for minutes, _, _ in self.rows],
            [percent * s.failed for _, _, s in self.rows],
            marker=".",
            label="PPO",
        )
        axes.axhline(percent * rival.failed, color="black", ls="--", label="rule-based, same seeds")
        axes.axhline(20.0, color="gray", ls=":", label="rule-based, published seeds")
        axes.set(xlabel="minutes", ylabel="failed episodes, %", ylim=(0.0, 50.0))
        axes.legend()
        figure.savefig(self.out / "curve.svg", metadata={"Date": None, "Creator": None})


def new_model(
    policy: str, env: FlightVecEnv, seed: int, budget: Budget, init: Path | None
) -> Model:
    """PPO for a kind of network, with fresh weights or those of a checkpoint."""
    settings = dict(
        learning_rate=lambda _: 5e-4 * (1.0 - budget.spent()) + 1e-5,
        n_steps=64,
        batch_size=2048,
        n_epochs=4,
        gamma=0.99,
        seed=seed,
        device="cpu",
    )
    if policy == "autoregressive":
        return _autoregressive(env, settings, init)
    if init:
        return MaskablePPO.load(init, env=env, **settings)
    network = dict(net_arch=[256, 256], activation_fn=torch.nn.ReLU)
    return MaskablePPO("MlpPolicy", env, policy_kwargs=network, **settings)


def _autoregressive(env: FlightVecEnv, settings: dict[str, Any], init: Path | None) -> PPO:
    # The same import as in a team's folder, so that the checkpoint can be loaded there.
    sys.path.insert(0, str(Path(skyrail.__file__).parent / "stock"))
    from policies import AutoregressivePolicy

    if init:
        return PPO.load(init, env=env, **settings)
    network = dict(n_flights=5, n_feats=13, n_globals=2, n_clearances=7, hidden=64, idle_bias=1.0)
    return PPO(AutoregressivePolicy, env, policy_kwargs=network, **settings)


def main() -> None:
    parser = argparse.ArgumentParser(description="Train a controller for the Flight Challenge.")
    parser.add_argument("--minutes", type=float, default=20.0, help="how long")
    parser.add_argument("--steps", type=int, help="how long, in steps instead")
    parser.add_argument("--policy", choices=["mlp", "autoregressive"], default="mlp")
    parser.add_argument("--init", type=Path, help="a checkpoint of the same kind, to go on from")
    parser.add_argument("--envs", type=int, default=256, help="sectors side by side")
    parser.add_argument("--threads", type=int, default=2, help="for the engine")
    parser.add_argument("--points", type=int, default=25, help="of the curve")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("runs/flight"), help="folder to write")
    args = parser.parse_args()
    if args.minutes <= 0.0:
        parser.error("--minutes must be more than 0")

    torch.set_num_threads(1)  # several threads for a small network mostly wait for each other
    args.out.mkdir(parents=True, exist_ok=True)
    rival = fly(rule_based(), EVALUATION_SEEDS)
    print(f"{'rule-based':>28}: {rival}")

    budget = Budget(args.minutes, args.steps)
    env = Sectors(args.envs, threads=args.threads, reward=reward)
    model = new_model(args.policy, env, args.seed, budget, args.init)
    curve = Curve(budget, args.out, args.points)
    model.learn(total_timesteps=sys.maxsize, callback=curve)
    env.close()
    curve.draw(rival)


if __name__ == "__main__":
    main()
