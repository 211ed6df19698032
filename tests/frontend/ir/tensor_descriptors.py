# signature: tensordesc<fp16[8, 16]>:16,*fp32,i32
import triton
import triton.language as tl


# A descriptor that the host made is one argument, and says how it arrives. Accesses through it stay what they are.
# CHECK: func.func @kernel(%[[X:.*]]: !tile.descriptor<tensor<8x16xf16>> {tile.field_divisibility = array<i64: 16, 1, 1, 1>,
# CHECK-SAME: tile.fields = [!tile.ptr<f16>, i32, i32, i64]}, %[[OUT:.*]]: !tile.ptr<f32>, %{{.*}}: i32)
@triton.jit
def kernel(x, out_ptr, row):
    tl.static_assert(x.dtype == tl.float16 and x.block_shape[1] == 16)
    # CHECK: %[[BLOCK:.*]] = tile.descriptor_load %[[X]][%{{.*}}, %{{.*}}] : !tile.descriptor<tensor<8x16xf16>> -> tensor<8x16xf16>
    block = x.load([row, 0])
    # CHECK: tile.descriptor_store %[[X]][%{{.*}}, %{{.*}}], %[[BLOCK]]
    x.store([row, 16], block)
    # One made in the kernel, from what the other knows of itself.
    # CHECK: %[[OUTPUT:.*]] = tile.make_descriptor %[[OUT]] shape[%{{.*}}, %{{.*}}] strides[%{{.*}}] padding nan
    # CHECK-SAME: !tile.ptr<f32> -> !tile.descriptor<tensor<1x16xf32>>
    out = tl.make_tensor_descriptor(out_ptr, x.shape, [x.strides[0], 1], [1, 16], padding_option="nan")
    # CHECK: %[[ROWS:.*]] = tile.descriptor_gather %[[OUTPUT]][%{{.*}}, %{{.*}}] padding nan : !tile.descriptor<tensor<1x16xf32>>, tensor<8xi64> -> tensor<8x16xf32>
    rows = out.gather(tl.arange(0, 8), 4)
    # CHECK: tile.descriptor_scatter %[[OUTPUT]][%{{.*}}, %{{.*}}], %{{.*}} : !tile.descriptor<tensor<1x16xf32>>, tensor<8xi64>, tensor<8x16xf32>
    out.scatter(rows + 1.0, tl.arange(0, 8), 4)
    # A loop carries it like any other value.
    # CHECK: scf.for {{.*}} iter_args({{.*}} = %[[OUTPUT]]
    # CHECK:   tile.descriptor_reduce addf %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} : !tile.descriptor<tensor<1x16xf32>>, tensor<1x16xf32>
    for i in range(row):
        out.atomic_add([i, 0], tl.zeros((1, 16), tl.float32))
        out = tl.make_tensor_descriptor(out_ptr + i, x.shape, [x.strides[0], 1], [1, 16], padding_option="nan")
