"""Launches of all kinds from several threads at once, each checked: a long run finds what a short one does not.

    .venv/bin/python tests/runtime/soak.py --launches 1000000 --threads 4

Each thread has arrays of its own, and all share kernels, their caches and one array of counters. Between launches that succeed come
some that fail: arguments that are missing, asserts that do not hold, memory that may not be touched. Now and then a kernel is made of a
new text, compiled, launched and forgotten.
"""

import argparse
import ctypes
import gc
import importlib.util
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np

import nacre
import nacre.language as tl
from nacre.runtime.errors import KernelFaultError


@nacre.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask), mask=mask)


@nacre.jit
def sum_kernel(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.int64)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        total += tl.load(x + row * columns + offsets, mask=offsets < columns, other=0)
    tl.store(out + row, tl.sum(total))


@nacre.jit
def product_kernel(a, b, out, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)[:, None] * SIZE + tl.arange(0, SIZE)[None, :]
    tl.store(out + at, tl.dot(tl.load(a + at), tl.load(b + at), input_precision="ieee"))


@nacre.jit
def count_kernel(counters, places, BLOCK: tl.constexpr):
    tl.atomic_add(counters + tl.load(places + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)), 1)


@nacre.jit
def assert_kernel(out, limit):
    pid = tl.program_id(0)
    tl.device_assert(pid < limit, "too far")
    tl.store(out + pid, pid)


@nacre.jit
def fill_kernel(out, value, BLOCK: tl.constexpr):
    tl.store(out + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), value)


NEW_KERNEL = """
import nacre
import nacre.language as tl


@nacre.jit
def kernel(out, n):
    offsets = tl.arange(0, {block})
    tl.store(out + offsets, offsets * {factor} + {number}, mask=offsets < n)
"""

COUNTERS = 64
FENCED_BYTES = 1 << 16


def fenced_array():
    """float32 behind which is memory that may not be touched."""
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    read_write, private_anonymous = 3, 0x22
    begin = libc.mmap(None, 2 * FENCED_BYTES, read_write, private_anonymous, -1, 0)
    assert libc.mprotect(begin + FENCED_BYTES, FENCED_BYTES, 0) == 0
    return np.frombuffer((ctypes.c_char * FENCED_BYTES).from_address(begin), np.float32)


class Launches:
    """What one thread launches; each method is one launch, checked."""

    def __init__(self, soak, number):
        self.soak = soak
        self.random = random.Random(soak.seed * 1000 + number)
        self.numbers = np.random.default_rng(soak.seed * 1000 + number)
        self.counted = np.zeros(COUNTERS, np.int64)
        self.fenced = fenced_array()

    def add(self):
        n, begin = self.random.randrange(1, 3000), self.random.randrange(4)
        dtype, block = self.random.choice([np.float32, np.int32, np.float64, np.int8]), self.random.choice([64, 128, 256, 512])
        x, y = (self.numbers.integers(-50, 50, n + begin).astype(dtype)[begin:] for _ in range(2))
        out = np.full(n + 1, 99, dtype)
        add_kernel[(nacre.cdiv(n, block),)](x, y, out, n, BLOCK=block)
        assert np.array_equal(out[:n], x + y) and out[n] == 99

    def sum(self):
        rows, columns = self.random.randrange(1, 20), self.random.randrange(1, 200)
        x = self.numbers.integers(-1000, 1000, (rows, columns)).astype(self.random.choice([np.int32, np.int64, np.int16]))
        out = np.zeros(rows, np.int64)
        sum_kernel[lambda meta: (rows,)](x, out, columns, BLOCK=self.random.choice([16, 64]))
        assert np.array_equal(out, x.sum(1))

    def product(self):
        size = self.random.choice([8, 16, 32])
        dtype = self.random.choice([np.float32, np.float64])
        a, b = (self.numbers.integers(-4, 5, (size, size)).astype(dtype) for _ in range(2))
        out = np.zeros((size, size), dtype)
        product_kernel[(1,)](a, b, out, SIZE=size)
        assert np.array_equal(out, a @ b)

    def count(self):
        programs = self.random.randrange(1, 30)
        places = self.numbers.integers(0, COUNTERS, programs * 32).astype(np.int32)
        count_kernel[(programs,)](self.soak.counters, places, BLOCK=32)
        self.counted += np.bincount(places, minlength=COUNTERS)

    def failed_assert(self):
        out = np.zeros(40, np.int32)
        try:
            assert_kernel[(40,)](out, 20, debug=True)
        except AssertionError as error:
            assert "too far" in str(error)
        else:
            raise RuntimeError("an assert that does not hold was no error")

    def missing_argument(self):
        try:
            add_kernel[(1,)](np.zeros(8, np.float32), BLOCK=64)
        except TypeError:
            pass
        else:
            raise RuntimeError("a missing argument was no error")

    def fault(self):
        try:
            fill_kernel[(3,)](self.fenced[-128:], 1.0, BLOCK=256)
        except KernelFaultError:
            pass
        else:
            raise RuntimeError("an access of memory that may not be touched was no error")
        fill_kernel[(4,)](self.fenced, 2.0, BLOCK=256)
        assert (self.fenced[:1024] == 2).all()

    def new_kernel(self):
        block, factor, number = self.random.choice([16, 32, 64]), self.random.randrange(1, 100), self.random.randrange(1 << 20)
        path = Path(self.soak.folder, f"kernel_{threading.get_ident()}_{self.random.randrange(1 << 60)}.py")
        path.write_text(NEW_KERNEL.format(block=block, factor=factor, number=number))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        n = self.random.randrange(1, block + 1)
        out = np.full(block, -1, np.int32)
        module.kernel[(1,)](out, n)
        expected = np.arange(block, dtype=np.int32) * factor + number
        assert np.array_equal(out[:n], expected[:n]) and (out[n:] == -1).all()
        path.unlink()
        if self.random.randrange(20) == 0:
            gc.collect()


# How many of 10,000 launches are of each kind; those that compile or fault take long.
SHARES = {Launches.add: 3500, Launches.sum: 2500, Launches.product: 1500, Launches.count: 2350, Launches.failed_assert: 60,
          Launches.missing_argument: 60, Launches.fault: 20, Launches.new_kernel: 10}  # fmt: skip


class Soak:
    def __init__(self, launches, threads, seed, folder):
        self.launches, self.threads, self.seed, self.folder = launches, threads, seed, folder
        self.counters = np.zeros(COUNTERS, np.int64)
        self.done = Counter()
        self.lock = threading.Lock()
        self.failures = []

    def _work(self, number, count):
        thread, done = Launches(self, number), Counter()
        kinds = thread.random.choices(list(SHARES), SHARES.values(), k=count)
        try:
            for kind in kinds:
                kind(thread)
                done[kind.__name__] += 1
                if self.failures:
                    break
        except BaseException as error:  # noqa: BLE001  (the main thread raises it)
            self.failures.append(error)
        with self.lock:
            self.done += done
            self.counted = getattr(self, "counted", 0) + thread.counted

    def run(self):
        counts = [self.launches // self.threads + (number < self.launches % self.threads) for number in range(self.threads)]
        threads = [threading.Thread(target=self._work, args=item) for item in enumerate(counts)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.failures:
            raise self.failures[0]
        assert np.array_equal(self.counters, self.counted), "counts of several threads in one array"
        return self.done


def soak(launches, threads, seed):
    with tempfile.TemporaryDirectory(prefix="nacre-soak-") as folder:
        return Soak(launches, threads, seed, folder).run()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--launches", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    started = time.monotonic()
    done = soak(options.launches, options.threads, options.seed)
    print(f"{done.total()} launches from {options.threads} threads in {time.monotonic() - started:.0f} s, all as expected: {dict(done)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
