"""Kernels on NumPy arrays, without PyTorch: a sum of two arrays, and the softmax of each row.

Nacre takes anything that shows where its memory is; Triton itself takes torch tensors only.
"""

import time

import numpy
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask), mask=mask)


@triton.jit
def softmax_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(x_ptr + row * columns + offsets, mask=mask, other=-float("inf"))
    exponentials = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * columns + offsets, exponentials / tl.sum(exponentials, axis=0), mask=mask)


def softmax_numpy(x):
    exponentials = numpy.exp(x - x.max(axis=1, keepdims=True))
    return exponentials / exponentials.sum(axis=1, keepdims=True)


def show(name, out, expected, tolerance, launch, theirs):
    def best(function):
        times = []
        for _ in range(5):
            start = time.perf_counter()
            function()
            times.append(time.perf_counter() - start)
        return min(times) * 1e3

    launch()
    error = float(numpy.abs(out - expected).max())
    if not error <= tolerance:
        raise AssertionError(f"{name}: largest error {error:.3g} is over {tolerance:.3g}")
    print(f"{name:<44} max error {error:8.2e}   ours {best(launch):8.3f} ms   numpy {best(theirs):8.3f} ms", flush=True)


def main(count=1 << 22, rows=1024, columns=781):
    generator = numpy.random.default_rng(0)
    x = generator.random(count, dtype=numpy.float32)
    y = generator.random(count, dtype=numpy.float32)
    out = numpy.empty_like(x)
    grid = (triton.cdiv(count, 4096),)
    show(f"vector add, {count} f32, NumPy", out, x + y, 0, lambda: add_kernel[grid](x, y, out, count, BLOCK=4096), lambda: x + y)

    x = generator.standard_normal((rows, columns), dtype=numpy.float32)
    out = numpy.empty_like(x)
    block = triton.next_power_of_2(columns)
    show(
        f"softmax, {rows}x{columns} f32, NumPy", out, softmax_numpy(x), 1e-6,
        lambda: softmax_kernel[(rows,)](x, out, columns, BLOCK=block), lambda: softmax_numpy(x),
    )  # fmt: skip


if __name__ == "__main__":
    main()
