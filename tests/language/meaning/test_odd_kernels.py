"""Kernels at the edges: values that machines disagree on, sources that are written oddly, things that must not crash."""

import linecache

import numpy as np
import pytest
import triton
import triton.language as tl
from proving import computed, counting, refused
from scalar_types import INTEGERS, TYPES


# ---- Integers


@triton.jit
def integers_kernel(x_ptr, y_ptr, out_ptr):
    places = tl.arange(0, 16)
    x, y = tl.load(x_ptr + places), tl.load(y_ptr + places)
    tl.store(out_ptr + places, x // y)
    tl.store(out_ptr + 16 + places, x % y)
    tl.store(out_ptr + 32 + places, x << y)
    tl.store(out_ptr + 48 + places, x >> y)
    tl.store(out_ptr + 64, tl.load(x_ptr) // tl.load(y_ptr))
    tl.store(out_ptr + 65, tl.load(x_ptr) % tl.load(y_ptr))
    tl.store(out_ptr + 66, tl.load(x_ptr) << tl.load(y_ptr + 2))
    tl.store(out_ptr + 67, tl.load(x_ptr) >> tl.load(y_ptr + 2))


@pytest.mark.ours("not defined in Triton")
@pytest.mark.parametrize("name", INTEGERS)
def test_no_integer_operation_faults(engine, name):
    """x // 0 has all bits set, x % 0 is x; a shift by the width or more leaves nothing, or the sign."""
    t = TYPES[name]
    info = np.iinfo(t.numpy)
    x = np.resize(np.array([7, info.max, info.min, 1], t.numpy), 16)
    y = np.resize(np.array([0, 0, t.bits, t.bits, 100, 1], t.numpy), 16)
    got = computed(engine, integers_kernel, 68, name, engine.array(x), engine.array(y))
    ones = t.numpy(info.max if t.kind == "uint" else -1)
    toward_zero = [abs(int(a)) // abs(int(b)) * (1 if (a < 0) == (b < 0) else -1) if b else int(ones) for a, b in zip(x, y)]
    quotient = np.array(toward_zero, t.numpy)
    remainder = np.array([int(a) - q * int(b) if b else int(a) for a, q, b in zip(x, toward_zero, y)], t.numpy)
    np.testing.assert_array_equal(got[:16], quotient)
    np.testing.assert_array_equal(got[16:32], remainder)
    wide = y >= t.bits
    left = [(int(a) << (int(b) if not w else 0)) for a, b, w in zip(x, y, wide)]
    left = np.array([v & (2**t.bits - 1) for v in left], np.uint64).astype(t.numpy)
    right = np.array([int(a) >> (int(b) if not w else 0) for a, b, w in zip(x, y, wide)], dtype=object).astype(t.numpy)
    np.testing.assert_array_equal(got[32:48], np.where(wide, 0, left))
    np.testing.assert_array_equal(got[48:64], np.where(wide, np.where(x < 0, -1, 0) if t.kind == "int" else 0, right).astype(t.numpy))
    np.testing.assert_array_equal(got[64:], [ones, x[0], 0, 0])


@triton.jit
def constants_kernel(x_ptr, out_ptr):
    places = tl.arange(0, 16)
    x = tl.load(x_ptr + places)
    tl.store(out_ptr + places, x // -1)
    tl.store(out_ptr + 16 + places, x << 40)
    tl.store(out_ptr + 32 + places, x >> 40)
    zero = 0
    tl.store(out_ptr + 48 + places, x // zero)
    tl.store(out_ptr + 64 + places, tl.full((16,), -2147483648, tl.int32) // (zero - 1))


@pytest.mark.ours("not defined in Triton")
def test_constant_divisors_and_amounts(engine):
    """The same answers where the compiler knows the number."""
    x = np.resize(np.array([5, -5, -(2**31), 2**31 - 1], np.int32), 16)
    got = computed(engine, constants_kernel, 80, "int32", engine.array(x)).reshape(5, 16)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(got[0], -x)
    np.testing.assert_array_equal(got[1:], [np.zeros(16), np.where(x < 0, -1, 0), np.full(16, -1), np.full(16, -(2**31))])


@triton.jit
def out_of_range_kernel(x_ptr, out_ptr, TO: tl.constexpr):
    places = tl.arange(0, 16)
    tl.store(out_ptr + places, tl.load(x_ptr + places).to(TO) * 0)


@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("source", ["float16", "bfloat16", "float32", "float64"])
def test_floats_that_no_integer_holds(engine, source, target):
    """NaN, infinities and what is too large become some integer; nothing faults."""
    x = np.resize(np.array([np.nan, np.inf, -np.inf, 1e300, -1e300, 3e38]), 16)
    np.testing.assert_array_equal(computed(engine, out_of_range_kernel, 16, target, engine.array(x, source), TO=getattr(tl, target)), 0)


# ---- Loops


@triton.jit
def last_steps_kernel(start, stop, step, out_ptr):
    plain = 0
    for i in range(start, stop, step):
        plain += 1
    left = 0
    for i in range(start, stop, step):
        if i == 17:
            break
        left += 1
    tl.store(out_ptr, plain)
    tl.store(out_ptr + 1, left)


@pytest.mark.parametrize(
    "start, stop, step",
    [(2**31 - 8, 2**31 - 1, 4), (2**31 - 100, 2**31 - 1, 64), (-(2**31), -(2**31) + 5, 3), (0, 10, 2**31 - 1), (5, 5, 7)],
)  # fmt: skip
@pytest.mark.ours("break")
def test_loops_up_to_the_largest_integer(engine, start, stop, step):
    """A step beyond the largest integer ends the loop; it does not start from below again."""
    assert list(computed(engine, last_steps_kernel, 2, "int32", start, stop, step)) == [len(range(start, stop, step))] * 2


@triton.jit
def last_constant_steps_kernel(out_ptr):
    up = 0
    for i in range(2147483640, 2147483647, 4):
        up += 1
    down = 0
    for i in range(-2147483640, -2147483648, -4):
        down += 1
    tl.store(out_ptr, up)
    tl.store(out_ptr + 1, down)


def test_loops_of_constants_up_to_the_largest_integer(engine):
    """So between constants, and downwards."""
    assert list(computed(engine, last_constant_steps_kernel, 2, "int32")) == [2, 2]


@triton.jit
def by_the_index_kernel(n, out_ptr):
    places = tl.arange(0, 16)
    x = places
    y = places.to(tl.int64)
    for i in range(n):
        x += i
        y = y + i + 1
    for i in range(0, n, 3):
        x += i
    pointers = out_ptr + places
    for i in range(n - 5):
        pointers += i
    tl.store(pointers - 1, x + y.to(tl.int32))


def test_tiles_moved_by_the_index_of_a_loop(engine):
    """A tile, or a tile of pointers, to which each round adds the index itself."""
    out = engine.zeros(20, "int32")
    by_the_index_kernel[(1,)](7, out)
    np.testing.assert_array_equal(engine.numpy(out)[:16], np.arange(16) * 2 + 21 + 28 + 9)


# ---- Functions that call themselves


@triton.jit
def factorial(k: tl.constexpr):
    if k <= 1:
        return 1
    else:
        return k * factorial(k - 1)


@triton.jit
def summed(x, k: tl.constexpr):
    if k == 0:
        return x
    return summed(x + k, k - 1)


@triton.jit
def recursive_kernel(out_ptr):
    tl.store(out_ptr, factorial(5))
    tl.store(out_ptr + tl.arange(1, 5), summed(tl.arange(0, 4), 10))


def test_a_constexpr_ends_a_recursion(engine):
    """A function may call itself where a constexpr argument ends that."""
    np.testing.assert_array_equal(computed(engine, recursive_kernel, 5, "int32"), [120, 55, 56, 57, 58])


@triton.jit
def endless(k: tl.constexpr):
    return endless(k + 1)


@triton.jit
def run_time(x):
    if x > 1:
        return run_time(x - 1)
    return x


@triton.jit
def endless_kernel(out_ptr):
    tl.store(out_ptr, endless(0))


@triton.jit
def run_time_kernel(out_ptr):
    tl.store(out_ptr, run_time(tl.load(out_ptr)))


@pytest.mark.ours("other classes of errors")
@pytest.mark.parametrize("kernel", [endless_kernel, run_time_kernel], ids=lambda kernel: kernel.__name__)
def test_other_recursion_is_an_error(engine, kernel):
    """One that never ends, and one that only run-time values end: an error that names the function, soon."""
    if engine.name == "interpreter":
        pytest.skip("Python recurses as it does")
    text = refused(engine, kernel, engine.zeros(1, "int32"), words=["recursion", "tl.constexpr"])
    assert text.count("called from") <= 2


# ---- Names and Python's functions


@triton.jit
def names_kernel(n, out_ptr):
    max = n  # noqa: A001
    range = 5  # noqa: A001
    sum = tl.sum(tl.arange(0, 4), 0)  # noqa: A001
    größe = max + range + sum
    tl.store(out_ptr, größe)
    tl.store(
        out_ptr + 1,
        getattr(tl, "max")(tl.arange(0, 4), 0) + hasattr(tl, "sum") + hasattr(tl, "no_such_function") + getattr(tl, "no_such_function", 40),
    )  # fmt: skip


def test_names_that_hide_others(engine):
    """A local may be called like a function of Python's; getattr and hasattr ask modules too."""
    assert list(computed(engine, names_kernel, 2, "int32", 7)) == [18, 44]


@triton.jit
def texts_kernel(out_ptr, FORMAT: tl.constexpr, N: tl.constexpr):
    tl.static_assert(FORMAT.startswith("e4") and FORMAT.endswith(("m2", "m3")) and not FORMAT.startswith("e5"))
    tl.static_assert(FORMAT.upper() == "E4M3" and FORMAT.upper().lower() == FORMAT)
    tl.static_assert(FORMAT.replace("e4", "float") == "floatm3" and FORMAT.split("m")[1] == "3")
    tl.static_assert(N.bit_length() == 5 and (-N).bit_length() == 5 and (N - N).bit_length() == 0)
    tl.store(out_ptr, len(FORMAT))


def test_methods_of_texts_and_integers(engine):
    """Of constexprs: what kernels ask of a format's name, and how many bits a number takes."""
    assert computed(engine, texts_kernel, 1, "int32", FORMAT="e4m3", N=17)[0] == 4


@triton.jit
def place_kernel(x_ptr, n, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 3)[:, None] * 5 + tl.arange(0, 5)[None, :])
    tl.store(out_ptr, x[n, 1])
    tl.store(out_ptr + 1, x[-n, n])
    tl.store(out_ptr + 2 + tl.arange(0, 5), x[n])
    tl.store(out_ptr + 7 + tl.arange(0, 3), x[:, n - 2])
    tl.store(out_ptr + 10, x[100 * n, -100 * n])
    total = 0
    line = tl.load(x_ptr + tl.arange(0, 15))
    for i in range(15):
        total = total * 2 % 1009 + line[i]
    tl.store(out_ptr + 11, total)


@pytest.mark.ours("reads of single elements")
def test_elements_at_run_time_places(engine):
    """x[i] with a run-time i, negative ones from the end; beyond the ends it is the nearest element, never other memory."""
    x = np.arange(15, dtype=np.int32).reshape(3, 5) * 3 + 1
    total = 0
    for value in x.ravel():
        total = total * 2 % 1009 + int(value)
    expected = [x[2, 1], x[-2, 2], *x[2], *x[:, 0], x[2, 0], total]
    np.testing.assert_array_equal(computed(engine, place_kernel, 12, "int32", engine.array(x), 2), expected)


# ---- Sources


def from_text(text, name):
    text = "import triton\nimport triton.language as tl\n" + text
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace = {}
    exec(compile(text, name, "exec"), namespace)
    return namespace["kernel"]


SOURCES = {
    "tabs": "@triton.jit\ndef kernel(n, out_ptr):\n\tif n > 3:\n\t\ttl.store(out_ptr, 9)\n\telse:\n\t\ttl.store(out_ptr, 8)\n",
    "odd indentation": "if True:\n   @triton.jit\n   def kernel(n,\n out_ptr):\n# at the edge\n      if n > 3:\n          # deep\n  # shallow\n          tl.store(out_ptr, 9)\n      else:\n         tl.store(out_ptr, 8)\n",
    "windows lines": "@triton.jit\r\ndef kernel(n, out_ptr):\r\n    x = 7 + \\\r\n   2\r\n    tl.store(out_ptr, x)\r\n",
    "one line": "@triton.jit\ndef kernel(n, out_ptr): x = 4; tl.store(out_ptr, x + 5)\n",
    "semicolons": "@triton.jit\ndef kernel(n, out_ptr):\n    x = 4; y = 5;\n    if n > 3: z = x + y; tl.store(out_ptr, z)\n",
    "unicode": '@triton.jit\ndef kernel(größe, out_ptr):\n    """α → β"""\n    変数 = größe + 2  # комментарий\n    tl.store(out_ptr, 変数)\n',
    "stacked decorators": "@triton.heuristics({'E': lambda a: a['n'] % 2})\n@triton.jit(\n    do_not_specialize=['n'],\n)\ndef kernel(n, out_ptr, E: tl.constexpr):\n    tl.store(out_ptr, n + 1 + E)\n",
    "annotations": "@triton.jit\ndef kernel(n: 'tl.int64', out_ptr: 'pointer', *, extra: tl.constexpr = 2) -> None:\n    tl.store(out_ptr, n + extra)\n",
    "brackets over lines": "@triton.jit\ndef kernel(n, out_ptr):\n    tl.store(\n        out_ptr,  # where\n        (\n            n\n   + 2  # what\n        ),\n    )\n",
}


@pytest.mark.parametrize("source", SOURCES)
def test_sources_written_oddly(engine, source):
    """Text that was executed rather than imported, as in a notebook, in every style Python allows."""
    kernel = from_text(SOURCES[source], f"<{source}>")
    assert computed(engine, kernel, 1, "int32", 7)[0] == 9


@pytest.mark.ours("other classes of errors")
def test_errors_in_executed_text_show_their_line(engine):
    """The name of the cell, the line, a caret."""
    kernel = from_text("@triton.jit\ndef kernel(n, out_ptr):\n    tl.store(out_ptr, tl.exp(n))\n", "<cell 7>")
    text = refused(engine, kernel, 7, engine.zeros(1, "int32"), words=["<cell 7>:5", "tl.store(out_ptr, tl.exp(n))", "^"])
    assert ".to(tl.float32)" in text


def test_long_kernels(engine):
    """A thousand statements on a scalar, five hundred on a tile."""
    scalar = "".join(f"    x = x * 3 + {i}\n" for i in range(1000))
    tile = "".join(f"    y = y * 5 + {i}\n" for i in range(500))
    text = f"@triton.jit\ndef kernel(n, out_ptr):\n    x = n\n{scalar}    y = tl.arange(0, 8)\n{tile}    tl.store(out_ptr + tl.arange(0, 8), y + x)\n"
    x, y = 7, np.arange(8, dtype=np.int64)
    for i in range(1000):
        x = (x * 3 + i) % 2**32
    for i in range(500):
        y = (y * 5 + i) % 2**32
    expected = ((y + x) % 2**32).astype(np.uint32).view(np.int32)
    np.testing.assert_array_equal(computed(engine, from_text(text, "<long>"), 8, "int32", 7), expected)


def test_functions_of_many_returns_and_levels(engine):
    """A chain of a hundred functions."""
    chain = "@triton.jit\ndef f0(x):\n    return x + 1\n" + "".join(f"@triton.jit\ndef f{i}(x):\n    return f{i - 1}(x) + 1\n" for i in range(1, 100))
    kernel = from_text(chain + "@triton.jit\ndef kernel(n, out_ptr):\n    tl.store(out_ptr, f99(n))\n", "<chain>")
    assert computed(engine, kernel, 1, "int32", 7)[0] == 107


def test_kernels_that_close_over_their_surroundings(engine):
    """Made inside a function, with constexprs and functions of it."""

    def make(factor):
        FACTOR = tl.constexpr(factor)

        @triton.jit
        def scaled(x):
            return x * FACTOR

        @triton.jit
        def kernel(n, out_ptr):
            tl.store(out_ptr, scaled(n) + FACTOR)

        return kernel

    assert computed(engine, make(3), 1, "int32", 7)[0] == 24
    assert computed(engine, make(5), 1, "int32", 7)[0] == 40


class Kernels:
    @staticmethod
    @triton.jit
    def doubled(n, out_ptr):
        tl.store(out_ptr, n * 2)


def test_kernels_in_classes(engine):
    """As static methods."""
    assert computed(engine, Kernels.doubled, 1, "int32", 7)[0] == 14


def test_tiles_of_one_element_and_none(engine):
    """0-d values, tiles of one element, of one axis or three, meet in one expression."""
    assert computed(engine, small_kernel, 1, "int32", counting(engine))[0] == 3 + 3 + 3 + 3 + 12


@triton.jit
def small_kernel(x_ptr, out_ptr):
    scalar = tl.load(x_ptr + 3)
    one = tl.load(x_ptr + 3 + tl.arange(0, 1))
    cube = one[:, None, None]
    total = scalar + one + cube + tl.sum(cube) + tl.sum(one.reshape(1, 1) * 4)
    tl.static_assert(total.shape == (1, 1, 1))
    tl.store(out_ptr + tl.zeros((1, 1, 1), tl.int32), total)


@triton.jit
def outside_kernel(x_ptr, out_ptr):
    places = tl.arange(0, 16)
    x = tl.load(x_ptr + places)
    tl.store(out_ptr + places, tl.gather(x, places * 100000000 - 7, 0) * 0)
    tl.store(out_ptr + 16 + tl.arange(0, 4), tl.histogram(places * 1000000 - 50, 4))


@pytest.mark.ours("not defined in Triton")
def test_places_outside_of_a_tile(engine):
    """gather beyond the axis reads some element of the tile (the interpreter says so), histogram drops what has no bin."""
    if engine.name == "interpreter":
        refused(engine, outside_kernel, counting(engine), engine.zeros(20, "int32"), words=["gather", "index"])
        return
    np.testing.assert_array_equal(computed(engine, outside_kernel, 20, "int32", counting(engine)), 0)
