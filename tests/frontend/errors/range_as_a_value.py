# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    numbers = range(n)
    tl.store(x_ptr, numbers[0])

#> range_as_a_value.py:8:15: error: a range that is not run over by `for` needs constexpr integers, not int32 scalar
#>     numbers = range(n)
#>               ^~~~~~~~
#> hint: a bound that is known only at run time needs a plain `for ... in range(...)`
