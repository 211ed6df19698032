# A kernel that accesses blocks through descriptors has descriptor operations in tile IR, for whatever target: what a
# target makes of them is its own.
# RUN: nacre compile %s --kernel kernel --signature "tensordesc<fp16[8, 16]>:16, *fp32:16, i32" --emit tile | FileCheck %s --implicit-check-not=tile.load --implicit-check-not=tile.store
# RUN: nacre compile %s --target cuda --kernel kernel --signature "tensordesc<fp16[8, 16]>:16, *fp32:16, i32" --emit tile | FileCheck %s --implicit-check-not=tile.load --implicit-check-not=tile.store
import triton
import triton.language as tl


# CHECK: func.func @kernel(%[[X:.*]]: !tile.descriptor<tensor<8x16xf16>>
@triton.jit
def kernel(x, out_ptr, row):
    # CHECK: %[[OUT:.*]] = tile.make_descriptor
    out = tl.make_tensor_descriptor(out_ptr, [64, 64], [64, 1], [8, 16])
    # CHECK: %[[BLOCK:.*]] = tile.descriptor_load %[[X]]
    block = x.load([row, 0])
    # CHECK: tile.descriptor_store %[[OUT]]
    out.store([row, 0], block.to(tl.float32))
    # CHECK: tile.descriptor_reduce addf %[[OUT]]
    out.atomic_add([row, 16], block.to(tl.float32))
    # CHECK: tile.descriptor_gather
    rows = tl.make_tensor_descriptor(out_ptr, [64, 64], [64, 1], [1, 16])
    gathered = rows.gather(tl.arange(0, 8), 4)
    # CHECK: tile.descriptor_scatter
    rows.scatter(gathered, tl.arange(8, 16), 4)
