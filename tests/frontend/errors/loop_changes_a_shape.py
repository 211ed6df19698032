# signature: *fp32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    total = 0.0
    for i in range(n):
        total += tl.load(x_ptr + tl.arange(0, 16))
    tl.store(x_ptr + tl.arange(0, 16), total)

#> loop_changes_a_shape.py:10:9: error: `total` changes its type in the loop: it is fp32 scalar before the loop (line 8) but fp32 tensor of shape [16] at the end of its body
#>         total += tl.load(x_ptr + tl.arange(0, 16))
#>         ^~~~~
#> hint: a name that a loop carries keeps one type; begin with a tensor of that shape, for instance tl.zeros([16], tl.float32)
