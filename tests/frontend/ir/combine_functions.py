# signature: *fp32,*i32
import triton
import triton.language as tl


# CHECK: tile.reduce %[[X:.*]], %[[I:.*]] axis 0 {
# CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[AI:.*]]: i32, %[[B:.*]]: f32, %[[BI:.*]]: i32):
# CHECK-NEXT:   %[[MORE:.*]] = arith.cmpf ogt, %[[A]], %[[B]] : f32
# CHECK-NEXT:   %[[V:.*]] = arith.select %[[MORE]], %[[A]], %[[B]] : f32
# CHECK-NEXT:   %[[W:.*]] = arith.select %[[MORE]], %[[AI]], %[[BI]] : i32
# CHECK-NEXT:   tile.yield %[[V]], %[[W]] : f32, i32
# CHECK-NEXT: } : (tensor<16xf32>, tensor<16xi32>) -> (f32, i32)
@triton.jit
def larger(a, ai, b, bi):
    more = a > b
    return tl.where(more, a, b), tl.where(more, ai, bi)


@triton.jit
def kernel(x_ptr, out_ptr):
    index = tl.arange(0, 16)
    value, place = tl.reduce((tl.load(x_ptr + index), index), 0, larger)
    tl.store(x_ptr, value)
    tl.store(out_ptr, place)
