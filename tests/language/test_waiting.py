"""Programs that wait for one another: locks, flags set by lower and by higher programs, barriers of the whole grid."""

import numpy as np
import pytest
import triton
import triton.language as tl

pytestmark = pytest.mark.ours("Triton's interpreter runs one program after another, so such kernels never end there")


@triton.jit
def barrier_kernel(counter_ptr, x_ptr, out_ptr, COUNT: tl.constexpr):
    program = tl.program_id(0)
    tl.store(x_ptr + program, program + 1)
    tl.atomic_add(counter_ptr, 1, sem="release")
    while tl.atomic_add(counter_ptr, 0, sem="acquire") < COUNT:
        pass
    tl.store(out_ptr + program, tl.load(x_ptr + COUNT - 1 - program, volatile=True))


@pytest.mark.parametrize("count", [2, 37])
@pytest.mark.parametrize("cooperative", [False, True])
def test_a_barrier_of_the_whole_grid(engine, count, cooperative):
    counter, x, out = engine.zeros(1, "int32"), engine.zeros(count, "int32"), engine.zeros(count, "int32")
    barrier_kernel[(count,)](counter, x, out, COUNT=count, launch_cooperative_grid=cooperative)
    np.testing.assert_array_equal(engine.numpy(out), np.arange(count, 0, -1))


@triton.jit
def chain_kernel(flag_ptr, order_ptr, UPWARDS: tl.constexpr, VOLATILE: tl.constexpr):
    program = tl.program_id(0)
    other = program - 1 if UPWARDS else program + 1
    before = 0
    if (other >= 0) & (other < tl.num_programs(0)):
        if VOLATILE:
            while before == 0:
                before = tl.load(flag_ptr + other, volatile=True)
        else:
            while before == 0:
                before = tl.atomic_load(flag_ptr + other)
    tl.store(order_ptr + program, before)
    tl.atomic_xchg(flag_ptr + program, before + 1)


@pytest.mark.parametrize("upwards", [True, False])
@pytest.mark.parametrize("volatile", [True, False])
def test_each_program_waits_for_its_neighbour(engine, upwards, volatile):
    count = 20
    flags, order = engine.zeros(count, "int32"), engine.zeros(count, "int32")
    chain_kernel[(count,)](flags, order, UPWARDS=upwards, VOLATILE=volatile)
    expected = np.arange(count)
    np.testing.assert_array_equal(engine.numpy(order), expected if upwards else expected[::-1])


@triton.jit
def poll_kernel(flag_ptr, out_ptr):
    program = tl.program_id(0)
    if program == 0:
        tl.atomic_poll(flag_ptr + tl.arange(0, 4), 7)
    else:
        tl.atomic_xchg(flag_ptr + program - 1, 7)
    tl.store(out_ptr + program, tl.sum(tl.load(flag_ptr + tl.arange(0, 4), volatile=True)))


def test_polling_a_tile_of_flags(engine):
    flags, out = engine.zeros(4, "int32"), engine.zeros(5, "int32")
    poll_kernel[(5,)](flags, out)
    assert engine.numpy(out)[0] == 28


@triton.jit
def poll_in_vain_kernel(flag_ptr, out_ptr):
    arrived = tl.atomic_poll(flag_ptr + tl.arange(0, 2), 1, timeout_ns=2000000)
    tl.store(out_ptr + tl.arange(0, 2), arrived.to(tl.int32))


def test_polling_for_a_limited_time(engine):
    flags, out = engine.array(np.array([1, 0], np.int32)), engine.zeros(2, "int32")
    poll_in_vain_kernel[(1,)](flags, out)
    np.testing.assert_array_equal(engine.numpy(out), [1, 0])


@triton.jit
def lock_kernel(lock_ptr, count_ptr):
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(count_ptr, tl.load(count_ptr) + 1)
    tl.atomic_xchg(lock_ptr, 0)


def test_a_lock(engine):
    lock, count = engine.zeros(1, "int32"), engine.zeros(1, "int32")
    lock_kernel[(500,)](lock, count)
    assert engine.numpy(count)[0] == 500


def test_more_programs_than_can_wait_at_once(engine):
    if engine.is_cuda:
        pytest.skip("a GPU never gets out of this, and a simulated one takes all of them")
    count = 1000
    counter, x, out = engine.zeros(1, "int32"), engine.zeros(count, "int32"), engine.zeros(count, "int32")
    with pytest.raises(RuntimeError, match="wait for each other.*1000 are more than the (512|64) that can"):
        barrier_kernel[(count,)](counter, x, out, COUNT=count)


@triton.jit
def failing_kernel(flag_ptr):
    program = tl.program_id(0)
    if program == 3:
        tl.device_assert(program < 0, "program 3 gives up")
    while tl.atomic_load(flag_ptr) == 0:
        pass


def test_a_failure_ends_the_waiting(engine):
    if engine.device == "cuda":
        pytest.skip("a GPU never gets out of this")
    with pytest.raises(AssertionError, match="program 3 gives up"):
        failing_kernel[(6,)](engine.zeros(1, "int32"), debug=True)
