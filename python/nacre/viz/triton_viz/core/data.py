"""Records of what programs did."""

from dataclasses import dataclass, field


@dataclass
class Op:
    call_path: list = field(default_factory=list, kw_only=True)


@dataclass
class Grid(Op):
    idx: tuple


@dataclass
class _Access(Op):
    ptr: int  # the address of the array
    offsets: list  # in bytes from there, of the lanes that the mask lets through
    masks: list  # of every lane
    bytes: int


@dataclass
class Load(_Access):
    pass


@dataclass
class Store(_Access):
    pass


@dataclass
class Dot(Op):
    input_shape: tuple
    other_shape: tuple
    output_shape: tuple
    input_data: list = field(default_factory=list)  # the first elements, row-major
    other_data: list = field(default_factory=list)
    data: list = field(default_factory=list)  # of the result


@dataclass
class Reduce(Op):
    input_shape: tuple
    index: int  # the axis
    keep_dims: bool
    output_shape: tuple


@dataclass
class ReduceSum(Reduce):
    pass


@dataclass
class ReduceMax(Reduce):
    pass


@dataclass
class ReduceMin(Reduce):
    pass


@dataclass
class Launch:
    grid: tuple
    tensors: list
    records: list
    recorded: object = None  # nacre.viz.Launch
