# signature: *i32,i32
import triton
import triton.language as tl


@triton.jit
def add(x, y):
    return x + y


@triton.jit
def kernel(x_ptr, n):
    tl.store(x_ptr, add(n))

#> missing_argument.py:13:21: error: `add` needs the argument `y`
#>     tl.store(x_ptr, add(n))
#>                     ^~~~~~
