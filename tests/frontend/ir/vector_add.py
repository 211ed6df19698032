# signature: *fp32:16,*fp32:16,*fp32,i32,1024
import triton
import triton.language as tl


# CHECK: func.func @kernel(%[[X:.*]]: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %{{.*}}: !tile.ptr<f32> {tile.divisibility = 16 : i64},
# CHECK-SAME: %{{.*}}: !tile.ptr<f32>, %[[N:.*]]: i32) attributes {tile.kernel}
# CHECK: %[[PID:.*]] = tile.program_id 0
# CHECK: %[[START:.*]] = arith.muli %[[PID]], %{{.*}} : i32
# CHECK: %[[LANES:.*]] = tile.arange 0 : tensor<1024xi32>
# CHECK: %[[STARTS:.*]] = tile.splat %[[START]] : i32 -> tensor<1024xi32>
# CHECK: %[[OFFSETS:.*]] = arith.addi %[[STARTS]], %[[LANES]] : tensor<1024xi32>
# CHECK: %[[LIMIT:.*]] = tile.splat %[[N]]
# CHECK: %[[MASK:.*]] = arith.cmpi slt, %[[OFFSETS]], %[[LIMIT]]
# CHECK: tile.load %{{.*}} mask %[[MASK]] : tensor<1024xi1> : tensor<1024x!tile.ptr<f32>> -> tensor<1024xf32>
# CHECK: arith.addf
# CHECK: tile.store %{{.*}}, %{{.*}} mask %[[MASK]]
# CHECK: return
@triton.jit
def kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """A docstring says nothing."""
    offsets = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)
