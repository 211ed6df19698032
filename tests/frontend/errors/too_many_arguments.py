# signature: *i32,i32
import triton
import triton.language as tl


@triton.jit
def add(x, y):
    return x + y


@triton.jit
def kernel(x_ptr, n):
    tl.store(x_ptr, add(n, n, n))

#> too_many_arguments.py:13:21: error: `add` takes 2 arguments, but 3 were given
#>     tl.store(x_ptr, add(n, n, n))
#>                     ^~~~~~~~~~~~
#> hint: its parameters are x, y
