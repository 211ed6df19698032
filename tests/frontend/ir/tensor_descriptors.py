# signature: tensordesc<fp16[8, 16]>:16,i32
import triton
import triton.language as tl


# A descriptor arrives as its base, its shape and its strides.
# CHECK: func.func @kernel(%[[BASE:.*]]: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i64, %{{.*}}: i32)
@triton.jit
def kernel(x, row):
    tl.static_assert(x.dtype == tl.float16 and x.block_shape[1] == 16)
    # CHECK: tile.addptr %[[BASE]]
    # CHECK: tile.load
    # CHECK-SAME: tensor<8x16x
    block = x.load([row, 0])
    # CHECK: tile.store
    x.store([row, 16], block)
