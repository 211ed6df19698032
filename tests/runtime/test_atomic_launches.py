"""Launches with atomics: alone on one thread, where no instruction is locked, and beside each other, where nothing may be lost."""

import mmap
import os
import threading

import numpy as np
import pytest

import nacre
import nacre.language as tl


@nacre.jit
def count_kernel(index, counts, n, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(counts + tl.load(index + place, mask=place < n, other=0), 1, mask=place < n)


@nacre.jit
def one_kernel(counts, ROUNDS: tl.constexpr):
    for _ in range(ROUNDS):
        tl.atomic_add(counts, 1)


@nacre.jit
def swap_kernel(counts, ROUNDS: tl.constexpr):
    for _ in range(ROUNDS):
        seen = tl.atomic_cas(counts, -1, -1)
        while tl.atomic_cas(counts, seen, seen + 1) != seen:
            seen = tl.atomic_cas(counts, -1, -1)


@nacre.jit
def row_kernel(x, out, old, N: tl.constexpr):
    """Neighbours, with what was there before."""
    i = tl.arange(0, N)
    was = tl.atomic_add(out + i, tl.load(x + tl.program_id(0) * N + i), mask=i != 3)
    tl.store(old + tl.program_id(0) * N + i, was)


@pytest.fixture(params=[(1, 0), (1, 10**9), (3, 0)], ids=["alone", "one thread", "three threads"])
def threads(request):
    """How many; 0: without locked instructions where one is enough."""
    with nacre.knobs.runtime.scope():
        nacre.knobs.runtime.num_threads, nacre.knobs.runtime.lone_atomics_us = request.param
        yield request.param[0]


@pytest.mark.parametrize("bins", [1, 5, 1000])
@pytest.mark.parametrize("n", [5000, 4_000_000])
def test_counts(threads, n, bins):
    index = np.random.default_rng(bins).integers(0, bins, n).astype(np.int32)
    counts = np.zeros(bins, np.int32)
    for _ in range(3):
        count_kernel[(nacre.cdiv(n, 128),)](index, counts, n, BLOCK=128)
    np.testing.assert_array_equal(counts, 3 * np.bincount(index, minlength=bins))


@pytest.mark.parametrize("rows", [40, 60_000])
def test_what_was_there_before(threads, rows):
    x = (np.arange(rows * 37) % 7).astype(np.float32).reshape(rows, 37)
    for _ in range(2):
        out, old = np.zeros(37, np.float32), np.empty((rows, 37), np.float32)
        row_kernel[(rows,)](x, out, old, N=37)
    expected = x.sum(0, dtype=np.float64)
    expected[3] = 0
    np.testing.assert_array_equal(out, expected)
    assert (old[:, 3] == 0).all()
    if threads == 1:
        before = np.vstack([np.zeros((1, 37)), np.cumsum(x, 0, dtype=np.float64)[:-1]])
        before[:, 3] = 0
        np.testing.assert_array_equal(old, before)


def test_processes_that_share_memory_lose_nothing(threads):
    n = 2_000_000
    index, own = np.zeros(n, np.int32), np.zeros(1, np.int32)
    counts = np.frombuffer(mmap.mmap(-1, 4096), np.int32)  # and from 1 on: who is ready

    def launch(counts):
        count_kernel[(nacre.cdiv(n, 1024),)](index, counts, n, BLOCK=1024)

    for _ in range(3):
        launch(own)
    cores = os.sched_getaffinity(0)
    child = os.fork()
    try:
        os.sched_setaffinity(0, {max(cores) if child else min(cores)})  # side by side, not in turns
        counts[2 if child else 1] = 1
        while not counts[1 if child else 2]:
            pass
        for _ in range(20):
            launch(counts)
    finally:
        if child == 0:
            os._exit(0)
        os.sched_setaffinity(0, cores)
    _, status = os.waitpid(child, 0)
    assert status == 0 and counts[0] == 2 * 20 * n


@nacre.jit
def chosen_kernel(x, index, out, old, M: tl.constexpr, N: tl.constexpr, OP: tl.constexpr):
    place = tl.program_id(0) * M * N + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    value = tl.load(x + place)
    chosen = (value & 7) == 3
    if OP == "add":
        was = tl.atomic_add(out + tl.load(index + place), value, mask=chosen)
    else:
        was = tl.atomic_max(out + tl.load(index + place), value, mask=chosen)
    tl.store(old + place, was)


@pytest.mark.parametrize("op", ["add", "max"])
@pytest.mark.parametrize("m, n", [(1, 64), (8, 16), (3, 64), (5, 13)])
@pytest.mark.parametrize("density", ["some", "none", "all"])
def test_elements_chosen_by_their_values(threads, op, m, n, density):
    """Places that several elements of a tile share, and what was there before each."""
    rng = np.random.default_rng(m * n)
    x = rng.integers(0, 1000, (2, m, n)).astype(np.int32)
    if density != "some":
        x = (x & ~7 | (3 if density == "all" else 1)).astype(np.int32)
    index = rng.integers(0, 10, x.shape).astype(np.int32)
    out, old = np.full(10, 5, np.int32), np.full(x.shape, -1, np.int32)
    chosen_kernel[(2,)](x, index, out, old, M=m, N=n, OP=op)
    expected, before = np.full(10, 5, np.int32), np.zeros(x.shape, np.int32)
    for place in np.ndindex(x.shape):
        if x[place] & 7 == 3:
            before[place] = expected[index[place]]
            expected[index[place]] = before[place] + x[place] if op == "add" else max(before[place], x[place])
    np.testing.assert_array_equal(out, expected)
    if threads == 1:
        np.testing.assert_array_equal(old, before)
    assert (old[x & 7 != 3] == 0).all()


def test_launches_beside_each_other_lose_nothing(threads):
    """Single programs and grids, tiles and scalars, additions and exchanges, all at one place."""
    index, counts = np.zeros(512, np.int32), np.zeros(1, np.int32)
    failures = []

    def body(number):
        try:
            for _ in range(30):
                if number % 4 == 0:
                    one_kernel[(1,)](counts, ROUNDS=256)
                elif number % 4 == 1:
                    swap_kernel[(1,)](counts, ROUNDS=256)
                else:
                    count_kernel[(number % 4 - 1,)](index, counts, 256, BLOCK=256)
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    runners = [threading.Thread(target=body, args=(number,)) for number in range(8)]
    for runner in runners:
        runner.start()
    for runner in runners:
        runner.join(600)
    assert not failures and not any(runner.is_alive() for runner in runners), failures
    assert counts[0] == 8 * 30 * 256


def test_after_a_fork_in_the_middle_of_a_launch(threads):
    """The child's launches do not wait for one that ends in the parent only."""

    @nacre.jit
    def long_kernel(counts, rounds):
        total = 0
        for i in range(rounds):
            total = total * 3 + tl.load(counts + 1)
        tl.atomic_add(counts + tl.arange(0, 1), total * 0 + 1)

    counts = np.zeros(2, np.int32)
    long_kernel[(1,)](counts, 10)
    runner = threading.Thread(target=lambda: long_kernel[(1,)](counts, 200_000_000))
    runner.start()
    child = os.fork()
    if child == 0:
        try:
            own = np.zeros(1, np.int32)
            one_kernel[(1,)](own, ROUNDS=5)
            os._exit(0 if own[0] == 5 else 1)
        except BaseException:  # noqa: BLE001
            os._exit(2)
    _, status = os.waitpid(child, 0)
    assert status == 0
    runner.join(600)
    assert not runner.is_alive() and counts[0] == 2


def test_a_knob_that_is_no_number(script):
    path = script.write("""
        import numpy as np, nacre, nacre.language as tl

        @nacre.jit
        def kernel(x):
            tl.atomic_add(x, 1)

        kernel[(1,)](np.zeros(1, np.int32))
    """)
    process = script.start(path, NACRE_LONE_ATOMICS_US="soon")
    _, error = process.communicate(timeout=600)
    assert process.returncode == 1 and "NACRE_LONE_ATOMICS_US" in error and "a whole number of at least 0" in error, error
