"""triton_viz.core: launches and their records."""

from . import config, data, trace

__all__ = ["config", "data", "trace"]
