"""The arguments of launches: what they may be, how they are specialized, and the errors that name what is wrong."""

import collections
import typing

import numpy as np
import pytest

import nacre
import nacre.language as tl
from launches import add_kernel, arrays, launch, scale_kernel, write_kernel


# Arguments


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_numpy_arrays_of_every_type(dtype):
    x = np.arange(16).astype(dtype)
    kernel = launch(scale_kernel, x, 3, BLOCK=16)
    np.testing.assert_array_equal(x, (np.arange(16) * 3).astype(dtype))
    short = {"f": "fp", "i": "i", "u": "u"}[x.dtype.kind] + str(x.dtype.itemsize * 8)
    assert kernel.src.signature["x"] == "*" + short


def test_views_start_where_they_start():
    base = np.zeros(32, np.float32)
    launch(write_kernel, base[7:], 5.0)
    assert base[7] == 5 and np.count_nonzero(base) == 1


def test_torch_tensors():
    torch = pytest.importorskip("torch")
    for name in ["float32", "bfloat16", "float16", "int64", "uint8", "float8_e5m2"]:
        x = torch.zeros(16, dtype=getattr(torch, name))
        kernel = launch(write_kernel, x[3:], 1.0 if x.is_floating_point() else 1)
        assert x.view(torch.uint8).any(), name
    parameter = torch.nn.Parameter(torch.zeros(4))
    launch(write_kernel, parameter, 2.0)
    assert parameter[0] == 2
    assert kernel.src.signature["out"] == "*fp8e5"


def test_torch_tensors_elsewhere_are_refused():
    torch = pytest.importorskip("torch")
    with pytest.raises(ValueError, match="'out' is on meta"):
        launch(write_kernel, torch.zeros(4, device="meta"), 1.0)


def test_strides():
    """A kernel gets the address of the first element; strides are its own business, unless memory runs backwards."""
    base = np.zeros((4, 8), np.float32)
    launch(write_kernel, base[1:, 3::2], 5.0)
    launch(write_kernel, base.T, 6.0)
    assert base[1, 3] == 5 and base[0, 0] == 6 and np.count_nonzero(base) == 2
    with pytest.raises(ValueError, match="'out'.*negative stride"):
        launch(write_kernel, base[::-1], 5.0)


class Exporter:
    """Offers its memory through DLPack alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **kwargs):
        return self.array.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_dlpack():
    x = np.zeros(4, np.float32)
    launch(write_kernel, Exporter(x), 3.0)
    assert x[0] == 3


class Pointer:
    """Anything with data_ptr() and dtype."""

    def __init__(self, array, device="cpu"):
        self.array = array
        self.dtype = array.dtype
        self.device = device

    def data_ptr(self):
        return self.array.ctypes.data


def test_anything_with_data_ptr():
    x = np.zeros(4, np.int16)
    launch(write_kernel, Pointer(x), 3)
    assert x[0] == 3
    with pytest.raises(ValueError, match="'out' is on cuda:1"):
        launch(write_kernel, Pointer(x, device="cuda:1"), 3)


def test_reinterpreted_tensors():
    torch = pytest.importorskip("torch")
    x = torch.zeros(4, dtype=torch.int8)
    launch(write_kernel, nacre.reinterpret(x, tl.float8e5), 1.0)
    assert x[0] == 0x3C


@pytest.mark.parametrize("value, text", [
    (np.array([None, 1]), "'out'.*object"), (np.array(["a"]), "'out'"), (np.zeros(2, np.complex64), "'out'.*complex64"),
    (np.zeros(2, ">f4"), "'out'.*byte order"), (object(), "'out'.*object"), ("text", "'out'.*str"), ({}, "'out'.*dict"),
])  # fmt: skip
def test_arguments_that_cannot_be_passed(value, text):
    with pytest.raises(TypeError, match=text):
        launch(write_kernel, value, 1.0)


def test_a_float_for_a_pointer_is_a_compile_error():
    with pytest.raises(nacre.CompilationError) as caught:
        launch(write_kernel, 1.5, 1.0)
    assert "tl.store(out, value)" in str(caught.value)


def test_read_only_arrays():
    x, y, out = arrays()
    x.flags.writeable = False
    add_kernel[(8,)](x, y, out, 1000, BLOCK=128)
    np.testing.assert_array_equal(out, x + y)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="'out'.*read-only"):
        add_kernel[(8,)](x, y, out, 1000, BLOCK=128)


# Specialization


def signature_of(value, **options):
    @nacre.jit(**options)
    def kernel(value, out):
        pass

    compiled = kernel[(1,)](value, np.zeros(1, np.float32))
    return compiled.src.signature["value"], compiled.src.attrs.get((0,))


DIVISIBLE = [["tt.divisibility", 16]]


@pytest.mark.parametrize("value, type, facts", [
    (0, "i32", DIVISIBLE), (1, "constexpr", None), (2, "i32", None), (16, "i32", DIVISIBLE), (-16, "i32", DIVISIBLE),
    (2**31 - 1, "i32", None), (2**31, "i64", DIVISIBLE), (-(2**31) - 1, "i64", None), (2**63 - 1, "i64", None),
    (2**63, "u64", DIVISIBLE), (2**64 - 1, "u64", None), (1.0, "fp32", None), (True, "i1", None), (False, "i1", None),
    (None, "constexpr", None), (tl.constexpr(7), "constexpr", None), (tl.float16, "constexpr", None), (add_kernel, "constexpr", None),
    ((1, 2, 3.0), ("constexpr", "i32", "fp32"), None), (np.int32(32), "i32", DIVISIBLE), (np.float32(2), "fp32", None), (np.float64(2), "fp32", None),
    (np.bool_(True), "i1", None),
])  # fmt: skip
def test_specialization(value, type, facts):
    assert signature_of(value) == (type, facts)


def test_do_not_specialize():
    assert signature_of(1, do_not_specialize=["value"]) == ("i32", None)
    assert signature_of(16, do_not_specialize=[0]) == ("i32", None)
    assert signature_of(16, do_not_specialize_on_alignment=["value"]) == ("i32", None)
    assert signature_of(1, do_not_specialize_on_alignment=["value"]) == ("constexpr", None)


def test_numbers_too_large():
    for value in (2**64, -(2**63) - 1):
        with pytest.raises(OverflowError, match="'value'"):
            signature_of(value)


def test_pointers_are_specialized_by_alignment():
    memory = np.zeros(64, np.float32)
    start = (-memory.ctypes.data // 4) % 4  # first element on a boundary of 16 bytes
    assert launch(write_kernel, memory[start:], 1.0).src.attrs.get((0,)) == DIVISIBLE
    assert launch(write_kernel, memory[start + 1:], 1.0).src.attrs.get((0,)) is None


def test_annotations_force_types():
    @nacre.jit
    def kernel(out, a: int, b: tl.int64, c: "fp64", d: tl.float16, e: "i8"):
        tl.static_assert(a.dtype == tl.int32)
        tl.static_assert(b.dtype == tl.int64)
        tl.static_assert(c.dtype == tl.float64)
        tl.static_assert(d.dtype == tl.float16)
        tl.store(out, a + b + c + d + e)

    out = np.zeros(1, np.float64)
    kernel[(1,)](out, 1, 2, 1e-9, 0.5, -3)
    assert out[0] == 1 + 2 + 1e-9 + 0.5 - 3


def test_tuples_and_named_tuples():
    Pair = collections.namedtuple("Pair", ["first", "second"])

    @nacre.jit
    def kernel(out, pair, nested):
        tl.store(out, pair.first + pair[1] + nested[0] + nested[1][0] + nested[1][1])

    out = np.zeros(1, np.int32)
    kernel[(1,)](out, Pair(1, 20), (300, (4000, 1)))
    assert out[0] == 4322


@nacre.aggregate
class Range:
    out: tl.tensor
    stride: tl.tensor
    SIZE: tl.constexpr

    @nacre.jit
    def fill(self, value):
        tl.store(self.out + tl.arange(0, self.SIZE) * self.stride, value)


@nacre.jit
def fill_kernel(range, value):
    range.fill(value)


def test_aggregates_are_specialized_field_by_field():
    out = np.zeros(1024, np.int32)
    out = out[(-out.ctypes.data // 4) % 4 :]
    compiled = fill_kernel[(1,)](Range(out, 1, 4), 16)
    assert compiled.src.signature == {"range": ("*i32", "constexpr", "constexpr"), "value": "i32"}
    assert compiled.src.constants == {(0, 1): 1, (0, 2): 4}
    assert compiled.src.attrs == {(0, 0): [["tt.divisibility", 16]], (1,): [["tt.divisibility", 16]]}
    assert out[:5].tolist() == [16, 16, 16, 16, 0]
    before = nacre._core.cache_counts()["compiles"]
    kernels = [fill_kernel[(1,)](Range(out, stride, 4), 7) for stride in (2, 3, 5)]
    assert len(set(map(id, kernels))) == 1 and nacre._core.cache_counts()["compiles"] <= before + 1
    assert fill_kernel[(1,)](Range(out, 2, 8), 7) is not kernels[0] and out[14] == 7 and out[13] == 0


def test_compiled_kernels_take_aggregates():
    out = np.zeros(64, np.int32)
    compiled = fill_kernel[(1,)](Range(out, 3, 4), 5)
    compiled[(1, 1, 1)](Range(out, 4, 4), 9)
    assert np.flatnonzero(out == 9).tolist() == [0, 4, 8, 12]


class Place(typing.NamedTuple):
    out: tl.tensor
    index: tl.tensor


@nacre.jit
def placed_kernel(range, places, value):
    range.fill(value)
    tl.store(places[0].out + places[0].index, value + 1)


def test_signatures_know_aggregates_and_named_tuples():
    out = np.zeros(64, np.int32)
    arguments = Range(out, 1, 4), (Place(out, 9), 5), 3
    described = []
    with nacre.knobs.runtime.scope():
        nacre.knobs.runtime.jit_post_compile_hook = lambda **facts: described.append(facts["compile"]["specialization_data"])
        compiled = placed_kernel[(1,)](*arguments)
    types = compiled.src.signature
    assert types["range"].aggregate is Range and type(types["places"][0]) is Place and types["places"][0].index == "i32"
    # Compiled from the signature, and from its text, it is the same kernel.
    assert nacre.compile(compiled.src).hash == compiled.hash
    assert placed_kernel.preload(described[0]).hash == compiled.hash
    compiled[(1, 1, 1)](*arguments)
    assert out[:10].tolist() == [3, 3, 3, 3, 0, 0, 0, 0, 0, 4]


def test_a_read_only_array_in_an_aggregate_is_refused():
    out = np.zeros(64, np.int32)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="'range', which is a read-only array"):
        fill_kernel[(1,)](Range(out, 3, 4), 5)


def test_an_aggregate_without_a_field_is_an_error():
    incomplete = Range.__new__(Range)
    incomplete.out = np.zeros(4, np.int32)
    with pytest.raises(AttributeError, match="stride"):
        fill_kernel[(1,)](incomplete, 1)


def test_equal_constants_of_different_types_are_different():
    @nacre.jit
    def kernel(out, V: tl.constexpr):
        tl.store(out, V * 1.0 if isinstance(V, float) else 7.0)

    out = np.zeros(1, np.float32)
    seen = []
    for value in (1, 1.0, True, 2.0):
        kernel[(1,)](out, value)
        seen.append(out[0])
    assert seen == [7, 1, 7, 2]


def test_one_specialization_is_compiled_once():
    x, y, out = arrays()
    before = nacre._core.cache_counts()["compiles"]

    @nacre.jit
    def kernel(x, n, BLOCK: tl.constexpr):
        tl.store(x + tl.arange(0, BLOCK), n)

    compiled = {id(kernel[(1,)](x, n, BLOCK=16)) for n in (2, 3, 5, 7, 1000)}
    assert len(compiled) == 1 and nacre._core.cache_counts()["compiles"] == before + 1
    kernel[(1,)](x, 16, BLOCK=16)
    assert nacre._core.cache_counts()["compiles"] == before + 2


# Arrays without memory


def test_an_array_without_memory_is_refused():
    class Nothing:
        dtype = "float32"

        def __init__(self, *shape):
            self.shape = shape

        def data_ptr(self):
            return 0

    class Refusing(Nothing):
        def data_ptr(self):
            raise RuntimeError("there is none")

    @nacre.jit
    def kernel(pair, x_ptr, n):
        tl.store(x_ptr + tl.arange(0, 16), 1.0, mask=tl.arange(0, 16) < n)

    array = np.zeros(16, np.float32)
    kernel[(1,)]((array, 1), array, 16)
    kernel[(1,)]((array, 1), Nothing(3, 0), 0)  # no elements: nothing can be wrong with them
    with pytest.raises(ValueError, match=r"kernel\(\): the argument 'x_ptr' is a Nothing without memory .* use warmup\(\) to compile only"):
        kernel[(1,)]((array, 1), Nothing(16), 16)
    with pytest.raises(ValueError, match="the argument 'pair' is a Nothing without memory"):
        kernel[(1,)]((Nothing(16), 1), array, 16)
    with pytest.raises(ValueError, match="the argument 'x_ptr' is a Refusing without memory"):
        kernel[(1,)]((array, 1), Refusing(16), 16)
    assert kernel.warmup((Nothing(16), 1), Nothing(16), 16, grid=(1,)) is not None
    assert (array == 1).all()


@pytest.mark.filterwarnings("ignore:Accessing the data pointer of FakeTensor")
def test_fake_tensors_are_refused():
    torch = pytest.importorskip("torch")
    from torch._subclasses.fake_tensor import FakeTensorMode

    @nacre.jit
    def kernel(x_ptr, n):
        tl.store(x_ptr + tl.arange(0, 16), 1.0, mask=tl.arange(0, 16) < n)

    with FakeTensorMode():
        fake = torch.zeros(16)
    with pytest.raises(ValueError, match=r"kernel\(\): the argument 'x_ptr' is a FakeTensor without memory"):
        kernel[(1,)](fake, 16)
    kernel[(1,)](torch.zeros(0), 0)
    x = torch.zeros(16)
    kernel[(1,)](x, 16)
    assert bool((x == 1).all())
