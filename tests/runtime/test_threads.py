"""Many threads, forks, and the GIL."""

import os
import signal
import threading
import time
import traceback

import numpy as np
import pytest

import nacre
import nacre.language as tl


@nacre.jit
def fill_kernel(out, value, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, value, mask=offsets < n)


@nacre.jit
def waiting_kernel(flag, seen, most):
    polls = 0
    tl.atomic_xchg(seen, -1)  # it runs
    while (tl.atomic_add(flag, 0) == 0) & (polls < most):
        polls += 1
    tl.store(seen, tl.atomic_add(flag, 0))


def fill(value, n=10000, block=64):
    out = np.zeros(n, np.float32)
    fill_kernel[(nacre.cdiv(n, block),)](out, value, n, BLOCK=block)
    return (out == value).all()


def in_threads(count, body):
    failures = []

    def guarded(index):
        try:
            body(index)
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(600)
    assert not failures and not any(thread.is_alive() for thread in threads), failures


def test_launches_from_several_threads():
    def body(index):
        for i in range(100):
            assert fill(float(index * 1000 + i))

    in_threads(6, body)


def test_threads_compile_one_kernel_once():
    @nacre.jit
    def kernel(out):
        tl.store(out + tl.arange(0, 16), tl.sum(tl.load(out + tl.arange(0, 16)), axis=0) + 1)

    before = nacre._core.cache_counts()["compiles"]
    barrier = threading.Barrier(8)

    def body(index):
        out = np.zeros(16, np.float32)
        barrier.wait()
        kernel[(1,)](out)
        assert (out == 1).all()

    in_threads(8, body)
    assert nacre._core.cache_counts()["compiles"] == before + 1


def test_threads_compile_different_kernels():
    def body(index):
        for block in (16, 32, 64):
            assert fill(float(index), n=1000 + index, block=block * (1 + index % 3))

    in_threads(6, body)


def test_the_gil_is_released_while_a_kernel_runs():
    flag, seen = np.zeros(1, np.int32), np.zeros(1, np.int32)
    waiting_kernel[(1,)](flag, seen, 1)
    assert seen[0] == 0
    thread = threading.Thread(target=lambda: waiting_kernel[(1,)](flag, seen, 1 << 32), daemon=True)
    thread.start()
    while seen[0] != -1 and thread.is_alive():
        time.sleep(0.001)
    flag[0] = 1  # with the lock held the kernel would wait for this in vain
    thread.join(600)
    assert not thread.is_alive() and seen[0] == 1


def test_launches_after_fork():
    assert fill(1.0)
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if fill(2.0) and fill(3.0, block=96) else 1)  # one that is compiled, one that is not
        except BaseException:  # noqa: BLE001
            os._exit(2)
    _, status = os.waitpid(child, 0)
    assert status == 0
    assert fill(4.0)


def exit_code_of_child(body):
    """Of a child of this process that runs it: 0 where it returned true. One that waits for ever is ended by its alarm."""
    child = os.fork()
    if child == 0:
        signal.alarm(300)
        try:
            os._exit(0 if body() else 1)
        except BaseException:  # noqa: BLE001
            traceback.print_exc()
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_forks_while_threads_compile_and_launch():
    """At any moment of a compile, a load or a launch in another thread."""
    is_done = threading.Event()

    @nacre.jit
    def sum_kernel(out, OFFSET: tl.constexpr, BLOCK: tl.constexpr):
        lanes = tl.arange(0, BLOCK)
        tl.store(out + lanes, tl.sum(lanes[:, None] + tl.full((BLOCK, BLOCK), OFFSET, tl.int32), axis=1))

    def is_right(offset):
        out = np.zeros(16, np.int32)
        sum_kernel[(1,)](out, OFFSET=offset, BLOCK=16)
        return (out == 16 * (np.arange(16) + offset)).all()

    def work(number):
        offset = number * 1_000_000
        while not is_done.is_set():
            offset += 1
            assert is_right(offset) and all(fill(1.0, n=100) for _ in range(10))

    assert fill(1.0)
    workers = [threading.Thread(target=work, args=(number,)) for number in (1, 2)]
    for worker in workers:
        worker.start()
    codes = {exit_code_of_child(lambda round=round: fill(2.0) and is_right(round)) for round in range(60)}
    is_done.set()
    for worker in workers:
        worker.join(600)
    assert codes == {0} and not any(worker.is_alive() for worker in workers)


@pytest.mark.parametrize("device", ["cpu", "simulate"])
def test_a_child_launches_the_kernel_that_its_parent_runs(script, device):
    output = script.run("""
        import os, signal, threading, time
        import numpy as np, nacre, nacre.language as tl

        @nacre.jit
        def kernel(flag, seen, most):
            polls = 0
            tl.atomic_xchg(seen, -1)  # it runs
            while (tl.atomic_add(flag, 0) == 0) & (polls < most):
                polls += 1
            tl.store(seen, tl.atomic_add(flag, 0))

        def launch(flag, seen):
            kernel[(1,)](flag, seen, 1_000_000_000)
            return seen[0]

        one, flag, seen = np.ones(1, np.int32), np.zeros(1, np.int32), np.zeros(1, np.int32)
        assert launch(one, np.zeros(1, np.int32)) == 1
        parent = threading.Thread(target=launch, args=(flag, seen))
        parent.start()
        while seen[0] != -1 and parent.is_alive():
            time.sleep(0.001)
        child = os.fork()
        if child == 0:
            signal.alarm(300)
            os._exit(0 if launch(one, np.zeros(1, np.int32)) == 1 else 1)
        status = os.waitpid(child, 0)[1]
        flag[0] = 1
        parent.join()
        print(status, seen[0])
    """, NACRE_DEVICE=device)
    assert output == "0 1\n"


def test_the_number_of_threads(script):
    with nacre.knobs.runtime.scope():
        for threads in (1, 2, 5):
            nacre.knobs.runtime.num_threads = threads
            assert nacre._core.threads() == threads
            assert fill(float(threads))
    # In a process where no kernel has met torch, whose number it would be.
    assert script.run("import nacre; print(nacre._core.threads())") == f"{len(os.sched_getaffinity(0))}\n"
    assert script.run("import nacre; print(nacre._core.threads())", NACRE_NUM_THREADS="3") == "3\n"


def test_programs_that_wait_for_each_other():
    @nacre.jit
    def kernel(counter, out, COUNT: tl.constexpr):
        tl.atomic_add(counter, 1)
        seen = 0
        while seen < COUNT:
            seen = tl.atomic_add(counter, 0)
        tl.store(out + tl.program_id(0), seen)

    counter, out = np.zeros(1, np.int32), np.zeros(16, np.int32)
    kernel[(16,)](counter, out, COUNT=16, launch_cooperative_grid=True)
    assert (out == 16).all()
    with pytest.raises(RuntimeError, match="at the same time"):
        kernel[(100000,)](counter, out, COUNT=16, launch_cooperative_grid=True)


def test_failed_asserts_stop_the_launch_and_nothing_else():
    @nacre.jit
    def kernel(out, limit):
        pid = tl.program_id(0)
        tl.device_assert(pid < limit, "too far")
        tl.store(out + pid, 1)

    out = np.zeros(1000, np.int32)
    kernel[(1000,)](out, 1000, debug=True)
    assert out.all()
    with pytest.raises(AssertionError, match="too far") as caught:
        kernel[(1000,)](out, 500, debug=True)
    assert caught.value.program[0] >= 500 and caught.value.line > 0
    assert caught.value.filename.endswith("test_threads.py")
    out[:] = 0
    kernel[(1000,)](out, 500)  # asserts are not live without debug
    assert out.all()
