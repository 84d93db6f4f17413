"""Make, or check, the fixtures of package checkpoint with the real Stable-Baselines3.

    python make_fixtures.py --stock DIR           write models, observations and recordings
    python make_fixtures.py --stock DIR --check   compare the stored recordings with what the
                                                  installed Stable-Baselines3 answers; exit 1 if
                                                  they differ

DIR is the folder that holds the packages `envs` (with `envs.flight_4d.Flight4DEnv`) and
`policies` (with `AutoregressivePolicy`). Needs stable-baselines3 and sb3-contrib. README.md
describes the files.
"""

from __future__ import annotations

import argparse
import gzip
import io
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from sb3_contrib import QRDQN, TRPO, MaskablePPO, RecurrentPPO
from stable_baselines3 import A2C, DQN, PPO, SAC
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn

HERE = Path(__file__).resolve().parent
N_OBSERVATIONS = 320
N_ACTIONS = 36
N_FEATURES = 67

Make = Callable[[gymnasium.Env[Any, Any]], BaseAlgorithm]
Recording = tuple[NDArray[np.uint8], NDArray[np.float32]]


def native_models() -> dict[str, Make]:
    """The models that are read without Python, by the name of their file."""
    from policies import AutoregressivePolicy

    def ppo(**kwargs: Any) -> Make:  # noqa: ANN401
        return lambda env: PPO("MlpPolicy", env, device="cpu", policy_kwargs=kwargs)

    def autoregressive(hidden: int) -> Make:
        sizes = {"n_flights": 5, "n_feats": 13, "n_globals": 2, "n_clearances": 7}
        kwargs = {**sizes, "hidden": hidden}
        return lambda env: PPO(AutoregressivePolicy, env, device="cpu", policy_kwargs=kwargs)

    small = {"pi": [8], "vf": []}
    return {
        "ppo-default": lambda env: PPO("MlpPolicy", env, device="cpu"),
        "ppo-empty": ppo(net_arch=[]),
        "ppo-relu": ppo(net_arch={"pi": [32, 16], "vf": [8]}, activation_fn=nn.ReLU),
        "ppo-leakyrelu": ppo(net_arch=small, activation_fn=nn.LeakyReLU),
        "ppo-silu": ppo(net_arch=small, activation_fn=nn.SiLU),
        "ppo-gelu": ppo(net_arch=small, activation_fn=nn.GELU),
        "ppo-sigmoid": ppo(net_arch=small, activation_fn=nn.Sigmoid),
        "ppo-identity": ppo(net_arch=small, activation_fn=nn.Identity),
        "a2c-elu": lambda env: A2C(
            "MlpPolicy",
            env,
            device="cpu",
            policy_kwargs={"net_arch": [16, 16], "activation_fn": nn.ELU},
        ),
        "dqn": lambda env: DQN(
            "MlpPolicy", env, device="cpu", buffer_size=1, policy_kwargs={"net_arch": [16, 16]}
        ),
        "dqn-tanh": lambda env: DQN(
            "MlpPolicy",
            env,
            device="cpu",
            buffer_size=1,
            policy_kwargs={"net_arch": [8], "activation_fn": nn.Tanh},
        ),
        "maskableppo": lambda env: MaskablePPO(
            "MlpPolicy", env, device="cpu", policy_kwargs={"net_arch": [32, 32]}
        ),
        "autoregressive-16": autoregressive(16),
        "autoregressive-128": autoregressive(128),
    }


class FixedSpaces(gymnasium.Env[Any, Any]):
    """An environment that is only its spaces, for models that are never flown."""

    def __init__(self, observation: spaces.Space[Any], action: spaces.Space[Any]) -> None:
        self.observation_space, self.action_space = observation, action

    def reset(self, **_: Any) -> tuple[Any, dict[str, Any]]:  # noqa: ANN401
        return self.observation_space.sample(), {}


class Slice(BaseFeaturesExtractor):
    """A features extractor of one's own."""

    def __init__(self, observation_space: spaces.Space[Any]) -> None:
        super().__init__(observation_space, 4)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        return obs.flatten(start_dim=1)[:, :4]


class OwnPolicy(ActorCriticPolicy):
    """A policy of one's own with the tensors of MlpPolicy."""


# Saved by name, as classes of a team's module are, and not by value with the path of this file.
for own in (Slice, OwnPolicy):
    own.__module__ = "make_fixtures"
sys.modules.setdefault("make_fixtures", sys.modules[__name__])


def refused_models() -> dict[str, Callable[[], BaseAlgorithm]]:
    """Models that Stable-Baselines3 flies and that need Python, by the name of their file."""
    box = spaces.Box(-1.0, 1.0, (6,), np.float32)
    image = spaces.Box(0, 255, (1, 36, 36), np.uint8)
    two = spaces.Discrete(2)
    tiny = {"net_arch": [2]}

    def of(
        algorithm: type[BaseAlgorithm],
        policy: str | type[ActorCriticPolicy] = "MlpPolicy",
        observation: spaces.Space[Any] = box,
        action: spaces.Space[Any] = two,
        policy_kwargs: dict[str, Any] = tiny,
        **kwargs: Any,  # noqa: ANN401
    ) -> Callable[[], BaseAlgorithm]:
        env = FixedSpaces(observation, action)
        return lambda: algorithm(
            policy,
            env,
            device="cpu",
            policy_kwargs=dict(policy_kwargs),  # an algorithm may add to it
            **kwargs,
        )

    own_features = {**tiny, "features_extractor_class": Slice}
    continuous = spaces.Box(-1.0, 1.0, (2,), np.float32)
    return {
        "cnn": of(PPO, "CnnPolicy", image, policy_kwargs=own_features),
        "multiinput": of(
            PPO, "MultiInputPolicy", spaces.Dict({"a": box}), policy_kwargs=own_features
        ),
        "own-features": of(PPO, policy_kwargs=own_features),
        "own-policy": of(PPO, OwnPolicy),
        "own-activation": of(PPO, policy_kwargs={**tiny, "activation_fn": nn.Softsign}),
        "dqn-cnn": of(DQN, "CnnPolicy", image, policy_kwargs=own_features, buffer_size=1),
        "matrix": of(PPO, observation=spaces.Box(-1.0, 1.0, (2, 3), np.float32)),
        "multidiscrete": of(PPO, action=spaces.MultiDiscrete([2, 3])),
        "discrete-from-1": of(PPO, action=spaces.Discrete(2, start=1)),
        "continuous": of(PPO, action=continuous),
        "sde": of(PPO, action=continuous, use_sde=True),
        "sac": of(SAC, action=continuous, buffer_size=1),
        "trpo": of(TRPO),
        "qrdqn": of(QRDQN, buffer_size=1, policy_kwargs={**tiny, "n_quantiles": 2}),
        "recurrentppo": of(
            RecurrentPPO, "MlpLstmPolicy", policy_kwargs={**tiny, "lstm_hidden_size": 2}
        ),
    }


def enliven(model: BaseAlgorithm, seed: int) -> None:
    """Give the model random weights that make a decided network of it."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, values in model.policy.named_parameters():
            noise = torch.randn(values.shape, generator=generator)
            if values.dim() < 2:
                values.copy_(0.3 * noise)
                continue
            last = "action_net" in name or name.endswith("head.2.weight")
            gain = 3.0 if last else 2.0
            if isinstance(getattr(model.policy, "activation_fn", None), type) and issubclass(
                model.policy.activation_fn, nn.Sigmoid
            ):
                gain *= 4.0  # its answers are all positive and move little
            values.copy_(gain * noise / values.shape[1] ** 0.5)


def observe(env: gymnasium.Env[Any, Any]) -> NDArray[np.float32]:
    """Observations of episodes flown by random legal actions."""
    rng = np.random.default_rng(7)
    seen: list[NDArray[np.float32]] = []
    seed = 0
    while len(seen) < N_OBSERVATIONS:
        obs, _ = env.reset(seed=seed)
        over = False
        while not over:
            seen.append(obs)
            legal = np.flatnonzero(env.unwrapped.action_masks())
            # Idling half of the time lets an episode live through its whole horizon.
            action = int(rng.choice(legal)) if rng.random() < 0.5 else 0
            obs, _, terminated, truncated, _ = env.step(action)
            over = terminated or truncated
        seed += 1
    return np.stack(seen[:N_OBSERVATIONS]).astype("<f4")


def record(model: BaseAlgorithm, observations: NDArray[np.float32]) -> Recording:
    """Deterministic actions and, but for DQN, probabilities, one observation at a time.

    Probabilities are rounded to 2^-21, which compresses well and is far finer than what a test
    asks for.
    """
    actions, rows = [], []
    for obs in observations:
        masks = {}
        if isinstance(model, MaskablePPO):
            masks = {"action_masks": obs[N_FEATURES:] > 0.5}
        action, _ = model.predict(obs, deterministic=True, **masks)
        actions.append(int(action))
        if isinstance(model, DQN):
            continue
        with torch.no_grad():
            distribution = model.policy.get_distribution(torch.tensor(obs)[None], **masks)
            if hasattr(distribution, "log_probs"):
                rows.append(distribution.log_probs().exp()[0].numpy())
            else:
                rows.append(distribution.distribution.probs[0].numpy())
    shape = (len(rows), N_ACTIONS)
    probabilities = np.round(np.array(rows, "<f4").reshape(shape) * 2.0**21) / 2.0**21
    return np.array(actions, np.uint8), probabilities.astype("<f4")


def write_gzip(path: Path, data: bytes) -> None:
    """Write compressed, the same bytes each time."""
    path.write_bytes(gzip.compress(data, 9, mtime=0))


def load_recording(name: str) -> Recording:
    """The recording of a model: all actions, then all probabilities."""
    data = gzip.decompress((HERE / f"{name}.recording.gz").read_bytes())
    actions = np.frombuffer(data[:N_OBSERVATIONS], np.uint8)
    return actions, np.frombuffer(data[N_OBSERVATIONS:], "<f4").reshape(-1, N_ACTIONS)


def make(env: gymnasium.Env[Any, Any]) -> None:
    """Write everything."""
    observations = observe(env)
    write_gzip(HERE / "observations.gz", observations.tobytes())
    for seed, (name, build) in enumerate(native_models().items()):
        model = build(env)
        enliven(model, seed)
        model.save(HERE / f"{name}.zip")
        actions, probabilities = record(model, observations)
        write_gzip(HERE / f"{name}.recording.gz", actions.tobytes() + probabilities.tobytes())
        weights = sum(p.numel() for p in model.policy.parameters())
        peak = probabilities.max(axis=1).mean() if len(probabilities) else float("nan")
        print(f"{name}: {weights} weights, {len(set(actions.tolist()))} actions, peak {peak:.2f}")
    with zipfile.ZipFile(HERE / "refused.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, build_refused in refused_models().items():
            stored = io.BytesIO()
            build_refused().save(stored)
            info = zipfile.ZipInfo(f"{name}.zip")  # of a fixed date
            archive.writestr(info, stored.getvalue(), zipfile.ZIP_DEFLATED, 9)


def check() -> int:
    """Compare the recordings with this installation; return how many models differ."""
    data = gzip.decompress((HERE / "observations.gz").read_bytes())
    observations = np.frombuffer(data, "<f4").reshape(N_OBSERVATIONS, -1)
    classes = {"a2c": A2C, "dqn": DQN, "maskableppo": MaskablePPO}
    differing = 0
    for name in native_models():
        model = classes.get(name.partition("-")[0], PPO).load(HERE / f"{name}.zip", device="cpu")
        actions, probabilities = record(model, observations)
        want_actions, want = load_recording(name)
        other = int((actions != want_actions).sum())
        worst = 0.0
        if probabilities.shape == want.shape:
            worst = float(np.abs(probabilities - want).max(initial=0.0))
        else:
            worst = float("inf")
        same = other == 0 and worst <= 1e-5
        differing += not same
        verdict = "same" if same else "DIFFERS"
        print(f"{name}: {verdict}; {other} other actions, probabilities within {worst:.1e}")
    return differing


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--stock", type=Path, required=True, help="folder of envs and policies")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    args = parser.parse_args()
    sys.path.insert(0, str(args.stock.resolve()))
    torch.set_num_threads(1)
    if args.check:
        return 1 if check() else 0
    from envs.flight_4d import Flight4DEnv

    torch.manual_seed(0)
    make(Flight4DEnv())
    return 0


if __name__ == "__main__":
    sys.exit(main())
