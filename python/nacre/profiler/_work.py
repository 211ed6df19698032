"""What a launch has to do, as the compiler counts it, and how it was configured: metrics of kernels that have none of their own."""

from .. import _core
from ..runtime.jit import TensorWrapper
from ..tools.tensor_descriptor import TensorDescriptor

COUNTED = "counted (pty)"  # says which metrics are the compiler's


def metrics(kernel, compiled, values, grid, slots):
    """{"bytes": ..., "flops32": ..., "config (pty)": ..., "source (pty)": ...} of a launch; bytes and flops where these can be counted.

    Bytes are those that must move: what the programs load and store through an argument, but no more than its array holds, once for
    loads and once for stores."""
    found = {"config (pty)": _configuration(kernel, compiled, values), "source (pty)": f"{kernel._filename}:{kernel._line}"}
    try:
        work = _core.launch_work(compiled.asm["ttir"], grid, [value for _, value in slots])
    except (KeyError, RuntimeError):
        work = None
    if work is None:
        return found
    traffic, flops = work
    sizes = {}
    for value in values:
        _note_size(value, sizes)
    limits = [sizes.get(value, float("inf")) if is_pointer else float("inf") for is_pointer, value in slots]
    moved = 0.0
    for argument, loaded, stored in traffic:
        limit = limits[argument] if argument >= 0 else float("inf")
        moved += min(loaded, limit) + min(stored, limit)
    counted = {"bytes": int(moved)} if moved else {}
    counted.update({f"flops{width}": amount for width, amount in flops if amount})
    if counted:
        found.update(counted)
        found[COUNTED] = "by the compiler"
    return found


def _configuration(kernel, compiled, values):
    """BLOCK=1024, num_warps=4"""
    constants = [f"{param.name}={value}" for param, value in zip(kernel.params, values) if param.is_constexpr and isinstance(value, (bool, int, float, str))]
    options = [f"{name}={getattr(compiled.metadata, name)}" for name in ("num_warps", "num_stages") if hasattr(compiled.metadata, name)]
    return ", ".join(constants + options)


def _note_size(value, sizes):
    """Adds address -> bytes of the arrays in a value."""
    if isinstance(value, tuple):
        for item in value:
            _note_size(item, sizes)
    elif hasattr(type(value), "__aggregate_fields__"):
        for field in value.__aggregate_fields__:
            _note_size(getattr(value, field), sizes)
    elif isinstance(value, (TensorWrapper, TensorDescriptor)):
        _note_size(value.base, sizes)
    elif hasattr(value, "untyped_storage"):
        sizes[value.data_ptr()] = value.numel() * value.element_size()
    else:
        interface = getattr(value, "__array_interface__", None) or getattr(value, "__cuda_array_interface__", None)
        if interface is not None:
            size = int(interface["typestr"].lstrip("<>|=")[1:])
            for extent in interface["shape"]:
                size *= extent
            sizes[interface["data"][0]] = size
