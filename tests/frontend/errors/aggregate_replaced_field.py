# signature: *i32,i32
import triton
import triton.language as tl


@triton.aggregate
class Interval:
    start: tl.tensor
    SIZE: tl.constexpr


@triton.jit
def kernel(x_ptr, n):
    interval = tl.aggregate_replace(Interval(n, 4), stop=n)

#> aggregate_replaced_field.py:14:16: error: Interval has no field `stop`
#>     interval = tl.aggregate_replace(Interval(n, 4), stop=n)
#>                ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: its fields are start, SIZE
