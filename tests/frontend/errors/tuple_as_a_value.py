# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    pair = (1.0, 2.0)
    tl.store(x_ptr, pair)

#> tuple_as_a_value.py:9:5: error: tl.store: expected a tensor or a number, not tuple
#>     tl.store(x_ptr, pair)
#>     ^~~~~~~~~~~~~~~~~~~~~
#> hint: take one of its items, e.g. x[0]
