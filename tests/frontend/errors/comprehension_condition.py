# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    items = [i for i in (1, 2, 3) if n > i]
    tl.store(x_ptr, items[0])

#> comprehension_condition.py:8:38: error: the condition of a comprehension must be constexpr, not a run-time value
#>     items = [i for i in (1, 2, 3) if n > i]
#>                                      ^~~~~
#> hint: it decides how many items there are; choose among values with tl.where
