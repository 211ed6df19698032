"""The root of every error of this package."""


class TritonError(Exception):
    """Anything that this package raises on purpose, and that is not one of Python's own errors."""
