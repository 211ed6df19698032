"""Python ends daemon threads where they ask for its lock, and the process ends as if they had not been there: python/core/ThreadEnds.cpp."""

import textwrap

import pytest

# Daemon threads come to call wait(), where they ask for Python's lock again and again. The interpreter ends when all have.
BEGINNING = """
import functools, io, os, sys, threading, time
import numpy as np, nacre, nacre.language as tl

THREADS = 3
arrived = threading.Semaphore(0)
own = threading.local()

def wait():
    if threading.current_thread() is threading.main_thread():
        return
    if not hasattr(own, "has_arrived"):
        own.has_arrived = True
        arrived.release()
    while True:
        time.sleep(0.0001)

class Wait:
    def __del__(self):
        wait()

@nacre.jit
def kernel(out, value, BLOCK: tl.constexpr = 8):
    tl.store(out + tl.arange(0, BLOCK), value)

def launch(number):
    kernel[(1,)](np.zeros(8, np.int32), number)

"""
END = """
for number in range(THREADS):
    threading.Thread(target=launch, args=(number,), daemon=True).start()
for _ in range(THREADS):
    assert arrived.acquire(timeout=300)
print("end")
"""
PLACES = {
    "a hook of launches": """
        nacre.knobs.runtime.launch_enter_hook.add(lambda metadata: wait())
    """,
    "a hook of compiles": """
        nacre.knobs.runtime.jit_cache_hook = lambda **what: wait()
    """,
    "a grid": """
        def launch(number):
            kernel[lambda meta: wait() or (1,)](np.zeros(8, np.int32), number)
    """,
    "a destructor": """
        class Grid(tuple, Wait):
            pass
        def launch(number):
            kernel[lambda meta: Grid((1,))](np.zeros(8, np.int32), number)
    """,
    "an argument": """
        class Array:
            dtype = "int32"
            def data_ptr(self):
                wait()
        def launch(number):
            kernel[(1,)](Array(), number)
    """,
    "device_print": """
        class Out(io.StringIO):
            def write(self, text):
                wait()
        @nacre.jit
        def print_kernel(out, value):
            tl.device_print("value", value)
        def launch(number):
            print_kernel[(4,)](np.zeros(8, np.int32), number)
        own_print = functools.partial(print, file=sys.stdout)
        print, sys.stdout = own_print, Out()
    """,
    "static_print": """
        class Out(io.StringIO):
            def write(self, text):
                wait()
        @nacre.jit
        def print_kernel(out, VALUE: tl.constexpr):
            tl.static_print(VALUE)
        def launch(number):
            print_kernel[(1,)](np.zeros(8, np.int32), number)
        own_print = functools.partial(print, file=sys.stdout)
        print, sys.stdout = own_print, Out()
    """,
    "a compile": """
        @nacre.constexpr_function
        def constant(value):
            wait()
            return value
        @nacre.jit
        def constant_kernel(out, VALUE: tl.constexpr):
            tl.store(out, constant(VALUE))
        def launch(number):
            constant_kernel[(1,)](np.zeros(8, np.int32), number)
    """,
    "tuning": """
        def bench(call, quantiles):
            call()
            wait()
            return [1.0] * 3
        THREADS = 1  # one tunes at a time
        kernel = nacre.autotune([nacre.Config({"BLOCK": 4}), nacre.Config({"BLOCK": 8})], key=["value"], do_bench=bench)(kernel)
    """,
    "a tuned launch": """
        kernel = nacre.autotune([nacre.Config({"BLOCK": 4}), nacre.Config({"BLOCK": 8})], key=["value"])(kernel)
        kernel[(1,)](np.zeros(8, np.int32), 1)
        nacre.knobs.runtime.launch_exit_hook.add(lambda metadata: wait())
        def launch(number):
            kernel[(1,)](np.zeros(8, np.int32), 1)
    """,
    "a scope of the profiler": """
        class Number(float):
            def __del__(self):
                wait()
        import nacre.profiler
        nacre.profiler.start(sys.argv[1], context="python")
        def launch(number):
            with nacre.profiler.scope("scope", {"metric": Number(number)}):
                while True:
                    kernel[(1,)](np.zeros(8, np.int32), number)
                    if not hasattr(own, "has_arrived"):
                        own.has_arrived = True
                        arrived.release()
    """,
    "metadata for the profiler": """
        def metadata(grid, kernel, args):
            wait()
            return {"name": "kernel"}
        kernel = nacre.jit(launch_metadata=metadata)(kernel.fn)
        import nacre.profiler
        nacre.profiler.start(sys.argv[1], hook="triton")
    """,
}
INTERPRETED = {
    "a grid": PLACES["a grid"],
    "a destructor": PLACES["a destructor"],
    "device_print": PLACES["device_print"],
    "a function that the kernel calls": """
        @nacre.jit
        def calling_kernel(out, value):
            for index in range(value + 1):
                tl.store(out + index, index)
                wait()
        def launch(number):
            calling_kernel[(1,)](np.zeros(8, np.int32), number)
    """,
}


def end_in(script, tmp_path, place, times=3, **environment):
    path = script.write(BEGINNING + textwrap.dedent(place) + END)
    for _ in range(times):
        process = script.start(path, tmp_path / "profile", **environment)
        out, err = process.communicate(timeout=600)
        assert (process.returncode, out, err) == (0, "end\n", "")


@pytest.mark.parametrize("place", PLACES)
def test_daemon_threads_end_in(script, tmp_path, place):
    end_in(script, tmp_path, PLACES[place])


@pytest.mark.parametrize("place", INTERPRETED)
def test_daemon_threads_of_the_interpreter_end_in(script, tmp_path, place):
    end_in(script, tmp_path, INTERPRETED[place], TRITON_INTERPRET="1")


def test_daemon_threads_end_in_a_compiled_function(script, tmp_path):
    """Torch's own calls of Python are torch's: there the process may end by SIGABRT, with this package or without it."""
    pytest.importorskip("torch")
    end_in(script, tmp_path, """
        import torch
        @torch.compile(backend="nacre")
        def compiled(x):
            return (x * 2 + 1).sum(-1)
        x = torch.ones(64, 64)
        compiled(x)
        nacre.knobs.runtime.launch_enter_hook.add(lambda metadata: wait())
        def launch(number):
            compiled(x)
    """)  # fmt: skip


def test_daemon_threads_launch_until_the_process_ends(script, tmp_path):
    end_in(script, tmp_path, """
        def launch(number):
            out = np.zeros(8, np.int32)
            kernel[(1,)](out, 1)
            arrived.release()
            while True:
                kernel[(1,)](out, 1)
    """, times=10)  # fmt: skip
