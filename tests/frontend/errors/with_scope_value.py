# signature: *fp32
import triton
import triton.language as tl
import triton.profiler.language as pl


@triton.jit
def kernel(x_ptr):
    with pl.scope("a") as name:
        tl.store(x_ptr, 1.0)

#> with_scope_value.py:9:27: error: a scope of the profiler has no value: `as` cannot be used here
#>     with pl.scope("a") as name:
#>                           ^~~~
