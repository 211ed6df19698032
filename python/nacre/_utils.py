"""Small helpers that packages around Triton take from here: nested arguments, the names of types, shapes of blocks."""

from functools import lru_cache

TRITON_MAX_TENSOR_NUMEL = 1048576


def is_iterable(x):
    """Whether an argument is walked into."""
    return isinstance(x, (list, tuple))


def is_namedtuple(cls):
    """Whether a class makes named tuples."""
    return isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_fields")


def get_iterable_path(iterable, path):
    """The element at a path of indices."""
    for index in path:
        iterable = iterable[index]
    return iterable


def set_iterable_path(iterable, path, val):
    """Puts a value at a path of indices; the innermost sequence must be one that can be changed."""
    get_iterable_path(iterable, path[:-1])[path[-1]] = val


def apply_with_path(value, fn, _path=()):
    """Calls fn(path, leaf) for every leaf."""
    if not is_iterable(value):
        return fn(_path, value)
    for index, item in enumerate(value):
        apply_with_path(item, fn, (*_path, index))


def find_paths_if(iterable, pred):
    """The paths of all leaves for which pred(path, leaf) holds."""
    found = []
    apply_with_path(iterable, lambda path, leaf: found.append(path) if pred(path, leaf) else None)
    return found


def is_power_of_two(x):
    return x > 0 and x & (x - 1) == 0


def validate_block_shape(shape):
    """The number of elements of a block; an error where no kernel of Triton's could have it."""
    count = 1
    for place, extent in enumerate(shape):
        if not isinstance(extent, int):
            raise TypeError(f"Shape element {place} must have type `constexpr[int]`, got `constexpr[{type(extent)}]`")
        if not is_power_of_two(extent):
            raise ValueError(f"Shape element {place} must be a power of 2")
        count *= extent
    if count > TRITON_MAX_TENSOR_NUMEL:
        raise ValueError(f"numel ({count}) exceeds triton maximum tensor numel ({TRITON_MAX_TENSOR_NUMEL})")
    return count


def _canonical_names():
    """Every name of a type, of torch's, NumPy's and the language's, to its short one."""
    names = {"void": "void", "bool": "u1", "uint1": "u1", "int1": "u1", "i1": "u1", "u1": "u1", "half": "fp16", "float": "fp32",
             "double": "fp64", "int": "i32", "bfloat16": "bf16", "bf16": "bf16", "float8_e4m3fn": "fp8e4nv",
             "float8_e5m2": "fp8e5", "float8_e4m3fnuz": "fp8e4b8", "float8_e5m2fnuz": "fp8e5b16"}  # fmt: skip
    for bits in (8, 16, 32, 64):
        for long, short in (("int", "i"), ("uint", "u"), ("float", "fp")):
            if (long, bits) != ("float", 8):
                names[f"{long}{bits}"] = names[f"{short}{bits}"] = f"{short}{bits}"
    for kind in ("e4nv", "e5", "e4b15", "e4b8", "e5b16"):
        names[f"float8{kind}"] = names[f"fp8{kind}"] = f"fp8{kind}"
    return names


def _width(short):
    if short == "void":
        return 0
    if short.startswith("fp8"):
        return 8
    return int(short.lstrip("bfpiu"))


type_canonicalisation_dict = _canonical_names()
BITWIDTH_DICT = {**{name: _width(short) for name, short in type_canonicalisation_dict.items()}, "i1": 1, "u1": 1}


def canonicalize_dtype(dtype):
    """ "fp32" for torch.float32, tl.float32 and "float"."""
    return type_canonicalisation_dict[str(dtype).rpartition(".")[2]]


def canonicalize_ptr_dtype(dtype, is_const):
    return ("*k" if is_const else "*") + canonicalize_dtype(dtype)


def get_primitive_bitwidth(dtype):
    """The width of a type by its name."""
    return BITWIDTH_DICT[dtype]


@lru_cache(maxsize=None)
def warn_once(message):
    """A warning that is given once in a process."""
    import warnings

    warnings.warn(message, UserWarning, stacklevel=2)


def prewarm_deprecation_warnings():
    """Takes away the warnings of what Triton 3.10 will change: there are none here."""
