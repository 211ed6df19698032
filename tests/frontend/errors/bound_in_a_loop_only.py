# signature: *i32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    for i in range(n):
        last = i
    tl.store(x_ptr, last)

#> bound_in_a_loop_only.py:10:21: error: `last` is bound only inside the loop at line 8, which may not run at all, so it cannot be used after it
#>     tl.store(x_ptr, last)
#>                     ^~~~
#> hint: bind it before the loop
