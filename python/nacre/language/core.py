"""The heart of the language: types, constexprs, and the builtins (made from the compiler's table when looked up)."""

from .. import _core
from . import _builtins
from . import types as _types
from .constants import const, constexpr, constexpr_type
from .types import block_type, dtype, pointer_type, tensor_descriptor_type, tuple_type

void = _types.SCALARS["void"]
int1 = _types.SCALARS["int1"]
int8 = _types.SCALARS["int8"]
int16 = _types.SCALARS["int16"]
int32 = _types.SCALARS["int32"]
int64 = _types.SCALARS["int64"]
uint8 = _types.SCALARS["uint8"]
uint16 = _types.SCALARS["uint16"]
uint32 = _types.SCALARS["uint32"]
uint64 = _types.SCALARS["uint64"]
float8e4nv = _types.SCALARS["float8e4nv"]
float8e5 = _types.SCALARS["float8e5"]
float8e4b15 = _types.SCALARS["float8e4b15"]
float8e4b8 = _types.SCALARS["float8e4b8"]
float8e5b16 = _types.SCALARS["float8e5b16"]
float16 = _types.SCALARS["float16"]
bfloat16 = _types.SCALARS["bfloat16"]
float32 = _types.SCALARS["float32"]
float64 = _types.SCALARS["float64"]
pi32_t = pointer_type(int32)

CONSTEXPR_0 = constexpr(0)
TRITON_MAX_TENSOR_NUMEL = 1048576
TRITON_BUILTIN = "__triton_builtin__"
builtin_max, builtin_min = max, min  # Python's own

_dtype_by_short_name = _types.by_short_name


class base_value:
    """A value inside a kernel."""


class base_type:
    """The type of a value inside a kernel."""


class tensor_descriptor_base(base_value):
    """A tensor in memory that a kernel reads and writes by blocks."""

    def __init__(self, *_, **__):
        raise RuntimeError("tensor descriptors exist inside kernels only")


class tensor_descriptor(tensor_descriptor_base):
    """A tensor in memory that a kernel reads and writes by blocks."""


class PropagateNan:
    """What minimum and maximum do with NaN: NONE gives the other operand, ALL gives NaN."""

    NONE = "none"
    ALL = "all"


def get_int_dtype(bitwidth, signed):
    """The integer type of a width and a sign."""
    bitwidth, signed = getattr(bitwidth, "value", bitwidth), getattr(signed, "value", signed)
    return int1 if bitwidth == 1 else _types.SCALARS[f"{'int' if signed else 'uint'}{bitwidth}"]


def must_use_result(x, s=True):
    """Marks a function whose result must be used: a kernel that drops it is refused. `@must_use_result("why")` adds a text to the error."""
    if isinstance(x, str):
        return lambda function: must_use_result(function, x)
    x._must_use_result = s
    return x


def is_builtin(fn):
    """Whether kernels call this as a function of the language."""
    return bool(getattr(fn, TRITON_BUILTIN, False))


def is_negative_zero(x):
    """Whether a float is -0.0."""
    return x == 0.0 and str(x).startswith("-")


def check_bit_width(value, shift_value):
    """Warns where a constexpr shift is as wide as the value, or wider."""
    if isinstance(shift_value, constexpr) and hasattr(value, "dtype") and shift_value.value >= value.dtype.scalar.primitive_bitwidth:
        import warnings

        warnings.warn(f"a shift by {shift_value.value} of a value of {value.dtype} leaves none of its bits", stacklevel=2)


def _unwrap_if_constexpr(value):
    return value.value if isinstance(value, constexpr) else value


def aggregate_replace(instance, /, **fields):
    """A copy of an aggregate with other values for the fields that are given by name."""
    import copy

    replaced = copy.copy(instance)
    for name, value in fields.items():
        if name not in type(instance).__aggregate_fields__:
            raise AttributeError(f"{type(instance).__name__} has no field {name!r}")
        setattr(replaced, name, value)
    _make_run_time(replaced)
    return replaced


def _make_run_time(instance):
    """In a kernel that Python runs: numbers in fields that are not annotated tl.constexpr become run-time values, as in compiled
    code."""
    if not _core.interpreted_is_running():
        return
    for name in type(instance).__aggregate_fields__:
        if name in instance.__dict__ and name not in type(instance).__aggregate__.__constexprs__:
            value = _unwrap_if_constexpr(instance.__dict__[name])
            if isinstance(value, (bool, int, float)):
                setattr(instance, name, _core.interpreted_variable(value))


# What packages look for here, and where it is: (module, its name there). These are built on top of this module.
_PASSED_ON = {
    "JITCallable": ("..runtime.jit", "JITCallable"),
    "_aggregate": ("..runtime.aggregate", "aggregate"),
    "atomic_poll": (".standard", "atomic_poll"),
    "builtin": ("..runtime.external", "builtin"),
    "extern": ("..runtime.external", "extern"),
    "get_primitive_bitwidth": (".._utils", "get_primitive_bitwidth"),
    "validate_block_shape": (".._utils", "validate_block_shape"),
    "warn_once": (".._utils", "warn_once"),
}

_look_up, _list = _builtins.attach(globals(), ("triton.language", "triton.language.core", "triton.language.math"))


def __getattr__(name):
    if name in _PASSED_ON:
        import importlib

        module, there = _PASSED_ON[name]
        return getattr(importlib.import_module(module, __package__), there)
    if name == "tensor":  # its methods are shown on it, which takes a moment
        found = globals()[name] = _builtins.show_methods(_core.Tensor)
        return found
    return _look_up(name)


def __dir__():
    return sorted({*_list(), "tensor"})
