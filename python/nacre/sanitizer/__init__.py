"""Sanitizers: what kernels do wrong, found while they run compiled on the CPU.

    triton-san asan python script.py       exact bounds of every tensor and view
    triton-san tsan python script.py       races between any two programs, whatever the schedule
    triton-san msan python script.py       reads of elements that were never written
    triton-san ub python script.py         overflow, shifts, division
    triton-san all python script.py

In a program: `nacre.sanitizer.start("asan")`, `.findings()`, `.stop()`. Kernels are compiled to tell their accesses (knob
compilation.watch) and C++ looks at them (`sanitizer/`); this package describes the arrays, and writes the reports.
"""

from ._session import SanitizerError, findings, instrument, session, start, start_from_environment, stop

__all__ = ["SanitizerError", "findings", "instrument", "session", "start", "start_from_environment", "stop"]
