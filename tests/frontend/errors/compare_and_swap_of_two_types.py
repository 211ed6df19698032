# signature: *i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.atomic_cas(x_ptr, 0, tl.load(x_ptr).to(tl.int64))

#> compare_and_swap_of_two_types.py:8:5: error: tl.atomic_cas: `val` must be int32 scalar like the memory, not int64 scalar
#>     tl.atomic_cas(x_ptr, 0, tl.load(x_ptr).to(tl.int64))
#>     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: convert and broadcast it first
