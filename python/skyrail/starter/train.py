"""Train the autoregressive policy with Stable-Baselines3's PPO, on one machine without a GPU.

    pip install stable-baselines3
    python train.py --steps 4000000 --out runs/first

writes runs/first/policy.zip: the best network of the run by the challenge's own rank key over 100
seeds that are in no published list, and runs/first/progress.csv, what it scored on the way. One
core makes some 1 500 to 2 000 steps a second, so this takes three quarters of an hour. For the
first 100 000 steps or so the network only idles, and fails nearly everything; that is as it begins.
Look at the result with

    skyrail flight compare --agent rule-based --agent runs/first/policy.zip

and hand it in as model/policy.zip, without entry points in submission.yaml.

    python train.py --env envs.my_env:MyFlightEnv

trains in an environment of your own. Then that belongs into submission.yaml as env_entry_point,
and the organiser's Python needs Stable-Baselines3.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import math
import os
from pathlib import Path
from typing import Any

# One thread: the network is small, and several threads would only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
from envs.flight_4d import N_CLEARANCES, N_FEATS, N_GLOBALS, Flight4DEnv
from policies import AutoregressivePolicy
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback, CallbackList
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.type_aliases import Schedule
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecEnv

EVALUATION_SEEDS = range(700_000, 700_100)


class Curriculum(BaseCallback):
    """Begin with two aircraft in conflict and admit more, up to the scored number.

    Only the upper end of the draw moves: the easy scenarios stay in, as they do in the score.
    """

    def __init__(self, steps: int, lo: int, hi: int) -> None:
        super().__init__()
        self.ramp = steps
        self.lo, self.hi = lo, hi
        self.now = 0

    def _on_step(self) -> bool:
        done = min(self.num_timesteps / self.ramp, 1.0)
        hi = round(self.lo + (self.hi - self.lo) * done)
        if hi != self.now:
            self.training_env.env_method("set_n_range", self.lo, hi)
            self.now = hi
        return True


class EntropyTarget(BaseCallback):
    """Keep the policy's entropy at a target that sinks over the run, by moving `ent_coef`.

    A fixed coefficient is wrong most of the time: too high, and the network talks until its
    clearances are spent; too low, and it falls silent early and never learns to talk.
    """

    def __init__(self, first: float, last: float, total_steps: int) -> None:
        super().__init__()
        self.first, self.last = first, last  # shares of the entropy of a uniform choice
        self.total_steps = total_steps

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        seen = self.model.rollout_buffer.observations
        seen = seen.reshape(-1, seen.shape[-1])[:2048]
        with torch.no_grad():
            entropy = self.model.policy.get_distribution(torch.as_tensor(seen)).entropy().mean()
        done = min(self.num_timesteps / self.total_steps, 1.0)
        share = self.first + (self.last - self.first) * done
        off = share * math.log(self.training_env.action_space.n) - float(entropy)
        self.model.ent_coef = float(np.clip(self.model.ent_coef * math.exp(0.05 * off), 1e-5, 0.1))


class Evaluation(BaseCallback):
    """Score the network every so often, as the board would, and keep the best."""

    def __init__(self, env_class: type[Flight4DEnv], every: int, out: Path) -> None:
        super().__init__()
        self.env_class = env_class
        self.every = every
        self.out = out
        self.next = every
        self.last = -1
        self.best: tuple[float, ...] = (math.inf,)

    def _on_step(self) -> bool:
        if self.num_timesteps >= self.next:
            self.next += self.every
            self.evaluate()
        return True

    def _on_training_end(self) -> None:
        if self.last != self.num_timesteps:
            self.evaluate()

    def evaluate(self) -> None:
        self.last = self.num_timesteps
        failed, congestion, miss, clearances = evaluate(self.model, self.env_class)
        row = [self.num_timesteps, failed, congestion, round(miss, 4), clearances]
        fresh = not (self.out / "progress.csv").exists()
        with (self.out / "progress.csv").open("a", newline="") as file:
            table = csv.writer(file)
            if fresh:
                table.writerow(["steps", "failed", "congestion", "exit_miss", "clearances"])
            table.writerow(row)
        print(
            f"{row[0]:9d} steps: {failed} failed, congestion {congestion}, "
            f"exit miss {miss:.4f}, {clearances} clearances",
            flush=True,
        )
        key = (failed, congestion, round(miss / 0.005), clearances)
        if key < self.best:
            self.best = key
            self.model.save(self.out / "policy.zip", exclude=["tensorboard_log"])


def evaluate(model: PPO, env_class: type[Flight4DEnv]) -> tuple[int, int, float, int]:
    """Failed episodes, congestion, mean exit miss and clearances over the evaluation seeds.

    All episodes fly side by side, so that the network is asked once a step for all of them. The
    figures are those of the environment that is trained in.
    """
    envs = [env_class() for _ in EVALUATION_SEEDS]
    observations = [
        env.reset(seed=seed)[0] for env, seed in zip(envs, EVALUATION_SEEDS, strict=True)
    ]
    last = [{} for _ in envs]
    flying = list(range(len(envs)))
    while flying:
        actions, _ = model.predict(np.stack([observations[i] for i in flying]), deterministic=True)
        still = []
        for i, action in zip(flying, actions, strict=True):
            observations[i], _, terminated, truncated, last[i] = envs[i].step(int(action))
            if not (terminated or truncated):
                still.append(i)
        flying = still
    return (
        sum(env.step_idx < env.max_steps for env in envs),
        sum(int(info["congestion_total"]) for info in last),
        float(np.mean([info["exit_miss"] for info in last])),
        sum(int(info["clearances"]) for info in last),
    )


def warmup_cosine(top: float, end: float, warmup: float = 0.01) -> Schedule:
    """A learning rate that rises to `top` over the share `warmup` of the run and sinks to `end`.

    What it returns is asked with the share of the run that is left.
    """

    def rate(remaining: float) -> float:
        done = 1.0 - remaining
        if done < warmup:
            return top * done / warmup
        sunk = (done - warmup) / (1.0 - warmup)
        return end + (top - end) * (1.0 + math.cos(math.pi * sunk)) / 2.0

    return rate


def make_envs(env_class: type[Flight4DEnv], count: int, processes: bool) -> VecEnv:
    makers = [lambda: Monitor(env_class()) for _ in range(count)]
    return SubprocVecEnv(makers) if processes else DummyVecEnv(makers)


def named(entry_point: str) -> Any:  # noqa: ANN401 - a class
    """The class that package.module:Class names."""
    module, _, name = entry_point.replace(":", ".").rpartition(".")
    return getattr(importlib.import_module(module), name)


def main() -> None:
    parser = argparse.ArgumentParser(description="Train a policy for the Flight Challenge.")
    parser.add_argument("--steps", type=int, default=4_000_000, help="environment steps in all")
    parser.add_argument("--env", default="envs.flight_4d:Flight4DEnv", help="package.module:Class")
    parser.add_argument("--out", type=Path, default=Path("runs/ppo"), help="folder to write")
    parser.add_argument("--seed", type=int, default=123)
    parser.add_argument("--envs", type=int, default=32, help="environments side by side")
    parser.add_argument("--processes", action="store_true", help="a process an environment")
    parser.add_argument("--hidden", type=int, default=128, help="width of the network's layers")
    parser.add_argument("--evaluate-every", type=int, default=200_000, help="steps")
    parser.add_argument("--resume", type=Path, help="go on from this checkpoint")
    args = parser.parse_args()

    torch.set_num_threads(1)
    args.out.mkdir(parents=True, exist_ok=True)
    env_class = named(args.env)
    sector = env_class()
    envs = make_envs(env_class, args.envs, args.processes)
    settings = dict(
        learning_rate=warmup_cosine(3e-4, 2e-5),
        n_steps=128,
        batch_size=512,
        n_epochs=6,
        gamma=0.99,
        gae_lambda=0.95,
        ent_coef=0.01,
        target_kl=0.05,
        seed=args.seed,
        device="cpu",
    )
    if args.resume:
        model = PPO.load(args.resume, env=envs, **settings)
    else:
        model = PPO(
            AutoregressivePolicy,
            envs,
            policy_kwargs=dict(
                n_flights=sector.n_flights,
                n_feats=N_FEATS,
                n_globals=N_GLOBALS,
                n_clearances=N_CLEARANCES,
                hidden=args.hidden,
                idle_bias=2.5,
            ),
            **settings,
        )
    callbacks: list[BaseCallback] = [
        EntropyTarget(first=0.35, last=0.08, total_steps=args.steps),
        Evaluation(env_class, args.evaluate_every, args.out),
    ]
    if not args.resume:
        callbacks.append(Curriculum(args.steps // 5, sector.n_lo, sector.n_hi))
    model.learn(total_timesteps=args.steps, callback=CallbackList(callbacks))
    envs.close()


if __name__ == "__main__":
    main()
