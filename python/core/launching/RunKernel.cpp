#include "python/core/launching/RunKernel.h"
#include "python/core/Errors.h"
#include "python/core/interpreting/Interpreter.h"
#include "python/core/launching/KnownMemory.h"
#include "python/core/launching/NativeKernel.h"
#include "python/core/launching/PythonHooks.h"
#include "python/core/launching/TorchProfiler.h"
#include "python/core/launching/WatchedLaunch.h"

namespace nacre::python {

void runKernel(const LaunchCall &launch, Specialization &chosen, PyObject *grid) {
  if (!chosen.obstacle.empty())
    raise(PyExc_RuntimeError, "%U() cannot be launched: %s", launch.name().get(), chosen.obstacle.c_str());
  if (launch.bound.anyReadOnly)
    launch.refuseReadOnly(chosen.kernel->code.access.surelyWritten);
  if (launch.bound.anyNull)
    launch.refuseNull();
  uint32_t dimensions[3];
  launch.extentsOf(grid, dimensions);
  llvm::SmallVector<uint64_t, 32> slots;
  for (const BoundArgument &argument : launch.bound.arguments)
    if (argument.kind == BoundArgument::Kind::Pointer || argument.kind == BoundArgument::Kind::Number)
      slots.push_back(argument.slot);
  if (!chosen.isLoaded) {
    call(attribute(chosen.compiled.get(), "_init_handles").get());
    chosen.isLoaded = true;
  }
  std::optional<KnownArrays> arrays;
  if (chosen.tellsArrays)
    arrays = knownArrays(launch.kernel, launch.values, launch.bound);
  ProfiledLaunch event(launch.kernel);
  auto arguments = [&] { return launch.argumentDictionary(); };
  PythonLaunch caller{chosen.compiled.get(), launch.kernel, arguments, &launch.bound, launch.values};
  LaunchOptions options;
  options.caller = &caller;
  options.cooperative = chosen.cooperative;
  options.arrays = arrays ? &*arrays : nullptr;
  try {
    launchReleased(*chosen.kernel, *chosen.device, dimensions, slots, options);
    if (caller.watched)
      caller.watched->end();
  } catch (const KernelFaultError &fault) {
    if (caller.watched) // what was found before may tell why
      caller.watched->end();
    raiseFault(fault, fault.address ? knownMemory(launch.kernel, launch.values).describe(*fault.address) : "");
  }
}

void interpretKernel(const LaunchCall &launch, PyObject *grid) {
  if (launch.bound.anyNull)
    launch.refuseNull();
  InterpretedLaunch interpreted{launch.kernel, launch.values, launch.bound, launch.keywords, {}};
  launch.extentsOf(grid, interpreted.grid);
  lookForTorch();
  ProfiledLaunch event(launch.kernel);
  if (!events::isWanted(LaunchEvents | AccessEvents))
    return runInterpreted(interpreted);
  std::string shown = text(launch.name().get());
  auto arguments = [&] { return launch.argumentDictionary(); };
  PythonLaunch caller{Py_None, launch.kernel, arguments};
  LaunchEvent told{.id = events::nextLaunch(),
                   .name = shown,
                   .kernel = nullptr,
                   .device = &hostDevice(),
                   .stream = 0,
                   .grid = interpreted.grid,
                   .arguments = {},
                   .caller = &caller};
  events::around(told, [&] {
    if (events::isWanted(AccessEvents)) {
      caller.bound = &launch.bound;
      caller.values = launch.values;
      events::tell(AccessEvents, [&](EventListener &listener) {
        if (LaunchWatcher *watcher = listener.watch(told))
          interpreted.watchers.push_back(watcher);
      });
      if (caller.watched)
        interpreted.watcher = caller.watched->watcher();
    }
    runInterpreted(interpreted);
    if (caller.watched)
      caller.watched->end();
  });
}

} // namespace nacre::python
