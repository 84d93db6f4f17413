"""The challenge's own policy network: which aircraft first, then what to tell it.

Every aircraft goes through the same small network, so their order does not matter and what is
learned about one holds for all. Both choices see the legality mask, which the environment puts at
the end of the observation: an illegal clearance has no probability, in training as in flight.

Use it with Stable-Baselines3: `PPO(AutoregressivePolicy, env, policy_kwargs={...})`, see
`train.py`. Skyrail reads its checkpoints without Python.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from gymnasium import spaces
from stable_baselines3.common.distributions import Distribution
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.type_aliases import Schedule
from torch import Tensor, nn

NEG_INF = -1e8  # the logit of what is illegal; finite, so that no NaN comes of it


class AutoregressiveClearance(Distribution):
    """p(idle) or p(aircraft) * p(clearance | aircraft), over the environment's flat actions.

    Actions are the flat index, 0 for idle and 1 + C*i + c for clearance c to aircraft i. Tensors
    have the batch first.
    """

    def __init__(self, n_flights: int, n_clearances: int) -> None:
        super().__init__()
        self.n_flights = n_flights
        self.n_clearances = n_clearances

    def proba_distribution_net(self, *args: Any, **kwargs: Any) -> nn.Module:  # noqa: ANN401
        raise NotImplementedError("AutoregressivePolicy has heads of its own")

    def proba_distribution(
        self, who_logits: Tensor, what_logits: Tensor
    ) -> AutoregressiveClearance:
        """Take logits: `who` (batch, 1 + flights), idle first; `what` (batch, flights, C)."""
        self.who = torch.log_softmax(who_logits, dim=-1)
        self.what = torch.log_softmax(what_logits, dim=-1)
        return self

    def log_probs(self) -> Tensor:
        """Log-probability of every flat action, (batch, 1 + flights * C)."""
        pairs = self.who[:, 1:, None] + self.what
        return torch.cat([self.who[:, :1], pairs.flatten(start_dim=1)], dim=1)

    def log_prob(self, actions: Tensor) -> Tensor:
        """Log-probability of one action each, (batch,)."""
        return self.log_probs().gather(1, actions.long().reshape(-1, 1))[:, 0]

    def entropy(self) -> Tensor:
        """Entropy in nats, (batch,); what is illegal adds nothing."""
        logs = self.log_probs()
        return -(logs.exp() * logs).sum(dim=-1)

    def sample(self) -> Tensor:
        """One action each, drawn."""
        return torch.distributions.Categorical(logits=self.log_probs()).sample()

    def mode(self) -> Tensor:
        """The most probable action each, the first on ties.

        It is the best of all pairs, which need not belong to the most probable aircraft.
        """
        return self.log_probs().argmax(dim=1)

    def actions_from_params(
        self, who_logits: Tensor, what_logits: Tensor, deterministic: bool = False
    ) -> Tensor:
        self.proba_distribution(who_logits, what_logits)
        return self.get_actions(deterministic=deterministic)

    def log_prob_from_params(
        self, who_logits: Tensor, what_logits: Tensor
    ) -> tuple[Tensor, Tensor]:
        actions = self.actions_from_params(who_logits, what_logits)
        return actions, self.log_prob(actions)


class AutoregressivePolicy(ActorCriticPolicy):
    """Actor and critic over the environment's observation: features, globals, mask.

    Parameters beyond Stable-Baselines3's own: n_flights aircraft of n_feats features each,
    n_globals further numbers, n_clearances kinds of clearance; hidden, the width of every layer;
    idle_bias, by how much an untrained network prefers idling (as a logit: 0 spreads evenly over
    idling and the aircraft, 2.5 idles about seven times in ten).
    """

    def __init__(
        self,
        observation_space: spaces.Box,
        action_space: spaces.Discrete,
        lr_schedule: Schedule,
        n_flights: int,
        n_feats: int,
        n_globals: int,
        n_clearances: int,
        hidden: int = 128,
        idle_bias: float = 0.0,
        **kwargs: Any,  # noqa: ANN401 - Stable-Baselines3's own parameters
    ) -> None:
        expected = n_flights * n_feats + n_globals + 1 + n_flights * n_clearances
        if observation_space.shape != (expected,):
            raise ValueError(
                f"{n_flights} aircraft of {n_feats} features, {n_globals} globals and their mask "
                f"make {expected} numbers; the observation has shape {observation_space.shape}"
            )
        self.n_flights = n_flights
        self.n_feats = n_feats
        self.n_globals = n_globals
        self.n_clearances = n_clearances
        self.hidden = hidden
        self.idle_bias = idle_bias
        super().__init__(observation_space, action_space, lr_schedule, **kwargs)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        """What `save` of the bare policy keeps."""
        return {
            **super()._get_constructor_parameters(),
            "n_flights": self.n_flights,
            "n_feats": self.n_feats,
            "n_globals": self.n_globals,
            "n_clearances": self.n_clearances,
            "hidden": self.hidden,
            "idle_bias": self.idle_bias,
        }

    def _build(self, lr_schedule: Schedule) -> None:
        self.encoder = _Encoder(self.n_flights, self.n_feats, self.n_globals, self.hidden)
        context = self.encoder.context_size
        self.aircraft_head = _head(self.hidden + context, self.hidden, 1, gain=0.01)
        self.clearance_head = _head(
            self.hidden + context, self.hidden, self.n_clearances, gain=0.01
        )
        self.idle_head = _head(context, self.hidden, 1, gain=0.01)
        self.value_net_ = _head(context, self.hidden, 1, gain=1.0)
        nn.init.constant_(self.idle_head[-1].bias, self.idle_bias)

        self.action_dist = AutoregressiveClearance(self.n_flights, self.n_clearances)
        self.optimizer = self.optimizer_class(
            self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs
        )

    def logits(self, obs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """For observations (batch, length): who (batch, 1 + flights), what (batch, flights, C),
        and the context (batch, context size) that the value is read from."""
        obs = obs.float()
        features, seen, mask = obs.split(
            [
                self.n_flights * self.n_feats,
                self.n_globals,
                1 + self.n_flights * self.n_clearances,
            ],
            dim=1,
        )
        legal = (mask[:, 1:] > 0.5).unflatten(1, (self.n_flights, self.n_clearances))

        aircraft, context = self.encoder(
            features.unflatten(1, (self.n_flights, self.n_feats)), seen
        )
        each = torch.cat([aircraft, context[:, None].expand(-1, self.n_flights, -1)], dim=-1)

        what = self.clearance_head(each).masked_fill(~legal, NEG_INF)
        # Nothing can be told to an aircraft without a legal clearance, so it must not be chosen.
        aircraft_logit = self.aircraft_head(each)[..., 0].masked_fill(~legal.any(-1), NEG_INF)
        who = torch.cat([self.idle_head(context), aircraft_logit], dim=1)
        return who, what, context

    def get_distribution(self, obs: Tensor) -> AutoregressiveClearance:
        who, what, _ = self.logits(obs)
        return self.action_dist.proba_distribution(who, what)

    def predict_values(self, obs: Tensor) -> Tensor:
        return self.value_net_(self.logits(obs)[2])

    def forward(self, obs: Tensor, deterministic: bool = False) -> tuple[Tensor, Tensor, Tensor]:
        """Actions, values and log-probabilities for a batch of observations."""
        who, what, context = self.logits(obs)
        chosen = self.action_dist.proba_distribution(who, what)
        actions = chosen.get_actions(deterministic=deterministic)
        return actions, self.value_net_(context), chosen.log_prob(actions)

    def evaluate_actions(self, obs: Tensor, actions: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Values, log-probabilities and entropies for actions that were taken."""
        who, what, context = self.logits(obs)
        chosen = self.action_dist.proba_distribution(who, what)
        return self.value_net_(context), chosen.log_prob(actions), chosen.entropy()

    def _predict(self, observation: Tensor, deterministic: bool = False) -> Tensor:
        return self.get_distribution(observation).get_actions(deterministic=deterministic)


class _Encoder(nn.Module):
    """Aircraft one by one, then the sector: mean and maximum over the aircraft, and the globals."""

    def __init__(self, n_flights: int, n_feats: int, n_globals: int, hidden: int) -> None:
        super().__init__()
        self.per_flight = nn.Sequential(
            nn.Linear(n_feats, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU()
        )
        self.context_size = 2 * hidden + n_globals
        for layer in (self.per_flight[0], self.per_flight[2]):
            _orthogonal(layer, math.sqrt(2.0))

    def forward(self, aircraft: Tensor, seen: Tensor) -> tuple[Tensor, Tensor]:
        each = self.per_flight(aircraft)
        return each, torch.cat([each.mean(dim=1), each.amax(dim=1), seen], dim=-1)


def _head(inputs: int, hidden: int, outputs: int, gain: float) -> nn.Sequential:
    head = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, outputs))
    _orthogonal(head[0], math.sqrt(2.0))
    _orthogonal(head[2], gain)
    return head


def _orthogonal(layer: nn.Linear, gain: float) -> None:
    nn.init.orthogonal_(layer.weight, gain=gain)
    nn.init.zeros_(layer.bias)
