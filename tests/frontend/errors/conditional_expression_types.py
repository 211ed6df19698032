# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    tl.store(x_ptr, 1.0 if n > 3 else 2)

#> conditional_expression_types.py:8:21: error: both arms of a run-time conditional expression must agree in type, but they are fp32 scalar and int32 scalar
#>     tl.store(x_ptr, 1.0 if n > 3 else 2)
#>                     ^~~~~~~~~~~~~~~~~~~
#> hint: cast one of them, for instance with tl.cast
