"""The CUDA device through a driver that is none: two GPUs whose launches the simulator runs, and which fail as GPUs do."""

import pytest

KERNEL = """
import ctypes
import os
import numpy as np
import nacre
import nacre.language as tl

mock = ctypes.CDLL(os.environ["NACRE_CUDA_DRIVER"])

class Record(ctypes.Structure):
    _fields_ = [("launches", ctypes.c_uint64), ("modules", ctypes.c_uint64), ("unloaded", ctypes.c_uint64), ("stream", ctypes.c_uint64),
                ("device", ctypes.c_int), ("cooperative", ctypes.c_int), ("serialized", ctypes.c_int), ("grid", ctypes.c_uint * 3),
                ("threads", ctypes.c_uint), ("shared", ctypes.c_uint), ("kernel", ctypes.c_char * 64)]

mock.mockRecord.restype = ctypes.POINTER(Record)
record = mock.mockRecord().contents

class Array:
    '''Memory of a GPU that holds a copy of a NumPy array.'''
    def __init__(self, values, device=0):
        context, before = ctypes.c_void_p(), ctypes.c_void_p()
        mock.cuCtxGetCurrent(ctypes.byref(before))
        mock.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
        mock.cuCtxSetCurrent(context)
        address = ctypes.c_uint64()
        assert mock.cuMemAlloc(ctypes.byref(address), ctypes.c_size_t(values.nbytes)) == 0
        mock.cuCtxSetCurrent(before)
        ctypes.memmove(address.value, values.ctypes.data, values.nbytes)
        self.values, self.address = values, address.value
    @property
    def __cuda_array_interface__(self):
        return {"shape": self.values.shape, "typestr": self.values.dtype.str, "data": (self.address, False), "version": 3, "strides": None}
    def numpy(self):
        out = np.empty_like(self.values)
        ctypes.memmove(out.ctypes.data, self.address, out.nbytes)
        return out

@nacre.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask), mask=mask)

values = np.arange(1000, dtype=np.float32)
x, y, out = Array(values), Array(values), Array(np.zeros_like(values))
"""


@pytest.fixture
def run(run_script, mock_driver):
    def script(text, **environment):
        return run_script(KERNEL + text, NACRE_CUDA_DRIVER=mock_driver, TRITON_PTXAS_PATH="driver", **environment)

    return script


def succeed(process):
    assert process.returncode == 0, process.stderr
    return process.stdout


def test_a_launch_runs_where_its_arrays_are(run):
    succeed(run("""
compiled = add[(8,)](x, y, out, 1000, BLOCK=128)
assert (out.numpy() == 2 * values).all()
assert record.launches == 1 and record.device == 0 and tuple(record.grid) == (8, 1, 1) and record.threads == 128
assert record.kernel == b"add" and record.stream == 0
assert compiled.n_regs == 32 and compiled.n_spills == 0
"""))


def test_each_device_loads_the_kernel_once(run):
    succeed(run("""
other = [Array(values, 1), Array(values, 1), Array(np.zeros_like(values), 1)]
for _ in range(3):
    add[(8,)](x, y, out, 1000, BLOCK=128)
    assert record.device == 0
    add[(8,)](*other, 1000, BLOCK=128)
    assert record.device == 1
assert record.launches == 6 and record.modules == 2
assert (other[2].numpy() == 2 * values).all()
"""))


def test_arrays_of_two_devices_are_an_error(run):
    process = run("""
add[(8,)](x, Array(values, 1), out, 1000, BLOCK=128)
""")
    assert process.returncode != 0 and "'x'" in process.stderr and "cuda:1" in process.stderr, process.stderr


def test_a_failure_that_arrives_later_names_the_kernel(run):
    process = run("""
add[(9,)](x, y, out, 1100, BLOCK=128)
add[(8,)](x, y, out, 1000, BLOCK=128)
""")
    assert process.returncode != 0
    for part in ("CUDA_ERROR_ILLEGAL_ADDRESS", "launched before", "`add`"):
        assert part in process.stderr, process.stderr


def test_a_dependent_launch_waits_before_it_touches_memory(run):
    succeed(run("""
compiled = add[(8,)](x, y, out, 1000, BLOCK=128, launch_pdl=True)
assert record.serialized == 1 and (out.numpy() == 2 * values).all()
text = compiled.asm["ptx"]
assert text.count("griddepcontrol.wait") == 1
body = text[text.index(".entry add("):]
assert 0 < body.index("griddepcontrol.wait") < body.index("ld.global")
add[(8,)](x, y, out, 1000, BLOCK=128)
assert record.serialized == 0

@nacre.jit
def waits_itself(x, out, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    values = tl.load(x + offsets)
    tl.extra.cuda.gdc_wait()
    tl.store(out + offsets, values)

text = waits_itself[(1,)](x, out, BLOCK=128, launch_pdl=True).asm["ptx"]
assert record.serialized == 1 and text.count("griddepcontrol.wait") == 1
body = text[text.index(".entry waits_itself("):]
assert body.index("ld.global") < body.index("griddepcontrol.wait")
"""))


def test_a_gpu_without_dependent_launches_does_as_before(run_script):
    assert succeed(run_script("""
import numpy as np
import nacre
import nacre.language as tl

@nacre.jit
def one(x):
    tl.store(x, 1)

x = np.zeros(1, np.int32)
text = one[(1,)](x, launch_pdl=True).asm["ptx"]
print("griddepcontrol" in text, x[0])
""", NACRE_DEVICE="simulate", TRITON_OVERRIDE_ARCH="80")) == "False 1\n"  # fmt: skip


def test_a_cooperative_grid_must_fit(run):
    process = run("""
add[(8,)](x, y, out, 1000, BLOCK=128, launch_cooperative_grid=True)
assert record.cooperative == 1 and (out.numpy() == 2 * values).all()
add[(9,)](x, y, out, 1000, BLOCK=128, launch_cooperative_grid=True)
""")
    assert "OutOfResources" in process.stderr and "required: 9, limit: 8; a cooperative grid must fit" in process.stderr, process.stderr


CHECKED = """
@nacre.jit
def unmasked(x, out, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(x + offsets))

"""


def test_a_checked_launch_refuses_what_is_out_of_bounds_and_the_gpu_goes_on(run):
    output = succeed(run(CHECKED + """
try:
    unmasked[(8,)](x, out, BLOCK=128, debug=True)
except IndexError as error:
    print(error)
unmasked[(7,)](x, out, BLOCK=128, debug=True)
print((out.numpy()[:896] == values[:896]).all(), out.numpy()[896:].any())
"""))  # fmt: skip
    assert "program (7, 0, 0): load of fp32 out of bounds: element 1000 of 'x' (valid: 0 to 999); 24 of 128 lanes" in output
    assert output.endswith("True False\n")


def test_a_checked_launch_that_is_captured_is_not_waited_for(run):
    assert succeed(run(CHECKED + """
mock.mockCapture(1)
unmasked[(7,)](x, out, BLOCK=128, debug=True)
mock.mockCapture(0)
print(record.launches, (out.numpy()[:896] == values[:896]).all())
""")) == "1 True\n"  # fmt: skip


def test_the_first_launch_may_be_captured(run):
    """Compiling and loading neither wait for the stream nor copy: what is captured refuses both."""
    assert succeed(run("""
mock.mockCapture(1)
add[(8,)](x, y, out, 1000, BLOCK=128)
mock.mockCapture(0)
print(record.launches, record.modules, (out.numpy() == 2 * values).all())
""")) == "1 1 True\n"  # fmt: skip


def test_a_grid_too_large_says_which_extent(run):
    process = run("add[(1, 70000)](x, y, out, 1000, BLOCK=128)\n")
    assert process.returncode != 0 and "(1, 70000, 1)" in process.stderr and "65535" in process.stderr, process.stderr


def test_a_child_after_fork_is_told_to_spawn(run):
    output = succeed(run("""
add[(8,)](x, y, out, 1000, BLOCK=128)
pid = os.fork()
if pid == 0:
    try:
        add[(8,)](x, y, out, 1000, BLOCK=128)
    except Exception as error:
        print("spawn" in str(error), flush=True)
    os._exit(0)
os.waitpid(pid, 0)
add[(8,)](x, y, out, 1000, BLOCK=128)
print(record.launches)
"""))
    assert output.split() == ["True", "2"]


def test_a_child_after_fork_compiles_for_the_gpu_of_its_parent(run):
    """As workers of torch.compile do. It knows what was asked before; the driver itself refuses every call there."""
    output = succeed(run("""
from nacre.compiler import ASTSource
driver = nacre.runtime.driver.active
target, properties = driver.get_current_target(), driver.utils.get_device_properties(1)
add[(8,)](x, y, out, 1000, BLOCK=128)
pid = os.fork()
if pid == 0:
    try:
        assert nacre.backends.backends["nvidia"].driver.is_active() and nacre.runtime.driver.active.is_active()
        assert driver.get_current_target() == target and driver.utils.get_device_properties(1) == properties and driver.get_current_device() == 0
        signature = {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32", "BLOCK": "constexpr"}
        compiled = nacre.compile(ASTSource(add, signature, {"BLOCK": 64}), target=driver.get_current_target())
        assert compiled.metadata.name == "add" and ".entry add(" in compiled.asm["ptx"]
        print("compiled", flush=True)
        for use in (lambda: add[(8,)](x, y, out, 1000, BLOCK=64), driver.get_current_stream, compiled._init_handles):
            try:
                use()
                print("not refused", flush=True)
            except Exception as error:
                print("fork" in str(error) and "spawn" in str(error) or error, flush=True)
    except BaseException as error:
        print(repr(error), flush=True)
    os._exit(0)
os.waitpid(pid, 0)
add[(8,)](x, y, out, 1000, BLOCK=64)
print(record.launches)
"""))  # fmt: skip
    assert output.split() == ["compiled", "True", "True", "True", "2"]


def test_a_child_after_fork_reads_no_memory_of_the_gpu(run):
    output = succeed(run("""
from nacre import _core
add[(8,)](x, y, out, 1000, BLOCK=128)
before = _core.read_memory(out.address, 4000)
pid = os.fork()
if pid == 0:
    try:
        _core.read_memory(out.address, 4000)
        print("not refused", flush=True)
    except Exception as error:
        print("fork" in str(error) and "spawn" in str(error) or error, flush=True)
    os._exit(0)
os.waitpid(pid, 0)
print(_core.read_memory(out.address, 4000) == before)
"""))
    assert output.split() == ["True", "True"]


def test_a_child_of_a_process_where_others_used_cuda_compiles_for_a_given_target(run_script, mock_driver):
    process = run_script("""
import ctypes, os
import nacre
import nacre.language as tl
from nacre.backends.compiler import GPUTarget
from nacre.compiler import ASTSource

@nacre.jit
def one(x):
    tl.store(x, 1)

assert ctypes.CDLL(os.environ["NACRE_CUDA_DRIVER"]).cuInit(0) == 0  # as torch does
pid = os.fork()
if pid == 0:
    try:
        print(".entry one(" in nacre.compile(ASTSource(one, {"x": "*i32"}), target=GPUTarget("cuda", 90, 32)).asm["ptx"], flush=True)
        nacre.runtime.driver.active.get_current_stream()
    except Exception as error:
        print("fork" in str(error) and "spawn" in str(error) or error, flush=True)
    os._exit(0)
os.waitpid(pid, 0)
""", NACRE_CUDA_DRIVER=mock_driver, TRITON_PTXAS_PATH="driver")  # fmt: skip
    assert process.stdout.split() == ["True", "True"], process.stdout + process.stderr


def test_a_child_of_a_process_where_others_used_cuda_knows_its_gpus(run_script, mock_driver):
    """As workers of torch.compile do: torch asks for the devices, nobody has asked us when they are forked."""
    process = run_script("""
import ctypes, os
import nacre

assert ctypes.CDLL(os.environ["NACRE_CUDA_DRIVER"]).cuInit(0) == 0  # as torch does
pid = os.fork()
if pid == 0:
    try:
        print(nacre.backends.backends["nvidia"].driver.is_active(), nacre.runtime.driver.active.get_current_target().arch, flush=True)
    except BaseException as error:
        print(repr(error), flush=True)
    os._exit(0)
os.waitpid(pid, 0)
""", NACRE_CUDA_DRIVER=mock_driver, TRITON_PTXAS_PATH="driver")  # fmt: skip
    assert process.stdout.split() == ["True", "90"], process.stdout + process.stderr


def test_a_child_of_a_process_where_torch_used_cuda_compiles_though_we_come_late(run_script):
    """Beside an installed Triton nobody imports us before the worker is forked. Torch's mark of such a child is enough."""
    process = run_script("""
import sys, types
import nacre
import nacre.language as tl

driver = nacre.backends.backends["nvidia"].driver
torch = types.ModuleType("torch")
torch.cuda = types.SimpleNamespace(_is_in_bad_fork=lambda: marked)
sys.modules["torch"] = torch
for marked in (False, True):
    print(driver.is_active())

@nacre.jit
def kernel(x, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 1.0)

for architecture in (80, "sm_90"):  # the device cannot be asked for it
    source = nacre.compiler.ASTSource(kernel, {"x": "*fp32", "BLOCK": "constexpr"}, {"BLOCK": 32})
    print(nacre.compile(source, target=nacre.backends.compiler.GPUTarget("cuda", architecture, 32)).metadata.target.arch)
""", NACRE_CUDA_DRIVER="/no/driver", TRITON_PTXAS_PATH="driver")  # fmt: skip
    assert process.stdout.split() == ["False", "True", "80", "90"], process.stdout + process.stderr


def test_a_fork_starts_no_driver(run_script, mock_driver):
    """A child may use CUDA itself where nobody had started it before."""
    process = run_script("""
import ctypes, os
import nacre

library = ctypes.CDLL(os.environ["NACRE_CUDA_DRIVER"])
pid = os.fork()
if pid == 0:
    print(nacre.backends.backends["nvidia"].driver.is_active(), nacre._core.device_properties("cuda", 0)["arch"], library.cuInit(0), flush=True)
    os._exit(0)
os.waitpid(pid, 0)
""", NACRE_CUDA_DRIVER=mock_driver, TRITON_PTXAS_PATH="driver")  # fmt: skip
    assert process.stdout.split() == ["True", "90", "0"], process.stdout + process.stderr


def test_properties_under_tritons_names(run):
    succeed(run("""
from nacre import _core
known = _core.device_properties("cuda", 1)
assert known["name"] == "mock GPU 1" and known["arch"] == "90" and known["max_shared_mem"] == 232448
assert known["multiprocessor_count"] == 4 and known["warpSize"] == 32
"""))


def test_without_a_driver_the_error_says_so(run_script):
    process = run_script("""
import nacre
from nacre import _core
print(_core.devices())
_core.device_properties("cuda", 0)
""", NACRE_CUDA_DRIVER="/nowhere/libcuda.so")  # fmt: skip
    assert process.returncode != 0 and "NVIDIA's driver cannot be opened" in process.stderr, process.stderr


def test_the_driver_makes_tensor_maps(run):
    """Blocks of descriptors go through maps that each launch has made of its arguments."""
    process = run("""
from nacre.tools.tensor_descriptor import TensorDescriptor

@nacre.jit
def move(x, out, row, column):
    out.store([0, 0], x.load([row, column]) + 1)

values = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)
x, out = Array(values), Array(np.zeros((16, 32), np.float32))
describe = lambda array: TensorDescriptor(array, list(array.values.shape), [array.values.shape[1], 1], [16, 32])
for row in (0, 16, 56):
    compiled = move[(1,)](describe(x), describe(out), row, 32)
    expected = np.zeros((16, 32), np.float32)
    part = values[row : row + 16, 32:]
    expected[: len(part)] = part
    assert (out.numpy() == expected + 1).all()
print(compiled.asm["ptx"].count("cp.async.bulk.tensor.2d"))
""")
    assert process.returncode == 0, process.stderr
    assert process.stdout.strip() == "2"


ASSERTING = """
@nacre.jit
def asserting(x, limit, BLOCK: tl.constexpr):
    values = tl.load(x + tl.arange(0, BLOCK))
    tl.device_assert(values < limit, "too large")
    tl.store(x + tl.arange(0, BLOCK), values + 1)
"""


def test_an_assert_that_fails_leaves_the_device_usable(run):
    succeed(run(ASSERTING + """
try:
    asserting[(2,)](x, 100, BLOCK=128, debug=True)
    raise SystemExit("nothing was raised")
except AssertionError as error:
    assert "too large" in str(error) and "tl.device_assert(values < limit" in str(error), error
    assert error.program in ((0, 0, 0), (1, 0, 0))
assert (x.numpy() == values).all()
asserting[(1,)](x, 200, BLOCK=128, debug=True)
assert (x.numpy()[:128] == values[:128] + 1).all()
"""))


def test_an_assert_of_a_captured_launch_ends_the_device(run):
    """Nobody reads a record there."""
    assert "CUDA_ERROR" in succeed(run(ASSERTING + """
mock.mockCapture(1)
asserting[(1,)](x, 100, BLOCK=128, debug=True)
mock.mockCapture(0)
try:
    add[(8,)](x, y, out, 1000, BLOCK=128)
except RuntimeError as error:
    print(error)
"""))


def test_what_is_printed_last_is_shown(run):
    assert "pid (0, 0, 0) idx () n: 41" in succeed(run("""
@nacre.jit
def show(x, n):
    tl.device_print("n", n)

show[(1,)](x, 41)
"""))
