# signature: *i32,i32
import triton
import triton.language as tl


class Base:
    start: tl.tensor


@triton.aggregate
class Interval(Base):
    SIZE: tl.constexpr


@triton.jit
def kernel(x_ptr, n):
    interval = Interval(n, 4)

#> aggregate_of_another_base.py:11:16: error: an aggregate inherits from aggregates alone, and this is not one of this file's
#> class Interval(Base):
#>                ^~~~
