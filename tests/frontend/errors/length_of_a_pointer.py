# signature: *fp32,*i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, out_ptr):
    tl.store(out_ptr, len(x_ptr))

#> length_of_a_pointer.py:8:23: error: len: pointer<fp32> has no length
#>     tl.store(out_ptr, len(x_ptr))
#>                       ^~~~~~~~~~
#> hint: a pointer does not know its array's size: pass that as an argument; tl.load(pointer + offsets) reads elements
