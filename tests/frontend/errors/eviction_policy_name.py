# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, 0.0, eviction_policy='never')

#> eviction_policy_name.py:8:5: error: tl.store: `eviction_policy` cannot be "never"
#>     tl.store(x_ptr, 0.0, eviction_policy='never')
#>     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: use one of "evict_normal", "evict_first", "evict_last"
