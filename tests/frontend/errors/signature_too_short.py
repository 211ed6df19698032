# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    tl.store(x_ptr, n)

#> signature_too_short.py:7:19: error: kernel `kernel` needs the argument `n`
#> def kernel(x_ptr, n):
#>                   ^
#> hint: give it at the launch, or a default in the definition
