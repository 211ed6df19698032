# signature: *u8,*u8,*fp32
import triton
import triton.language as tl


# A product of block-scaled operands stays one operation.
@triton.jit
def kernel(a_ptr, scale_ptr, out_ptr):
    m, k = tl.arange(0, 16), tl.arange(0, 32)
    a = tl.load(a_ptr + m[:, None] * 32 + k[None, :])
    scale = tl.load(scale_ptr + m[:, None] * 2 + tl.arange(0, 2)[None, :])
    # CHECK: tile.dot_scaled e2m1 %{{.*}} scale %{{.*}} : tensor<16x2xi8>, e4m3 %{{.*}}, %{{.*}} {ignoresNan = true} :
    # CHECK-SAME: tensor<16x32xi8>, tensor<64x8xi8> -> tensor<16x8xf32>
    b = tl.full((64, 8), 1, tl.uint8)
    c = tl.dot_scaled(a, scale, "e2m1", b, None, "e4m3", fast_math=True)
    tl.store(out_ptr + m[:, None] * 8 + tl.arange(0, 8)[None, :], c)
