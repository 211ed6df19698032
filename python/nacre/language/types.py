"""The types of the language as Python objects: `tl.float32`, pointers, blocks."""

import enum

_BITS = {
    "void": 0, "int1": 1, "int8": 8, "int16": 16, "int32": 32, "int64": 64, "uint8": 8, "uint16": 16, "uint32": 32,
    "uint64": 64, "fp8e4nv": 8, "fp8e5": 8, "fp8e4b15": 8, "fp8e4b8": 8, "fp8e5b16": 8, "fp16": 16, "bf16": 16, "fp32": 32,
    "fp64": 64,
}  # fmt: skip
_MANTISSA = {"fp8e4nv": 3, "fp8e5": 2, "fp8e4b15": 3, "fp8e4b8": 3, "fp8e5b16": 2, "fp16": 10, "bf16": 7, "fp32": 23, "fp64": 52}
_BIAS = {"fp8e4nv": 7, "fp8e5": 15, "fp8e4b15": 15, "fp8e4b8": 8, "fp8e5b16": 16, "fp16": 15, "bf16": 127, "fp32": 127, "fp64": 1023}
_PUBLIC = {
    "fp8e4nv": "float8e4nv", "fp8e5": "float8e5", "fp8e4b15": "float8e4b15", "fp8e4b8": "float8e4b8", "fp8e5b16": "float8e5b16",
    "fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64",
}  # fmt: skip
_FROM_SHORT = {"i1": "int1", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u1": "int1", "u8": "uint8",
               "u16": "uint16", "u32": "uint32", "u64": "uint64"}  # fmt: skip
_TO_SHORT = {"int1": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16",
             "uint32": "u32", "uint64": "u64"}  # fmt: skip


class dtype:
    """A scalar type. str() of it is its short name: `str(tl.float32)` is "fp32"."""

    SINT_TYPES = ["int8", "int16", "int32", "int64"]
    UINT_TYPES = ["int1", "uint8", "uint16", "uint32", "uint64"]
    FP_TYPES = ["fp8e4b15", "fp8e4nv", "fp8e4b8", "fp8e5", "fp8e5b16", "fp16", "bf16", "fp32", "fp64"]
    STANDARD_FP_TYPES = ["fp16", "bf16", "fp32", "fp64"]
    OTHER_TYPES = ["void"]

    class SIGNEDNESS(enum.Enum):
        SIGNED = 0
        UNSIGNED = 1

    class KIND(enum.Enum):
        BOOLEAN = 0
        INTEGRAL = 1
        FLOATING = 2

    def __init__(self, name):
        name = getattr(name, "value", name)
        if name not in _BITS:
            raise ValueError(f"{name!r} is not a type of the language")
        self.name = name
        self.primitive_bitwidth = _BITS[name]
        self.itemsize = max(1, self.primitive_bitwidth // 8)
        if name in self.SINT_TYPES or name in self.UINT_TYPES:
            self.int_signedness = self.SIGNEDNESS.SIGNED if name in self.SINT_TYPES else self.SIGNEDNESS.UNSIGNED
            self.int_bitwidth = self.primitive_bitwidth
        elif name in self.FP_TYPES:
            self.fp_mantissa_width = _MANTISSA[name]
            self.exponent_bias = _BIAS[name]

    @property
    def _short_name(self):
        return _TO_SHORT.get(self.name, self.name)

    def is_fp8(self):
        return self.name.startswith("fp8")

    def is_floating(self):
        return self.name in self.FP_TYPES

    def is_standard_floating(self):
        return self.name in self.STANDARD_FP_TYPES

    def is_int(self):
        return self.name in self.SINT_TYPES or self.name in self.UINT_TYPES

    def is_int_signed(self):
        return self.name in self.SINT_TYPES

    def is_int_unsigned(self):
        return self.name in self.UINT_TYPES

    def is_bool(self):
        return self.name == "int1"

    def is_void(self):
        return self.name == "void"

    @staticmethod
    def is_ptr():
        return False

    @staticmethod
    def is_block():
        return False

    @staticmethod
    def is_const():
        return False

    @staticmethod
    def is_dtype(name):
        return name in _BITS

    def kind(self):
        if self.is_bool():
            return self.KIND.BOOLEAN
        if self.is_int():
            return self.KIND.INTEGRAL
        if self.is_floating():
            return self.KIND.FLOATING
        raise ValueError(f"{self.name} has no kind")

    def get_int_max_value(self):
        return 2 ** (self.int_bitwidth - (1 if self.is_int_signed() else 0)) - 1

    def get_int_min_value(self):
        return -(2 ** (self.int_bitwidth - 1)) if self.is_int_signed() else 0

    @property
    def scalar(self):
        return self

    @property
    def element_ty(self):
        raise AttributeError(f"{self.name} is a scalar: it has no element type")

    def with_element_ty(self, element_ty):
        """The other type: a scalar has no shape to keep."""
        return element_ty

    @property
    def cache_key_part(self):
        return self.name

    def codegen_name(self):
        return _PUBLIC.get(self.name, self.name)

    def mangle(self):
        return self._short_name

    def __eq__(self, other):
        other = getattr(other, "value", other)
        return isinstance(other, dtype) and self._short_name == other._short_name

    def __hash__(self):
        return hash(self._short_name)

    def __str__(self):
        return self.name

    def __repr__(self):
        return f"triton.language.{self.codegen_name()}"

    def __deepcopy__(self, memo):
        return self


def _predicate(name):
    def predicate(self):
        return self.name == name

    predicate.__name__ = f"is_{name}"
    predicate.__doc__ = f"Whether the type is {name}."
    return predicate


def _add_predicates():
    for name in _BITS:
        if not hasattr(dtype, f"is_{name}"):
            setattr(dtype, f"is_{name}", _predicate(name))


_add_predicates()


class pointer_type(dtype):
    """A pointer to elements of a type."""

    def __init__(self, element_ty, address_space=1, const=False):
        element_ty = getattr(element_ty, "value", element_ty)
        if not isinstance(element_ty, dtype):
            raise TypeError(f"element_ty: expected a type, found {type(element_ty).__name__}")
        self._element = element_ty
        self.address_space = address_space
        self.const = const
        self.name = f"const_pointer<{element_ty}>" if const else f"pointer<{element_ty}>"
        self.primitive_bitwidth = 64
        self.itemsize = 8

    @property
    def _short_name(self):
        return ("*k" if self.const else "*") + self._element._short_name

    @property
    def element_ty(self):
        return self._element

    def is_ptr(self):
        return True

    def is_const(self):
        return self.const

    def codegen_name(self):
        return f"pointer_type({self._element!r})"


class block_type(dtype):
    """A tile of elements of a type."""

    def __init__(self, element_ty, shape):
        self._element = getattr(element_ty, "value", element_ty)
        self.shape = tuple(getattr(size, "value", size) for size in shape)
        self.numel = 1
        for size in self.shape:
            self.numel *= size
        self.name = f"<{list(map(str, self.shape))}, {self._element}>"
        self.primitive_bitwidth = self._element.primitive_bitwidth

    @property
    def _short_name(self):
        return f"{self._element._short_name}{list(self.shape)}"

    @property
    def element_ty(self):
        return self._element

    @property
    def scalar(self):
        return self._element

    def with_element_ty(self, element_ty):
        """The block of the same shape with elements of another type."""
        return block_type(element_ty, self.shape)

    @property
    def nbytes(self):
        return self.numel * (self.element_ty.primitive_bitwidth // 8)

    def get_block_shapes(self):
        return self.shape

    def is_block(self):
        return True


SCALARS = {_PUBLIC.get(name, name): dtype(name) for name in _BITS}


class tuple_type:
    """The type of a tuple: one type for each item, and the names of the items of a named tuple."""

    def __init__(self, types, fields=None):
        self.types = list(types)
        self.fields = None if fields is None else list(fields)

    @property
    def name(self):
        names = [""] * len(self.types) if self.fields is None else [field + ":" for field in self.fields]
        return "[" + ",".join(name + str(type) for name, type in zip(names, self.types)) + "]"

    def __str__(self):
        return self.name

    __repr__ = __str__

    def __iter__(self):
        return iter(self.types)

    def __len__(self):
        return len(self.types)

    def __getitem__(self, index):
        return self.types[index]

    def __eq__(self, other):
        return type(other) is tuple_type and self.types == other.types and self.fields == other.fields

    def __hash__(self):
        return hash(self.name)


class tensor_descriptor_type:
    """The type of a tensor descriptor: that of the blocks it reads and writes."""

    def __init__(self, block_type, shape_type=None, strides_type=None):
        rank = len(block_type.shape)
        self.block_type = block_type
        self.shape_type = tuple_type([SCALARS["int32"]] * rank) if shape_type is None else shape_type
        self.strides_type = tuple_type([SCALARS["int64"]] * rank) if strides_type is None else strides_type

    def __str__(self):
        return f"tensor_descriptor<{self.block_type}>"

    __repr__ = __str__

    def __eq__(self, other):
        return type(other) is tensor_descriptor_type and str(self) == str(other)

    def __hash__(self):
        return hash(str(self))


def from_signature(name):
    """The type that a signature names: "i32", "*fp32", "tensordesc<fp16[64, 64]>", or a tuple of such names."""
    if isinstance(name, tuple):
        return tuple_type([from_signature(item) for item in name], getattr(name, "_fields", None))
    return by_short_name(name)


def by_short_name(name):
    """The type with a short name: "fp32", "*fp32", "*ki32", "fp16[64, 64]", "tensordesc<fp16[64, 64]>"."""
    if name.startswith("tensordesc<"):
        return tensor_descriptor_type(by_short_name(name.removeprefix("tensordesc<").removesuffix(">")))
    if name.endswith("]"):
        element, shape = name.removesuffix("]").split("[")
        return block_type(by_short_name(element), [int(extent) for extent in shape.split(",")])
    if name.startswith("*k"):
        return pointer_type(by_short_name(name[2:]), const=True)
    if name.startswith("*"):
        return pointer_type(by_short_name(name[1:]))
    name = _FROM_SHORT.get(name, name)
    return SCALARS[_PUBLIC.get(name, name)]
