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
    start, size = Interval(n, 4)

#> aggregate_as_a_sequence.py:19:5: error: Interval cannot be unpacked into several names
#>     start, size = Interval(n, 4)
#>     ^~~~~~~~~~~
