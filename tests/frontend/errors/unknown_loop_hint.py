# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    for i in range(0, n, num_steps=2):
        tl.store(x_ptr + i, 1.0)

#> unknown_loop_hint.py:8:14: error: tl.range has no parameter `num_steps`
#>     for i in range(0, n, num_steps=2):
#>              ^~~~~~~~~~~~~~~~~~~~~~~~
#> hint: its parameters are arg1, arg2, step, num_stages, loop_unroll_factor, disallow_acc_multi_buffer, flatten, warp_specialize, disable_licm
