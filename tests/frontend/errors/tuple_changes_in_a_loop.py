# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    pair = (n, n)
    for i in range(n):
        pair = pair + (i,)
    tl.store(x_ptr, pair[0])

#> tuple_changes_in_a_loop.py:10:9: error: `pair` changes its type in the loop: it is a tuple of (int32 scalar, int32 scalar) before the loop (line 8) but a tuple of (int32 scalar, int32 scalar, int32 scalar) at the end of its body
#>         pair = pair + (i,)
#>         ^~~~
#> hint: a name that a loop carries keeps one type; give it a value of that type before the loop
