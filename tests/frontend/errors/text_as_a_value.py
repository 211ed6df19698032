# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, 'one')

#> text_as_a_value.py:8:5: error: tl.store: expected a tensor or a number, not the str 'one'
#>     tl.store(x_ptr, 'one')
#>     ^~~~~~~~~~~~~~~~~~~~~~
