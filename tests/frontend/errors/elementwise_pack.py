# signature: *i32
import triton
import triton.language as tl


@triton.jit
def total(a, b):
    return a + b


@triton.jit
def kernel(x_ptr):
    offsets = tl.arange(0, 8)
    tl.store(x_ptr + offsets, tl.map_elementwise(total, offsets, pack=2))

#> elementwise_pack.py:14:31: error: tl.map_elementwise: the function takes 2 elements at once and returns 1 value
#>     tl.store(x_ptr + offsets, tl.map_elementwise(total, offsets, pack=2))
#>                               ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: it must return 2 values for each result, in one tuple
