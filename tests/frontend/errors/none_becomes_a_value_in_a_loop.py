# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    bias = None
    for i in range(n):
        if bias is not None:
            tl.store(x_ptr, bias)
        bias = tl.load(x_ptr + i)

#> none_becomes_a_value_in_a_loop.py:12:9: error: `bias` changes its type in the loop: it is None before the loop (line 8) but fp32 scalar at the end of its body
#>         bias = tl.load(x_ptr + i)
#>         ^~~~
#> hint: a name that a loop carries keeps one type; give it a value of that type before the loop
