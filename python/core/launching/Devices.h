// The devices that kernels run on, for Python: what is known of them, which one is current, waiting for one.
#pragma once

#include "python/core/Handle.h"

namespace nacre::python {

// devices() -> [(driver, how many, why none)]
PyObject *listDevices(PyObject *module, PyObject *noArguments);
// device_properties(driver, index) -> {"name": ..., "multiprocessor_count": ..., ...}, under the names that Triton has
// for them
PyObject *deviceProperties(PyObject *module, PyObject *args);
// current_device(driver) -> index
PyObject *currentDevice(PyObject *module, PyObject *driver);
// current_stream(driver, index) -> number
PyObject *currentStream(PyObject *module, PyObject *args);
// synchronize(driver, index): waits for everything on the device, and raises what went wrong there
PyObject *synchronizeDevice(PyObject *module, PyObject *args);
// set_active_device(driver or None): runs kernels whose arrays do not say where they are; gives the one before, or None
PyObject *setActiveDeviceByName(PyObject *module, PyObject *driver);
// read_memory(address, bytes) -> bytes, of a device's memory after all that was launched there, or of the host's
PyObject *readMemory(PyObject *module, PyObject *args);

} // namespace nacre::python
