# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.device_print(tl.load(x_ptr))

#> print_without_a_prefix.py:8:5: error: tl.device_print: `prefix` must be a constexpr str, not fp32 scalar
#>     tl.device_print(tl.load(x_ptr))
#>     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: its value must be known at compile time: pass a literal or a tl.constexpr parameter
