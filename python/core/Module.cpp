// nacre._core: the compiler and the runtime as a Python module. Extension.c asks for it.
#include "compiler/language/builtins/Builtins.h"
#include "compiler/language/builtins/StandardLibrary.h"
#include "python/core/Errors.h"
#include "python/core/LaunchMetrics.h"
#include "python/core/MachineBinding.h"
#include "python/core/ProfilerBinding.h"
#include "python/core/SimulatorBinding.h"
#include "python/core/interpreting/Interpreter.h"
#include "python/core/launching/CompileSettings.h"
#include "python/core/launching/Devices.h"
#include "python/core/launching/DirectCall.h"
#include "python/core/launching/Export.h"
#include "python/core/launching/JitKernel.h"
#include "python/core/launching/NativeKernel.h"
#include "python/core/launching/PythonHooks.h"
#include "python/core/launching/SourceBlock.h"
#include "python/core/launching/TunedKernel.h"
#include "python/core/launching/WatchedLaunch.h"
#include "runtime/Knobs.h"
#include "runtime/commands/Command.h"
#include "runtime/compile/BuildId.h"
#include "runtime/compile/Fingerprint.h"
#include "runtime/threads/ThreadPool.h"

namespace nacre::python {

namespace {

// function_block(file text, line) -> (text, first line, first column)
PyObject *functionBlock(PyObject *, PyObject *args) {
  return guarded([&] {
    const char *file;
    Py_ssize_t size;
    int line;
    if (!PyArg_ParseTuple(args, "s#i", &file, &size, &line))
      throw PythonError();
    SourceBlock block = findFunctionBlock(std::string_view(file, static_cast<size_t>(size)), line);
    return checked(Py_BuildValue("s#ii", block.text.data(), static_cast<Py_ssize_t>(block.text.size()), block.firstLine,
                                 block.firstColumn))
        .release();
  });
}

// knobs() -> [(group, attribute, kind, variable, other variable, default, in cache key, help)]
PyObject *knobTable(PyObject *, PyObject *) {
  return guarded([&] {
    Handle list = checked(PyList_New(0));
    for (const Knob &knob : allKnobs()) {
      const char *kind = knob.kind == KnobKind::Boolean ? "bool" : knob.kind == KnobKind::Integer ? "int" : "str";
      Handle row =
          checked(Py_BuildValue("(ssssssOs)", knob.group, knob.attribute, kind, knob.variable, knob.ownVariable.c_str(),
                                knob.fallback, knob.inCacheKey ? Py_True : Py_False, knob.help));
      checkedStatus(PyList_Append(list.get(), row.get()));
    }
    return list.release();
  });
}

// A knob was set: what was compiled under the old value is not used again.
PyObject *knobsChanged(PyObject *, PyObject *) {
  ++knobChanges;
  Py_RETURN_NONE;
}

PyObject *keepKnob(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    const char *variable, *text;
    if (!PyArg_ParseTuple(args, "sz", &variable, &text))
      throw PythonError();
    nacre::keepKnob(variable, text ? std::optional<std::string>(text) : std::nullopt);
    ++knobChanges;
    Py_RETURN_NONE;
  });
}

PyObject *directories(PyObject *, PyObject *) {
  return guarded([&] {
    return Py_BuildValue("{ssssssss}", "cache", cacheDirectory().c_str(), "dump", dumpDirectory().c_str(), "override",
                         overrideDirectory().c_str(), "tuning", tuningDirectory().c_str());
  });
}

PyObject *setThreads(PyObject *, PyObject *value) {
  return guarded([&]() -> PyObject * {
    long threads = PyLong_AsLong(value);
    if (PyErr_Occurred())
      throw PythonError();
    ThreadPool::setThreads(static_cast<int>(threads));
    Py_RETURN_NONE;
  });
}
PyObject *threads(PyObject *, PyObject *) {
  return guarded([&] { return PyLong_FromLong(ThreadPool::shared().threads()); });
}

PyObject *counts(PyObject *, PyObject *) {
  CacheCounts counts = cacheCounts();
  return Py_BuildValue("{sKsKsK}", "memory_hits", counts.memoryHits, "disk_hits", counts.diskHits, "compiles",
                       counts.compiles);
}

// set_stage_hook(hook), or None
PyObject *setStageHook(PyObject *, PyObject *hook) {
  Handle *old = stageHook;
  stageHook = hook == Py_None ? nullptr : new Handle(Handle::borrow(hook));
  delete old;
  Py_RETURN_NONE;
}

// {"cpu": {"title": "CPU", "stages": {"ttir": "tile", ...}, "binary": "obj"}, ...}: every target of this build, its stages by the names that users of the language know.
Handle targetTable() {
  Handle table = checked(PyDict_New());
  for (const Target *target : targets()) {
    Handle stages = checked(PyDict_New());
    for (const StageName &stage : target->stages())
      checkedStatus(PyDict_SetItemString(stages.get(), stage.alias, unicode(stage.name).get()));
    Handle row = checked(Py_BuildValue("{sssOss}", "title", target->title().str().c_str(), "stages", stages.get(),
                                       "binary", target->binaryName().str().c_str()));
    checkedStatus(PyDict_SetItemString(table.get(), target->name().str().c_str(), row.get()));
  }
  return table;
}

// warp_size("cuda", "90") -> 32: threads of a program that run in step on an architecture of a target
PyObject *warpSize(PyObject *, PyObject *arguments) {
  return guarded([&] {
    const char *name, *architecture;
    if (!PyArg_ParseTuple(arguments, "ss", &name, &architecture))
      throw PythonError();
    const Target *target = findTarget(name);
    if (!target)
      throw std::invalid_argument("there is no target '" + std::string(name) + "'");
    return checked(PyLong_FromLong(target->warpSize(architecture))).release();
  });
}

// default_options() -> {"num_warps": 4, ...}: those of a launch that says nothing
PyObject *defaultOptions(PyObject *, PyObject *) {
  return guarded(
      [&] { return optionDictionary(LaunchOptionValues(), defaultCompileOptions(*targets().front())).release(); });
}

// info() -> what this build is and what it runs on
PyObject *info(PyObject *, PyObject *) {
  return guarded([&] {
    const DeviceProperties &host = hostDevice().properties();
    return Py_BuildValue("{sssssssssi}", "version", versionText(), "build_id", buildId().c_str(), "processor",
                         host.architecture.c_str(), "features", host.features.c_str(), "cores", host.multiprocessors);
  });
}

// fingerprint(text) -> 40 hexadecimal digits
PyObject *fingerprint(PyObject *, PyObject *value) {
  return guarded([&] { return unicode(Fingerprint().add(llvm::StringRef(textView(value))).hex()).release(); });
}

// command(["compile", ...]) -> exit status: the commands that need no Python
PyObject *command(PyObject *, PyObject *list) {
  return guarded([&] {
    std::vector<std::string> arguments;
    for (Py_ssize_t i = 0, size = PySequence_Size(list); i < size; ++i)
      arguments.push_back(text(checked(PySequence_GetItem(list, i)).get()));
    if (arguments.empty())
      raise(PyExc_ValueError, "a command is needed");
    int status;
    {
      ReleaseGil released;
      status = runCommand(arguments);
    }
    return PyLong_FromLong(status);
  });
}

// How a default is written in a signature: as Python source.
std::string defaultText(const Object &value) {
  if (value.isType())
    return value.as<Type>().str();
  return value.repr();
}

// How many stars stand before a parameter: *args, **fields.
int stars(const Parameter &parameter) { return parameter.isKeywords ? 2 : parameter.isVariadic; }

// (name, annotation, default's text or None, stars)
Handle parameterRow(const Parameter &parameter) {
  bool hasDefault = parameter.defaultValue && stars(parameter) == 0;
  std::string fallback = hasDefault ? defaultText(*parameter.defaultValue) : "";
  return checked(Py_BuildValue("(sszi)", parameter.name.c_str(), parameter.annotation.c_str(),
                               hasDefault ? fallback.c_str() : nullptr, stars(parameter)));
}

// builtins() -> [(module, name, group, signature, documentation, is method, [parameter])]
PyObject *builtins(PyObject *, PyObject *) {
  return guarded([&] {
    Handle list = checked(PyList_New(0));
    for (const Builtin &builtin : allBuiltins()) {
      std::string signature;
      Handle parameters = checked(PyList_New(0));
      for (const Parameter &parameter : builtin.parameters) {
        signature +=
            (signature.empty() ? "" : ", ") + std::string(static_cast<size_t>(stars(parameter)), '*') + parameter.name;
        if (parameter.defaultValue && stars(parameter) == 0)
          signature += "=" + defaultText(*parameter.defaultValue);
        checkedStatus(PyList_Append(parameters.get(), parameterRow(parameter).get()));
      }
      Handle row = checked(Py_BuildValue("(sssssOO)", builtin.module.c_str(), builtin.name.c_str(),
                                         builtin.group.c_str(), signature.c_str(), builtin.documentation.c_str(),
                                         builtin.isMethod ? Py_True : Py_False, parameters.get()));
      checkedStatus(PyList_Append(list.get(), row.get()));
    }
    return list.release();
  });
}

// standard_functions() -> [(name, file, is method, group)]
PyObject *standardFunctions(PyObject *, PyObject *) {
  return guarded([&] {
    Handle list = checked(PyList_New(0));
    for (const StandardFunction &function : allStandardFunctions()) {
      Handle row = checked(Py_BuildValue(
          "(s#s#Os#)", function.name.data(), static_cast<Py_ssize_t>(function.name.size()), function.file.data(),
          static_cast<Py_ssize_t>(function.file.size()), function.isMethod ? Py_True : Py_False, function.group.data(),
          static_cast<Py_ssize_t>(function.group.size())));
      checkedStatus(PyList_Append(list.get(), row.get()));
    }
    return list.release();
  });
}

PyMethodDef functions[] = {
    {"function_block", functionBlock, METH_VARARGS,
     "function_block(file_text, line) -> (text, first_line, first_column)"},
    {"specialize_argument", specializeArgument, METH_VARARGS,
     "specialize_argument(value, is_const, specialize, align) -> (type, \"D\" or None) or (\"constexpr\", value)"},
    {"annotated_type", annotatedTypeName, METH_O, "The short name of the type that an annotation forces, or \"\"."},
    {"knobs", knobTable, METH_NOARGS, "The table of knobs."},
    {"keep_knob", keepKnob, METH_VARARGS,
     "keep_knob(variable, text): the value of a knob in this process alone; None: there is none."},
    {"knobs_changed", knobsChanged, METH_NOARGS, "Tells that a knob was set."},
    {"directories", directories, METH_NOARGS,
     "The folders of the cache, of dumps and of overrides, as the knobs say now."},
    {"devices", listDevices, METH_NOARGS, "What kernels may run on: (driver, how many, why none)."},
    {"device_properties", deviceProperties, METH_VARARGS, "device_properties(driver, index) -> dict"},
    {"current_device", currentDevice, METH_O, "current_device(driver) -> index"},
    {"current_stream", currentStream, METH_VARARGS, "current_stream(driver, index) -> number"},
    {"synchronize", synchronizeDevice, METH_VARARGS,
     "synchronize(driver, index) waits for all that was launched there."},
    {"set_active_device", setActiveDeviceByName, METH_O,
     "set_active_device(driver) -> the one before. Runs kernels whose arrays do not say where they are; None: as the "
     "knobs say."},
    {"read_memory", readMemory, METH_VARARGS,
     "read_memory(address, bytes) -> bytes: a device's memory, after all that was launched there, or the host's."},
    {"set_threads", setThreads, METH_O, "Sets how many threads run a grid; 0: one for each core."},
    {"threads", threads, METH_NOARGS, "How many threads run a grid."},
    {"cache_counts", counts, METH_NOARGS, "How often kernels were found in memory, found on disk, compiled."},
    {"set_launch_hooks", setLaunchHooks, METH_VARARGS, "set_launch_hooks(enter, exit)"},
    {"set_compile_hooks", setCompileHooks, METH_VARARGS, "set_compile_hooks(before, after)"},
    {"set_stage_hook", setStageHook, METH_O, "Sets the function that looks at the stages of every compile."},
    {"compile_ir", compileIR, METH_VARARGS,
     "compile_ir(file, text, options) -> (NativeKernel, name, types, divisibilities, report)"},
    {"warp_size", warpSize, METH_VARARGS, "Threads that run in step: warp_size(target, architecture)."},
    {"default_options", defaultOptions, METH_NOARGS, "The options of a launch that says nothing about them."},
    {"fingerprint", fingerprint, METH_O, "A hash of a text: 40 hexadecimal digits."},
    {"command", command, METH_O, "Runs a command of the nacre program: its arguments to its exit status."},
    {"export_kernel", exportKernelToC, METH_VARARGS,
     "export_kernel(kernel, signature, name, file, grid, meta, device, architecture, warps, stages) -> (function, "
     "[(file name, content)])"},
    {"disassemble", disassembleObject, METH_VARARGS,
     "disassemble(object, symbol or None) -> [(symbol, [(address, file or None, line, text)])]"},
    {"info", info, METH_NOARGS, "What this build is and what it runs on."},
    {"builtins", builtins, METH_NOARGS, "The builtins of the language."},
    {"standard_functions", standardFunctions, METH_NOARGS, "The functions of the standard library."},
    {"profiler_start", profilerStart, METH_VARARGS, nullptr},
    {"profiler_marks", profilerMarks, METH_O, nullptr},
    {"profiler_wants_frames", profilerWantsFrames, METH_NOARGS, nullptr},
    {"profiler_set_active", profilerSetActive, METH_VARARGS, nullptr},
    {"launch_work", countLaunchWork, METH_VARARGS, nullptr},
    {"profiler_trace", profilerTrace, METH_VARARGS, nullptr},
    {"profiler_wait", profilerWait, METH_NOARGS, nullptr},
    {"profiler_device_types", profilerDeviceTypes, METH_VARARGS, nullptr},
    {"profiler_sessions", profilerSessions, METH_NOARGS, nullptr},
    {"profiler_close", profilerClose, METH_O, nullptr},
    {"profiler_enter_scope", profilerEnterScope, METH_O, nullptr},
    {"profiler_exit_scope", profilerExitScope, METH_O, nullptr},
    {"profiler_depth", profilerDepth, METH_NOARGS, nullptr},
    {"profiler_leave_scopes", profilerLeaveScopes, METH_NOARGS, nullptr},
    {"profiler_add_metrics", profilerAddMetrics, METH_VARARGS, nullptr},
    {"profiler_enter_state", profilerEnterState, METH_O, nullptr},
    {"profiler_exit_state", profilerExitState, METH_NOARGS, nullptr},
    {"profiler_enter_operation", profilerEnterOperation, METH_VARARGS, nullptr},
    {"profiler_exit_operation", profilerExitOperation, METH_NOARGS, nullptr},
    {"profiler_operators", profilerOperators, METH_VARARGS, nullptr},
    {"profiler_now", profilerNow, METH_NOARGS, nullptr},
    {"profiler_span", profilerSpan, METH_VARARGS, nullptr},
    {"profiler_capture_metric", profilerCaptureMetric, METH_VARARGS, nullptr},
    {"profiler_replayed_metric", profilerReplayedMetric, METH_VARARGS, nullptr},
    {"nvtx_is_on", nvtxIsOn, METH_NOARGS, nullptr},
    {"nvtx_range", nvtxRange, METH_O, nullptr},
    {"profiler_mark", markInterpreted, METH_VARARGS, nullptr},
    {"profiler_document", profilerDocument, METH_VARARGS, nullptr},
    {"profiler_phase", profilerPhase, METH_O, nullptr},
    {"profiler_advance", profilerAdvance, METH_O, nullptr},
    {"profiler_clear", profilerClear, METH_VARARGS, nullptr},
    {"set_launch_tool", setLaunchTool, METH_O, "set_launch_tool(tool or None): who watches launches"},
    {"direct_call", directCall, METH_VARARGS,
     "direct_call(kernel, types, names, places, parameters, grid, cooperative, switches, long_way) -> function"},
    {"static_check", staticCheck, METH_VARARGS,
     "static_check(tile IR, grid, slots, arrays): what is proved of a launch"},
    {"mark_unwritten", markUnwritten, METH_VARARGS,
     "mark_unwritten(address, bytes): nobody has written this memory yet"},
    {"simulator_load", simulatorLoad, METH_VARARGS, "simulator_load(ptx, file_name) -> module"},
    {"simulator_kernels", simulatorKernels, METH_O, "The kernels of a loaded module, with their parameters."},
    {"simulator_run", simulatorRun, METH_VARARGS,
     "simulator_run(module, kernel, grid, block, cluster, shared, arguments, memory, options) -> (json, text, "
     "printed)"},
    {"simulator_variable", simulatorVariable, METH_VARARGS,
     "simulator_variable(module, name) -> (address, bytes) or None"},
    {"simulator_tensor_map", simulatorTensorMap, METH_VARARGS,
     "simulator_tensor_map(type, address, sizes, strides, box, element_strides, swizzle, fill) -> bytes"},
    {nullptr, nullptr, 0, nullptr},
};
PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "nacre._core",
                          "The compiler and the runtime of nacre.",
                          -1,
                          functions,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

PyObject *makeModule() {
  return guarded([&] {
    Handle module = checked(PyModule_Create(&definition));
    checkedStatus(PyModule_AddObjectRef(module.get(), "Kernel", makeKernelType().get()));
    checkedStatus(PyModule_AddObjectRef(module.get(), "TunedKernel", makeTunedKernelType().get()));
    checkedStatus(PyModule_AddObjectRef(module.get(), "HeuristicKernel", makeHeuristicKernelType().get()));
    checkedStatus(PyModule_AddObjectRef(module.get(), "DirectCall", makeDirectCallType().get()));
    checkedStatus(PyModule_AddObjectRef(module.get(), "NativeKernel", makeNativeKernelType().get()));
    checkedStatus(PyModule_AddObjectRef(module.get(), "ProfilerScope", makeProfilerScopeType().get()));
    checkedStatus(PyModule_AddObjectRef(module.get(), "LAUNCH_OPTIONS", launchOptionTable().get()));
    checkedStatus(PyModule_AddObjectRef(module.get(), "TARGETS", targetTable().get()));
    checkedStatus(PyModule_AddObjectRef(module.get(), "Tensor", makeTensorType().get()));
    checkedStatus(PyModule_AddObjectRef(module.get(), "Builtin", makeBuiltinType().get()));
    checkedStatus(PyModule_AddObjectRef(module.get(), "Record", makeRecordType().get()));
    checkedStatus(PyModule_AddObjectRef(module.get(), "Method", makeMethodType().get()));
    checkedStatus(PyModule_AddObjectRef(module.get(), "RangeIterator", makeRangeType().get()));
    checkedStatus(PyModule_AddFunctions(module.get(), interpreterFunctions()));
    checkedStatus(PyModule_AddFunctions(module.get(), machineFunctions()));
    return module.release();
  });
}

} // namespace
} // namespace nacre::python

extern "C" {

__attribute__((visibility("default"))) int nacre_sees_python() { return &PyModule_Create2 != nullptr; }

__attribute__((visibility("default"))) PyObject *nacre_make_python_module(const char *version) {
  if (std::string_view(version) == nacre::versionText())
    return nacre::python::makeModule();
  return PyErr_Format(PyExc_ImportError, "this process has loaded libnacre.so of nacre %s, and the package is nacre %s",
                      nacre::versionText(), version);
}

} // extern "C"
