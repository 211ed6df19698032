# signature: *i32
import triton
import triton.language as tl


def helper(x):
    return x


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, helper(3))

#> python_function.py:12:21: error: `helper` cannot be used in a kernel: it is a Python function; decorate it with @triton.jit
#>     tl.store(x_ptr, helper(3))
#>                     ^~~~~~
