"""Run PTX on this machine, without a GPU, and learn what is wrong with it and what it costs.

    report = nacre.simulator.run(ptx, "add", grid=4, block=256, args=[x, y, z, 1000])
    print(report)             # findings with their source lines, and counters
    assert report.clean

Arrays are NumPy arrays (or anything NumPy can look at without copying); the kernel works on a copy in memory of its own,
with guards around it, and what it has written is copied back. Numbers take the type of the kernel's parameter.
"""

import json

from . import _core

__all__ = ["Finding", "Module", "Report", "TensorMap", "load", "run"]

_GUARD = 4096  # bytes around every array that no kernel may touch
_TENSOR_TYPES = {
    "uint8": 0, "int8": 0, "uint16": 1, "int16": 1, "uint32": 2, "int32": 3, "uint64": 4, "int64": 5, "float16": 6,
    "float32": 7, "float64": 8, "bfloat16": 9, "tf32": 11,
}  # fmt: skip
_TENSOR_BYTES = [1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4]


def _count(value, what, least=0, limit=1 << 31):
    import operator

    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} is a whole number, not {value!r}") from None
    if not least <= number < limit:
        raise ValueError(f"{what} is at least {least} and less than 2**{limit.bit_length() - 1}, not {number}")
    return number


def _triple(value, what):
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(values) <= 3:
        raise ValueError(f"{what} has one to three dimensions, not {value!r}")
    return tuple(_count(extent, what, 1) for extent in values) + (1,) * (3 - len(values))


def _extents(value, what, least, most):
    try:
        numbers = tuple(value)
    except TypeError:
        raise TypeError(f"the {what} of a tensor map is one number a dimension, not {value!r}") from None
    for number in numbers:
        if not least <= _count(number, f"a number of the {what} of a tensor map", limit=1 << 62) <= most:
            raise ValueError(f"the {what} of a tensor map has numbers from {least} to {most}, not {number}")
    return numbers


class TensorMap:
    """A tensor map over an array, as cuTensorMapEncodeTiled makes it. `box`, `sizes`, `strides` (in bytes, without the last
    dimension's) and `element_strides` are written as NumPy writes shapes, the contiguous dimension last; sizes and strides
    default to the array's. `swizzle` is 0, 32, 64 or 128 bytes."""

    def __init__(self, array, box, *, swizzle=0, element_strides=None, fill_nan=False, dtype=None, sizes=None, strides=None, offset=0):
        self.array = array
        self.box = _extents(box, "box", 1, 256)
        self.swizzle = swizzle
        self.element_strides = (1,) * len(self.box) if element_strides is None else _extents(element_strides, "element_strides", 1, 8)
        self.fill_nan = fill_nan
        self.dtype = dtype
        self.sizes = None if sizes is None else _extents(sizes, "sizes", 1, 2**32 - 1)
        self.strides = None if strides is None else _extents(strides, "strides", 0, 2**40 - 1)
        self.offset = offset

    def encode(self, address, array):
        name = self.dtype or array.dtype.name
        if name not in _TENSOR_TYPES:
            raise ValueError(f"tensor maps have no elements of type {name}; give dtype=")
        kind = _TENSOR_TYPES[name]
        if self.swizzle not in (0, 32, 64, 128):
            raise ValueError(f"a swizzle is 0, 32, 64 or 128 bytes, not {self.swizzle}")
        sizes = self.sizes if self.sizes is not None else array.shape
        strides = self.strides if self.strides is not None else array.strides[:-1]
        for name, given, expected in [
            ("box", self.box, len(sizes)),
            ("element_strides", self.element_strides, len(sizes)),
            ("strides", strides, len(sizes) - 1),
        ]:
            if len(given) != expected:
                raise ValueError(f"a tensor map of {len(sizes)} dimensions has a {name} of {expected} numbers, not {tuple(given)}")
        if self.sizes is None and array.strides[-1] != _TENSOR_BYTES[kind]:
            raise ValueError("the last dimension of a tensor map's array must be contiguous")
        return _core.simulator_tensor_map(
            kind, address + self.offset, tuple(reversed(sizes)), tuple(reversed(strides)), tuple(reversed(self.box)),
            tuple(reversed(self.element_strides)), (0, 32, 64, 128).index(self.swizzle), self.fill_nan,
        )  # fmt: skip


class Finding:
    """One thing that is wrong: `kind`, `message`, `file`, `line`, `ptx_line`, `inner_file` and `inner_line` (in the library
    that this line calls, else empty), `other` (the conflicting access's place or None), `instruction`, `block`, `thread` (None
    where it is of no thread in particular), `count`."""

    def __init__(self, fields):
        self.kind = fields["kind"]
        self.message = fields["message"]
        self.file = fields["place"]["file"]
        self.line = fields["place"]["line"]
        self.ptx_line = fields["place"]["ptx_line"]
        self.inner_file = fields["place"]["inner_file"]
        self.inner_line = fields["place"]["inner_line"]
        self.other = fields["other"]
        self.instruction = fields["instruction"]
        self.block = tuple(fields["block"])
        self.thread = fields["thread"] and tuple(fields["thread"])
        self.count = fields["count"]

    def __repr__(self):
        place = f"{self.file}:{self.line}" if self.file else f"PTX line {self.ptx_line}"
        return f"<{self.kind} at {place}: {self.message}>"


class Report:
    """What a run found and counted. `findings`, `more_findings` (how many past `finding_limit`), `clean`, `completed`,
    `counters`, `lines`, `printed`, `json`; as text: all."""

    def __init__(self, json_text, text, printed):
        self.json = json_text
        self.text = text
        self.printed = printed
        fields = json.loads(json_text)
        self.kernel = fields["kernel"]
        self.completed = fields["completed"]
        self.seconds = fields["seconds"]
        self.counters = fields["counters"]
        self.lines = fields["lines"]
        self.findings = [Finding(finding) for finding in fields["findings"]]
        self.more_findings = fields["more_findings"]

    @property
    def clean(self):
        return not self.findings and not self.more_findings and self.completed

    def __str__(self):
        return self.text


class _Guarded:
    """An array's copy in memory with guards, at an address that is a multiple of 1024."""

    def __init__(self, array):
        import numpy

        self.array = array
        self.storage = numpy.full(array.nbytes + 2 * _GUARD + 1024, 0xA5, numpy.uint8)
        start = self.storage.ctypes.data + _GUARD
        self.address = (start + 1023) // 1024 * 1024
        offset = self.address - self.storage.ctypes.data
        self.bytes = self.storage[offset : offset + array.nbytes]
        self.bytes[:] = numpy.frombuffer(array.tobytes(), numpy.uint8)

    def copy_back(self):
        import numpy

        if self.array.flags.writeable and self.array.nbytes:
            self.array[...] = numpy.frombuffer(self.bytes.tobytes(), self.array.dtype).reshape(self.array.shape)


def _scalar_bytes(value, name, kind, size):
    import struct

    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    is_number = hasattr(value, "dtype") and hasattr(value, "tobytes")  # of NumPy's
    is_fraction = isinstance(value, float) or (is_number and value.dtype.kind == "f")
    if is_fraction and kind[:1] in "us":
        raise TypeError(f"the kernel's parameter `{name}` (.{kind}) is a whole number, not {value!r}")
    if is_number and value.nbytes == size:
        return value.tobytes()
    value = value.item() if is_number else value
    if isinstance(value, float) or kind in ("f16", "f32", "f64"):
        formats = {2: "<e", 4: "<f", 8: "<d"}
        if size in formats:
            return struct.pack(formats[size], value)
    if isinstance(value, (int, bool)) and size <= 8:
        if not -(1 << (8 * size - 1)) <= value < 1 << (8 * size):
            raise ValueError(f"{value} does not fit the kernel's parameter `{name}` (.{kind}, {size} bytes)")
        return (int(value) & ((1 << (8 * size)) - 1)).to_bytes(size, "little")
    raise TypeError(f"the kernel's parameter `{name}` (.{kind}, {size} bytes) cannot be {value!r}")


class Module:
    """PTX, parsed and decoded once."""

    def __init__(self, ptx, file_name=""):
        if isinstance(ptx, (bytes, bytearray)):
            ptx = bytes(ptx).decode("utf-8", "surrogateescape")
        if not isinstance(ptx, str):
            raise TypeError(f"PTX is text (str or bytes), not {type(ptx).__name__}")
        ptx = ptx.encode("utf-8", "surrogateescape")
        self._module = _core.simulator_load(ptx, file_name)
        self.kernels = {
            name: {"parameters": parameters, "shared": shared, "threads": threads, "cluster": cluster, "refusal": refusal}
            for name, parameters, shared, threads, cluster, refusal in _core.simulator_kernels(self._module)
        }

    def run(self, name, grid, block, args, *, shared=0, cluster=None, schedule="fixed", seed=0, checks=True, counters=True,
            threads=0, instruction_limit=0, finding_limit=100, cooperative=False):  # fmt: skip
        """Runs a kernel. `name` may be None where there is one. `schedule="random"` interleaves warps and blocks at random,
        as `seed` says. `threads=0`: all cores, or one where the order of blocks may show in the results.
        `instruction_limit`: warp instructions that a block (or a cluster) may execute. `finding_limit`: different findings
        kept; more of them are counted. `cooperative=True`: all blocks at once, for kernels that synchronize the grid."""
        import numpy

        if name is None:
            if len(self.kernels) != 1:
                raise ValueError(f"a kernel must be named; kernels: {', '.join(self.kernels)}")
            name = next(iter(self.kernels))
        if name not in self.kernels:
            raise ValueError(f"there is no kernel {name!r}; kernels: {', '.join(self.kernels)}")
        parameters = self.kernels[name]["parameters"]
        if not isinstance(args, (list, tuple)):
            raise TypeError(f"args is a list of the kernel's arguments, not {type(args).__name__}")
        if len(args) != len(parameters):
            raise ValueError(f"the kernel takes {len(parameters)} arguments, not {len(args)}")
        if schedule not in ("fixed", "random"):
            raise ValueError(f"schedule is 'fixed' or 'random', not {schedule!r}")
        copies = {}

        def place(value, label):
            array = value if isinstance(value, numpy.ndarray) else numpy.asarray(value)
            if not array.flags.c_contiguous:
                raise ValueError(f"the array for `{label}` is not contiguous")
            if not array.dtype.isnative:
                raise ValueError(f"the array for `{label}` has the other byte order ({array.dtype.str}); GPUs have this machine's")
            if array.dtype.hasobject:
                raise TypeError(f"the array for `{label}` holds Python objects")
            key = (array.ctypes.data, array.nbytes) if array.nbytes else (label, 0)
            if key not in copies:
                for (start, size), (_, other) in copies.items():
                    if size and key[1] and start < key[0] + key[1] and key[0] < start + size:
                        raise ValueError(f"the arrays for `{other}` and `{label}` overlap; give both the whole array")
                copies[key] = (_Guarded(array), label)
            return copies[key][0]

        arguments = []
        for value, (label, kind, size, _) in zip(args, parameters):
            if isinstance(value, TensorMap):
                copy = place(value.array, label)
                arguments.append(value.encode(copy.address, copy.array))
            elif isinstance(value, numpy.ndarray) or (hasattr(value, "__array__") and not isinstance(value, numpy.generic)):
                if size != 8:
                    raise TypeError(f"the kernel's parameter `{label}` (.{kind}, {size} bytes) is not a pointer")
                arguments.append(place(value, label).address.to_bytes(8, "little"))
            else:
                arguments.append(_scalar_bytes(value, label, kind, size))
        memory = [(copy.address, copy.array.nbytes, label, bool(copy.array.flags.writeable)) for copy, label in copies.values()]
        result = _core.simulator_run(
            self._module, name, _triple(grid, "the grid"), _triple(block, "the block"),
            (0, 0, 0) if cluster is None else _triple(cluster, "the cluster"), _count(shared, "shared"), arguments, memory,
            (schedule == "random", _count(seed, "seed", limit=1 << 64), checks, counters, _count(threads, "threads", limit=1 << 10), _count(instruction_limit, "instruction_limit", limit=1 << 64),
             _count(finding_limit, "finding_limit"), bool(cooperative)),
        )  # fmt: skip
        for copy, _ in copies.values():
            copy.copy_back()
        return Report(*result)

    def variable(self, name, dtype="uint8"):
        """A .global or .const variable of the module as an array that shares its memory; None if there is none."""
        import ctypes

        import numpy

        if not isinstance(name, str):
            raise TypeError(f"the name of a variable is text, not {name!r}")
        found = _core.simulator_variable(self._module, name)
        if found is None:
            return None
        buffer = (ctypes.c_char * found[1]).from_address(found[0])
        array = numpy.frombuffer(buffer, numpy.uint8).view(dtype)
        self._views = getattr(self, "_views", [])
        return array


def load(ptx, file_name=""):
    """Parses PTX text. ValueError names the line of what is not PTX. A kernel with an instruction that is not simulated is
    refused when it is run; `kernels[name]["refusal"]` says why."""
    return Module(ptx, file_name)


def run(ptx, name, grid, block, args, **options):
    """Parses PTX and runs one kernel of it; see Module.run for the options."""
    return Module(ptx).run(name, grid, block, args, **options)
