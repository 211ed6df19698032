"""Every keyword parameter that the table of kernel functions names, passed with a value that is not its default and shows."""

import numpy as np
import pytest
import triton
import triton.language as tl
from parameters import HINTS, PARAMETERS
from proving import computed, counting, refused


@triton.jit
def creation_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 8))
    line = tl.arange(0, 8)
    tl.store(out_ptr + line, tl.arange(start=3, end=11))
    tl.store(out_ptr + 8 + line, tl.full(shape=(8,), value=7, dtype=tl.int32))
    tl.store(out_ptr + 16 + line, tl.zeros(shape=(8,), dtype=tl.float32) + 1)
    joined = tl.cat(x.reshape(1, 8), x.reshape(1, 8) + 100, can_reorder=False, dim=1)
    tl.store(out_ptr + 24 + tl.arange(0, 16)[None, :], joined)
    tl.store(out_ptr + 40 + line, tl.cast(x, dtype=tl.int32, bitcast=True))
    cut = tl.cast(x + 0.9999999, dtype=tl.float16, fp_downcast_rounding="rtz")
    tl.store(out_ptr + 48 + line, cut)


@pytest.mark.ours("bits of casts in the interpreter of Triton")
def test_creation(engine):
    """arange, full, zeros, cat, cast by keyword."""
    x = np.arange(8, dtype=np.float32)
    got = computed(engine, creation_kernel, 56, "float64", engine.array(x))
    below_next = (np.float32(x) + np.float32(0.9999999)).astype(np.float16)
    below_next = np.where(below_next.astype(np.float32) > x + np.float32(0.9999999), np.nextafter(below_next, np.float16(-1)), below_next)
    np.testing.assert_array_equal(got, [*range(3, 11), *[7] * 8, *[1] * 8, *x, *(x + 100), *x.view(np.int32), *below_next])


@triton.jit
def shapes_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 8))
    tl.static_assert(tl.expand_dims(x, axis=1).shape == (8, 1))
    tl.static_assert(tl.expand_dims(x, (0, 2)).shape == (1, 8, 1))
    tl.static_assert(tl.broadcast_to(x[None, :], shape=(4, 8)).shape == (4, 8))
    tl.static_assert(tl.reshape(x, (2, 4), can_reorder=False).shape == (2, 4))
    tl.static_assert(tl.unsqueeze(x, dim=0).shape == (1, 8))
    tl.static_assert(tl.squeeze(x[None, :], dim=0).shape == (8,))
    tl.static_assert(tl.permute(tl.reshape(x, 2, 4), dims=(1, 0)).shape == (4, 2))
    tl.store(out_ptr, tl.sum(tl.reshape(x, (2, 4), can_reorder=True)))


@pytest.mark.ours("keywords in the interpreter of Triton")
def test_shapes(engine):
    """expand_dims, broadcast_to, reshape, squeeze, unsqueeze, permute by keyword; can_reorder keeps the elements."""
    assert computed(engine, shapes_kernel, 1, "int32", counting(engine, count=8))[0] == 28


@triton.jit
def dot_kernel(a_ptr, b_ptr, out_ptr, PRECISION: tl.constexpr, TF32: tl.constexpr, IMPRECISE: tl.constexpr):
    places = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    a, b = tl.load(a_ptr + places), tl.load(b_ptr + places)
    acc = tl.full((16, 16), 2, tl.float32)
    c = tl.dot(input=a, other=b, acc=acc, input_precision=PRECISION, allow_tf32=TF32, max_num_imprecise_acc=IMPRECISE, out_dtype=tl.float32)
    tl.store(out_ptr + places, c)


@pytest.mark.parametrize(
    "precision, tf32", [("tf32", None), ("tf32x3", None), ("ieee", None), ("bf16x3", None), ("bf16x6", None), (None, True), (None, False)],
)  # fmt: skip
@pytest.mark.ours("keywords in the interpreter of Triton")
def test_dot(engine, rng, precision, tf32):
    """acc is added; every precision gives the product of small integers exactly; the accumulation hint changes nothing here."""
    a, b = rng.integers(-9, 9, (16, 16)).astype(np.float32), rng.integers(-9, 9, (16, 16)).astype(np.float32)
    out = engine.empty((16, 16), "float32")
    dot_kernel[(1,)](engine.array(a), engine.array(b), out, PRECISION=precision, TF32=tf32, IMPRECISE=16)
    np.testing.assert_array_equal(engine.numpy(out), a @ b + 2)


@triton.jit
def scaled_kernel(a_ptr, b_ptr, scale_ptr, out_ptr):
    rows, columns, depth = tl.arange(0, 16), tl.arange(0, 16), tl.arange(0, 32)
    a = tl.load(a_ptr + rows[:, None] * 32 + depth[None, :])
    b = tl.load(b_ptr + depth[:, None] * 16 + columns[None, :])
    scale = tl.load(scale_ptr + rows[:, None])
    acc = tl.full((16, 16), 3, tl.float32)
    c = tl.dot_scaled(
        lhs=a, lhs_scale=scale, lhs_format="bf16", rhs=b, rhs_scale=scale, rhs_format="bf16",
        acc=acc, fast_math=True, lhs_k_pack=True, rhs_k_pack=True, out_dtype=tl.float32,
    )  # fmt: skip
    tl.store(out_ptr + rows[:, None] * 16 + columns[None, :], c)


@pytest.mark.ours("keywords in the interpreter of Triton")
def test_dot_scaled(engine, rng):
    """acc is added, the scales multiply; the other ways of packing are in test_dot_scaled.py; fast_math is a hint."""
    a, b = rng.integers(-9, 9, (16, 32)).astype(np.float64), rng.integers(-9, 9, (32, 16)).astype(np.float64)
    scale = rng.integers(126, 129, 16)
    got = computed(engine, scaled_kernel, (16, 16), "float32", engine.array(a, "bfloat16"), engine.array(b, "bfloat16"), engine.array(scale, "uint8"))
    factor = 2.0 ** (scale - 127)
    np.testing.assert_array_equal(got, (a * factor[:, None]) @ (b * factor[None, :]) + 3)


@triton.jit
def precision_name_kernel(out_ptr, PRECISION: tl.constexpr):
    x = tl.zeros((16, 16), tl.float32)
    tl.store(out_ptr, tl.sum(tl.dot(x, x, input_precision=PRECISION)))


@pytest.mark.ours("other classes of errors")
def test_dot_precision_is_checked(engine):
    """Another name is an error that lists the names there are."""
    refused(engine, precision_name_kernel, engine.zeros(1, "float32"), PRECISION="fp4", words=["fp4", "ieee"])


@triton.jit
def memory_kernel(x_ptr, out_ptr, n, CACHE: tl.constexpr, EVICT: tl.constexpr, STORE: tl.constexpr):
    places = tl.arange(0, 8)
    x = tl.load(pointer=x_ptr + places, mask=places < n, other=-1, cache_modifier=CACHE, eviction_policy=EVICT, volatile=True)
    tl.store(pointer=out_ptr + places, value=x, mask=places > 0, cache_modifier=STORE, eviction_policy=EVICT)


CACHES = [(".ca", "evict_first", ".wb"), (".cg", "evict_last", ".cg"), (".cs", "", ".cs"), (".cv", "evict_last", ".wt")]


@pytest.mark.parametrize("cache, evict, store", CACHES)
def test_memory(engine, cache, evict, store):
    """mask and other show; cache modifiers, eviction policies and volatile are hints that keep the values."""
    out = engine.zeros(8, "int32")
    memory_kernel[(1,)](counting(engine), out, 5, CACHE=cache, EVICT=evict, STORE=store)
    np.testing.assert_array_equal(engine.numpy(out), [0, 1, 2, 3, 4, -1, -1, -1])


@pytest.mark.ours("other classes of errors")
@pytest.mark.parametrize("cache, evict, store, word", [(".zz", "", "", ".zz"), ("", "evict_some", "", "evict_some"), ("", "", ".ca", ".ca")])
def test_memory_names_are_checked(engine, cache, evict, store, word):
    """A modifier or policy that there is not is an error that names it."""
    refused(engine, memory_kernel, counting(engine), engine.zeros(8, "int32"), 5, CACHE=cache, EVICT=evict, STORE=store, words=word)


@triton.jit
def block_pointer_kernel(x_ptr, out_ptr, n):
    block = tl.make_block_ptr(base=x_ptr, shape=(4, 6), strides=(6, 1), offsets=(2, 4), block_shape=(4, 4), order=(1, 0))
    x = tl.load(block, boundary_check=(0, 1), padding_option="zero")
    places = tl.arange(0, 4)[:, None] * 4 + tl.arange(0, 4)[None, :]
    tl.store(out_ptr + places, x)
    moved = tl.advance(block, offsets=(-2, -4))
    tl.store(out_ptr + 16 + places, tl.load(moved, boundary_check=(0, 1), padding_option="nan"))
    target = tl.make_block_ptr(out_ptr + 32, (3, 4), (4, 1), (1, 0), (4, 4), (1, 0))
    tl.store(target, moved_values(x), boundary_check=(0,))


@triton.jit
def moved_values(x):
    return x * 0 + 7


@pytest.mark.ours("block pointers")
def test_block_pointers(engine):
    """shape, strides, offsets, block_shape, order, boundary_check and padding_option."""
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    out = engine.zeros(48, "float32")
    block_pointer_kernel[(1,)](engine.array(x), out, 4)
    got = engine.numpy(out)
    corner = np.zeros((4, 4), np.float32)
    corner[:2, :2] = x[2:, 4:]
    np.testing.assert_array_equal(got[:32].reshape(2, 4, 4), [corner, x[:4, :4]])
    np.testing.assert_array_equal(got[32:].reshape(4, 4), [[0] * 4, [7] * 4, [7] * 4, [0] * 4])


@triton.jit
def descriptor_kernel(x_ptr, out_ptr, OPTION: tl.constexpr):
    descriptor = tl.make_tensor_descriptor(base=x_ptr, shape=[3, 6], strides=[8, 1], block_shape=[4, 8], padding_option=OPTION)
    places = tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :]
    tl.store(out_ptr + places, descriptor.load([0, 0]))


@pytest.mark.parametrize("option", ["zero", "nan"])
@pytest.mark.ours("padding options of descriptors")
def test_descriptors(engine, option):
    """shape, strides and block_shape show in what is read, padding_option in what is not."""
    x = np.arange(32, dtype=np.float32).reshape(4, 8)
    expected = np.full((4, 8), 0 if option == "zero" else np.nan)
    expected[:3, :6] = x[:3, :6]
    got = computed(engine, descriptor_kernel, (4, 8), "float32", engine.array(x), OPTION=option)
    np.testing.assert_array_equal(got, expected)


@triton.jit
def arithmetic_kernel(x_ptr, y_ptr, out_ptr):
    line = tl.arange(0, 4)
    x, y = tl.load(x_ptr + line), tl.load(y_ptr + line)
    whole, other = x.to(tl.int32), y.to(tl.int32)
    tl.store(out_ptr + line, tl.add(whole, other, sanitize_overflow=False))
    tl.store(out_ptr + 4 + line, tl.sub(whole, other, sanitize_overflow=False))
    tl.store(out_ptr + 8 + line, tl.mul(whole, other, sanitize_overflow=False))
    tl.store(out_ptr + 12 + line, tl.fdiv(x, y, ieee_rounding=True))
    missing = tl.where(line == 1, float("nan"), x)
    tl.store(out_ptr + 16 + line, tl.maximum(missing, y, propagate_nan=tl.PropagateNan.ALL))
    tl.store(out_ptr + 20 + line, tl.minimum(missing, y, propagate_nan=tl.PropagateNan.NONE))
    tl.store(out_ptr + 24 + line, tl.clamp(missing, min=1.0, max=2.0, propagate_nan=tl.PropagateNan.ALL))


@pytest.mark.ours("clamp in the interpreter of Triton")
def test_arithmetic(engine):
    """sanitize_overflow, ieee_rounding, propagate_nan, min and max."""
    x, y = np.array([1, 2, 3, 4], np.float32), np.array([3, 3, 2, 7], np.float32)
    nan = np.nan
    got = computed(engine, arithmetic_kernel, 28, "float32", engine.array(x), engine.array(y))
    expected = [*(x + y), *(x - y), *(x * y), *(x / y), 3, nan, 3, 7, 1, 3, 2, 4, 1, nan, 2, 2]
    np.testing.assert_array_equal(got, np.float32(expected))


@triton.jit
def reductions_kernel(x_ptr, out_ptr):
    places = tl.arange(0, 2)[:, None] * 4 + tl.arange(0, 4)[None, :]
    x = tl.load(x_ptr + places)
    tl.static_assert(tl.sum(input=x, axis=1, keep_dims=True, dtype=tl.int64).shape == (2, 1))
    tl.static_assert(tl.sum(input=x, axis=1, keep_dims=True, dtype=tl.int64).dtype == tl.int64)
    tl.static_assert(tl.max(x, axis=0, keep_dims=True).shape == (1, 4))
    tl.static_assert(tl.argmin(x, axis=1, tie_break_left=False, keep_dims=True).shape == (2, 1))
    value, place = tl.max(x, axis=1, return_indices=True, return_indices_tie_break_left=True, keep_dims=True)
    tl.static_assert(place.shape == (2, 1))
    tl.store(out_ptr + tl.arange(0, 2)[:, None], place)
    tl.store(out_ptr + 2, tl.sum(tl.reduce(input=x, axis=1, combine_fn=plus, keep_dims=True)))
    tl.store(out_ptr + 3, tl.sum(x, axis=None))
    tl.store(out_ptr + 4 + places, tl.cumsum(x, axis=1, reverse=True, dtype=tl.int64))
    tl.store(out_ptr + 12 + places, tl.cumprod(x, axis=0, reverse=True))
    tl.store(out_ptr + 20 + places, tl.associative_scan(x, axis=1, combine_fn=plus, reverse=True))
    tl.store(out_ptr + 28 + places, tl.sort(x, dim=1, descending=True))
    tl.store(out_ptr + 36 + tl.arange(0, 2)[:, None] * 2 + tl.arange(0, 2)[None, :], tl.topk(x, k=2, dim=1, descending=False))
    line = tl.arange(0, 8)
    tl.store(out_ptr + 40 + tl.arange(0, 4), tl.histogram(line % 4, num_bins=4, mask=line < 6))


@triton.jit
def plus(a, b):
    return a + b


@pytest.mark.ours("keywords in the interpreter of Triton")
def test_reductions_scans_and_sorts(engine):
    """keep_dims, dtype, tie-breaking, reverse, descending, dim, mask."""
    x = np.array([[3, 1, 4, 1], [5, 9, 2, 9]], np.int32)
    got = computed(engine, reductions_kernel, 44, "int64", engine.array(x))
    running = np.cumsum(x[:, ::-1], 1)[:, ::-1]
    product = np.cumprod(x[::-1], 0)[::-1]
    expected = [
        2, 1, x.sum(), x.sum(), *running.ravel(), *product.ravel(), *running.ravel(), *np.sort(x, 1)[:, ::-1].ravel(),
        *np.sort(x, 1)[:, :2].ravel(), 2, 2, 1, 1,
    ]  # fmt: skip
    np.testing.assert_array_equal(got, expected)


@triton.jit
def softmax_kernel(x_ptr, out_ptr):
    places = tl.arange(0, 4)[:, None] * 4 + tl.arange(0, 4)[None, :]
    x = tl.load(x_ptr + places)
    tl.store(out_ptr + places, tl.softmax(x, dim=1, keep_dims=True, ieee_rounding=True))


def test_softmax(engine, rng):
    """dim chooses the axis; keep_dims and ieee_rounding keep the values."""
    x = rng.standard_normal((4, 4)).astype(np.float32)
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(computed(engine, softmax_kernel, (4, 4), "float32", engine.array(x)), e / e.sum(1, keepdims=True), rtol=1e-5)


@triton.jit
def atomics_kernel(x_ptr, out_ptr, SEM: tl.constexpr, SCOPE: tl.constexpr):
    line = tl.arange(0, 4)
    old = tl.atomic_add(pointer=x_ptr + line, val=10, mask=line < 2, sem=SEM, scope=SCOPE)
    tl.store(out_ptr + line, tl.where(line < 2, old, -1))
    tl.atomic_cas(pointer=x_ptr + 3, cmp=3, val=77, sem=SEM, scope=SCOPE)


@pytest.mark.parametrize("sem", ["acquire", "release", "acq_rel", "relaxed"])
@pytest.mark.parametrize("scope", ["gpu", "cta", "sys"])
def test_atomics(engine, sem, scope):
    """mask shows; sem and scope order memory and keep the values."""
    x = counting(engine, count=4)
    np.testing.assert_array_equal(computed(engine, atomics_kernel, 4, "int32", x, SEM=sem, SCOPE=scope), [0, 1, -1, -1])
    np.testing.assert_array_equal(engine.numpy(x), [10, 11, 2, 77])


@triton.jit
def iteration_kernel(n, out_ptr):
    total = 0
    for i in tl.range(
        1, n, 2, num_stages=3, loop_unroll_factor=2, disallow_acc_multi_buffer=True, flatten=True, warp_specialize=False, disable_licm=True,
    ):
        total = total * 10 + i
    tl.store(out_ptr, total)


@pytest.mark.ours("keywords in the interpreter of Triton")
def test_iteration(engine):
    """arg1, arg2 and step show; the rest are hints to the scheduler."""
    assert computed(engine, iteration_kernel, 1, "int32", 8)[0] == 1357


@triton.jit
def random_kernel(out_ptr, ROUNDS: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, 8), tl.randint(5, tl.arange(0, 8), n_rounds=ROUNDS))


def test_random(engine):
    """n_rounds changes the numbers; ten is the default."""
    ten, seven = (computed(engine, random_kernel, 8, "uint32", ROUNDS=rounds) for rounds in (10, 7))
    assert (ten != seven).any()


def test_every_parameter_is_named_here():
    """Each keyword parameter of the table stands in a kernel of this file or of the file named for it, or is listed as a hint."""
    from pathlib import Path

    here = Path(__file__).parent
    missing = []
    for function, parameters in PARAMETERS.items():
        for name, file in parameters.items():
            text = (here / file).read_text()
            if f"{name}=" not in text:
                missing.append(f"{function}({name}=) in {file}")
    assert not missing, missing
    assert all(reason for reason in HINTS.values())


