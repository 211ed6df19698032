"""Modes: how a session looks at kernels. As text: `default:buffer_type=global:buffer_size=16384`."""

from dataclasses import dataclass, field, fields
from enum import Enum


def _enumeration(name, words):
    return Enum(name, {word.upper(): word for word in words})


Granularity = _enumeration("Granularity", ["cta", "warp", "warp_2", "warp_4", "warp_8", "warp_group", "warp_group_2", "warp_group_4", "warp_group_8"])
BufferStrategy = _enumeration("BufferStrategy", ["circular", "flush"])
BufferType = _enumeration("BufferType", ["shared", "global"])
SamplingStrategy = _enumeration("SamplingStrategy", ["none", "selective"])
MetricType = _enumeration("MetricType", ["cycle"])


class Optimize(Enum):
    TIMESHIFT = "time_shift"
    SCHED_STORES = "sched_stores"
    SCHED_BARRIERS = "sched_barriers"
    CLOCK32 = "clock32"


metric_types = {member.value: member for member in MetricType}
granularities = {member.value: member for member in Granularity}
buffer_strategies = {member.value: member for member in BufferStrategy}
buffer_types = {member.value: member for member in BufferType}
sampling_strategies = {member.value: member for member in SamplingStrategy}
optimizations = {member.value: member for member in Optimize}
_WORDS = {
    "metric_type": metric_types, "granularity": granularities, "buffer_strategy": buffer_strategies, "buffer_type": buffer_types,
    "sampling_strategy": sampling_strategies,
}  # fmt: skip


@dataclass(frozen=True)
class BaseMode:
    name: str


@dataclass(frozen=True)
class PCSampling(BaseMode):
    name: str = field(default="pcsampling", init=False)
    interval: int = 1000

    def __post_init__(self):
        if self.interval <= 0:
            raise ValueError("interval must be positive")

    def __str__(self):
        return f"{self.name}:interval={self.interval}"


@dataclass(frozen=True)
class InstrumentationMode(BaseMode):
    metric_type: object = "cycle"
    sampling_strategy: object = "none"
    sampling_options: str = ""
    granularity: object = "warp"
    buffer_strategy: object = "circular"
    buffer_type: object = "shared"
    buffer_size: int = 0
    optimizations: list = field(default_factory=list)

    def __post_init__(self):
        for name, words in _WORDS.items():
            value = getattr(self, name)
            if isinstance(value, str):
                if value not in words:
                    raise ValueError(f"Unknown {name}: {value}; there are {', '.join(words)}")
                object.__setattr__(self, name, words[value])
        chosen = self.optimizations
        if isinstance(chosen, str):
            chosen = [word for word in chosen.split(",") if word]
        for word in chosen:
            if isinstance(word, str) and word not in optimizations:
                raise ValueError(f"Unknown optimization: {word}; there are {', '.join(optimizations)}")
        object.__setattr__(self, "optimizations", [optimizations[word] if isinstance(word, str) else word for word in chosen])

    def __str__(self):
        shown = []
        for entry in fields(self):
            value = getattr(self, entry.name)
            if entry.name == "name":
                continue
            if entry.name == "optimizations":
                value = ",".join(word.value for word in value)
            shown.append(f"{entry.name}={getattr(value, 'value', value)}")
        return ":".join([self.name, *shown])


@dataclass(frozen=True)
class Default(InstrumentationMode):
    name: str = field(default="default", init=False)


@dataclass(frozen=True)
class MMA(InstrumentationMode):
    name: str = field(default="mma", init=False)


_WARPS = {"cta": 0, "warp": 1, "warp_2": 2, "warp_4": 4, "warp_8": 8, "warp_group": 4, "warp_group_2": 8, "warp_group_4": 16, "warp_group_8": 32}
MARK_BYTES = 8  # of buffers, as Proton counts them


def marks_of(mode):
    """Which marks are kept: (warps that are one unit, 0: all of a program; numbers of units, or None for all; how many marks of a program,
    the latest, 0: all)."""
    warps = _WARPS[mode.granularity.value]
    chosen = None
    if mode.sampling_strategy is SamplingStrategy.SELECTIVE:
        what = "programs" if warps == 0 else "warps" if warps == 1 else f"units of {warps} warps"
        try:
            chosen = sorted({int(number) for number in mode.sampling_options.split(",")})
        except ValueError:
            chosen = None
        if not chosen or chosen[0] < 0:
            raise ValueError(f"sampling_options={mode.sampling_options!r}: sampling_strategy=selective needs the numbers of {what}, such as 0,2")
    elif mode.sampling_options:
        raise ValueError(f"sampling_options={mode.sampling_options!r} needs sampling_strategy=selective")
    if mode.buffer_size < 0 or 0 < mode.buffer_size < MARK_BYTES:
        raise ValueError(f"buffer_size={mode.buffer_size}: a mark takes {MARK_BYTES} bytes; 0: as many as there is room for")
    is_ring = mode.buffer_strategy is BufferStrategy.CIRCULAR
    return warps, chosen, mode.buffer_size // MARK_BYTES if is_ring else 0


def parse(text):
    """The mode that a text names: `pcsampling:interval=100`."""
    name, *options = text.split(":")
    kinds = {"pcsampling": PCSampling, "default": Default, "mma": MMA}
    if name not in kinds:
        raise ValueError(f"Unknown mode: {name}; there are {', '.join(kinds)} and periodic_flushing")
    values = {}
    for option in options:
        key, equals, value = option.partition("=")
        if not equals or key not in {entry.name for entry in fields(kinds[name]) if entry.init}:
            raise ValueError(f"Unknown option of the mode {name}: {option}")
        values[key] = int(value) if key in ("interval", "buffer_size") else value
    return kinds[name](**values)
