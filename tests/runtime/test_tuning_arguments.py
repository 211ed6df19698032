"""Whatever a kernel writes while it is timed is put back: through arrays, tuples, descriptors, aggregates and plain addresses."""

import threading

import numpy as np
import pytest

import nacre
import nacre.language as tl
from nacre.runtime.tuning import isolation, protection
from nacre.tools.tensor_descriptor import TensorDescriptor

CONFIGS = [nacre.Config({"BLOCK": block}) for block in (32, 64, 128)]
N = 1000


def quick(call, quantiles):
    """A benchmarker that calls a few times."""
    for _ in range(3):
        call()
    return [1.0, 1.0, 1.0]


def tuned(function, **options):
    return nacre.autotune(configs=CONFIGS, key=["n"], do_bench=options.pop("do_bench", quick), **options)(nacre.jit(function))


def grid(meta):
    return (nacre.cdiv(meta["n"], meta["BLOCK"]),)


def through_array(x, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + offsets, tl.load(x + offsets, mask=offsets < n) + 1, mask=offsets < n)


def through_tuple(pair, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(pair[1] + offsets, tl.load(pair[1] + offsets, mask=offsets < n) + 1, mask=offsets < n)


def through_descriptor(d, n, BLOCK: tl.constexpr):
    d.store([tl.program_id(0) * 32], d.load([tl.program_id(0) * 32]) + 1)


def through_integer(address, n, BLOCK: tl.constexpr):
    x = address.to(tl.pointer_type(tl.float32))
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + offsets, tl.load(x + offsets, mask=offsets < n) + 1, mask=offsets < n)


def through_annotated_address(x: "*fp32", n, BLOCK: tl.constexpr):  # noqa: F722
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + offsets, tl.load(x + offsets, mask=offsets < n) + 1, mask=offsets < n)


def through_table(table, n, BLOCK: tl.constexpr):
    x = tl.load(table).to(tl.pointer_type(tl.float32))
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + offsets, tl.load(x + offsets, mask=offsets < n) + 1, mask=offsets < n)


WAYS = {
    "array": (through_array, lambda x: x),
    "tuple": (through_tuple, lambda x: (np.zeros(4, np.float32), x)),
    "integer": (through_integer, lambda x: x.ctypes.data),
    "annotated address": (through_annotated_address, lambda x: x.ctypes.data),
    "table of addresses": (through_table, lambda x: np.array([x.ctypes.data], np.int64)),
}


@pytest.mark.parametrize("way", WAYS)
def test_an_in_place_kernel_is_applied_once(way):
    function, argument = WAYS[way]
    kernel = tuned(function)
    x = np.zeros(N, np.float32)
    given = argument(x)
    for count in (1, 2):
        kernel[grid](given, N)
        assert (x == count).all(), x[:4]
    assert len(kernel.configs_timings) == 3 and kernel.configs_timings[CONFIGS[2]][0] < float("inf")


def test_through_a_descriptor():
    kernel = tuned(through_descriptor)
    x = np.zeros(1024, np.float32)
    kernel[(32,)](TensorDescriptor(x, [1024], [1], [32]), 1024)
    assert (x == 1).all(), x[:4]


def test_the_default_benchmarker_corrupts_nothing_either():
    kernel = nacre.autotune(configs=CONFIGS, key=["n"])(nacre.jit(through_tuple))
    x = np.zeros(N, np.float32)
    kernel[grid]((x, x), N)
    assert (x == 1).all() and len(kernel.configs_timings) == 3


def test_every_candidate_sees_what_the_caller_passed():
    seen = []
    x = np.zeros(N, np.float32)

    def bench(call, quantiles):
        seen.append(x[0])
        call()
        return [1.0] * 3

    tuned(through_array, do_bench=bench)[grid](x, N)
    assert seen == [0, 0, 0] and x[0] == 1


def test_arrays_that_are_only_read_are_not_copied(monkeypatch):
    saved = []
    monkeypatch.setattr(protection._HostRange, "save", lambda self: saved.append(self.size))
    monkeypatch.setattr(protection._HostRange, "restore", lambda self: None)

    def add(x, out, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + offsets, tl.load(x + offsets, mask=offsets < n) + 1, mask=offsets < n)

    x, out = np.zeros(N, np.float32), np.zeros(N, np.int8)
    tuned(add)[grid](x, out, N)
    assert saved == [N]


def test_a_view_and_its_base_are_one_range():
    x = np.zeros(100, np.float32)
    ranges = [protection._memory_of(x[10:50]), protection._memory_of(x)]
    assert [memory.size for memory in protection._merged(ranges)] == [400]


def test_more_memory_than_the_budget_is_not_copied(monkeypatch):
    monkeypatch.setenv("NACRE_AUTOTUNE_MEGABYTES", "1")
    forks = []
    measure = isolation.measure
    monkeypatch.setattr(isolation, "measure", lambda *args: forks.append(1) or measure(*args))
    monkeypatch.setattr(protection._HostRange, "save", lambda self: pytest.fail("copied all the same"))
    x = np.zeros(1 << 20, np.float32)
    kernel = tuned(through_array)
    kernel[grid](x, N)
    assert forks and (x[:N] == 1).all() and len(kernel.configs_timings) == 3


def test_what_cannot_be_put_back_is_not_timed(monkeypatch):
    monkeypatch.setenv("NACRE_AUTOTUNE_ISOLATE", "never")
    x = np.zeros(N, np.float32)
    kernel = tuned(through_integer)
    with pytest.warns(RuntimeWarning, match="is not tuned: the kernel may write through an address"):
        kernel[grid](x.ctypes.data, N)
    assert (x == 1).all() and kernel.best_config == CONFIGS[0]


def test_six_threads_tune_once():
    timed, results, errors = [], [], []

    def bench(call, quantiles):
        timed.append(1)
        call()
        return [1.0] * 3

    kernel = tuned(through_array, do_bench=bench)
    barrier = threading.Barrier(6)

    def work():
        x = np.zeros(N, np.float32)
        barrier.wait()
        try:
            kernel[grid](x, N)
            results.append(bool((x == 1).all()))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(600)
    assert not errors and results == [True] * 6 and len(timed) == 3


def test_none_for_a_tensor_that_is_reset_or_restored():
    def kernel_of(x, out, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        if x is not None:
            tl.store(x + offsets, 1.0, mask=offsets < n)
        tl.store(out + offsets, 1.0, mask=offsets < n)

    out = np.zeros(N, np.float32)
    tuned(kernel_of, reset_to_zero=["x"])[grid](None, out, N)
    tuned(kernel_of, restore_value=["x"])[grid](None, out, N)
    assert (out == 1).all()


def test_reset_to_zero_holds_for_the_first_launch_too():
    x = np.full(N, 5, np.float32)
    kernel = tuned(through_array, reset_to_zero=["x"])
    kernel[grid](x, N)
    assert (x == 1).all()
    kernel[grid](x, N)  # later launches are the caller's
    assert (x == 2).all()


def test_an_argument_past_the_sixty_fourth():
    def through_many(arrays, x, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x + offsets, tl.load(x + offsets, mask=offsets < n) + 1, mask=offsets < n)

    x = np.zeros(N, np.float32)
    tuned(through_many)[grid](tuple(np.zeros(1, np.float32) for _ in range(70)), x, N)
    assert (x == 1).all()


def test_reset_to_zero_is_the_same_with_a_record_and_without(tuning_folder, monkeypatch):
    def launch():
        kernel = nacre.autotune(configs=CONFIGS, key=["n"], reset_to_zero=["x"])(nacre.jit(through_array))
        x = np.full(N, 5, np.float32)
        kernel[grid](x, N)
        return x

    assert (launch() == 1).all() and len(list(tuning_folder.glob("*.json"))) == 1
    monkeypatch.setattr(isolation, "measure", lambda *args: pytest.fail("timed again"))
    assert (launch() == 1).all()
    monkeypatch.setenv("NACRE_AUTOTUNE", "first")
    assert (launch() == 1).all()


def test_arrays_in_a_tuple_are_reset_and_restored():
    x = np.full(N, 5, np.float32)
    tuned(through_tuple, reset_to_zero=["pair"])[grid]((np.ones(4, np.float32), x), N)
    assert (x == 1).all()
    x[:] = 5
    tuned(through_tuple, restore_value=["pair"])[grid]((np.ones(4, np.float32), x), N)
    assert (x == 6).all()
    base = np.full(2 * N, 5, np.float32)
    tuned(through_array, reset_to_zero=["x"])[grid](base[::2][: N // 2], N // 2)
    assert base[:N].tolist() == [1, 6] * (N // 4) + [0, 5] * (N // 4) and (base[N:] == 5).all()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float8_e5m2", "bool"])
def test_tensors_are_reset_and_restored_as_they_lie_in_memory(dtype):
    torch = pytest.importorskip("torch")
    base = torch.ones(4, 6).to(getattr(torch, dtype))
    view = base[:, ::2]
    saved = protection.copy_of(view)
    assert saved.dtype == view.dtype and saved.shape == view.shape and not saved.requires_grad
    protection.fill_zero(view)
    assert base.float()[:, ::2].sum() == 0 and base.float()[:, 1::2].sum() == 12
    protection.write_back(view, saved)
    assert base.float().sum() == 24
    if dtype == "float32":
        leaf = torch.ones(3, requires_grad=True)
        saved = protection.copy_of(leaf)
        protection.fill_zero(leaf)
        protection.write_back(leaf, saved)
        assert leaf.sum() == 3 and leaf.is_leaf
        with pytest.raises(TypeError, match="restore_value names 'p', which is not an array"):
            protection.arrays_named("restore_value", "p", "text")
