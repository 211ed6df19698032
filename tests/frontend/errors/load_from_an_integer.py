# signature: i32,*fp32
import triton
import triton.language as tl


@triton.jit
def kernel(n, x_ptr):
    tl.store(x_ptr, tl.load(n))

#> load_from_an_integer.py:8:21: error: tl.load: `pointer` must be a pointer or a tensor of pointers, not int32 scalar
#>     tl.store(x_ptr, tl.load(n))
#>                     ^~~~~~~~~~
#> hint: an address held in an integer becomes a pointer with x.to(tl.pointer_type(tl.float32))
