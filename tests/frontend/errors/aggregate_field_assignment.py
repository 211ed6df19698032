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
    interval.start = 3

#> aggregate_field_assignment.py:20:5: error: a field cannot be assigned: Interval does not change once it is made
#>     interval.start = 3
#>     ^~~~~~~~~~~~~~
#> hint: make a new one, for instance with tl.aggregate_replace
