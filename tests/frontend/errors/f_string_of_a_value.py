# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    tl.static_print(f"n is {n}")

#> f_string_of_a_value.py:8:29: error: an f-string in a kernel can only hold constexprs, not int32 scalar
#>     tl.static_print(f"n is {n}")
#>                             ^
#> hint: print run-time values with tl.device_print
