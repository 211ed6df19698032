# signature: *i32,i32
import triton
import triton.language as tl


@triton.language.core._aggregate
class Interval:
    start: tl.tensor
    SIZE: tl.constexpr

    @triton.constexpr_function
    def __init__(self, start, SIZE):
        self.start = start
        self.SIZE = SIZE


@triton.jit
def kernel(x_ptr, n):
    interval = Interval(n, n)

#> aggregate_with_a_run_time_constexpr.py:19:16: error: the field `SIZE` of Interval is annotated tl.constexpr, but this is a run-time value: int32 scalar
#>     interval = Interval(n, n)
#>                ^~~~~~~~~~~~~~
