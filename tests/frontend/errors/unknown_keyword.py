# signature: *i32,i32
import triton
import triton.language as tl


@triton.jit
def add(x, y):
    return x + y


@triton.jit
def kernel(x_ptr, n):
    tl.store(x_ptr, add(n, z=n))

#> unknown_keyword.py:13:21: error: `add` has no parameter `z`
#>     tl.store(x_ptr, add(n, z=n))
#>                     ^~~~~~~~~~~
#> hint: its parameters are x, y
