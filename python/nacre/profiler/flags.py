"""Whether anything is profiled."""

from dataclasses import dataclass


@dataclass
class ProfilerFlags:
    profiling_on: bool = False
    instrumentation_on: bool = False
    command_line: bool = False  # under the program `nacre-proton`


flags = ProfilerFlags()
