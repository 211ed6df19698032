# signature: *kfp16:16,*fp32
import triton
import triton.language as tl


# That memory is only read is part of the pointer's type: of an argument, of a type that a kernel makes, and of every address made of it.
# CHECK: func.func @kernel(%[[X:.*]]: !tile.ptr<f16, const> {tile.divisibility = 16 : i64}, %[[Y:.*]]: !tile.ptr<f32>)
@triton.jit
def kernel(x_ptr, y_ptr):
    i = tl.arange(0, 8)
    # CHECK: tile.addptr %{{.*}} : tensor<8x!tile.ptr<f16, const>>, tensor<8xi32>
    # CHECK: tile.load %{{.*}} : tensor<8x!tile.ptr<f16, const>> -> tensor<8xf16>
    x = tl.load(x_ptr + i)
    # CHECK: %[[READ:.*]] = tile.bitcast %[[Y]] : !tile.ptr<f32> -> !tile.ptr<f32, const>
    read_only = y_ptr.to(tl.pointer_type(tl.float32, 1, True))
    tl.static_assert(read_only.dtype.is_const() and not y_ptr.dtype.is_const())
    # CHECK: tile.load %[[READ]] : !tile.ptr<f32, const> -> f32
    y = tl.load(read_only)
    # CHECK: tile.store %{{.*}} : tensor<8x!tile.ptr<f32>>
    tl.store(y_ptr + i, x + y)
