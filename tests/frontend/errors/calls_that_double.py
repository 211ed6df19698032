# signature: *fp32
import triton
import triton.language as tl


@triton.jit
def fibonacci(n: tl.constexpr):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


@triton.jit
def kernel(x):
    tl.store(x, fibonacci(60))

#> calls_that_double.py:8:12: error: the kernel is too large to compile: more than 2097152 expressions, when helpers and static loops are copied to where they are used
#>     if n < 2:
#>            ^
#> hint: use a plain `for ... in range(...)`, which is a loop at run time, or split the kernel
#> called from calls_that_double.py:10
#>     return fibonacci(n - 1) + fibonacci(n - 2)
#> called from calls_that_double.py:15
#>     tl.store(x, fibonacci(60))
