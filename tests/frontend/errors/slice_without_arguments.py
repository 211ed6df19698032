# signature: *i32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    tl.store(x_ptr, (1, 2)[slice()])

#> slice_without_arguments.py:8:28: error: slice: takes one to three arguments, but 0 were given
#>     tl.store(x_ptr, (1, 2)[slice()])
#>                            ^~~~~~~
#> hint: its parameters are start, stop, step
