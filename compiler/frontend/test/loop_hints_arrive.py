# The hints of a loop stand on the loop in tile IR, after the simplification that every target asks for.
# RUN: nacre compile %s --kernel kernel --signature "*fp32, i32" --emit tile | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    # CHECK: scf.for
    # CHECK: } {tile.disable_licm, tile.disallow_acc_multi_buffer, tile.flatten, tile.loop_unroll_factor = 2 : i32,
    # CHECK-SAME: tile.num_stages = 4 : i32, tile.warp_specialize}
    for i in tl.range(0, n, num_stages=4, loop_unroll_factor=2, disallow_acc_multi_buffer=True, flatten=True,
                      warp_specialize=True, disable_licm=True):
        tl.store(x_ptr + i, 1.0)
    # CHECK: scf.while
    # CHECK: attributes {tile.num_stages = 2 : i32}
    for i in tl.range(0, n, num_stages=2):
        if tl.load(x_ptr + i) > 2.0:
            break
        tl.store(x_ptr + i, 2.0)
    # CHECK: scf.while
    # CHECK: attributes {tile.disable_licm}
    while tl.condition(n > 0, disable_licm=True):
        n -= 1
        tl.store(x_ptr + n, 3.0)
