# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    match n:
        case 1:
            tl.store(x_ptr, 1.0)

#> match_statement.py:8:5: error: match cannot be used in a kernel
#>     match n:
#>     ^~~~~~~~
#> hint: use if and elif
