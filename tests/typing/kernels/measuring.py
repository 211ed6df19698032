"""Benchmarks, comparisons, profiles, PTX on the simulator."""

import numpy as np
import triton
import triton.language as tl
import triton.profiler as proton
import triton.profiler.language as pl
import triton.testing


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    with pl.scope("copy"):
        tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, offsets < n), offsets < n)
    pl.enter_scope("nothing")
    pl.exit_scope("nothing")


def copy(x):
    out = np.empty_like(x)
    copy_kernel[(triton.cdiv(x.size, 1024),)](x, out, x.size, BLOCK=1024)
    return out


@triton.testing.perf_report(
    triton.testing.Benchmark(
        x_names=["size"], x_vals=[2**i for i in range(12, 20)], x_log=True, line_arg="provider", line_vals=["triton", "numpy"],
        line_names=["Triton", "NumPy"], styles=[("blue", "-"), ("green", "-")], ylabel="GB/s", plot_name="copying", args={"repeat": 2},
    )
)  # fmt: skip
def benchmark(size, provider, repeat):
    x = np.ones(size, np.float32)
    quantiles = [0.5, 0.2, 0.8]
    ms, min_ms, max_ms = triton.testing.do_bench(lambda: copy(x), quantiles=quantiles)
    if provider == "numpy":
        ms, min_ms, max_ms = triton.testing.do_bench(x.copy, rep=10 * repeat, quantiles=quantiles)

    def gbps(ms):
        return 2 * x.nbytes * 1e-9 / (ms * 1e-3)

    return gbps(ms), gbps(max_ms), gbps(min_ms)


def measure():
    benchmark.run(show_plots=True, print_data=True, save_path=".")
    x = np.ones(100, np.float32)
    mean = triton.testing.do_bench(lambda: copy(x), warmup=1, rep=2.5)
    median = triton.testing.do_bench(lambda: copy(x), return_mode="median") * 1e3
    times = triton.testing.do_bench(lambda: copy(x), return_mode="all")
    stats = triton.testing.do_bench(lambda: copy(x), return_mode="stats")
    print(f"{mean + median:.3f} {sum(times)} {stats['p20']}")
    triton.testing.assert_close(copy(x), x, atol=1e-3, rtol=lambda dtype: 1e-2, err_msg="copy")
    print(triton.testing.get_dram_gbps())


def profile():
    session = proton.start("copies", context="shadow", data="trace", hook="triton")
    with proton.scope("forward", {"bytes": 800.0}):
        copy(np.ones(100, np.float32))
    with proton.cpu_timed_scope("host"):
        proton.deactivate(session)
        proton.activate(session)
    named = proton.scope("named")(copy)
    named(np.ones(100, np.float32))
    proton.finalize(session, output_format="chrome_trace")


@proton.profile(name="whole")
def whole(count: int) -> int:
    proton.enter_scope("inner", metrics={"count": count})
    proton.exit_scope()
    return count


def count_three() -> int:
    return whole(3)
