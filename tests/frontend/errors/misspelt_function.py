# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, count):
    tl.store(x_ptr, tl.laod(x_ptr + count))

#> misspelt_function.py:8:24: error: module `triton.language` has no `laod`
#>     tl.store(x_ptr, tl.laod(x_ptr + count))
#>                        ^~~~
#> hint: did you mean `load`?
