# signature: *i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.load(x_ptr + tl.arange(0, 16))
    tl.store(x_ptr, tl.sum(x, axis=2))

#> library_function.py:9:21: error: tl.sum: invalid axis 2 for `axis`: the tensor has 1 axis
#>     tl.store(x_ptr, tl.sum(x, axis=2))
#>                     ^~~~~~~~~~~~~~~~~
#> hint: axes count from 0, or from -1 backwards
