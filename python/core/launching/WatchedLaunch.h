// Launches that a tool watches: the tool is a Python object, the watching is done in C++, by a listener to AccessEvents
// (runtime/Events.h).
//
// The tool has two methods. begin(kernel, values, grid, compiled, slots), where a slot is (whether it is a pointer, its
// number) of each argument of the machine code, gives None, or (kinds, goes on, arrays, is complete): what to look
// for (sanitizer::Kind), whether the launch goes on after an access out of bounds, and the arrays among the arguments
// as (begin, end, address of element 0, read-only, name, type, shape, strides in bytes, bytes of an element).
// end(kernel, grid, findings) is called when the launch is over, with a dictionary for each finding; it may raise. With
// recordAccesses among the kinds the accesses are recorded too (viz/Recorder.h), at most as many lanes of them as `goes
// on` says, and end() gets a dictionary: "findings", "sites", "programs", "accesses", "values", "order", "step",
// "left_out". With mayOrder among them the kernel has atomics.
#pragma once

#include "python/core/launching/Arguments.h"
#include "sanitizer/LaunchSanitizer.h"
#include "viz/Recorder.h"
#include "llvm/ADT/ArrayRef.h"

namespace nacre::python {

struct PythonLaunch;

class WatchedLaunch {
public:
  // Null where the tool does not want this launch.
  static std::unique_ptr<WatchedLaunch> begin(PyObject *tool, const PythonLaunch &launch, const uint32_t *grid);
  static constexpr uint32_t recordAccesses = 16;
  static constexpr uint32_t mayOrder = 32; // sanitizer::LaunchFacts::mayOrder
  LaunchWatcher *watcher() { return recorder ? static_cast<LaunchWatcher *>(&both) : &sanitizer; }
  // Tells the tool what was found.
  void end();

private:
  WatchedLaunch(PyObject *tool, PyObject *kernel, sanitizer::LaunchFacts facts, uint32_t kinds, bool goesOn);

  Handle tool, kernel;
  sanitizer::LaunchSanitizer sanitizer;
  std::unique_ptr<viz::Recorder> recorder; // null: the sanitizer watches alone
  // What is recorded is what was about to happen, also where the sanitizer ends the program then.
  struct Both : LaunchWatcher {
    explicit Both(WatchedLaunch &launch) : launch(launch) {}
    bool access(const AccessEvent &access) override {
      launch.recorder->access(access);
      return launch.sanitizer.access(access);
    }
    bool told(const ToldEvent &event) override {
      launch.recorder->told(event);
      return launch.sanitizer.told(event);
    }
    WatchedLaunch &launch;
  } both{*this};
};

// set_launch_tool(object or None)
PyObject *setLaunchTool(PyObject *module, PyObject *tool);
// static_check(tile IR, grid, slots, arrays[, family]) -> [(check, verdict, access, place, other place, text)]. A
// family (sanitizer::LaunchFamily) is (symbols, conditions, grid, slots, arrays of the slots, arrays) with polynomials
// as lists of (factor, symbols).
PyObject *staticCheck(PyObject *module, PyObject *args);
// mark_unwritten(address, bytes): memory that nobody has written yet
PyObject *markUnwritten(PyObject *module, PyObject *args);

} // namespace nacre::python
