# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    pointer = tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (4,), (0,))
    tl.load(pointer, mask=tl.arange(0, 4) < n)

#> block_pointer_with_a_mask.py:9:5: error: tl.load: `mask` cannot be used with a block pointer
#>     tl.load(pointer, mask=tl.arange(0, 4) < n)
#>     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: name the axes that may be out of bounds with boundary_check=
