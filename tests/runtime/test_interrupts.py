"""Ctrl-C while a compiled kernel runs: the launch ends in the middle of its programs, and the next one is as any other."""

import pytest

HEAD = """
    import os, signal, threading, time
    import numpy as np
    import nacre
    import nacre.language as tl

    signal.signal(signal.SIGINT, signal.default_int_handler)  # where the parent ignores it, so would we

    @nacre.jit
    def long_kernel(x_ptr, n):
        tl.atomic_xchg(x_ptr + 64, 1)  # it runs
        i = tl.zeros((), tl.int64)
        while i < n:
            i += tl.load(x_ptr + i % 4) + 1
        tl.store(x_ptr + 4 + tl.program_id(0) % 4, i)

    @nacre.jit
    def waiting_kernel(x_ptr, n):
        tl.atomic_xchg(x_ptr + 64, 1)
        while tl.atomic_add(x_ptr, 0) == 0:
            pass

    @nacre.jit
    def printing_kernel(x_ptr, n):
        i = tl.zeros((), tl.int64)
        while i < n:
            tl.device_print("i", i)
            tl.atomic_xchg(x_ptr + 64, 1, mask=tl.program_id(0) == 0)
            i += tl.load(x_ptr) + 1

    @nacre.jit
    def vector_kernel(x_ptr, n):
        tl.atomic_xchg(x_ptr + 64, 1)
        total = tl.zeros((64,), tl.float32)
        for i in range(n):
            total += tl.exp(total + i)
        tl.store(x_ptr + tl.arange(0, 64), total.to(tl.int64))

    memory = np.zeros(65, np.int64)
    x, running = memory[:64], memory[64:]

    def when_it_runs(act):
        def wait():
            while running[0] == 0:
                time.sleep(0.001)
            act()

        threading.Thread(target=wait, daemon=True).start()

    def interrupt():
        os.kill(os.getpid(), signal.SIGINT)

    def interrupted(launch):
        try:
            when_it_runs(interrupt)
            launch()
        except KeyboardInterrupt:
            return True
        finally:
            running[0] = 0
        return False
"""
FOREVER = 10**15


@pytest.mark.parametrize("threads", [1, 3], ids="threads={}".format)
@pytest.mark.parametrize("launch", [
    f"long_kernel[(1,)](x, {FOREVER})",
    f"long_kernel[(2,)](x, {FOREVER})",
    f"long_kernel[(100,)](x, {FOREVER})",
    "long_kernel[(10**9, 2)](x, 100)",
    f"vector_kernel[(1,)](x, {FOREVER})",
    f"waiting_kernel[(1,)](x, {FOREVER})",
    f"waiting_kernel[(5,)](x, {FOREVER})",
    f"long_kernel[(3,)](x, {FOREVER}, launch_cooperative_grid=True)",
], ids=["one", "two", "many", "grid", "vectors", "waiting", "crew", "cooperative"])  # fmt: skip
def test_an_interrupt_ends_a_launch(script, launch, threads):
    text = HEAD + f"""
    for _ in range(2):
        assert interrupted(lambda: {launch})
        x[:] = 0
        long_kernel[(8,)](x, 10)
        assert (x[4:8] == 10).all() and not x[8:].any()
        x[:] = 0
    print("fine")
    """
    assert script.run(text, NACRE_NUM_THREADS=str(threads)) == "fine\n"


def test_an_interrupt_while_a_kernel_prints(script):
    text = HEAD + f"""
    import io, sys
    out, sys.stdout = sys.stdout, io.StringIO()
    assert interrupted(lambda: printing_kernel[(2,)](x, {FOREVER}))
    shown, sys.stdout = sys.stdout.getvalue(), out
    assert "pid (0, 0, 0) idx () i: 0" in shown
    print("fine")
    """
    assert script.run(text, NACRE_NUM_THREADS="2") == "fine\n"


def test_a_handler_that_does_not_raise(script):
    """The kernel goes on after it, and ends as it should."""
    text = HEAD + """
    calls = []
    def handler(number, frame):
        calls.append(number)
        if len(calls) == 3:
            x[0] = 1 << 60  # lets the kernel end

    def interrupt_thrice():
        for count in range(3):  # one after the other: signals that nobody has taken yet are one
            interrupt()
            while len(calls) == count:
                time.sleep(0.001)

    signal.signal(signal.SIGINT, handler)
    when_it_runs(interrupt_thrice)
    waiting_kernel[(2,)](x, 0)
    assert calls == [signal.SIGINT] * 3
    memory[:] = 0
    calls.clear()
    when_it_runs(interrupt_thrice)
    long_kernel[(2,)](x, 1 << 59)
    assert calls == [signal.SIGINT] * 3
    print("fine")
    """
    assert script.run(text, NACRE_NUM_THREADS="2") == "fine\n"


def test_other_threads_of_python_go_on(script):
    """A launch of a thread that is not Python's main one is not interrupted; the main thread is."""
    text = HEAD + """
    done = threading.Event()
    def work():
        waiting_kernel[(2,)](x, 0)
        done.set()
    thread = threading.Thread(target=work)
    thread.start()
    assert interrupted(lambda: done.wait(100))
    assert not done.is_set()
    x[0] = 1
    thread.join()
    print("fine")
    """
    assert script.run(text) == "fine\n"
