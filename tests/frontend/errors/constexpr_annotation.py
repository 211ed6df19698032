# signature: *i32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    half: tl.constexpr = n // 2
    tl.store(x_ptr, half)

#> constexpr_annotation.py:8:26: error: `half` is annotated tl.constexpr, but this is a run-time value: int32 scalar
#>     half: tl.constexpr = n // 2
#>                          ^~~~~~
#> hint: drop the annotation, or compute it from constexprs alone
