"""What the challenge is scored on, as constants: see `config`."""
