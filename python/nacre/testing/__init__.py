"""Timing kernels, and comparing results.

timing.py: do_bench and its kin. reports.py: perf_report, with page.py for its web page. closeness.py: assert_close. limits.py: what the
device can do at most. clocks.py: how fast its clock ran. regressions.py: `nacre bench`.
"""

from .closeness import assert_close
from .limits import cublas, get_dram_gbps, get_max_simd_tflops, get_max_tensorcore_tflops, nvsmi, set_gpu_clock
from .reports import Benchmark, Mark, perf_report
from .timing import (
    cuda_graph_without_gc,
    cuda_memcheck,
    do_bench,
    do_bench_cudagraph,
    do_bench_cudagraph_proton,
    do_bench_proton,
    summarize as _summarize_statistics,  # noqa: F401  (packages take it from here by that name)
)

__all__ = [
    "Benchmark", "Mark", "assert_close", "cublas", "cuda_graph_without_gc", "cuda_memcheck", "do_bench", "do_bench_cudagraph",
    "do_bench_cudagraph_proton", "do_bench_proton", "get_dram_gbps", "get_max_simd_tflops", "get_max_tensorcore_tflops", "nvsmi",
    "perf_report", "set_gpu_clock",
]  # fmt: skip
