# signature: *kfp16:16,*fp32
# options: --num-warps=8 --num-stages=4
import triton
import triton.language as tl


# What the launch says stands on the module; that an array is only read is part of the pointer's type.
# CHECK: module attributes {tile.num_stages = 4 : i32, tile.num_warps = 8 : i32}
# CHECK: func.func @kernel(%[[X:.*]]: !tile.ptr<f16, const> {tile.divisibility = 16 : i64}, %{{.*}}: !tile.ptr<f32>)
@triton.jit
def kernel(x_ptr, out_ptr):
    i = tl.arange(0, 16)
    # CHECK: tile.load %{{.*}} : tensor<16x16x!tile.ptr<f16, const>> -> tensor<16x16xf16>
    x = tl.load(x_ptr + i[:, None] * 16 + i[None, :])
    # CHECK: tile.dot %{{.*}} {maxImpreciseAcc = 32 : i32} :
    y = tl.dot(x.to(tl.float8e5), x.to(tl.float8e5), max_num_imprecise_acc=32)
    # CHECK: tile.dot
    # CHECK-NOT: maxImpreciseAcc
    # CHECK: tile.hint %{{.*}} divisibility [16]
    places = tl.multiple_of(tl.sum(tl.dot(x, x), axis=1).to(tl.int32), 16)
    tl.store(out_ptr + places, tl.sum(y, axis=1))
