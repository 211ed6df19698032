# signature: *fp8e4nv,*fp8e5
import triton
import triton.language as tl


# fp8 has no arithmetic of its own.
# CHECK: %[[X:.*]] = tile.load %arg0 : !tile.ptr<f8E4M3FN> -> f8E4M3FN
# CHECK: %[[A:.*]] = tile.fp_cast %[[X]] : f8E4M3FN -> f32
# CHECK: %[[B:.*]] = tile.fp_cast %[[X]] : f8E4M3FN -> f32
# CHECK: %[[SUM:.*]] = arith.addf %[[A]], %[[B]] : f32
# CHECK: %[[BACK:.*]] = tile.fp_cast %[[SUM]] : f32 -> f8E4M3FN
# CHECK: tile.store %arg0, %[[BACK]]
# CHECK: tile.fp_cast %{{.*}} : f32 -> f8E5M2
# CHECK: tile.fp_cast %{{.*}} round rtz : f32 -> f16
@triton.jit
def kernel(x_ptr, y_ptr):
    x = tl.load(x_ptr)
    tl.store(x_ptr, x + x)
    wide = x.to(tl.float32)
    tl.store(y_ptr, wide.to(tl.float8e5))
    half = wide.to(tl.float16, fp_downcast_rounding="rtz")
    tl.store(y_ptr, half.to(tl.float8e5))
