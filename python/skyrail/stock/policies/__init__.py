"""Policy networks for Stable-Baselines3."""

from policies.autoregressive import AutoregressiveClearance, AutoregressivePolicy

__all__ = ["AutoregressiveClearance", "AutoregressivePolicy"]
