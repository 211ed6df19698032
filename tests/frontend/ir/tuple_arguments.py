# signature: (*fp32:16,(i32,4)),fp32
import triton
import triton.language as tl


# CHECK: func.func @kernel(%[[P:.*]]: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %[[N:.*]]: i32, %[[S:.*]]: f32)
# CHECK: %[[AT:.*]] = tile.addptr %[[P]], %[[N]]
# CHECK: arith.constant 4.0
@triton.jit
def kernel(pair, scale):
    pointer, (n, size) = pair
    tl.store(pointer + n, scale * size)
    tl.static_assert(pair[1][1] == 4)
