"""Train one policy for all trains of small railways with PPO, in minutes and without a GPU.

    pip install './python[train]'
    python rail_ppo.py --minutes 5 --out runs/rail

All trains share one network, which sees one train's tree at a time: what one of them learns holds
for all, however many there are. PPO itself is written out here, since that is shorter than to make
trains look like something else. It writes policy.pt, the best network of the run, and curve.csv,
how the networks on the way did on railways that are not trained on.

    python rail_ppo.py --init runs/rail/policy.pt    # go on from a network
    python rail_ppo.py --updates 100 --threads 1     # the same network every time

What to edit first: RAILWAY, `observe` and `Progress`.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from skyrail.rail import RailPolicy, RailVectorEnv, TrainState

RAILWAY = {"n_agents": 5, "x_dim": 30, "y_dim": 30, "n_cities": 2}
TREE = {"observation": "flat_tree", "depth": 2}
FEATURES = 12 * 21 + len(TrainState) + 1
ACTIONS = 5
EVALUATION_SEEDS = range(700_000, 700_050)

# Settings of PPO.
ROLLOUT = 32  # steps of every railway between two updates
EPOCHS = 3
BATCH = 512  # trains in some step
LEARNING_RATE = 1e-3
GAMMA = 0.99
LAMBDA = 0.95
CLIP = 0.2
ENTROPY = 0.01

ILLEGAL = -1e8  # the logit of what is masked; finite, so that no NaN comes of it

Bools = NDArray[np.bool_]
Floats = NDArray[np.float32]


def observe(trees: NDArray[np.float64], infos: dict[str, Any]) -> Floats:
    """What each train sees, (E, N, FEATURES): its tree, its state, whether it must choose."""
    state = infos["state"][..., None] == np.arange(len(TrainState))
    chooses = infos["action_required"][..., None]
    return np.concatenate([trees, state, chooses], axis=-1, dtype=np.float32)


class Progress:
    """A reward for getting on, for each train: 1 for its whole way, as that gets shorter.

    To arrive is worth another 1, and each step costs a little, so that nobody waits for nothing.
    The engine's own reward comes at the end of the episode, this one at once.
    """

    def __init__(self, env: RailVectorEnv) -> None:
        self.env = env
        self.whole = self.left = env.distances.astype(np.float64)

    def of_step(self, arrived: Bools, over: Bools) -> NDArray[np.float64]:
        """Of the step just run, (E, N); over, (E,): the railway is a new one already."""
        now = self.env.distances.astype(np.float64)
        left = np.where(over[:, None], self.left, now)
        left[arrived] = 0.0
        rewards = (self.left - left) / np.maximum(self.whole, 1.0) + arrived - 0.005
        self.left = np.where(over[:, None], now, left)
        self.whole = np.where(over[:, None], now, self.whole)
        return rewards


class Network(nn.Module):
    """The logits of a train's actions and the value of its state."""

    def __init__(self, hidden: int = 128) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(FEATURES, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU()
        )
        self.actor = nn.Linear(hidden, ACTIONS)
        self.critic = nn.Linear(hidden, 1)
        nn.init.orthogonal_(self.actor.weight, gain=0.01)

    def forward(self, observations: Tensor, masks: Tensor) -> tuple[Tensor, Tensor]:
        """For (..., FEATURES) and (..., ACTIONS)."""
        seen = self.body(observations)
        return self.actor(seen).masked_fill(~masks, ILLEGAL), self.critic(seen)[..., 0]


class Rollout(NamedTuple):
    """What was seen and done, (steps, E, N, ...)."""

    observations: Tensor
    masks: Tensor
    actions: Tensor
    logs: Tensor  # of the actions' probabilities
    values: Tensor
    rewards: Tensor
    ended: Tensor  # for this train: it has arrived, or the episode is over
    running: Tensor  # it had not arrived before
    after: Tensor  # (E, N): the value of where the last step led


class Collector:
    """Runs many railways on and on, and hands out rollouts."""

    def __init__(self, env: RailVectorEnv, seed: int) -> None:
        self.env = env
        trees, infos = env.reset(seed=seed)
        self.observations = observe(trees, infos)
        self.arrived = np.zeros((env.num_envs, env.n_trains), np.bool_)
        self.progress = Progress(env)

    @torch.no_grad()
    def collect(self, network: Network, steps: int) -> Rollout:
        rows = []
        for _ in range(steps):
            observations, masks = self._now()
            logits, values = network(observations, masks)
            choice = torch.distributions.Categorical(logits=logits)
            actions = choice.sample()
            running = ~self.arrived
            rewards, ended = self._step(actions.numpy())
            row = (observations, masks, actions, choice.log_prob(actions), values)
            rows.append((*row, *map(torch.as_tensor, (rewards.astype(np.float32), ended, running))))
        _, after = network(*self._now())
        return Rollout(*map(torch.stack, zip(*rows, strict=True)), after)

    def _now(self) -> tuple[Tensor, Tensor]:
        return torch.as_tensor(self.observations), torch.as_tensor(self.env.action_masks())

    def _step(self, actions: NDArray[np.int64]) -> tuple[NDArray[np.float64], Bools]:
        trees, _, terminated, _, infos = self.env.step(actions)
        over = infos["all_done"]
        rewards = self.progress.of_step(terminated, over)
        ended = terminated | over[:, None]
        self.arrived = terminated & ~over[:, None]
        self.observations = observe(trees, infos)
        return rewards, ended


def advantages(rollout: Rollout) -> Tensor:
    """Generalised advantage estimates, (steps, E, N)."""
    estimates = torch.zeros_like(rollout.rewards)
    after = rollout.after
    later = torch.zeros_like(after)
    for t in reversed(range(len(estimates))):
        goes_on = (~rollout.ended[t]).float()
        error = rollout.rewards[t] + GAMMA * after * goes_on - rollout.values[t]
        later = error + GAMMA * LAMBDA * goes_on * later
        estimates[t] = later
        after = rollout.values[t]
    return estimates


def update(network: Network, optimizer: torch.optim.Optimizer, rollout: Rollout) -> None:
    """Some epochs of PPO. Trains that had arrived before teach nothing."""
    gains = advantages(rollout)
    rows = rollout.running.flatten().nonzero()[:, 0]
    columns = (*rollout[:4], gains, gains + rollout.values)
    data = [column.flatten(0, 2)[rows] for column in columns]
    spread = gains[rollout.running].std() + 1e-8
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(rows)).split(BATCH):
            observations, masks, actions, logs, gain, returns = (column[batch] for column in data)
            logits, values = network(observations, masks)
            choice = torch.distributions.Categorical(logits=logits)
            ratio = (choice.log_prob(actions) - logs).exp()
            actor = torch.minimum(ratio * gain, ratio.clamp(1.0 - CLIP, 1.0 + CLIP) * gain) / spread
            # Most of the time there is nothing to choose: that must not water down what is.
            chose = (masks.sum(-1) > 1).float()
            bonus = ENTROPY * choice.entropy()
            loss = -(chose * (actor + bonus)).sum() / chose.sum().clamp(min=1.0)
            loss = loss + 0.5 * nn.functional.mse_loss(values, returns)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 0.5)
            optimizer.step()


# ---------------------------------------------------------------------- how good it is

Controller = Callable[[RailVectorEnv, Floats], NDArray[np.integer]]


class Score(NamedTuple):
    """Means over all railways; larger is better."""

    arrived: float  # share of the trains
    normalized_reward: float  # 1: everybody is in time; as Flatland's: 1 + rewards / (trains steps)

    def __str__(self) -> str:
        return f"{100 * self.arrived:5.1f} % arrived, reward {self.normalized_reward:.4f}"


def run(controller: Controller, seeds: Sequence[int]) -> Score:
    """Run the railway of each seed, all side by side, for the engine's default reward."""
    env = RailVectorEnv.generate(len(seeds), seed=1, autoreset_mode="SameStep", **TREE, **RAILWAY)
    trees, infos = env.reset(seed=list(seeds))
    limit = env.max_episode_steps[:, None] * env.n_trains
    running = np.ones(len(seeds), np.bool_)
    arrived = 0.0
    lost = np.zeros((len(seeds), env.n_trains))
    while running.any():
        actions = controller(env, observe(trees, infos))
        trees, rewards, terminated, _, infos = env.step(actions)
        lost[running] += rewards[running]
        ended = running & infos["all_done"]
        arrived += terminated[ended].sum()
        running &= ~ended
    env.close()
    return Score(arrived / lost.size, 1.0 + float((lost / limit).sum(1).mean()))


def best_actions(network: Network) -> Controller:
    """The most probable action of each train."""

    @torch.no_grad()
    def answer(env: RailVectorEnv, observations: Floats) -> NDArray[np.integer]:
        masks = torch.as_tensor(env.action_masks())
        return network(torch.as_tensor(observations), masks)[0].argmax(-1).numpy()

    return answer


def stock(name: str) -> Controller:
    """One of Skyrail's own policies."""
    policy = RailPolicy(name)
    return lambda env, _: policy.act(env)


class Curve:
    """The scores on the way, and the best network."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.rows: list[tuple[float, int, Score]] = []

    def add(self, minutes: float, updates: int, network: Network) -> None:
        score = run(best_actions(network), EVALUATION_SEEDS)
        print(f"{minutes:6.1f} min {updates:6d} updates: {score}", flush=True)
        if all(score > before for _, _, before in self.rows):
            torch.save(network.state_dict(), self.out / "policy.pt")
        self.rows.append((minutes, updates, score))
        with (self.out / "curve.csv").open("w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["minutes", "updates", *Score._fields])
            for at, k, s in self.rows:
                table.writerow([round(at, 2), k, *(round(figure, 4) for figure in s)])


def main() -> None:
    parser = argparse.ArgumentParser(description="Train one policy for all trains.")
    parser.add_argument("--minutes", type=float, default=5.0, help="how long")
    parser.add_argument("--updates", type=int, help="how long, in updates instead")
    parser.add_argument("--init", type=Path, help="a network to go on from")
    parser.add_argument("--envs", type=int, default=64, help="railways side by side")
    parser.add_argument("--threads", type=int, default=2, help="for the engine")
    parser.add_argument("--points", type=int, default=10, help="of the curve")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("runs/rail"), help="folder to write")
    args = parser.parse_args()
    if args.minutes <= 0.0:
        parser.error("--minutes must be more than 0")

    torch.set_num_threads(1)  # several threads for a small network mostly wait for each other
    torch.manual_seed(args.seed)
    args.out.mkdir(parents=True, exist_ok=True)
    for name in ("do-nothing", "random", "forward", "shortest-path"):
        print(f"{name:>26}: {run(stock(name), EVALUATION_SEEDS)}", flush=True)

    network = Network()
    if args.init:
        network.load_state_dict(torch.load(args.init, weights_only=True))
    env = RailVectorEnv.generate(
        args.envs, seed=1, autoreset_mode="SameStep", threads=args.threads, **TREE, **RAILWAY
    )
    collector = Collector(env, args.seed)
    optimizer = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE)
    curve = Curve(args.out)
    began = time.monotonic()
    updates, spent = 0, 0.0
    while spent < 1.0:
        minutes = (time.monotonic() - began) / 60.0
        if spent * args.points >= len(curve.rows):
            curve.add(minutes, updates, network)
        optimizer.param_groups[0]["lr"] = LEARNING_RATE * (1.0 - spent)
        update(network, optimizer, collector.collect(network, ROLLOUT))
        updates += 1
        spent = updates / args.updates if args.updates else minutes / args.minutes
    curve.add((time.monotonic() - began) / 60.0, updates, network)
    env.close()


if __name__ == "__main__":
    main()
