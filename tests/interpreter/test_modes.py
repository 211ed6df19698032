"""Who runs a kernel: the environment, the driver's mode, the kernel's own option; and programs side by side."""

import linecache
import sys

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.runtime.interpreter import InterpretedFunction
from triton.tools.debug import check_tensors_gpu_ready, check_tensors_ready, holds, print_if

seen = []


@triton.jit(interpret=True)
def own_option_kernel(x_ptr):
    seen.append(int(tl.program_id(0)))
    tl.store(x_ptr + tl.program_id(0), 1)


def test_a_kernels_own_option():
    seen.clear()
    x = np.zeros(3, np.int32)
    assert isinstance(own_option_kernel, InterpretedFunction)
    own_option_kernel[(3,)](x)
    assert seen == [0, 1, 2] and x.tolist() == [1, 1, 1]


def test_the_environment(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")

    @triton.jit
    def kernel(x_ptr):
        seen.append("ran")
        tl.store(x_ptr, 5)

    monkeypatch.delenv("TRITON_INTERPRET")  # read when @jit runs
    seen.clear()
    kernel[(1,)](np.zeros(1, np.int32))
    assert seen == ["ran"]


@triton.jit
def plain_kernel(x_ptr, n):
    if n > 100:
        print("python runs this")
    tl.store(x_ptr, n)


def test_the_drivers_mode(interpret, capsys):
    x = np.zeros(1, np.int32)
    plain_kernel[(1,)](x, 101)
    assert capsys.readouterr().out == "python runs this\n" and x[0] == 101
    triton.runtime.driver.active.set_interpret_mode(False)
    assert plain_kernel[(1,)](x, 50).asm  # compiled
    assert x[0] == 50


@triton.jit
def sums_kernel(x_ptr, out_ptr, count_ptr, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    x = tl.load(x_ptr + program * BLOCK + tl.arange(0, BLOCK))
    for _ in range(20):
        x = x * 2 - x
    tl.store(out_ptr + program, tl.sum(x))
    tl.atomic_add(count_ptr, 1)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_programs_side_by_side(interpret, threads):
    x = np.arange(64 * 5000, dtype=np.int64).reshape(64, 5000)
    out, count = np.zeros(64, np.int64), np.zeros(1, np.int32)
    with triton.knobs.runtime.scope():
        triton.knobs.runtime.interpret_threads = threads
        sums_kernel[(64,)](x, out, count, BLOCK=5000)
    np.testing.assert_array_equal(out, x.sum(1))
    assert count[0] == 64


@triton.jit
def failing_kernel(n):
    if tl.program_id(0) == n:
        raise ArithmeticError("this program fails")


def test_an_error_of_one_of_many_threads(interpret):
    with triton.knobs.runtime.scope():
        triton.knobs.runtime.interpret_threads = 3
        failing_kernel[(30,)](1000)
        with pytest.raises(ArithmeticError, match="this program fails"):
            failing_kernel[(30,)](7)


@triton.jit
def waiting_kernel(flag_ptr, out_ptr):
    program = tl.program_id(0)
    if program == 0:
        while tl.atomic_add(flag_ptr, 0) == 0:  # the other program sets it
            pass
    else:
        tl.atomic_xchg(flag_ptr, 5)
    tl.store(out_ptr + program, tl.atomic_add(flag_ptr, 0))


def test_programs_of_a_cooperative_grid_wait_for_one_another(interpret):
    flag, out = np.zeros(1, np.int32), np.zeros(2, np.int32)
    waiting_kernel[(2,)](flag, out, launch_cooperative_grid=True)
    assert out.tolist() == [5, 5]


@triton.jit
def overflow_kernel(x_ptr, n):
    tl.store(x_ptr, tl.load(x_ptr) * n)


def test_overflow_is_reported_under_debug(interpret):
    x = np.array([2**30], np.int32)
    overflow_kernel[(1,)](x.copy(), 5)
    with pytest.raises(AssertionError, match="overflow"):
        overflow_kernel[(1,)](x, 5, debug=True, sanitize_overflow=True)


def test_conditions_on_program_ids():
    assert holds("=0", (0, 5, 0)) and holds(",>1", (0, 5, 0)) and holds("<=3,,=2", (3, 9, 2)) and not holds("!=1", (1, 0, 0))
    assert holds((0, None, 2), (0, 7, 2)) and holds(lambda x, y, z: x == y, (4, 4, 0)) and not holds(3, (2, 0, 0))
    with pytest.raises(ValueError, match="not a comparison"):
        holds("0", (0, 0, 0))


def test_checks_of_tensors():
    x = np.zeros((4, 4), np.float32)
    check_tensors_ready(x, x[1:])
    check_tensors_gpu_ready(x)
    with pytest.raises(ValueError, match="tensor 1 of 2, of shape .*, is not contiguous"):
        check_tensors_ready(x, x.T)
    with pytest.raises(ValueError, match="is a list, not a tensor"):
        check_tensors_ready([1])
    with pytest.raises(ValueError, match="is on cpu, where cuda is needed"):
        check_tensors_ready(x, device="cuda")


@triton.autotune(configs=[triton.Config({"BLOCK": 16}), triton.Config({"BLOCK": 32})], key=["n"])
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def tuned_kernel(x_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(x_ptr + offsets, offsets)
    else:
        tl.store(x_ptr + offsets, offsets, mask=offsets < n)


runs = []


@triton.autotune(
    configs=[triton.Config({"BLOCK": block}) for block in (8, 16, 32)], key=["n"],
    prune_configs_by={"early_config_prune": lambda configs, named, **_: [c for c in configs if c.kwargs["BLOCK"] > 8]},
)  # fmt: skip
@triton.jit
def counted_kernel(x_ptr, n, BLOCK: tl.constexpr):
    runs.append(BLOCK)


def test_python_runs_a_tuned_kernel_once(interpret):
    runs.clear()
    x = np.zeros(8, np.int32)
    counted_kernel[(2,)](x, 8)
    assert runs == [16, 16] and counted_kernel.best_config.kwargs == {"BLOCK": 16}
    assert counted_kernel.cache == {}  # a compiled launch still finds its own
    counted_kernel[(1,)](x, 8)
    assert runs == [16, 16, 16]


@triton.jit
def printing_kernel(count):
    program = tl.program_id(0)
    for i in range(count):
        print("program", program, "round", i, tl.arange(0, 8), sep=" ", end=";\n")
        tl.device_print("x", tl.arange(0, 8))


@pytest.mark.parametrize("threads", [1, 4])
def test_prints_of_many_threads_stay_whole(interpret, capsys, threads):
    with triton.knobs.runtime.scope():
        triton.knobs.runtime.interpret_threads = threads
        printing_kernel[(30,)](10)
    lines = capsys.readouterr().out.splitlines()
    expected = [f"program {p} round {i} [0 1 2 3 4 5 6 7];" for p in range(30) for i in range(10)]
    expected += [f"({p}, 0, 0)  x:  [0 1 2 3 4 5 6 7]" for p in range(30) for i in range(10)]
    assert sorted(lines) == sorted(expected)


@pytest.mark.parametrize("n", [96, 100])
def test_tuned_kernels(interpret, n):
    x = np.full(n, -1, np.int32)
    tuned_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, n)
    np.testing.assert_array_equal(x, np.arange(n))


TEXT = """
import triton
import triton.language as tl

@triton.jit
def kernel(x_ptr, N: tl.constexpr):
    offsets = tl.arange(0, N)
    tl.store(x_ptr + offsets, offsets + FIRST)
    tl.static_assert(N < 8, "N is too large")
"""


@pytest.mark.parametrize("on", [False, True])
def test_text_that_is_executed(on):
    """Generated kernels: their text is where Python's own tracebacks look for it."""
    name = f"<generated {on}>"
    names = {"FIRST": tl.constexpr(3), "__name__": "generated"}
    with pytest.raises(ValueError, match="must stand in linecache.cache"):
        exec(compile(TEXT, name, "exec"), names)
    linecache.cache[name] = len(TEXT), None, TEXT.splitlines(keepends=True), name
    exec(compile(TEXT, name, "exec"), names)
    x = np.zeros(4, np.int32)
    triton.runtime.driver.active.set_interpret_mode(on)
    try:
        names["kernel"][(1,)](x, N=4)
        assert x.tolist() == [3, 4, 5, 6]
        with pytest.raises(triton.CompilationError, match="N is too large") as raised:
            names["kernel"][(1,)](np.zeros(8, np.int32), N=8)
        assert f'{name}:9:5: error' in str(raised.value) and '    tl.static_assert(N < 8, "N is too large")\n    ^~' in str(raised.value)
    finally:
        triton.runtime.driver.active.set_interpret_mode(False)


@triton.jit
def traced_kernel(x_ptr, n):
    if n > 3:
        x = tl.max(tl.load(x_ptr + tl.arange(0, 4)))
    else:
        x = 7.0
    tl.store(x_ptr, x)


def test_tools_that_trace_lines_see_the_kernels(interpret):
    """As coverage does: lines that ran, and no lines of the library's."""
    lines, files = set(), set()

    def trace(frame, event, argument):
        files.add(frame.f_code.co_filename)
        if event == "line" and frame.f_code.co_name == "traced_kernel":
            lines.add(frame.f_lineno - traced_kernel.fn.__code__.co_firstlineno)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        traced_kernel[(1,)](np.zeros(4, np.float32), 5)
    finally:
        sys.settrace(before)
    assert lines == {2, 3, 6} and files == {__file__}


@triton.jit
def endless_kernel(started_ptr):
    tl.atomic_add(started_ptr, 1)
    if tl.program_id(0) == 0:
        while tl.atomic_add(started_ptr, 0) < 2:  # the other has begun
            pass
        raise ArithmeticError("this program fails")
    count = 0
    while True:
        count += 1


def test_an_error_ends_programs_that_would_go_on(interpret):
    with triton.knobs.runtime.scope():
        triton.knobs.runtime.interpret_threads = 2
        with pytest.raises(ArithmeticError, match="this program fails"):
            endless_kernel[(2,)](np.zeros(1, np.int32))
    assert sum(range(1000)) == 499500  # nothing comes after it


INTERRUPTED = """
import os, signal, threading
import nacre; nacre.activate()
import numpy as np
import triton
import triton.language as tl

@triton.jit(interpret=True)
def kernel(started_ptr):
    tl.atomic_add(started_ptr, 1)
    count = 0
    while True:
        count += 1

signal.signal(signal.SIGINT, signal.default_int_handler)  # where the parent ignores it, so would we
started = np.zeros(1, np.int32)

def interrupt():
    while started[0] < THREADS:
        pass
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt, daemon=True).start()
try:
    kernel[(4,)](started)
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize("threads", [1, 3])
def test_an_interrupt_ends_a_launch(run_script, threads):
    output, _ = run_script(INTERRUPTED.replace("THREADS", str(threads)), NACRE_INTERPRET_THREADS=str(threads))
    assert output == "interrupted\n"


@triton.jit
def helped_kernel(x_ptr):
    print_if("here", "=0")


def test_debugging_helpers_say_who_must_run_the_kernel(capsys):
    x = np.zeros(1, np.int32)
    with pytest.raises(triton.CompilationError, match="a helper for kernels that Python runs: set TRITON_INTERPRET=1"):
        helped_kernel[(2,)](x)
    triton.runtime.driver.active.set_interpret_mode(True)
    try:
        helped_kernel[(2,)](x)
    finally:
        triton.runtime.driver.active.set_interpret_mode(False)
    assert capsys.readouterr().out == "here\n"
