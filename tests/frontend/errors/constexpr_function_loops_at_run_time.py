# signature: *i32,i32
import triton
import triton.language as tl


@triton.constexpr_function
def count(n):
    while n > 1:
        n //= 2
    return n


@triton.jit
def kernel(x_ptr, n):
    tl.store(x_ptr, count(n))

#> constexpr_function_loops_at_run_time.py:8:11: error: a constexpr function cannot loop on a condition that is known only at run time
#>     while n > 1:
#>           ^~~~~
#> called from constexpr_function_loops_at_run_time.py:15
#>     tl.store(x_ptr, count(n))
