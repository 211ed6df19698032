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
    interval = Interval(n, 4)
    interval.stop

#> aggregate_attribute.py:20:14: error: Interval has no attribute `stop`
#>     interval.stop
#>              ^~~~
