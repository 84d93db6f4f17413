"""The sector as a Gymnasium environment: `Flight4DEnv`, registered as "Flight4DEnv-v0".

`flight` flies one aircraft, `simulator` draws scenarios and predicts conflicts, `flight_4d` is the
task: clearances, legality, reward, observation.
"""

import gymnasium

from .flight import Flight
from .flight_4d import Flight4DEnv
from .simulator import CollisionCourseSimulator

__all__ = ["CollisionCourseSimulator", "Flight", "Flight4DEnv"]

if "Flight4DEnv-v0" not in gymnasium.registry:
    gymnasium.register(id="Flight4DEnv-v0", entry_point="envs.flight_4d:Flight4DEnv")
