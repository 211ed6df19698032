// Metrics from Python, and those that are known of a launch before it runs: what the compiler counts of it, and how it
// was configured (nacre.profiler._work).
#pragma once

#include "profiler/Metrics.h"
#include "python/core/Handle.h"
#include "runtime/Events.h"

namespace nacre::python {

// Of a dictionary, or None. Throws PythonError, naming the metric, on what is none.
profiler::Metrics readMetrics(PyObject *dictionary);

// Asked of Python once for each kernel, grid and set of numbers. Null where Python does not know the launch. Lasts as
// long as the process.
const profiler::Metrics *metricsOf(const LaunchEvent &launch);

// launch_work(tile IR, grid, slots) -> ([(argument, bytes loaded, stored)], [(width, flops)]), or None where nothing
// can be said (compiler/analysis/LaunchWork.h)
PyObject *countLaunchWork(PyObject *module, PyObject *args);

} // namespace nacre::python
