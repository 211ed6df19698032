# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, tl.reduce(tl.arange(0, 16), 0, '+'))

#> reduce_with_a_text.py:8:21: error: tl.reduce: `combine_fn` must be a function of the language, not the str '+'
#>     tl.store(x_ptr, tl.reduce(tl.arange(0, 16), 0, '+'))
#>                     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: mark it with @triton.jit
