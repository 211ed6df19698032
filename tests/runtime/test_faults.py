"""Kernels that access memory they must not: an error that tells the place, and a process that goes on."""

import ctypes
import pickle
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest

import nacre
import nacre.language as tl
from nacre.runtime.errors import KernelFaultError

PAGES = 1 << 20
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
NOTHING, READ, READ_WRITE, PRIVATE_ANONYMOUS = 0, 1, 3, 0x22


@pytest.fixture(scope="module")
def fenced():
    """An array of float32 behind which is memory that may not be touched."""
    begin = libc.mmap(None, 2 * PAGES, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0)
    assert libc.mprotect(begin + PAGES, PAGES, NOTHING) == 0
    return np.frombuffer((ctypes.c_char * PAGES).from_address(begin), np.float32)


@nacre.jit
def sum_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    total = tl.sum(tl.load(x_ptr + offsets))
    tl.store(out_ptr + pid, total)


@nacre.jit
def fill_kernel(x_ptr, value, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, value)  # here


def check_sums(x):
    """The next launch, on every thread, is right."""
    x[:] = 1
    out = np.zeros(x.size // 256, np.float32)
    sum_kernel[(out.size,)](x, out, BLOCK=256)
    assert (out == 256).all()


@pytest.mark.parametrize("grid", [1, 3, 1000], ids=str)
def test_a_fault_is_an_error(fenced, grid):
    for _ in range(20):
        with pytest.raises(KernelFaultError) as error:
            fill_kernel[(grid,)](fenced[-128:], 1.0, BLOCK=256)
        check_sums(fenced)
    text = str(error.value)
    assert "the kernel `fill_kernel` accessed memory that is not there or may not be written, at address 0x" in text
    assert "SIGSEGV" in text and "'x_ptr'" in text
    assert "TRITON_INTERPRET=1 or debug=True" in text
    assert "tl.store(x_ptr + offsets, value)  # here" in text
    begin = fenced.ctypes.data + fenced.nbytes
    assert begin <= error.value.address < begin + grid * 256 * 4
    assert error.value.filename == __file__ and error.value.line > 0 and error.value.kernel == "fill_kernel"
    again = pickle.loads(pickle.dumps(error.value))
    assert str(again) == text and again.address == error.value.address


def test_reads_are_told_of_as_well(fenced):
    out = np.zeros(PAGES // 1024 + 1, np.float32)
    with pytest.raises(KernelFaultError, match="past the end of 'x_ptr'") as error:
        sum_kernel[(out.size,)](fenced, out, BLOCK=256)
    assert error.value.filename == __file__ and "tl.sum(tl.load(x_ptr + offsets))" in str(error.value)
    check_sums(fenced)


def test_writing_what_may_only_be_read(fenced):
    begin = libc.mmap(None, PAGES, READ, PRIVATE_ANONYMOUS, -1, 0)
    constant = np.frombuffer((ctypes.c_char * PAGES).from_address(begin), np.float32)
    assert constant.flags.writeable  # as far as NumPy knows
    with pytest.raises(KernelFaultError, match="or may not be written") as error:
        fill_kernel[(1,)](constant, 1.0, BLOCK=256)
    assert begin <= error.value.address < begin + PAGES
    check_sums(fenced)


@nacre.jit
def wild_kernel(out_ptr, address):
    tl.store(out_ptr, tl.load(address.to(tl.pointer_type(tl.float32))))


def test_an_address_that_no_memory_can_have(fenced):
    with pytest.raises(KernelFaultError, match="accessed memory that is not there"):
        wild_kernel[(1,)](fenced, 0x4141_4141_4141_4141)
    check_sums(fenced)


@nacre.jit
def waiting_kernel(x_ptr, flag_ptr):
    pid = tl.program_id(0)
    if pid == 0:
        tl.store(x_ptr + (1 << 18), 1.0)
        tl.atomic_xchg(flag_ptr, 1)
    while tl.atomic_add(flag_ptr, 0) == 0:
        pass


def test_programs_that_wait_for_the_one_at_fault(fenced):
    with pytest.raises(KernelFaultError):
        waiting_kernel[(8,)](fenced, np.zeros(1, np.int32))
    check_sums(fenced)


def test_launches_of_several_threads(fenced):
    """Each gets its own error, and those without a fault none."""
    wrong = []

    def work(is_faulty):
        for _ in range(20):
            out = np.zeros(64, np.float32)
            try:
                sum_kernel[(64,)](fenced[-256:] if is_faulty else fenced, out, BLOCK=256)
                if is_faulty:
                    wrong.append("no error")
            except KernelFaultError as error:
                if not is_faulty:
                    wrong.append(error)

    fenced[:] = 1
    threads = [threading.Thread(target=work, args=(i % 2 == 0,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_faults_elsewhere_are_not_ours(script):
    """A fault outside of kernels ends the process as before, with Python's own report where that is asked for."""
    text = """
    import ctypes
    import numpy as np
    import nacre
    import nacre.language as tl

    @nacre.jit
    def kernel(x_ptr):
        tl.store(x_ptr, 7)

    x = np.zeros(1, np.int32)
    kernel[(1,)](x)
    print(x[0], flush=True)
    ctypes.string_at(1)
    """
    for options in [], ["-X", "faulthandler"]:
        process = subprocess.run([sys.executable, *options, script.write(text)], capture_output=True, text=True, timeout=600)
        assert process.returncode == -11 and process.stdout == "7\n"
        assert ("Fatal Python error: Segmentation fault" in process.stderr) == bool(options)


def test_faults_after_faulthandler_was_enabled(script, fenced):
    text = """
    import faulthandler
    import numpy as np
    import nacre
    import nacre.language as tl

    @nacre.jit
    def kernel(x_ptr, offset):
        tl.store(x_ptr + offset, 7)

    faulthandler.enable()
    x = np.zeros(1, np.int32)
    for _ in range(3):
        try:
            kernel[(1,)](x, 1 << 60)
        except nacre.runtime.errors.KernelFaultError:
            print("told")
    kernel[(1,)](x, 0)
    print(x[0])
    """
    assert script.run(text) == "told\n" * 3 + "7\n"


def test_in_a_forked_child(script):
    text = """
    import os
    import numpy as np
    import nacre
    import nacre.language as tl

    @nacre.jit
    def kernel(x_ptr, offset):
        tl.store(x_ptr + offset + tl.program_id(0) % 2, 7)

    x = np.zeros(2, np.int32)
    def check():
        try:
            kernel[(64,)](x, 1 << 60)
        except nacre.runtime.errors.KernelFaultError:
            pass
        else:
            os._exit(1)
        kernel[(64,)](x, 0)
        assert (x == 7).all()

    check()
    child = os.fork()
    if child == 0:
        check()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    print("fine")
    """
    assert script.run(text) == "fine\n"


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
def test_a_fault_in_a_users_library_ends_the_process(script, tmp_path):
    """It may hold locks: what is left to do is to say whose fault it is."""
    (tmp_path / "peek.c").write_text("int peek(long address) { return *(volatile int *)address; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", tmp_path / "peek.c", "-o", tmp_path / "peek.so"], check=True)
    text = """
    import numpy as np
    import nacre
    import nacre.language as tl
    from nacre.language import core

    @core.extern
    def peek(address, _semantic=None):
        return core.extern_elementwise("peek", "", [address], {(core.int64,): ("peek", core.int32)}, False, _semantic=_semantic)

    @nacre.jit
    def kernel(out_ptr, address):
        tl.store(out_ptr, peek(address.to(tl.int64)))

    x, libraries = np.full(1, 7, np.int32), {"peek": LIBRARY}
    out = np.zeros(1, np.int32)
    kernel[(1,)](out, x.ctypes.data, extern_libs=libraries)
    print(out[0], flush=True)
    kernel[(1,)](out, 4096 * 3 + 8, extern_libs=libraries)
    """
    path = script.write(text.replace("LIBRARY", repr(str(tmp_path / "peek.so"))))
    process = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=600)
    assert process.returncode == -11 and process.stdout == "7\n", process.stderr
    assert "nacre: the kernel `kernel` caused a fault (SIGSEGV) in a library that it calls" in process.stderr
