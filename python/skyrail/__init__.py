"""The Python side of Skyrail.

`STOCK`
    the folder with what entries to the Flight Challenge import: `envs`, `agents`, `policies`,
    `competition`. It goes on the import path, behind a team's own folder.
`skyrail.flight`
    the Flight Challenge's environments, flown by the engine; need Gymnasium.
`skyrail.rail`
    the railway's environments, flown by the engine; need PettingZoo or Gymnasium.
`skyrail.planner`
    our controllers as policies.
`skyrail.flight_rollout`
    flying an agent through an episode and adding episodes up to a row of the board.
`skyrail.contract`
    the 24 checks that an environment must pass; needs Gymnasium.
`skyrail.rail.effects`
    effects of our own for flatland-rl, which it finds by their names in files; needs flatland-rl.

Importing the package imports none of them.
"""

from pathlib import Path

from ._errors import ClosedError, FaultError, LibraryError, ResetNeededError, StaleError

__all__ = [
    "STOCK",
    "ClosedError",
    "FaultError",
    "LibraryError",
    "ResetNeededError",
    "StaleError",
    "__version__",
]

__version__ = "0.1.0"

STOCK = Path(__file__).resolve().parent / "stock"
