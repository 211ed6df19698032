# signature: *i32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    pointer = tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (4,), (0,))
    tl.load(pointer, boundary_check=(0,), padding_option="nan")

#> block_pointer_padding_of_integers.py:9:5: error: tl.load: padding with "nan" needs floating-point elements, not int32
#>     tl.load(pointer, boundary_check=(0,), padding_option="nan")
#>     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: use "zero"
