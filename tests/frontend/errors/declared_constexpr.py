# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    size: tl.constexpr
    size = n
    tl.store(x_ptr, size)

#> declared_constexpr.py:9:5: error: `size` is declared tl.constexpr but is assigned a run-time value: int32 scalar
#>     size = n
#>     ^~~~
