"""NVIDIA's driver library, for programs without torch: which device is current, and memory of it."""

import ctypes
import functools

from ... import knobs


@functools.lru_cache
def _library():
    path = knobs.nvidia.driver or "libcuda.so.1"
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise RuntimeError(f"NVIDIA's driver library cannot be opened: {error}; NACRE_CUDA_DRIVER names it") from None
    _call(library, "cuInit", 0)
    return library


def _call(library, name, *args):
    """An error with the driver's words where it refuses."""
    result = getattr(library, name)(*args)
    if result != 0:
        text = ctypes.c_char_p()
        library.cuGetErrorString(result, ctypes.byref(text))
        raise RuntimeError(f"{name} of NVIDIA's driver: {(text.value or b'unknown error').decode()} ({result})")


@functools.lru_cache
def _context(index):
    """The context that everything in a process shares on a device."""
    device, context = ctypes.c_int(), ctypes.c_void_p()
    _call(_library(), "cuDeviceGet", ctypes.byref(device), int(index))
    _call(_library(), "cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    return context


def set_current_device(index):
    """Launches of this thread whose arrays do not say where they are run there."""
    _call(_library(), "cuCtxSetCurrent", _context(index))


def _with_a_device():
    """Makes the first device current where none is."""
    current = ctypes.c_void_p()
    _call(_library(), "cuCtxGetCurrent", ctypes.byref(current))
    if not current.value:
        set_current_device(0)
    return _library()


def device_malloc(size):
    """The address of new memory on the current device."""
    address = ctypes.c_uint64()
    _call(_with_a_device(), "cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
    return address.value


def device_free(ptr):
    _call(_with_a_device(), "cuMemFree_v2", ctypes.c_uint64(ptr))


def copy_host_to_device(dst, data):
    """Bytes to an address."""
    data = bytes(data)
    _call(_with_a_device(), "cuMemcpyHtoD_v2", ctypes.c_uint64(dst), data, ctypes.c_size_t(len(data)))


def copy_device_to_host(src, size):
    """The bytes at an address."""
    into = ctypes.create_string_buffer(size)
    _call(_with_a_device(), "cuMemcpyDtoH_v2", into, ctypes.c_uint64(src), ctypes.c_size_t(size))
    return into.raw


def synchronize():
    """Waits for all that was launched on the current device."""
    _call(_with_a_device(), "cuCtxSynchronize")
