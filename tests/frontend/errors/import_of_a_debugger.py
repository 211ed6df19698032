# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    x = tl.load(x_ptr)
    import pdb; pdb.set_trace()  # fmt: skip
    tl.store(x_ptr, x)

#> import_of_a_debugger.py:9:5: error: a compiled kernel cannot stop in Python's debugger
#>     import pdb; pdb.set_trace()  # fmt: skip
#>     ^~~~~~~~~~
#> hint: it works where Python runs the kernel: set TRITON_INTERPRET=1, or decorate it with @triton.jit(interpret=True)
