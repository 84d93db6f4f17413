"""The three reference agents. They see nothing but the observation."""

from agents.rule_based_4d import Noop4DController, Priority4DController, RandomLegalController

__all__ = ["Noop4DController", "Priority4DController", "RandomLegalController"]
