"""Kernels of every kind beside their peers: strided tiles, sorts, narrow products, atomics, and what compiling costs.

    nacre run bench/kernels.py [--only TEXT] [--threads N] [--quick] [--write]

Each row is one of bench/slow_kernels.py beside what PyTorch has for it (or beside the same computation written another way),
checked first and then timed in turns in this process, with as many threads for everybody as --threads says (2); the atomics run
in a process of their own with one. Times of one thread are its processor time, so that other work on the machine counts less. The ratio is the better peer's time over ours; compile times stand beside a limit. --write puts the table in bench/RESULTS.md.
"""

import argparse
import datetime
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "examples")]
THREADS = int(sys.argv[sys.argv.index("--threads") + 1]) if "--threads" in sys.argv else 2
for variable in ("NACRE_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[variable] = str(THREADS)

import torch  # noqa: E402
import triton  # noqa: E402

import matmul  # noqa: E402
import slow_kernels as kernels  # noqa: E402
import softmax  # noqa: E402
from timing import smallest_times_ms  # noqa: E402

torch.set_num_threads(THREADS)


class Case:
    """`ours` and `eager` give a tensor to compare; `compiled` is a function for torch.compile."""

    def __init__(self, name, ours, eager, target=0.8, compiled=None, tolerance=0.0):
        self.name, self.ours, self.eager, self.target = name, ours, eager, target
        self.compiled, self.tolerance = compiled, tolerance


def greyscale_2d():
    planes = torch.randint(0, 256, (3, 4096, 4096), dtype=torch.uint8)
    out = torch.empty(4096, 4096, dtype=torch.uint8)

    def ours():
        kernels.greyscale_2d[(128, 32)](planes[0], planes[1], planes[2], out, 4096, ROWS=32, COLUMNS=128)
        return out

    def theirs():
        return (0.299 * planes[0] + 0.587 * planes[1] + 0.114 * planes[2]).to(torch.uint8)

    return Case("greyscale of planes, 4096x4096 uint8, 32x128 blocks", ours, theirs, compiled=theirs, tolerance=1)


def add_one_2d():
    x = torch.randn(4096, 4096)
    out, eager_out = torch.empty_like(x), torch.empty_like(x)

    def ours():
        kernels.add_one_2d[(128, 32)](x, out, 4096, 4096, ROWS=32, COLUMNS=128)
        return out

    return Case("x + 1, 4096x4096 f32, 32x128 blocks", ours, lambda: torch.add(x, 1, out=eager_out))


def column_sums():
    x = torch.randn(4096, 1024)
    out = torch.empty(1024)

    def ours():
        kernels.column_sums[(8,)](x, out, 4096, 1024, ROWS=32, COLUMNS=128)
        return out

    return Case("sum over axis 0, 4096x1024 f32", ours, lambda: x.sum(0), compiled=lambda: x.sum(0), tolerance=1e-3)


def transpose():
    x = torch.randn(2048, 2048)
    out = torch.empty_like(x)

    def ours():
        kernels.transpose[(32, 32)](x, out, 2048, 2048, BLOCK=64)
        return out

    return Case("transpose, 2048x2048 f32, 64x64 blocks", ours, lambda: x.t().contiguous(), compiled=lambda: x.t().contiguous())


def transposed_read():
    x, y = torch.randn(2048, 2048), torch.randn(2048, 2048)
    out = torch.empty_like(x)

    def ours():
        kernels.transposed_read[(32, 32)](x, y, out, 2048, BLOCK=64)
        return out

    return Case("x.t() + y, 2048x2048 f32, 64x64 blocks", ours, lambda: x.t() + y, compiled=lambda: x.t() + y)


def cumsum_rows():
    x = torch.randn(4096, 1024)
    out, eager_out = torch.empty_like(x), torch.empty_like(x)

    def ours():
        kernels.cumsum_rows[(4096,)](x, out, 1024, COLUMNS=1024)
        return out

    return Case("cumsum, 4096x1024 f32", ours, lambda: torch.cumsum(x, 1, out=eager_out), tolerance=1e-3)


def sort_rows(rows, columns, dtype):
    def make():
        x = torch.randn(rows, columns) if dtype.is_floating_point else torch.randint(-(2**31), 2**31 - 1, (rows, columns), dtype=dtype)
        out = torch.empty_like(x)
        name = {torch.float32: "f32", torch.int32: "int32"}[dtype]

        def ours():
            kernels.sort_rows[(1,)](x, out, ROWS=rows, COLUMNS=columns)
            return out

        return Case(f"tl.sort, {rows}x{columns} {name}, one program", ours, lambda: torch.sort(x)[0], target=0.5)

    return make


def topk_rows(rows, columns, k):
    def make():
        x = torch.randn(rows, columns)
        out = torch.empty(rows, k)

        def ours():
            kernels.topk_rows[(rows,)](x, out, K=k, COLUMNS=columns)
            return out

        return Case(f"tl.topk, {k} of {columns} f32, {rows} rows", ours, lambda: torch.topk(x, k)[0], target=0.5)

    return make


def dot_case(name, a, b, out_dtype, theirs, tolerance=0.0, block=(64, 64, 64), target=0.8):
    M, K, N = a.shape[0], a.shape[1], b.shape[1]
    out = torch.empty(M, N, dtype=out_dtype)
    OUT = {torch.int32: triton.language.int32, torch.float32: triton.language.float32, torch.float16: triton.language.float16}[out_dtype]

    def ours():
        grid = (M // block[0], N // block[1])
        kernels.dot_loop[grid](
            a, b, out, M, N, K, *a.stride(), *b.stride(), OUT=OUT, BLOCK_M=block[0], BLOCK_N=block[1], BLOCK_K=block[2]
        )
        return out

    return Case(name, ours, theirs, tolerance=tolerance, target=target)


def int8_dot():
    a, b = (torch.randint(-128, 128, (512, 512), dtype=torch.int8) for _ in range(2))
    return dot_case("dot, 512^3 int8, beside _int_mm", a, b, torch.int32, lambda: torch._int_mm(a, b))


def fp16_dot():
    a, b = (torch.randn(512, 512).half() for _ in range(2))
    return dot_case("dot, 512^3 fp16", a, b, torch.float16, lambda: torch.mm(a, b), tolerance=0.5)


def fp8_dot():
    a, b = (torch.randn(512, 512).to(torch.float8_e4m3fn) for _ in range(2))
    return dot_case("dot, 512^3 fp8e4nv, beside converting and multiplying", a, b, torch.float32,
                    lambda: torch.mm(a.float(), b.float()), tolerance=1e-2)  # fmt: skip


def int4_gemm():
    a = torch.randn(256, 512)
    packed = torch.randint(0, 256, (256, 512), dtype=torch.uint8)
    outs = [torch.empty(256, 512) for _ in range(2)]

    def run(kernel, out):
        kernel[(4, 8)](a, packed, out, 256, 512, 512, BLOCK_M=64, BLOCK_N=64, BLOCK_K=64)
        return out

    return Case("int4 GEMM, 256x512x512, interleave and .T, beside shifts and masks",
                lambda: run(kernels.int4_interleave, outs[0]), lambda: run(kernels.int4_shift, outs[1]), tolerance=1e-2)  # fmt: skip


def convolution():
    x, weight = torch.randn(4, 28, 28, 128), torch.randn(3, 3, 128, 128)
    out = torch.empty(4, 28, 28, 128)
    torch_x = x.permute(0, 3, 1, 2)  # channels last, as ours
    torch_weight = weight.permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)

    def ours():
        grid = (4 * 28 * 28 // 64, 2)
        kernels.convolution[grid](x, weight, out, HEIGHT=28, WIDTH=28, CHANNELS=128, FILTERS=128, BLOCK_M=64, BLOCK_N=64, BLOCK_K=64)
        return out

    return Case("convolution 3x3, 4x28x28x128 to 128 f32, channels last", ours,
                lambda: torch.conv2d(torch_x, torch_weight, padding=1).permute(0, 2, 3, 1), tolerance=1e-2)  # fmt: skip


def convolution_nchw():
    x, weight = torch.randn(4, 64, 28, 28), torch.randn(64, 64, 3, 3)
    out = torch.empty(4, 64, 28, 28)

    def ours():
        places = 4 * 28 * 28
        grid = (triton.cdiv(places, 64), 1)
        kernels.convolution_nchw[grid](
            x, weight, out, places, HEIGHT=28, WIDTH=28, CHANNELS=64, FILTERS=64, BLOCK_M=64, BLOCK_N=64, BLOCK_K=32
        )
        return out

    return Case("convolution 3x3, 4x64x28x28 to 64 f32, channels first", ours, lambda: torch.conv2d(x, weight, padding=1), tolerance=1e-2)


def layer_norm_backward():
    rows, columns, each = 4096, 1024, 64
    x, dy, weight = torch.randn(rows, columns), torch.randn(rows, columns), torch.rand(columns)
    mean, rstd = x.mean(1), 1 / torch.sqrt(x.var(1, unbiased=False) + 1e-5)
    dx = torch.empty_like(x)
    parts = torch.empty(2, rows // each, columns)

    def ours():
        kernels.layer_norm_backward[(rows // each,)](
            dx, dy, parts[0], parts[1], x, weight, mean, rstd, rows, columns, ROWS=each, BLOCK=columns
        )
        parts.sum(1)
        return dx

    bias = torch.zeros(columns)

    def theirs():
        return torch.ops.aten.native_layer_norm_backward(
            dy, x, [columns], mean[:, None], rstd[:, None], weight, bias, [True, True, True]
        )[0]

    return Case("layer norm backward, 4096x1024 f32", ours, theirs, tolerance=1e-3)


def odd_matmul():
    a, b = torch.randn(1000, 555), torch.randn(555, 777)
    out, eager_out = torch.empty(1000, 777), torch.empty(1000, 777)
    return Case("matmul, 1000x777x555 f32, 128-blocks", lambda: matmul.grouped_matmul(a, b, out, block=128),
                lambda: torch.mm(a, b, out=eager_out), tolerance=1e-2)  # fmt: skip


def bf16_matmul():
    a, b = torch.randn(1024, 1024).bfloat16(), torch.randn(1024, 1024).bfloat16()
    out, eager_out = (torch.empty(1024, 1024, dtype=torch.bfloat16) for _ in range(2))
    return Case("matmul, 1024^3 bf16, 128-blocks", lambda: matmul.grouped_matmul(a, b, out, block=128),
                lambda: torch.mm(a, b, out=eager_out), tolerance=1.0)  # fmt: skip


def odd_softmax():
    x = torch.randn(8192, 781)
    out, eager_out = torch.empty_like(x), torch.empty_like(x)
    return Case("softmax, 8192x781 f32", lambda: softmax.softmax(x, out), lambda: torch.softmax(x, 1, out=eager_out), tolerance=1e-6)


# ---- one thread


def scatter_add():
    count, places = 1 << 20, 1 << 16
    x, index = torch.randn(count), torch.randint(0, places, (count,))
    index32 = index.to(torch.int32)
    out, eager_out = torch.zeros(places), torch.zeros(places)

    def ours():
        out.zero_()
        kernels.scatter_add[(triton.cdiv(count, 1024),)](x, index32, out, count, BLOCK=1024)
        return out

    return Case("scatter_add, 1M into 64k f32", ours, lambda: eager_out.zero_().scatter_add_(0, index, x), tolerance=1e-3)


def segmented_sum():
    count, segments = 1 << 20, 1 << 14
    x = torch.randn(count)
    segment = torch.randint(0, segments, (count,)).sort()[0]
    segment32, lengths = segment.to(torch.int32), torch.bincount(segment, minlength=segments)
    out = torch.zeros(segments)

    def ours():
        out.zero_()
        kernels.segmented_sum[(triton.cdiv(count, 1024),)](x, segment32, out, count, BLOCK=1024)
        return out

    return Case("segmented sum, 1M in 16k segments f32", ours, lambda: torch.segment_reduce(x, "sum", lengths=lengths), tolerance=1e-3)


def histogram(builtin):
    def make():
        count, bins = 1 << 20, 256
        x = torch.randint(0, bins, (count,), dtype=torch.int32)
        out = torch.zeros(bins, dtype=torch.int32)

        def ours():
            out.zero_()
            grid = (triton.cdiv(count, 1024),)
            if builtin:
                kernels.histogram_builtin[grid](x, out, count, BINS=bins, BLOCK=1024)
            else:
                kernels.histogram_atomics[grid](x, out, count, BLOCK=1024)
            return out

        name = "tl.histogram" if builtin else "histogram by atomics"
        return Case(f"{name}, 1M int32 in 256 bins", ours, lambda: torch.bincount(x, minlength=bins))

    return make


def csr_product():
    rows, each = 1 << 14, 32
    lengths = torch.randint(0, 2 * each, (rows,))
    starts = torch.zeros(rows + 1, dtype=torch.int64)
    starts[1:] = lengths.cumsum(0)
    count = int(starts[-1])
    values, columns, x = torch.randn(count), torch.randint(0, rows, (count,)), torch.randn(rows)
    out = torch.empty(rows)
    starts32, columns32 = starts.to(torch.int32), columns.to(torch.int32)
    sparse = torch.sparse_csr_tensor(starts32, columns32, values, (rows, rows), check_invariants=False)

    def ours():
        kernels.csr_product[(rows,)](values, columns32, starts32, x, out, BLOCK=64)
        return out

    return Case("CSR times vector, 16k rows of 0 to 63 f32", ours, lambda: sparse @ x, tolerance=1e-3)


def look_back_scan():
    count, block = 1 << 20, 1024
    x = torch.randn(count)
    out, eager_out = torch.empty(count), torch.empty(count)
    programs = triton.cdiv(count, block)
    sums, flags = torch.empty(programs), torch.zeros(programs, dtype=torch.int32)

    def ours():
        flags.zero_()
        kernels.look_back_scan[(programs,)](x, out, sums, flags, count, BLOCK=block)
        return out

    return Case("look-back scan, 1M f32", ours, lambda: torch.cumsum(x, 0, out=eager_out), tolerance=1e-2)


CASES = {
    "greyscale_2d": greyscale_2d, "add_one_2d": add_one_2d, "column_sums": column_sums, "transpose": transpose,
    "transposed_read": transposed_read, "cumsum": cumsum_rows, "sort_8x1024": sort_rows(8, 1024, torch.float32),
    "sort_int_8x1024": sort_rows(8, 1024, torch.int32), "sort_1x32768": sort_rows(1, 32768, torch.float32),
    "topk_8": topk_rows(8, 32768, 64), "topk_1": topk_rows(1, 32768, 64), "int8_dot": int8_dot, "fp16_dot": fp16_dot,
    "fp8_dot": fp8_dot, "int4_gemm": int4_gemm, "bf16_matmul": bf16_matmul, "odd_matmul": odd_matmul,
    "convolution": convolution, "convolution_nchw": convolution_nchw, "layer_norm_backward": layer_norm_backward,
    "odd_softmax": odd_softmax,
}  # fmt: skip
ONE_THREAD_CASES = {
    "scatter_add": scatter_add, "segmented_sum": segmented_sum, "histogram_atomics": histogram(False),
    "histogram_builtin": histogram(True), "csr_product": csr_product, "look_back_scan": look_back_scan,
}  # fmt: skip


def largest_difference(actual, expected):
    return (actual.double() - expected.double()).abs().max().item()


def row_of(name, block_ms, peers, target):
    shown = ", ".join(f"{peer} {value:.3f}" for peer, value in peers.items())
    ratio = min(peers.values()) / block_ms
    return f"| {name} | {block_ms:.3f} | {shown} | {ratio:.2f} | {target:.2f} | {'yes' if ratio >= target else 'NO'} |"


def measure(make, rounds, seconds):
    torch.manual_seed(0)
    case = make()
    difference = largest_difference(case.ours(), case.eager())
    if not difference <= case.tolerance:
        raise AssertionError(f"{case.name}: largest error {difference:.3g} is over {case.tolerance:.3g}")
    contenders = {"ours": case.ours, "eager": case.eager}
    if case.compiled is not None:
        compiled = torch.compile(case.compiled)
        try:
            compiled()
            contenders["compiled"] = compiled
        except Exception as error:  # the peer is missing from the row
            print(f"torch.compile failed on {case.name}: {str(error).splitlines()[0]}", file=sys.stderr)
    clock = time.process_time if THREADS == 1 else time.perf_counter
    times = smallest_times_ms(contenders, rounds, seconds, clock=clock)
    return row_of(case.name, times.pop("ours"), times, case.target)


# ---- Launches and compiles, beside limits


def fork_and_join_us():
    """What a launch of an empty program for each thread costs."""
    x = torch.zeros(1)
    launch = kernels.nothing[(THREADS,)]
    launch(x)
    best = float("inf")
    for _ in range(200):
        start = time.perf_counter()
        for _ in range(50):
            launch(x)
        best = min(best, (time.perf_counter() - start) / 50)
    return best * 1e6


def compile_seconds(kernel, *arguments, **constants):
    """The first compile of a kernel, with nothing in the cache: processor time, since others may be running."""
    start = time.process_time()
    kernel.warmup(*arguments, grid=(1,), **constants)
    return time.process_time() - start


COMPILES = {
    # a third of what each once took
    "compile_functions_64": ("static_range(64) of exp and sin", lambda: (kernels.unrolled_functions, {"STEPS": 64}, torch.float32), 0.42),
    "compile_functions_256": ("static_range(256) of exp and sin", lambda: (kernels.unrolled_functions, {"STEPS": 256}, torch.float32), 2.0),
    "compile_dots_64": ("static_range(64) of dot 32x32x32", lambda: (kernels.unrolled_dots, {"STEPS": 64}, torch.float32), 0.43),
    "compile_bitonic": ("bitonic sort of 2048 by hand", lambda: (kernels.bitonic_by_hand, {"STAGES": 11}, torch.int32), 3.3),
}


def limits(only):
    rows = []
    os.environ["TRITON_ALWAYS_COMPILE"] = "1"
    if only in "launch":
        cost = fork_and_join_us()
        rows.append(f"| a launch of {THREADS} empty programs on {THREADS} threads | {cost:.2f} us | 3 us | {'yes' if cost <= 3 else 'NO'} |")
        print(rows[-1], flush=True)
    for key, (name, make, limit) in COMPILES.items():
        if only in key:
            kernel, constants, dtype = make()
            x = torch.zeros(1 << 12, dtype=dtype)
            seconds = compile_seconds(kernel, x, x.clone(), **constants)
            rows.append(f"| compile: {name} | {seconds:.2f} s | {limit} s | {'yes' if seconds <= limit else 'NO'} |")
            print(rows[-1], flush=True)
    return rows


HEAD = ["| kernel | ours ms | peers ms | ratio | target | reached |", "|---|---|---|---|---|---|"]
LIMITS_HEAD = ["| what | measured | limit | reached |", "|---|---|---|---|"]
TITLE = "Kernels of every kind"


def write(lines, command):
    file = ROOT / "bench" / "RESULTS.md"
    before, *sections = file.read_text().split("\n## ")
    kept = [section for section in sections if not section.startswith(TITLE)]
    what = "one thread for everybody, processor time" if THREADS == 1 else f"{THREADS} threads for everybody"
    intro = [f"{TITLE}", "", f"`{command}`, {datetime.date.today().isoformat()}, the machine above, torch {torch.__version__}; {what}.", ""]
    file.write_text("\n## ".join([before, *kept[:1], "\n".join(intro + lines) + "\n", *kept[1:]]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="rows whose key holds this text")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--write", action="store_true", help="write the table into bench/RESULTS.md")
    parser.add_argument("--threads", type=int, default=2, help="of everybody, but for the atomics")
    parser.add_argument("--atomics", action="store_true", help="those rows alone, without a head")
    options = parser.parse_args()
    rounds, seconds = (3, 0.5) if options.quick else (10, 3.0)
    rows = []
    if not options.atomics:
        print("\n".join(HEAD), flush=True)
    for key, make in (ONE_THREAD_CASES if options.atomics else CASES).items():
        if options.only in key:
            rows.append(measure(make, rounds, seconds))
            print(rows[-1], flush=True)
    if options.atomics:
        return 0
    if any(options.only in key for key in ONE_THREAD_CASES):
        command = [sys.executable, __file__, "--atomics", "--threads", "1", "--only", options.only] + (["--quick"] if options.quick else [])
        alone = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        print(alone, end="")
        rows += [line.replace(" |", ", one thread |", 1) for line in alone.splitlines() if line.startswith("|")]
    print("\n".join(["", *LIMITS_HEAD]), flush=True)
    limited = limits(options.only)
    everything = rows + limited
    reached = sum("| yes |" in row for row in everything)
    print(f"{reached} of {len(everything)} targets reached")
    if options.write:
        command = " ".join(["nacre run bench/kernels.py", *sys.argv[1:]])
        write([*HEAD, *rows, "", *LIMITS_HEAD, *limited, "", f"{reached} of {len(everything)} targets reached."], command)
    return 0


if __name__ == "__main__":
    sys.exit(main())
