"""A kernel that stores beyond its arrays damages the heap, and the process ends elsewhere: its last words name the kernel and the tool."""

import os
import signal
import subprocess
import sys

import pytest

glibc_heap = pytest.mark.skipif(
    "glibc" not in (os.confstr("CS_GNU_LIBC_VERSION") or "") or "asan" in os.environ.get("LD_PRELOAD", ""),
    reason="the heap is not that of glibc, which notices that it is damaged",
)

HEAD = """
import ctypes, os, signal
import numpy as np
import nacre
import nacre.language as tl


@nacre.jit
def fill(x, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), -1)


@nacre.jit
def increment(x):
    tl.store(x, tl.load(x) + 1)


libc = ctypes.CDLL(None)
libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
"""
# Two blocks beside each other: what is stored beyond the first damages the second. Blocks in holes of the heap have others' beside them.
DAMAGED = HEAD + """
blocks = sorted(libc.malloc(2000) for _ in range(64))
first = next(block for block, behind in zip(blocks, blocks[1:]) if behind - block < 2048)
x = np.ctypeslib.as_array((ctypes.c_int32 * 500).from_address(first))
fill[(1,)](x, BLOCK=512)
increment[(1,)](np.zeros(1, np.int32))
for block in blocks:
    if block != first:
        libc.free(block)
"""
FAULT = HEAD + """
fill[(1,)](np.zeros(16, np.int32), BLOCK=16)
ctypes.string_at(8)
"""
FORKED = HEAD + """
fill[(1,)](np.zeros(16, np.int32), BLOCK=16)
child = os.fork()
if child == 0:
    os.abort()
os.waitpid(child, 0)
"""


def run(tmp_path, text, *options):
    (tmp_path / "script.py").write_text(text)
    return subprocess.run([sys.executable, *options, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=600,
                          env={**os.environ, "TRITON_CACHE_DIR": str(tmp_path / "cache")})  # fmt: skip


@glibc_heap
@pytest.mark.parametrize("options", [[], ["-X", "faulthandler"]], ids=["plain", "faulthandler"])
def test_a_damaged_heap(tmp_path, options):
    done = run(tmp_path, DAMAGED, *options)
    assert done.returncode == -signal.SIGABRT, done.stderr
    assert "nacre: the process ends by SIGABRT, outside of kernels." in done.stderr
    assert "one of `increment`, `fill` (the last launched first). `triton-san asan COMMAND` finds such a store, and so does TRITON_DEBUG=1." in done.stderr
    assert done.stderr.count("nacre: ") == 1


# As if a kernel had stored beyond the last block of the heap: the next allocation that needs a new piece of it meets the damage, in a compile.
DAMAGED_FOR_COMPILES = HEAD + """
fill[(1,)](np.zeros(16, np.int32), BLOCK=16)
zero = np.zeros(1, np.int32)
libc.sbrk.restype = ctypes.c_void_p
size = 100_000 + 8  # of a block, and where the size of what follows it is
for _ in range(1000):
    rest = ctypes.c_uint64.from_address(libc.malloc(100_000) + size)
    if 0 <= libc.sbrk(0) - (ctypes.addressof(rest) - 8 + (rest.value & ~7)) < 16:
        break
else:
    raise SystemExit("the end of the heap was not found")
rest.value = 2**64 - 1
increment[(1,)](zero)
"""


@glibc_heap
@pytest.mark.parametrize("options", [[], ["-X", "faulthandler"]], ids=["plain", "faulthandler"])
def test_a_heap_that_a_compile_finds_damaged(tmp_path, options):
    """glibc aborts with its lock held: going on with the compile's error would wait for that lock forever."""
    done = run(tmp_path, DAMAGED_FOR_COMPILES, *options)
    assert done.returncode == -signal.SIGABRT, done.stderr
    assert "corrupted top size" in done.stderr and "one of `fill`" in done.stderr
    assert bool(options) == ("Fatal Python error: Aborted" in done.stderr), done.stderr


def test_a_fault_elsewhere(tmp_path):
    done = run(tmp_path, FAULT)
    assert done.returncode == -signal.SIGSEGV and "ends by SIGSEGV, outside of kernels" in done.stderr and "one of `fill`" in done.stderr


@glibc_heap
def test_what_it_names_does_find_the_store(tmp_path):
    found = run(tmp_path, DAMAGED, "-m", "nacre", "sanitize", "asan")
    assert found.returncode == 1 and "heap-buffer-overflow" in found.stderr and "in fill" in found.stderr


@pytest.mark.parametrize("text", ["import os, nacre\nos.abort()\n", FORKED], ids=["no kernel", "a child"])
def test_who_ran_no_kernel_says_nothing(tmp_path, text):
    assert "nacre:" not in run(tmp_path, text).stderr
