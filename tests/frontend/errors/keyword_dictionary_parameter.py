# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def helper(x, **options):
    return x


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, helper(1.0))

#> keyword_dictionary_parameter.py:7:17: error: `**options` cannot be used in a function of a kernel
#> def helper(x, **options):
#>                 ^~~~~~~
#> hint: name each parameter
