# signature: *u32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    x = tl.load(x_ptr)
    tl.store(x_ptr, x % n)

#> remainder_of_mixed_signs.py:9:21: error: Cannot use /, // or % with uint32 and int32 because they have different signedness
#>     tl.store(x_ptr, x % n)
#>                     ^~~~~
#> hint: convert one of them so that both have the same signedness, e.g. x.to(tl.uint32)
