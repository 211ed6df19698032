# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.zeros((16,), 'float33')
    tl.store(x_ptr, tl.sum(x))

#> type_by_name_as_text.py:8:9: error: tl.zeros: `dtype` must be a dtype such as tl.float32, not the str 'float33'
#>     x = tl.zeros((16,), 'float33')
#>         ^~~~~~~~~~~~~~~~~~~~~~~~~~
