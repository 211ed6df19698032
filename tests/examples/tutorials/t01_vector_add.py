"""Of the shape of Triton's first tutorial: a sum of vectors, checked, then a benchmark with a report."""

import torch
import triton
import triton.language as tl

DEVICE = triton.runtime.driver.active.get_active_torch_device()
LARGEST = 28 if DEVICE.type == "cuda" else 14


@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x + y, mask=mask)


def add(x: torch.Tensor, y: torch.Tensor):
    output = torch.empty_like(x)
    assert x.device == DEVICE and y.device == DEVICE and output.device == DEVICE
    n_elements = output.numel()
    grid = lambda meta: (triton.cdiv(n_elements, meta["BLOCK_SIZE"]),)  # noqa: E731
    add_kernel[grid](x, y, output, n_elements, BLOCK_SIZE=1024)
    return output


torch.manual_seed(0)
x, y = torch.rand(98432, device=DEVICE), torch.rand(98432, device=DEVICE)
assert torch.equal(add(x, y), x + y)


@triton.testing.perf_report(
    triton.testing.Benchmark(
        x_names=["size"], x_vals=[2**i for i in range(12, LARGEST, 4)], x_log=True, line_arg="provider", line_vals=["triton", "torch"],
        line_names=["Triton", "Torch"], styles=[("blue", "-"), ("green", "-")], ylabel="GB/s", plot_name="vector-add-performance", args={},
    )
)  # fmt: skip
def benchmark(size, provider):
    x, y = torch.rand(size, device=DEVICE), torch.rand(size, device=DEVICE)
    call = (lambda: x + y) if provider == "torch" else (lambda: add(x, y))
    ms, min_ms, max_ms = triton.testing.do_bench(call, quantiles=[0.5, 0.2, 0.8])
    rate = lambda ms: 3 * x.numel() * x.element_size() * 1e-9 / (ms * 1e-3)  # noqa: E731
    return rate(ms), rate(max_ms), rate(min_ms)


benchmark.run(print_data=True, show_plots=False)
