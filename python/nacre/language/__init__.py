"""The language of kernels, imported as `tl`.

Its functions are the compiler's builtins, made from its table when they are looked up, and the standard library, which is
written in the language itself (standard.py, random.py).
"""

from . import _builtins, core, extra, math, target_info, types
from .core import (
    TRITON_MAX_TENSOR_NUMEL,
    PropagateNan,
    aggregate_replace,
    bfloat16,
    block_type,
    const,
    constexpr,
    constexpr_type,
    dtype,
    float8e4b8,
    float8e4b15,
    float8e4nv,
    float8e5,
    float8e5b16,
    float16,
    float32,
    float64,
    int1,
    int8,
    int16,
    int32,
    int64,
    must_use_result,
    pi32_t,
    pointer_type,
    tensor_descriptor,
    tensor_descriptor_base,
    tensor_descriptor_type,
    tuple_type,
    uint8,
    uint16,
    uint32,
    uint64,
    void,
)


def str_to_ty(name, c=None):
    """The type that a signature names: "i32", "*fp32", "tensordesc<fp16[64, 64]>", "constexpr", or a tuple of such names."""
    return constexpr_type(c) if name == "constexpr" else types.from_signature(name)


_SUBMODULES = ("standard", "random", "types", "constants", "semantic")
_standard = None  # name -> module of the standard library


def _standard_functions():
    global _standard
    if _standard is None:
        from .. import _core

        _standard = {name: file.removesuffix(".py") for name, file, *_ in _core.standard_functions()}
    return _standard


def _import(name):
    import importlib

    return importlib.import_module("." + name, __name__)


def __getattr__(name):
    if name in _SUBMODULES:
        return _import(name)
    if not name.startswith("__"):
        if name == "tensor":
            found = globals()[name] = core.tensor
            return found
        file = _standard_functions().get(name)
        if file is not None:
            found = globals()[name] = getattr(_import(file), name)
            return found
        for module in ("triton.language", "triton.language.core", "triton.language.math"):
            function = _builtins.find(module, name)
            if function is not None:
                globals()[name] = function  # kernels that Python runs look it up at every call
                return function
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    found = {*globals(), *_SUBMODULES, *_standard_functions()}
    return _builtins.listing(found, "triton.language", "triton.language.math")
