"""Meaning, "Globals" and "Cache key": what of the surroundings a kernel may read, and when it is compiled anew."""

import importlib.util
import linecache
import math
import shutil
from typing import NamedTuple

import numpy as np
import pytest
import triton
import triton.language as tl
from proving import computed, proved, refused
from triton.language import int32 as word
from triton.language import max as largest_of

CONSTANT = tl.constexpr(5)
SIZE: tl.constexpr = tl.constexpr(8)
SHAPE = tl.constexpr((4, 2))
NOTHING = None
PLAIN_INTEGER = 5
PLAIN_LIST = [1, 2]
PLAIN_TEXT = "text"
PLAIN_DICT = {"a": 1}


class Pair(NamedTuple):
    first: tl.tensor
    second: tl.tensor


@triton.aggregate
class Span:
    start: tl.tensor
    length: tl.constexpr

    def __init__(self, start, length):
        self.start = start
        self.length = length


@triton.jit
def helper(x):
    return x + CONSTANT


def plain_function(x):
    return x + 1


@triton.jit
def constants_kernel(out_ptr):
    tl.static_assert(CONSTANT == 5 and SIZE == 8 and SHAPE[0] == 4)
    tl.store(out_ptr + tl.arange(0, SIZE), CONSTANT + SHAPE[1])


def test_constexpr_globals(engine):
    """tl.constexpr(value) at the top of a file, annotated or not, is a constexpr inside."""
    np.testing.assert_array_equal(computed(engine, constants_kernel, 8, "int32"), np.full(8, 7))


@triton.jit
def others_kernel(n, out_ptr):
    if NOTHING is None:
        tl.store(out_ptr + 0, helper(n))
    tl.store(out_ptr + 1, math.pi > 3)
    tl.store(out_ptr + 2, tl.full((), 3, word))
    tl.store(out_ptr + 3, largest_of(tl.arange(0, 4), 0))
    pair = Pair(n, 2)
    tl.store(out_ptr + 4, pair.first + pair.second)
    span = Span(n, 9)
    tl.store(out_ptr + 5, span.start + span.length)


def test_the_other_readable_globals(engine):
    """None, a jit function, a module, a type, a builtin, a NamedTuple class and an aggregate."""
    np.testing.assert_array_equal(computed(engine, others_kernel, 6, "int32", 7), [12, 1, 3, 3, 9, 16])


@triton.jit
def integer_kernel(out_ptr):
    tl.store(out_ptr, PLAIN_INTEGER)


@triton.jit
def list_kernel(out_ptr):
    tl.store(out_ptr, PLAIN_LIST[0])


@triton.jit
def text_kernel(out_ptr):
    tl.static_assert(PLAIN_TEXT == "text")


@triton.jit
def dict_kernel(out_ptr):
    tl.store(out_ptr, PLAIN_DICT["a"])


@triton.jit
def function_kernel(out_ptr):
    tl.store(out_ptr, plain_function(tl.program_id(0)))


@pytest.mark.ours("other classes of errors")
@pytest.mark.parametrize(
    "kernel, name", [(integer_kernel, "PLAIN_INTEGER"), (list_kernel, "PLAIN_LIST"), (text_kernel, "PLAIN_TEXT"), (dict_kernel, "PLAIN_DICT")], ids=lambda v: getattr(
        v, "__name__", v,
    )  # fmt: skip
)
def test_anything_else_is_an_error(engine, kernel, name):
    """An error that names the global and says to make it tl.constexpr."""
    if engine.name == "interpreter":
        pytest.skip("CPython reads any global")
    refused(engine, kernel, engine.zeros(1, "int32"), words=[name, "tl.constexpr"])


@pytest.mark.ours("other classes of errors")
def test_a_plain_function_of_run_time_values(engine):
    """A Python function without @jit cannot be called with run-time values."""
    if engine.name == "interpreter":
        pytest.skip("CPython calls any function")
    refused(engine, function_kernel, engine.zeros(1, "int32"), words="@triton.jit")


@triton.jit
def undefined_kernel(out_ptr):
    tl.store(out_ptr, CONSTANTT)  # noqa: F821


@pytest.mark.ours("other classes of errors")
def test_a_name_that_is_not_there(engine):
    """Is an error that names it."""
    refused(engine, undefined_kernel, engine.zeros(1, "int32"), words="CONSTANTT", error=(triton.TritonError, NameError))


@pytest.mark.ours("Triton raises when a global changes")
def test_a_changed_global_compiles_anew(engine, monkeypatch):
    """A constexpr global with a new value counts at the next launch, of a function called too."""
    monkeypatch.setitem(globals(), "CONSTANT", tl.constexpr(6))
    np.testing.assert_array_equal(computed(engine, others_kernel, 6, "int32", 7)[0], 13)
    monkeypatch.setitem(globals(), "CONSTANT", tl.constexpr(60))
    np.testing.assert_array_equal(computed(engine, others_kernel, 6, "int32", 7)[0], 67)
    monkeypatch.undo()
    np.testing.assert_array_equal(computed(engine, others_kernel, 6, "int32", 7)[0], 12)


@triton.jit
def local_kernel(out_ptr):
    CONSTANT = 3
    tl.store(out_ptr, CONSTANT - 2)


def test_a_local_hides_a_global(engine):
    """Its name is free to use."""
    proved(engine, local_kernel)


# Cache key: two files of one kernel, each time with one thing changed.

TEXT = """
import triton
import triton.language as tl
{before}
FACTOR = tl.constexpr({factor})
@triton.jit
def scaled(x):
    return x * {helper}
@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, BLOCK), scaled(tl.load(x_ptr + tl.arange(0, BLOCK))) * FACTOR + {own})
"""


def loaded(folder, before="", factor=2, helper=3, own=1):
    """The kernel of the file as it stands now: neither Python's compiled file nor its memory of lines is an older one."""
    path = folder / "kernels_of_the_key.py"
    path.write_text(TEXT.format(before=before, factor=factor, helper=helper, own=own))
    shutil.rmtree(folder / "__pycache__", ignore_errors=True)
    linecache.clearcache()
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel


def hash_of(kernel, x=None, n=7, block=4, **options):
    x = np.zeros(16, np.float32) if x is None else x
    return kernel.warmup(x, np.zeros(16, np.float32), n, BLOCK=block, grid=(1,), **options).hash


CHANGES = {
    "source of the kernel": dict(own=2),
    "source of what it calls": dict(helper=4),
    "line": dict(before="\n\n"),
    "constexpr global": dict(factor=5),
}


@pytest.mark.ours("files of one name")
@pytest.mark.parametrize("change", CHANGES)
def test_what_the_text_adds_to_the_key(tmp_path, change):
    """The kernel's source, the source of what it calls, its line and its constexpr globals."""
    first = hash_of(loaded(tmp_path))
    assert hash_of(loaded(tmp_path)) == first
    assert hash_of(loaded(tmp_path, **CHANGES[change])) != first


@pytest.mark.ours("files of one name")
def test_what_the_launch_adds_to_the_key(tmp_path):
    """Types, constants, specialized values and the options that change the code."""
    kernel = loaded(tmp_path)
    first = hash_of(kernel)
    assert hash_of(kernel, n=8 + 1) == first  # only 1 and multiples of 16 are special
    changed = [
        hash_of(kernel, x=np.zeros(16, np.float64)),
        hash_of(kernel, block=8),
        hash_of(kernel, n=16),
        hash_of(kernel, n=1),
        hash_of(kernel, n=2**40 + 1),
        hash_of(kernel, debug=True),
        hash_of(kernel, enable_fp_fusion=False),
    ]
    assert len({first, *changed}) == 1 + len(changed)


@pytest.mark.ours("what the hash covers")
def test_the_compiler_and_the_target_are_in_the_key(tmp_path):
    """The compiled kernel says both; a cache of another compiler or machine is never read (see tests/runtime/test_cache.py)."""
    compiled = loaded(tmp_path).warmup(np.zeros(16, np.float32), np.zeros(16, np.float32), 7, BLOCK=4, grid=(1,))
    assert compiled.metadata.target.backend == "cpu"
    assert len(compiled.hash) >= 32
