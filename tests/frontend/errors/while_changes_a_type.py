# signature: *i32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    i = 0
    while i < n:
        i = i + 0.5
    tl.store(x_ptr, i)

#> while_changes_a_type.py:10:9: error: `i` changes its type in the loop: it is int32 scalar before the loop (line 8) but fp32 scalar at the end of its body
#>         i = i + 0.5
#>         ^
#> hint: a name that a loop carries keeps one type; cast one of the two, for instance with .to(...)
