"""The rows of bench/gpu/run.py for the kernels of memory_kernels.py, in the form of its own `rows`."""

import torch

DEVICE = "cuda"


def random(*shape, dtype=torch.float32):
    return torch.randn(*shape, device=DEVICE).to(dtype)


def rows():
    n = 1 << 26
    for source, target in ((torch.float32, torch.float32), (torch.float16, torch.float16), (torch.bfloat16, torch.float32)):
        x = random(n, dtype=source)
        size = x.element_size() + torch.empty(0, dtype=target).element_size()
        name = f"copy {str(source)[6:]}" + (f" to {str(target)[6:]}" if source != target else "")
        yield name, size * n, "GB/s", lambda k, out: k.copy[(n // 2048,)](out, x, n, BLOCK=2048), lambda: x, torch.empty_like(x, dtype=target)
    r, c = 8192, 4000
    x = random(r, 4096, dtype=torch.float16)
    yield ("copy rows 8192x4000", 4 * r * c, "GB/s",
           lambda k, out: k.copy_rows[(r // 16, -(-c // 256))](out, x, r, c, 4096, BLOCK_R=16, BLOCK_C=256),
           lambda: x[:, :c], torch.empty(r, c, dtype=torch.float16, device=DEVICE))  # fmt: skip

    r, c, programs = 8192, 4096, 264
    x, dy, w = random(r, c), random(r, c), random(c)
    mean, scale = x.mean(1), (x.var(1, correction=0) + 1e-5).rsqrt()
    dw, db = torch.empty(programs, c, device=DEVICE), torch.empty(programs, c, device=DEVICE)

    def expected():
        normal = (x - mean[:, None]) * scale[:, None]
        g = dy * w
        return (g - normal * (normal * g).mean(1, keepdim=True) - g.mean(1, keepdim=True)) * scale[:, None]

    yield ("layer norm backward 8192x4096", 12 * r * c, "GB/s",
           lambda k, out: k.layer_norm_backward[(programs,)](out, dw, db, dy, x, w, mean, scale, r, c, BLOCK=c, num_warps=8), expected, torch.empty_like(x))  # fmt: skip

    r, c, group = 8192, 8192, 128
    packed = torch.randint(-(1 << 31), 1 << 31, (r, c // 8), dtype=torch.int32, device=DEVICE)
    scales = random(r // group, c, dtype=torch.float16)

    def unpacked():
        numbers = (packed[:, :, None] >> torch.arange(0, 32, 4, dtype=torch.int32, device=DEVICE)) & 15
        return (numbers.reshape(r, c) - 8).to(torch.float16) * scales.repeat_interleave(group, 0)

    yield ("dequantize 4 bits 8192x8192", r * c // 2 + 2 * r * c, "GB/s",
           lambda k, out: k.dequantize[(r // 32, c // 256)](out, packed, scales, c, GROUP=group, BLOCK_R=32, BLOCK_C=256, num_warps=4),
           unpacked, torch.empty(r, c, dtype=torch.float16, device=DEVICE))  # fmt: skip

    for r, c in ((16384, 8192), (65536, 1024)):
        x = random(r, c)
        yield (f"column sums {r}x{c}", 4 * r * c, "GB/s",
               lambda k, out: k.column_sums[(c // 32,)](out, x, r, c, BLOCK_R=64, BLOCK_C=32, num_warps=8), lambda: x.sum(0), torch.empty(c, device=DEVICE))  # fmt: skip
    r, c = 32768, 2000
    x, where = random(r, c), torch.empty(r, dtype=torch.int32, device=DEVICE)
    yield (f"row maxima and places {r}x{c}", 4 * r * c, "GB/s",
           lambda k, out: k.row_maxima[(r // 2,)](out, where, x, c, BLOCK_R=2, BLOCK_C=2048), lambda: x.amax(1), torch.empty(r, device=DEVICE))  # fmt: skip

    r, c = 16384, 4096
    x = random(r, c)
    yield (f"running sums {r}x{c}", 8 * r * c, "GB/s",
           lambda k, out: k.running_sums[(r,)](out, x, c, BLOCK=c, num_warps=8), lambda: x.cumsum(1), torch.empty_like(x))  # fmt: skip
    for r, c, block in ((65536, 128, 8), (16384, 1024, 1)):
        x = random(r, c)
        yield (f"sort rows {r}x{c}", 8 * r * c, "GB/s",
               lambda k, out: k.sort_rows[(r // block,)](out, x, BLOCK_R=block, BLOCK_C=c, num_warps=4), lambda: x.sort(1).values, torch.empty_like(x))  # fmt: skip

    n = 1 << 25
    for bins in (64, 256):
        x = torch.randint(0, bins, (n,), dtype=torch.int32, device=DEVICE)
        yield (f"histogram of {bins} bins", 4 * n, "GB/s",
               lambda k, out: (out.zero_(), k.histogram[(n // 16384,)](out, x, n, BINS=bins, BLOCK=2048, STEPS=8)),
               lambda: torch.bincount(x, minlength=bins), torch.zeros(bins, dtype=torch.int32, device=DEVICE))  # fmt: skip
    n, places = 1 << 24, 1 << 20
    index, x = torch.randint(0, places, (n,), dtype=torch.int32, device=DEVICE), random(n)
    yield ("atomic adds 16Mi to 1Mi", 12 * n, "GB/s",
           lambda k, out: (out.zero_(), k.scatter_add[(n // 1024,)](out, index, x, n, BLOCK=1024)),
           lambda: torch.zeros(places, device=DEVICE).index_add_(0, index, x), torch.zeros(places, device=DEVICE))  # fmt: skip
