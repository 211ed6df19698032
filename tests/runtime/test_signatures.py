"""Kernels compiled for a signature instead of arguments: the same kernels that launches find, also for targets that no device here has."""

from typing import NamedTuple

import numpy as np
import pytest

import nacre
import nacre.language as tl
from nacre.backends.compiler import GPUTarget
from nacre.compiler import ASTSource
from nacre.tools.tensor_descriptor import TensorDescriptor


class Pair(NamedTuple):
    first: object
    second: object


def array():
    return np.zeros(64, np.float32)


def test_a_launch_and_a_signature_find_the_same_kernel():
    @nacre.jit
    def kernel(x, n, scale, flag, pair, BLOCK: tl.constexpr):
        tl.store(x + tl.arange(0, BLOCK), scale * n, mask=flag)

    launched = kernel.warmup(array(), 32, 2.0, True, Pair(1, 7), 16)
    source = ASTSource(kernel, launched.src.signature, launched.src.constants, launched.src.attrs)
    assert nacre.compile(source) is launched
    assert len(kernel._compiled_kernels()) == 1
    other = ASTSource(kernel, {**launched.src.signature, "n": "i64"}, launched.src.constants, launched.src.attrs)
    assert nacre.compile(other) is not launched and len(kernel._compiled_kernels()) == 2
    assert nacre.compile(source, options={"num_warps": 8}).metadata.num_warps == 8


@pytest.mark.parametrize("key", ["BLOCK", 1, ("BLOCK",), (1,)], ids=str)
def test_constants_by_name_number_and_path(key):
    @nacre.jit
    def kernel(x, BLOCK: tl.constexpr):
        tl.store(x + tl.arange(0, BLOCK), 1.0)

    assert nacre.compile(ASTSource(kernel, {"x": "*fp32", "BLOCK": "constexpr"}, {key: 16})).src.constants == {(1,): 16}


def test_descriptors():
    @nacre.jit
    def copy(source, target):
        target.store([0, 0], source.load([0, 0]))

    x = np.zeros((16, 16), np.float32)

    def descriptor():
        return TensorDescriptor(x, x.shape, [20, 1], [8, 8])

    launched = copy.warmup(descriptor(), descriptor())
    assert launched.src.signature["source"] == "tensordesc<fp32[8, 8]>"
    compiled = nacre.compile(ASTSource(copy, launched.src.signature, launched.src.constants, {}))
    assert compiled.slot_types[0] == "*fp32" and compiled.src.signature == launched.src.signature


@pytest.mark.parametrize("type, error", [("float33", ValueError), ("fp32[4]", ValueError), (7, TypeError)])
def test_types_that_are_none(type, error):
    @nacre.jit
    def kernel(x):
        tl.store(x, 1.0)

    with pytest.raises(error, match="argument 'x'"):
        nacre.compile(ASTSource(kernel, {"x": type}))


def test_another_architecture_than_the_devices():
    """What a target names is compiled for, also where the active device is of the same kind."""

    @nacre.jit
    def kernel(x):
        tl.store(x, 1)

    before = nacre._core.set_active_device("simulate")
    try:
        for architecture, name in ((80, "sm_80"), (100, "sm_100"), (90, "sm_90a")):
            assert f".target {name}\n" in nacre.compile(ASTSource(kernel, {"x": "*i32"}), target=GPUTarget("cuda", architecture, 32)).asm["ptx"]
    finally:
        nacre._core.set_active_device(before)


def test_divisors_of_annotated_integers():
    @nacre.jit
    def kernel(x, n: tl.int64, flag: tl.int1, scale: tl.float32):
        tl.store(x, n)

    x = np.zeros(1, np.int64)
    kinds = [kernel[(1,)](x, n, True, 16.0).src.attrs for n in (1, 7, 32)]
    assert [(1,) in kind for kind in kinds] == [False, False, True] and not any((i,) in kind for kind in kinds for i in (2, 3))
    unaligned = nacre.jit(kernel.fn, do_not_specialize_on_alignment=["n"])
    assert (1,) not in unaligned[(1,)](x, 32, True, 16.0).src.attrs


def test_a_target_without_a_device():
    @nacre.jit
    def kernel(x, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        tl.store(x + offsets, tl.extra.cuda.num_threads())
        tl.static_assert(tl.target_info.cuda_capability_geq(8, 0))

    source = ASTSource(kernel, {"x": "*i32", "BLOCK": "constexpr"}, {"BLOCK": 256})
    target = GPUTarget("cuda", 80, 32)
    compiled = nacre.compile(source, target=target, options={"num_warps": 8})
    assert ".reqntid 256" in compiled.asm["ptx"] and "sm_80" in compiled.asm["ptx"]
    assert compiled.metadata.target.backend == "cuda" and compiled.metadata.num_warps == 8
    assert compiled is not nacre.compile(source, target=target, options={"num_warps": 4})
    bounds = {bound: nacre.compile(source, target=target, options={"maxnreg": bound}).asm["ptx"] for bound in (128, 256)}
    assert ".maxnreg 128" in bounds[128] and ".maxnreg" not in bounds[256]  # a thread has no more than 255
    with pytest.raises(ValueError, match="num_warps=3: CUDA takes a power of two"):
        nacre.compile(source, target=target, options={"num_warps": 3})
    if nacre._core.devices()[1][1] == 0:
        with pytest.raises(RuntimeError, match="compiled for CUDA, and there is no such device"):
            compiled[(1, 1, 1)](np.zeros(256, np.int32), 256)
