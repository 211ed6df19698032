# signature: *fp32
import triton
import triton.language as tl
from triton.language import core


@core.extern
def tangent(x, _semantic=None):
    key = (core.dtype("fp32"),)
    return core.extern_elementwise("libdevice", "", [x], {key: ("__nv_tanf", core.dtype("fp32"))}, is_pure=True, _semantic=_semantic)


# Dicts and plain constants are for functions marked with @extern; without a library, libdevice's names are ours.
# CHECK-LABEL: func.func @kernel
# CHECK: math.tan %{{.*}} : tensor<8xf32>
@triton.jit
def kernel(x_ptr):
    offsets = tl.arange(0, 8)
    tl.store(x_ptr + offsets, tangent(tl.load(x_ptr + offsets)))
