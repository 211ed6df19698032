# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, tl.cosine(1.0))

#> unknown_module_member.py:8:24: error: module `triton.language` has no `cosine`
#>     tl.store(x_ptr, tl.cosine(1.0))
#>                        ^~~~~~
