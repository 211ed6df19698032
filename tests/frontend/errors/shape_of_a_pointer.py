# signature: *fp32,*i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, out_ptr):
    tl.store(out_ptr, x_ptr.shape[0])

#> shape_of_a_pointer.py:8:29: error: pointer<fp32> has no shape: it is a pointer
#>     tl.store(out_ptr, x_ptr.shape[0])
#>                             ^~~~~
#> hint: a pointer does not know its array's size: pass that as an argument; tl.load(pointer + offsets) reads elements
