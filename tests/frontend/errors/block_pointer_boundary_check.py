# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    pointer = tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (4,), (0,))
    tl.load(pointer, boundary_check=(1,))

#> block_pointer_boundary_check.py:9:5: error: tl.load: `boundary_check` names axis 1, but the block has 1 axis
#>     tl.load(pointer, boundary_check=(1,))
#>     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
