# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    tl.load(x_ptr + tl.arange(0, 4), boundary_check=(0,))

#> boundary_check_of_a_plain_pointer.py:8:5: error: tl.load: `boundary_check` and `padding_option` belong to block pointers
#>     tl.load(x_ptr + tl.arange(0, 4), boundary_check=(0,))
#>     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: with plain pointers use mask= and other=
