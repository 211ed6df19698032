# signature: *fp32,*fp64
import triton
import triton.language as tl
from triton.language.extra import libdevice


# Correctly rounded, usual and fast operations stay apart; fp64 has no usual form of its own.
@triton.jit
def kernel(x_ptr, wide_ptr):
    x = tl.load(x_ptr)
    y = tl.load(x_ptr + 1)
    # CHECK: arith.divf %{{.*}}, %{{.*}} fastmath<arcp> : f32
    tl.store(x_ptr, x / y)
    # CHECK: arith.divf %{{.*}}, %{{.*}} fastmath<arcp> : f32
    tl.store(x_ptr, tl.fdiv(x, y))
    # CHECK: arith.divf %{{[a-z0-9_]*}}, %{{[a-z0-9_]*}} : f32
    tl.store(x_ptr, tl.math.div_rn(x, y))
    # CHECK: arith.divf %{{[a-z0-9_]*}}, %{{[a-z0-9_]*}} : f32
    tl.store(x_ptr, tl.fdiv(x, y, ieee_rounding=True))
    # CHECK: arith.divf %{{.*}}, %{{.*}} fastmath<arcp,afn> : f32
    tl.store(x_ptr, libdevice.fast_dividef(x, y))
    # CHECK: math.sqrt %{{.*}} fastmath<afn> : f32
    tl.store(x_ptr, tl.sqrt(x))
    # CHECK: math.sqrt %{{[a-z0-9_]*}} : f32
    tl.store(x_ptr, tl.math.sqrt_rn(x))
    # CHECK: math.rsqrt %{{.*}} fastmath<afn> : f32
    tl.store(x_ptr, tl.math.rsqrt(x))
    # CHECK: math.rsqrt %{{[a-z0-9_]*}} : f32
    tl.store(x_ptr, libdevice.rsqrt_rn(x))
    # CHECK: math.exp %{{[a-z0-9_]*}} : f32
    tl.store(x_ptr, tl.exp(x))
    # CHECK: math.exp2 %{{.*}} fastmath<afn> : f32
    tl.store(x_ptr, tl.exp2(x))
    # CHECK: math.exp %{{.*}} fastmath<afn> : f32
    tl.store(x_ptr, libdevice.fast_expf(x))
    # CHECK: math.powf %{{.*}}, %{{.*}} fastmath<afn> : f32
    tl.store(x_ptr, libdevice.fast_powf(x, y))
    # CHECK: arith.divf %{{[a-z0-9_]*}}, %{{[a-z0-9_]*}} : f32
    tl.store(x_ptr, libdevice.rcp_rn(x))
    wide = tl.load(wide_ptr)
    # CHECK: arith.divf %{{[a-z0-9_]*}}, %{{[a-z0-9_]*}} : f64
    tl.store(wide_ptr, wide / 3.0)
