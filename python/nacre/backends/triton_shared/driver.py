"""The CPU driver under another name."""

from ..cpu.driver import CPUDriver

__all__ = ["CPUDriver"]
