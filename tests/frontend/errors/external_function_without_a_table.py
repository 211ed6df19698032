# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, tl.core.extern_elementwise("halves", "halves.bc", [tl.load(x_ptr)], None, is_pure=True))

#> external_function_without_a_table.py:8:21: error: tl.extern_elementwise: `arg_type_symbol_dict` must be a dict from tuples of dtypes to (symbol, dtype), not None
#>     tl.store(x_ptr, tl.core.extern_elementwise("halves", "halves.bc", [tl.load(x_ptr)], None, is_pure=True))
#>                     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#> hint: for instance {(tl.float32, tl.float32): ("hypotf", tl.float32)}
