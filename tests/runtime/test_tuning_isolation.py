"""Candidates are timed in child processes: nothing they write or break is seen outside, and no child is left behind."""

import mmap
import os
import signal
import threading
import time

import numpy as np
import pytest

import nacre
import nacre.language as tl
from nacre.runtime.errors import KernelFaultError
from nacre.runtime.tuning import isolation, private_memory

CONFIGS = [nacre.Config({"BLOCK": block}) for block in (32, 64)]
N = 1000


def increment(x, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + offsets, tl.load(x + offsets, mask=offsets < n) + 1, mask=offsets < n)


def increment_address(address, n, BLOCK: tl.constexpr):
    x = address.to(tl.pointer_type(tl.float32))
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + offsets, tl.load(x + offsets, mask=offsets < n) + 1, mask=offsets < n)


def increment_elsewhere(x, distance, n, BLOCK: tl.constexpr):
    offsets = distance + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets - distance < n
    tl.store(x + offsets, tl.load(x + offsets, mask=mask) + 1, mask=mask)


def tuned(function, **options):
    return nacre.autotune(configs=CONFIGS, key=["n"], **options)(nacre.jit(function))


def grid(meta):
    return (nacre.cdiv(meta["n"], meta["BLOCK"]),)


def file_memory(folder):
    return np.memmap(folder / "file", np.float32, "w+", shape=N)


def deleted_file_memory(folder):
    array = np.memmap(folder / "file", np.float32, "w+", shape=N)
    os.unlink(folder / "file")
    return array


def anonymous_memory(folder):
    return np.frombuffer(mmap.mmap(-1, 4 * N), np.float32)


def torch_memory(folder):
    torch = pytest.importorskip("torch")
    return torch.zeros(N).share_memory_().numpy()


@pytest.mark.parametrize("memory", [file_memory, deleted_file_memory, anonymous_memory, torch_memory])
@pytest.mark.parametrize("is_address", [False, True], ids=["array", "address"])
def test_memory_that_is_shared_with_other_processes_is_not_written(memory, is_address, tmp_path):
    x = memory(tmp_path)
    kernel = tuned(increment_address if is_address else increment)
    kernel[grid](x.ctypes.data if is_address else x, N)
    assert (x == 1).all() and not kernel.failures, kernel.failures
    assert len(kernel.configs_timings) == 2


def test_what_cannot_be_made_private_is_not_written(tmp_path, monkeypatch):
    """Then candidates run in this process, with what they may write put back; where that is not enough none is timed."""
    monkeypatch.setattr(private_memory._Memory, "map_file", lambda self, mapping: False)
    x = file_memory(tmp_path)
    kernel = tuned(increment)
    kernel[grid](x, N)
    assert (x == 1).all() and len(kernel.configs_timings) == 2 and not kernel.failures
    address = tuned(increment_address)
    with pytest.warns(RuntimeWarning, match="is not tuned: .*cannot be made the child's own: .*file"):
        address[grid](x.ctypes.data, N)
    assert (x == 2).all() and address.best_config == CONFIGS[0]


def test_stores_beyond_an_array_change_nothing_either():
    x, y = np.zeros(N, np.float32), np.zeros(N, np.float32)
    tuned(increment_elsewhere)[grid](x, (y.ctypes.data - x.ctypes.data) // 4, N)
    assert (y == 1).all() and not x.any()
    memory = bytearray(8 * N)
    tuned(increment_elsewhere)[grid](np.frombuffer(memory, np.float32, count=10), 10, N)
    assert np.frombuffer(memory, np.float32).tolist() == [0] * 10 + [1] * N + [0] * (N - 10)


def test_large_arrays_are_copied_ahead(monkeypatch, tmp_path):
    """The child sees what was passed, and the program what it had, whether pages are copied ahead or when they are written."""
    monkeypatch.setattr(private_memory, "_LEAST_COPIED", 1 << 14)
    size = 3 << 19  # 6 MB, in pages of any size
    for x in (np.zeros(size, np.float32), np.memmap(tmp_path / "file", np.float32, "w+", shape=size), np.zeros(size + 3, np.float32)[3:]):
        x[:] = np.arange(size)

        def bench(call, quantiles):
            is_right = bool((x == np.arange(size)).all())
            call()
            is_right &= bool((x == np.arange(size) + 1).all())
            return [float(is_right)] * 3

        kernel = tuned(increment, do_bench=bench, isolate="always")
        kernel[grid](x, size)
        assert (x == np.arange(size) + 1).all()
        assert [times[0] for times in kernel.configs_timings.values()] == [1.0, 1.0]


def test_other_threads_keep_what_they_write_and_see_one_launch():
    base = np.zeros(2 * N, np.float32)
    kernel, done, seen, count = tuned(increment), threading.Event(), set(), 0
    thread = threading.Thread(target=lambda: (kernel[grid](base[:N], N), done.set()))
    thread.start()
    while not done.is_set():
        base[N + 5] += 1
        seen.add(float(base[7]))
        count += 1
        time.sleep(0.0005)
    thread.join()
    assert base[N + 5] == count and seen <= {0.0, 1.0} and (base[:N] == 1).all()


def test_every_candidate_starts_from_what_the_caller_passed(monkeypatch):
    x, seen = np.zeros(N, np.float32), []

    def bench(call, quantiles):
        seen.append(x[0])
        call()
        return [x[0], x[0], x[0]]

    kernel = tuned(increment, do_bench=bench, isolate="always")
    kernel[grid](x, N)
    assert [times[0] for times in kernel.configs_timings.values()] == [1, 1] and not seen and (x == 1).all()


def misbehaving(act):
    """A grid that does something in the child that times BLOCK=64."""
    parent = os.getpid()

    def grid_of(meta):
        if meta["BLOCK"] == 64 and os.getpid() != parent:
            act()
        return grid(meta)

    return grid_of


def test_a_child_that_is_killed_costs_only_its_candidate():
    x = np.zeros(N, np.float32)
    kernel = tuned(increment)
    kernel[misbehaving(lambda: os.kill(os.getpid(), signal.SIGKILL))](x, N)
    assert (x == 1).all() and kernel.best_config == CONFIGS[0] and "SIGKILL" in kernel.failures[CONFIGS[1]]


def test_a_candidate_that_accesses_what_is_not_there_costs_only_itself():
    def sometimes_far(x, n, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK).to(tl.int64) + (1 << 44 if BLOCK == 64 else 0)
        tl.store(x + offsets, 1.0)

    x = np.zeros(N, np.float32)
    kernel = tuned(sometimes_far)
    kernel[(1,)](x, N)
    assert kernel.best_config == CONFIGS[0] and isinstance(kernel.failures[CONFIGS[1]], KernelFaultError)


def test_a_candidate_that_never_ends_costs_only_itself(monkeypatch):
    def spin():
        while True:
            pass

    monkeypatch.setenv("NACRE_AUTOTUNE_SECONDS", "10")
    x = np.zeros(N, np.float32)
    kernel = tuned(increment)
    kernel[misbehaving(spin)](x, N)
    assert (x == 1).all() and "longer than 10 seconds (NACRE_AUTOTUNE_SECONDS)" in kernel.failures[CONFIGS[1]]


def test_a_child_that_waits_for_ever_is_no_fault_of_the_candidate(monkeypatch):
    monkeypatch.setattr(isolation, "_STUCK_SECONDS", 2.0)
    x = np.zeros(N, np.float32)
    kernel = tuned(increment)
    kernel[misbehaving(lambda: time.sleep(1000))](x, N)  # as a lock would that no thread holds any more
    assert (x == 1).all() and not kernel.failures and len(kernel.configs_timings) == 2  # timed in this process
    with pytest.warns(RuntimeWarning, match="may write through an address .* waits for ever"):
        tuned(increment_address)[misbehaving(lambda: time.sleep(1000))](x.ctypes.data, N)
    assert (x == 2).all()


def test_where_no_child_can_be_made(monkeypatch):
    def fork():
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(os, "fork", fork)
    x = np.zeros(N, np.float32)
    kernel = tuned(increment)
    kernel[grid](x, N)
    assert (x == 1).all() and len(kernel.configs_timings) == 2 and not kernel.failures  # timed in this process
    with pytest.warns(RuntimeWarning, match="no child process can be made: .*Cannot allocate memory; the first configuration is used"):
        tuned(increment_address)[grid](x.ctypes.data, N)
    assert (x == 2).all()


def test_what_is_written_beyond_the_budget(monkeypatch):
    monkeypatch.setenv("NACRE_AUTOTUNE_MEGABYTES", "1")
    monkeypatch.setattr(isolation, "_written_bytes", lambda process: 1 << 40)
    x = np.zeros(1 << 20, np.float32)
    parent = os.getpid()

    def slow_grid(meta):
        if os.getpid() != parent:
            time.sleep(1000)  # until somebody looks
        return grid(meta)

    with pytest.warns(RuntimeWarning, match="would take 4 MB, more than the 1 MB of NACRE_AUTOTUNE_MEGABYTES, and it writes more than that"):
        tuned(increment)[slow_grid](x, x.size)
    assert (x == 1).all()


def test_an_error_of_the_users_is_raised_here():
    def fail():
        raise LookupError("no grid today")

    x = np.zeros(N, np.float32)
    with pytest.raises(LookupError, match="no grid today") as error:
        tuned(increment)[misbehaving(fail)](x, N)
    assert not x.any() and "in the child process that timed BLOCK: 64" in error.value.__notes__[0] and "in fail" in error.value.__notes__[0]


def test_hooks_and_benchmarkers_of_the_users_run_in_this_process():
    calls = []

    def bench(call, quantiles):
        calls.append(os.getpid())
        call()
        return [1.0] * 3

    x = np.zeros(N, np.float32)
    tuned(increment, do_bench=bench)[grid](x, N)
    assert calls == [os.getpid()] * 2
    calls.clear()
    tuned(increment, pre_hook=lambda args, reset_only=False: calls.append(os.getpid()))[grid](x, N)
    assert len(calls) > 10 and set(calls) == {os.getpid()}


PROGRAM = """
    import os, sys
    import numpy as np
    import nacre, nacre.language as tl

    parent = os.getpid()

    @nacre.autotune(configs=[nacre.Config({"BLOCK": 32}), nacre.Config({"BLOCK": 64})], key=["n"])
    @nacre.jit
    def kernel(x, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x + offsets, 1.0, mask=offsets < n)

    def grid(meta):
        if os.getpid() != parent:
            print(os.getpid(), flush=True)
            while True:
                pass
        return (1,)

    kernel[grid](np.zeros(32, np.float32), 32)
"""


def test_no_child_outlives_the_program(script):
    process = script.start(script.write(PROGRAM))
    child = int(process.stdout.readline())
    process.kill()
    process.communicate(timeout=600)
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        try:
            with open(f"/proc/{child}/stat") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":  # nobody has asked for its status
                    return
        except FileNotFoundError:
            return
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    pytest.fail("the child goes on without the program")
