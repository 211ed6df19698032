# signature: *fp16,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    total = tl.zeros((16,), dtype=tl.float16)
    for i in range(n):
        total = total + tl.load(x_ptr + i).to(tl.float32) * tl.arange(0, 16).to(tl.float32)
    tl.store(x_ptr + tl.arange(0, 16), total)

#> loop_changes_a_type.py:10:9: error: `total` changes its type in the loop: it is fp16 tensor of shape [16] before the loop (line 8) but fp32 tensor of shape [16] at the end of its body
#>         total = total + tl.load(x_ptr + i).to(tl.float32) * tl.arange(0, 16).to(tl.float32)
#>         ^~~~~
#> hint: a name that a loop carries keeps one type; cast one of the two, for instance with .to(...)
