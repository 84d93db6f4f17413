"""Your policy, if it is code rather than a trained network."""
