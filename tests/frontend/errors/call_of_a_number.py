# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    n = 3
    tl.store(x_ptr, n(1))

#> call_of_a_number.py:9:21: error: int32 scalar cannot be called
#>     tl.store(x_ptr, n(1))
#>                     ^~~~
