# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr, 1.0)

#> kernel_without_a_value_for_a_constexpr.py:7:19: error: kernel `kernel` needs the argument `BLOCK`
#> def kernel(x_ptr, BLOCK: tl.constexpr):
#>                   ^~~~~~~~~~~~~~~~~~~
#> hint: give it at the launch, or a default in the definition
