"""Kernels compiled in children of a process that compiles, and `triton._internal_testing`'s functions that run tests in processes of their own."""

import gc
import multiprocessing
import os
import time

import pytest

pytest.importorskip("torch")

import nacre  # noqa: E402
import nacre.language as tl  # noqa: E402
from nacre._internal_testing import run_in_process, use_process_pool  # noqa: E402


@nacre.jit
def square(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    x = tl.load(x_ptr + offsets)
    tl.store(x_ptr + offsets, tl.dot(x, x))


def compile_square(block):
    gc.collect()  # what is left of the parent's compiles goes here
    nacre.compile(nacre.compiler.ASTSource(square, {"x_ptr": "*fp32", "BLOCK": "constexpr"}, {"BLOCK": block}))


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_children_compile(method, tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    gc.disable()
    try:
        compile_square(16)
        child = multiprocessing.get_context(method).Process(target=compile_square, args=(32,))
        child.start()
        child.join()
        assert child.exitcode == 0
    finally:
        gc.enable()
    compile_square(64)


def raise_with(count):
    raise RuntimeError("x" * count)


def tell_process(fails=False):
    assert "NACRE_TEST_MARK" not in os.environ
    os.environ["NACRE_TEST_MARK"] = "set"
    os.write(2, str(os.getpid()).encode())
    if fails:
        raise ValueError("meant to fail")


def tell_variable():
    os.write(2, os.environ["NACRE_TEST_GIVEN"].encode())


def end_at_once():
    os.write(2, b"the last words")
    os._exit(3)


def test_errors_come_back_whole():
    result = run_in_process(raise_with, args=(1 << 20,))
    assert isinstance(result.exc, RuntimeError) and len(str(result.exc)) == 1 << 20


def test_variables_and_standard_error():
    assert run_in_process(tell_variable, env={"NACRE_TEST_GIVEN": "a value"}).driver_stderr_output == "a value"
    assert "NACRE_TEST_GIVEN" not in os.environ


def test_processes_that_end_without_a_word_or_never():
    with pytest.raises(RuntimeError, match="(?s)ended with code 3.*the last words"):
        run_in_process(end_at_once)
    os.environ["TRITON_TEST_PROCESS_TIMEOUT"] = "0.05"
    try:
        with pytest.raises(TimeoutError, match="test subprocess sleep exceeded its 0.05-second timeout"):
            run_in_process(time.sleep, args=(600,))
    finally:
        del os.environ["TRITON_TEST_PROCESS_TIMEOUT"]


def test_a_pool_uses_a_process_until_it_fails():
    with use_process_pool(__name__):
        first, second = run_in_process(tell_process), run_in_process(tell_process)
        failed = run_in_process(tell_process, kwargs={"fails": True})
        with pytest.raises(RuntimeError, match="ended with code 3"):
            run_in_process(end_at_once)
        other = run_in_process(tell_process)
    assert first.exc is None and first == second
    assert isinstance(failed.exc, ValueError) and failed.driver_stderr_output == first.driver_stderr_output
    assert other.exc is None and other.driver_stderr_output != first.driver_stderr_output
