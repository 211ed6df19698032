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
    for i in range(n):
        interval = Interval(i, 8)
    tl.store(x_ptr, interval.start)

#> aggregate_changes_in_a_loop.py:21:9: error: `interval` changes its type in the loop: it is Interval(start=int32 scalar, SIZE=4) before the loop (line 19) but Interval(start=int32 scalar, SIZE=8) at the end of its body
#>         interval = Interval(i, 8)
#>         ^~~~~~~~
#> hint: a name that a loop carries keeps one type; give it a value of that type before the loop
