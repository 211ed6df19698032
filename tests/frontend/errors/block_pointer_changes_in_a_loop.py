# signature: *i32,i32
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    pointer = tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (4,), (0,))
    for i in range(n):
        pointer = tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (8,), (0,))
    tl.load(pointer)

#> block_pointer_changes_in_a_loop.py:10:9: error: `pointer` changes its type in the loop: it is block_ptr(base=pointer<int32>, shape=a tuple of (int32 scalar), strides=(1,), offsets=a tuple of (int64 scalar), block_shape=(4,)) before the loop (line 8) but block_ptr(base=pointer<int32>, shape=a tuple of (int32 scalar), strides=(1,), offsets=a tuple of (int64 scalar), block_shape=(8,)) at the end of its body
#>         pointer = tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (8,), (0,))
#>         ^~~~~~~
#> hint: a name that a loop carries keeps one type; give it a value of that type before the loop
