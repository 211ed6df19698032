# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    for i in tl.static_range(n):
        tl.store(x_ptr + i, 1.0)

#> static_range_of_a_value.py:8:14: error: tl.static_range needs constexpr integers, not int32 scalar
#>     for i in tl.static_range(n):
#>              ^~~~~~~~~~~~~~~~~~
#> hint: a bound that is known only at run time needs a plain `for ... in range(...)`
