"""The Python side of Skyrail.

`skyrail.flight_numpy`
    the Flight Challenge as a Gymnasium environment that is meant to be read and edited;
    needs the extra `gym`.
`skyrail.flight_agents`
    the three reference agents: noop, random, rule-based.
`skyrail.flight_rollout`
    flying an agent through an episode and adding episodes up to a row of the board.

Importing the package imports none of them.
"""

__version__ = "0.1.0"
