# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    for i in range(n):
        if i > 0:
            tl.store(x_ptr, previous)
        previous = tl.load(x_ptr + i)

#> used_before_the_loop_defines_it.py:10:29: error: `previous` is used before it is assigned
#>             tl.store(x_ptr, previous)
#>                             ^~~~~~~~
#> hint: the function assigns it further on
