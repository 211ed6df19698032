"""num_ctas of a launch: what is compiled, what is refused, and what is told of it."""

import re

KERNEL = """
import numpy as np
import nacre
import nacre.language as tl

@nacre.jit
def add(x, out, BLOCK: tl.constexpr):
    offsets = (tl.program_id(1) * tl.num_programs(0) + tl.program_id(0)) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(x + offsets) + 1)

@nacre.jit
def multiply(a, b, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    c = tl.dot(tl.load(a + m[:, None] * K + k[None, :]), tl.load(b + k[:, None] * N + n[None, :]))
    tl.store(out + m[:, None] * N + n[None, :], c)

x, out = np.arange(6144, dtype=np.float32), np.zeros(6144, dtype=np.float32)

def refused(**options):
    try:
        add[(1,)](x, out, BLOCK=1024, **options)
    except Exception as error:
        print(error)
"""


def succeed(process):
    assert process.returncode == 0, process.stderr
    return process.stdout


def test_blocks_share_the_work(run_script):
    output = succeed(run_script(KERNEL + """
for ctas in (1, 2, 4):
    compiled = add[(3, 2)](x, out, BLOCK=1024, num_ctas=ctas)
    assert (out == x + 1).all()
    out[:] = 0
    metadata, ptx = compiled.metadata, compiled.asm["ptx"]
    print(metadata.num_ctas, metadata.cluster_dims, ptx.count("ld.global"), ".reqnctapercluster %d, 1, 1" % ctas in ptx)
""", NACRE_DEVICE="simulate"))  # fmt: skip
    assert output.splitlines() == ["1 (1, 1, 1) 2 False", "2 (2, 1, 1) 1 True", "4 (4, 1, 1) 1 True"]


def test_blocks_share_a_product(run_script):
    output = succeed(run_script(KERNEL + """
a, b, c = np.ones((128, 64), np.float16), np.ones((64, 64), np.float16), np.zeros((128, 64), np.float32)
for ctas in (1, 2):
    compiled = multiply[(1,)](a, b, c, M=128, N=64, K=64, num_ctas=ctas)
    assert (c == 64).all()
    print(compiled.asm["ttgir"])
    print(compiled.asm["ptx"])
""", NACRE_DEVICE="simulate"))  # fmt: skip
    assert len(re.findall("wgmma.mma_async", output)) == 8 + 4
    assert 'block a64">' in output
    assert "mapa" not in output  # each block loads the rows of its own, and all columns


def test_what_a_gpu_lacks_is_refused(run_script):
    script = KERNEL + "refused(num_ctas=2)\nrefused(num_ctas=3)\nrefused(num_ctas=16)\nadd[(1,)](x, out, BLOCK=1024, num_ctas=1)"
    output = succeed(run_script(script, NACRE_DEVICE="simulate", TRITON_OVERRIDE_ARCH="80"))
    assert "num_ctas=2: a GPU of compute capability 8.0 has no clusters of blocks" in output
    assert "launch it with num_ctas=1, or on a GPU of compute capability 9.0 or higher" in output
    for count in (3, 16):
        assert f"num_ctas={count}: CUDA takes a power of two from 1 to 8" in output


def test_a_launch_counts_programs(run_script, mock_driver):
    output = succeed(run_script("""
import ctypes, os
import numpy as np
import nacre
import nacre.language as tl

mock = ctypes.CDLL(os.environ["NACRE_CUDA_DRIVER"])

class Record(ctypes.Structure):
    _fields_ = [("launches", ctypes.c_uint64), ("modules", ctypes.c_uint64), ("unloaded", ctypes.c_uint64), ("stream", ctypes.c_uint64),
                ("device", ctypes.c_int), ("cooperative", ctypes.c_int), ("serialized", ctypes.c_int), ("grid", ctypes.c_uint * 3),
                ("threads", ctypes.c_uint), ("shared", ctypes.c_uint), ("kernel", ctypes.c_char * 64)]

mock.mockRecord.restype = ctypes.POINTER(Record)

class Array:
    def __init__(self, values):
        context, address = ctypes.c_void_p(), ctypes.c_uint64()
        mock.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
        mock.cuCtxSetCurrent(context)
        assert mock.cuMemAlloc(ctypes.byref(address), ctypes.c_size_t(values.nbytes)) == 0
        ctypes.memmove(address.value, values.ctypes.data, values.nbytes)
        self.values, self.address = values, address.value
    @property
    def __cuda_array_interface__(self):
        return {"shape": self.values.shape, "typestr": self.values.dtype.str, "data": (self.address, False), "version": 3, "strides": None}
    def numpy(self):
        out = np.empty_like(self.values)
        ctypes.memmove(out.ctypes.data, self.address, out.nbytes)
        return out

@nacre.jit
def number(out, BLOCK: tl.constexpr):
    program = tl.program_id(1) * tl.num_programs(0) + tl.program_id(0)
    tl.store(out + program * BLOCK + tl.arange(0, BLOCK), program)

for grid, cooperative in [((3, 2), False), ((1, 2), True)]:
    programs = grid[0] * grid[1]
    out = Array(np.full(programs * 64, -1, np.int32))
    number[grid](out, BLOCK=64, num_ctas=4, launch_cooperative_grid=cooperative)
    assert (out.numpy() == np.repeat(np.arange(programs), 64)).all()
    print(list(mock.mockRecord().contents.grid))
""", NACRE_CUDA_DRIVER=mock_driver, TRITON_PTXAS_PATH="driver"))  # fmt: skip
    assert output.splitlines() == ["[12, 2, 1]", "[4, 2, 1]"]


def test_the_cpu_takes_the_option_and_ignores_it(run_script):
    succeed(run_script(KERNEL + """
add[(6, 1)](x, out, BLOCK=1024, num_ctas=4)
assert (out == x + 1).all()
"""))  # fmt: skip
