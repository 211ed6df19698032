# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x):
    t = (1,)
    for k in tl.static_range(60):
        t = (t, t)

#> tuple_of_too_much.py:10:13: error: this tuple holds too much: the most is 262144 objects, with those of the tuples inside it
#>         t = (t, t)
#>             ^~~~~~
