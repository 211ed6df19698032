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
        self.SIZE = self.size = SIZE


@triton.jit
def kernel(x_ptr, n):
    interval = Interval(n, 4)

#> aggregate_with_another_field.py:19:16: error: Interval has no field `size`
#>     interval = Interval(n, 4)
#>                ^~~~~~~~~~~~~~
#> hint: its fields are start, SIZE
