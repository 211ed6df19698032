# signature: *i32,i32
import triton
import triton.language as tl


@triton.jit
def add(x, y):
    return x + y


@triton.jit
def kernel(x_ptr, n):
    tl.store(x_ptr, add(n, x=n))

#> argument_given_twice.py:13:21: error: `add` got `x` twice
#>     tl.store(x_ptr, add(n, x=n))
#>                     ^~~~~~~~~~~
