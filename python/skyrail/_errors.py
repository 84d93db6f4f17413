"""What can go wrong with an environment."""


class LibraryError(ImportError):
    """The shared library is missing, cannot be loaded, or is of another version."""


class ClosedError(RuntimeError):
    """The environment or policy was closed."""


class StaleError(ClosedError):
    """The environment or policy was made before this process was forked off."""


class ResetNeededError(RuntimeError):
    """There is no episode yet: call reset() first."""


class FaultError(RuntimeError):
    """A fault of Skyrail itself; please report it. The environment must not be used any more."""
