"""Mistakes that type checkers report, each on a line that says so: `error` of both, `error: pyright` of the one that follows tiles."""

import nacre
import numpy as np
import triton
import triton.language as tl
import triton.profiler as proton


@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.laod(x_ptr + offsets)  # error
    y = tl.load(x_ptr + offsets, masks=offsets < n)  # error
    z = tl.load(x_ptr + offsets, mask="all")  # error
    z.too(tl.float32)  # error: pyright
    z.to(tl.float31)  # error
    z.to("fp32")  # error: pyright
    z.to(tl.float32, bitcst=True)  # error: pyright
    tl.zeros((BLOCK,), tl.float32, tl.float32)  # error
    w = tl.zeros((BLOCK,), tl.float32)
    v = tl.zeros((BLOCK,), dtype=32)  # error
    u = tl.sum(w, axis="rows")  # error
    t = w + "text"  # error: pyright
    s = w["text"]  # error: pyright
    tl.arange(0, w)  # error: pyright
    tl.arange(0.5, BLOCK)  # error
    tl.reduce(w, 0, 3)  # error
    tl.math.sine(w)  # error
    tl.extra.libdevice.asine(w)  # error
    a, b, c = tl.split(w)  # error
    tl.static_print(x, y, u, t, s, a, b, c, v, seperator=" ")  # error
    tl.device_print(w)  # error: pyright
    z.dtype.primitive_bits  # error: pyright
    tl.make_tensor_descriptor(x_ptr, [n], [1], [BLOCK]).laod([0])  # error


x = np.ones(100, np.float32)
kernel(x, 100, 128)  # error
kernel[(1.5,)](x, 100, 128)  # error
kernel["1"](x, 100, 128)  # error
kernel[lambda meta: 100 / meta["BLOCK"] + 0.5](x, 100, 128)
kernel[lambda meta: (100 / 64,)](x, 100, 128)  # error
kernel[(1,)](x, 100, 128).assembly  # error
kernel.launch(x)  # error
kernel.warm_up(x, grid=(1,))  # error
triton.Config({"BLOCK": 128}, num_warp=4)  # error
triton.Config(BLOCK=128)  # error
triton.Config({"BLOCK": 128}, num_warps="4")  # error
triton.autotune([{"BLOCK": 128}], key=["n"])  # error
triton.autotune([triton.Config({})], key=3)  # error
triton.autotune([triton.Config({})], key=["n"], isolate="perhaps")  # error
triton.jit(kernel.fn, noinlin=True)  # error
triton.jit(3)  # error
triton.jitt  # error
triton.cdiv(100 / 2, 64)  # error
triton.heuristics({"EVEN": 3})  # error
triton.testing.do_bench(kernel, return_mode="avg")  # error
triton.testing.do_bench(x)  # error
triton.testing.assert_close(x, x, tolerance=1e-3)  # error
triton.testing.Benchmark(["n"], [1], "provider", ["a"], ["A"], "name")  # error
triton.knobs.runtime.num_thread = 4  # error
triton.knobs.runtime.num_threads = "4"  # error
triton.compile(kernel)  # error
proton.start("name", data="trees")  # error
proton.scope()  # error
nacre.jit(kernel.fn, debug="yes")  # error
nacre.language.load  # the module is there
nacre.langauge  # error


@nacre.autotune([nacre.Config({})], ["n"])  # error
def without_jit(x_ptr, n):
    pass
