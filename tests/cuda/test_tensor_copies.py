"""Blocks of tensor descriptors are copied by the hardware, through maps that each launch makes."""

import re

import pytest

KERNELS = """
import numpy as np
import nacre
import nacre.language as tl
from nacre.tools.tensor_descriptor import TensorDescriptor

@nacre.jit
def move(x, out, row, column):
    out.store([0, 0], x.load([row, column]) + 1)

@nacre.jit
def add(x_ptr, y_ptr, M, N, stride):
    x = tl.make_tensor_descriptor(x_ptr, [M, N], [stride, 1], [16, 32])
    y = tl.make_tensor_descriptor(y_ptr + 64, [M, N - 64], [stride, 1], [16, 32])
    y.atomic_add([0, 0], x.load([0, 0]))
"""

HOST = KERNELS + """
x, out = np.arange(64 * 64, dtype=np.float32).reshape(64, 64), np.zeros((16, 32), np.float32)
describe = lambda array: TensorDescriptor(array, list(array.shape), [array.shape[1], 1], [16, 32])
"""


def succeed(process):
    assert process.returncode == 0, process.stderr
    return process.stdout


def copies(ptx):
    return sorted(set(re.findall(r"cp(?:\.reduce)?\.async\.bulk\.tensor\.\dd[\w.:]*", ptx)))


def test_the_hardware_copies(run_script):
    output = succeed(run_script(HOST + """
compiled = move[(1,)](describe(x), describe(out), 16, 32)
assert (out == x[16:32, 32:] + 1).all()
print(compiled.asm["ptx"])
""", NACRE_DEVICE="simulate"))  # fmt: skip
    assert copies(output) == [
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group",
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes",
    ]
    # One elected thread starts each copy: ptxas need not go through the threads one by one.
    assert len(re.findall(r"elect\.sync", output)) == 2
    # Maps stay where the launch put them, and nothing else reads or writes the arrays.
    assert len(re.findall(r"\.param \.align 64 \.b8 \w+\[128\]", output)) == 2
    assert "ld.global" not in output and "st.global" not in output and ".local" not in output


@pytest.mark.parametrize("column", [3, 30])
def test_what_is_not_aligned_goes_through_pointers(run_script, column):
    """The store begins at 0, the load where no copy may."""
    output = succeed(run_script(HOST + f"""
compiled = move[(1,)](describe(x), describe(out), 5, {column})
assert (out == x[5:21, {column}:{column + 32}] + 1).all()
print(compiled.asm["ptx"])
""", NACRE_DEVICE="simulate"))  # fmt: skip
    assert copies(output) == ["cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group"]
    assert "ld.global" in output


def test_older_gpus_have_no_such_copies(run_script):
    output = succeed(run_script(HOST + """
compiled = move[(1,)](describe(x), describe(out), 16, 32)
assert (out == x[16:32, 32:] + 1).all()
print(compiled.asm["ptx"])
""", NACRE_DEVICE="simulate", TRITON_OVERRIDE_ARCH="80"))  # fmt: skip
    assert copies(output) == []


def test_descriptors_that_the_kernel_makes(run_script):
    """Of arguments, sums and products of them; one kernel for every shape."""
    output = succeed(run_script(KERNELS + """
for rows, columns in ((16, 96), (12, 128), (1, 160)):
    x, y = np.ones((rows, columns), np.float32), np.zeros((rows, columns), np.float32)
    compiled = add[(3,)](x, y, rows, columns, columns)
    expected = np.zeros_like(y)
    expected[:16, 64:96] = 3
    assert (y == expected).all()
print(compiled.asm["ptx"])
""", NACRE_DEVICE="simulate"))  # fmt: skip
    assert copies(output) == [
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes",
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group",
    ]


def test_a_stride_that_no_map_can_have(run_script):
    process = run_script(KERNELS + """
x, y = np.ones((16, 96), np.float32), np.zeros((16, 96), np.float32)
add[(1,)](x, y, 16, 96, -96)
""", NACRE_DEVICE="simulate")  # fmt: skip
    assert process.returncode != 0
    assert "the kernel `add`: of a tensor descriptor, the stride of axis 0 is -384 bytes" in process.stderr


def test_tiles_that_are_needed_together_have_one_barrier(run_script):
    output = succeed(run_script(KERNELS + """
@nacre.jit
def product(a, b, out, K, BLOCK: tl.constexpr):
    total = tl.zeros((64, 64), tl.float32)
    for k in range(0, K, BLOCK):
        total = tl.dot(a.load([0, k]), b.load([k, 0]), total)
    out.store([0, 0], total)

rng = np.random.default_rng(0)
a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((64, 192), (192, 64)))
out = np.zeros((64, 64), np.float32)
describe = lambda array, block: TensorDescriptor(array, list(array.shape), [array.shape[1], 1], block)
compiled = product[(1,)](describe(a, [64, 32]), describe(b, [32, 64]), describe(out, [64, 64]), 192, BLOCK=32, num_stages=3)
assert (out == a.astype(np.float32) @ b.astype(np.float32)).all()
print(compiled.asm["ptx"])
""", NACRE_DEVICE="simulate"))  # fmt: skip
    assert output.count("mbarrier.init") == 3 and output.count("try_wait") == 1
    assert set(re.findall(r"expect_tx\S* _, \[\S+\], (\d+);", output)) == {str(2 * 64 * 32 * 2)}


STORES = """
@nacre.jit
def twice(x, out, again):
    tile = x.load([0, 0])
    out.store([0, 0], tile + 1)
    out.store([16, 0], tile + 2)

@nacre.jit
def seen(x, out, again):
    out.store([0, 0], x.load([0, 0]) + 1)
    tl.debug_barrier()
    tl.store(again + tl.arange(0, 32), tl.load(again + tl.arange(0, 32)) + 1)

again = np.zeros(32, np.float32)
out = np.zeros((32, 32), np.float32)
for kernel in (twice, seen):
    compiled = kernel[(1,)](describe(x), describe(out), again)
    print(compiled.asm["ptx"], "END")
assert (out[16:] == x[:16, :32] + 2).all() and (out[:16] == x[:16, :32] + 1).all() and (again == 1).all()
"""


def test_the_last_store_of_a_kernel_waits_for_shared_memory_alone(run_script):
    """Others wait until memory has what was stored."""
    twice, seen, _ = succeed(run_script(HOST + STORES, NACRE_DEVICE="simulate", TRITON_OVERRIDE_ARCH="90")).split("END")
    waits = r"cp\.async\.bulk\.wait_group\S* 0"
    assert re.findall(waits, twice) == ["cp.async.bulk.wait_group 0", "cp.async.bulk.wait_group.read 0"]
    assert re.findall(waits, seen) == ["cp.async.bulk.wait_group 0"]
