# signature: *fp16,*fp32
import triton
import triton.language as tl


# A literal takes the tensor's type; a local that holds one is a run-time fp32.
# CHECK: %[[X:.*]] = tile.load %arg0
# CHECK: arith.mulf %[[X]], %{{.*}} : f16
# CHECK: %[[WIDE:.*]] = arith.extf %[[X]] : f16 to f32
# CHECK: arith.mulf %[[WIDE]], %{{.*}} : f32
@triton.jit
def kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr)
    literal = x * 2.0
    tl.static_assert(literal.dtype == tl.float16)
    two = 2.0
    local = x * two
    tl.static_assert(local.dtype == tl.float32)
    constant: tl.constexpr = 2.0
    tl.static_assert((x * constant).dtype == tl.float16)
    minus_seven = -7
    tl.static_assert(-7 // 2 == -4)
    tl.store(out_ptr, literal + local + minus_seven // 2)
