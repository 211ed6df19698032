# signature: *i8
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.atomic_add(x_ptr, 1)

#> atomic_add_to_bytes.py:8:5: error: tl.atomic_add: memory of int8 cannot be accessed this way; it must be a type of 32 or 64 bits, fp16 or bf16
#>     tl.atomic_add(x_ptr, 1)
#>     ^~~~~~~~~~~~~~~~~~~~~~~
