"""The device of a launch is that of its arrays. Shown on the device on which nothing runs, "null", of which there are two."""

import numpy as np
import pytest

import nacre
import nacre.language as tl


class On:
    """An array that says it is on a device."""

    def __init__(self, array, device):
        self.array = array
        self.dtype = array.dtype
        self.device = device

    def data_ptr(self):
        return self.array.ctypes.data


class Interface:
    """An array that only a device's array interface tells of."""

    def __init__(self, address, typestr="<f4", read_only=False):
        self.__null_array_interface__ = {"data": (address, read_only), "typestr": typestr, "shape": (4,), "version": 3}
        self.dtype = typestr

    __null_array_interface__ = None


@pytest.fixture
def kernel():
    @nacre.jit
    def add(x, y, n):
        tl.store(y, tl.load(x) + n)

    return add


def arrays():
    return np.ones(4, np.float32), np.zeros(4, np.float32)


def test_a_launch_runs_where_its_arrays_are(kernel):
    x, y = arrays()
    devices = []
    for place in ("cpu", "null:0", "null:1", "null:0", "cpu:0"):
        devices.append(kernel[(1,)](On(x, place), On(y, place), 2)._native.device)
        assert y[0] == (3 if place.startswith("cpu") else 0)
        y[0] = 0
    assert devices == ["cpu", "null:0", "null:1", "null:0", "cpu"]
    assert len(kernel._compiled_kernels()) == 3  # one a device


def test_array_interfaces_of_devices(kernel):
    x, y = arrays()
    compiled = kernel[(1,)](Interface(x.ctypes.data), Interface(y.ctypes.data, "<i8"), 2)
    assert compiled._native.device == "null:0" and y[0] == 0
    assert compiled.src.signature["x"] == "*fp32" and compiled.src.signature["y"] == "*i64"
    with pytest.raises(TypeError, match="argument 'x'.*>f4"):
        kernel[(1,)](Interface(x.ctypes.data, ">f4"), Interface(y.ctypes.data), 2)
    with pytest.raises(ValueError, match="argument 'y', which is a read-only array"):
        kernel[(1,)](Interface(x.ctypes.data), Interface(y.ctypes.data, read_only=True), 2)


@pytest.mark.parametrize("places, message", [
    (("null:0", "cpu"), "argument 'x' is on null:0 and argument 'y' is in host memory"),
    (("cpu", "null:1"), "argument 'y' is on null:1 and argument 'x' is in host memory"),
    (("null:0", "null:1"), "argument 'x' is on null:0 and argument 'y' is on null:1"),
    (("null:7", "null:0"), "argument 'x' is on null:7.*there are 2 such devices"),
    (("abacus:1", "abacus:1"), "argument 'x' is on abacus:1.*no driver for such devices.*x.cpu()"),
])  # fmt: skip
def test_arrays_elsewhere_are_refused(kernel, places, message):
    x, y = arrays()
    with pytest.raises(ValueError, match=message):
        kernel[(1,)](On(x, places[0]), On(y, places[1]), 2)


def test_addresses_and_arrays_that_stand_for_others_are_anywhere(kernel):
    x, y = arrays()
    assert kernel.warmup(np.dtype("float32"), On(y, "null:1"), 2)._native.device == "null:1"
    assert kernel.warmup(np.dtype("float32"), np.dtype("float32"), 2)._native.device == "cpu"

    @nacre.jit
    def write(x: "*fp32", y):
        tl.store(x, 1.0)

    assert write[(1,)](x.ctypes.data, On(y, "null:1"))._native.device == "null:1"


def test_compiled_kernels_run_where_their_arrays_are(kernel):
    x, y = arrays()
    compiled = kernel.warmup(x, y, 2)
    compiled[(1, 1, 1)](x, y, 2)
    compiled[(1, 1, 1)](On(x, "null:0"), On(y, "null:0"), 5, stream=3)
    assert y[0] == 3
    with pytest.raises(ValueError, match="argument 'x' is on null:0 and argument 'y' is in host memory"):
        compiled[(1, 1, 1)](On(x, "null:0"), y, 5)
