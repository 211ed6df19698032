# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    if n > 3:
        break

#> break_outside_a_loop.py:9:9: error: 'break' outside a loop
#>         break
#>         ^~~~~
