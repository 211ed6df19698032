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
        pass


@triton.jit
def kernel(x_ptr, n):
    interval = Interval(n, 4)

#> aggregate_without_a_field.py:19:16: error: Interval needs a value for its field `SIZE`
#>     interval = Interval(n, 4)
#>                ^~~~~~~~~~~~~~
#> hint: its __init__ must assign every field
