# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, tl.load(x_ptr, cache_modifier='.fast'))

#> cache_modifier_name.py:8:21: error: tl.load: `cache_modifier` cannot be ".fast"
#>     tl.store(x_ptr, tl.load(x_ptr, cache_modifier='.fast'))
#>                     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: use one of ".ca", ".cg", ".cs", ".cv"
