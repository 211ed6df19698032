# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x):
    t = (1,)
    for k in tl.static_range(10000):
        t = (t, k)

#> tuple_nested_too_deeply.py:10:13: error: this tuple is nested too deeply: the limit is 500 levels
#>         t = (t, k)
#>             ^~~~~~
#> hint: join sequences with +, or unpack them with *
