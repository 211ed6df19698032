# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    tl.store(x_ptr, [i for i in range(n)][0])

#> comprehension_over_a_value.py:8:33: error: a comprehension needs constexpr integers, not int32 scalar
#>     tl.store(x_ptr, [i for i in range(n)][0])
#>                                 ^~~~~~~~
#> hint: a bound that is known only at run time needs a plain `for ... in range(...)`
