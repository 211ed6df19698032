// Interpreter mode: CPython runs the kernel's text, and what it does with tiles comes here. A tile is a Python object
// (`tl.tensor`) whose operators are C slots; each goes through the language's semantics to the evaluator
// (compiler/reference). The Python half, nacre.runtime.interpreter, rewrites the kernel's text where CPython would mean
// something else than the language.
//
// Constexprs are plain Python objects: ints, floats, strings, None, tuples, dtypes.
#pragma once

#include "compiler/reference/Interpreter.h"
#include "python/core/launching/JitKernel.h"
#include "runtime/Events.h"
#include <atomic>

namespace nacre::python {

// One thread's evaluator, and the translation between Python's objects and the language's.
class Bridge : public InterpreterEmbedder {
public:
  explicit Bridge(Interpreter::Options options);

  Interpreter interpreter;
  bool isParallel = false; // other threads run programs too: the GIL is let go while tiles are computed
  llvm::ArrayRef<LaunchWatcher *> watchers;   // of the marks in the kernel's text
  bool hasLeft = false;                       // whoever watches the launch has ended the program
  const std::atomic<bool> *stopped = nullptr; // set once another program has failed: this one, too, is to end

  // The bridge of the program that this thread runs; null when it runs none.
  static Bridge *running();
  // The same, or, outside of a launch, one for looking at tiles that outlived theirs.
  static Bridge &any();
  // Makes a bridge the running one while it lives.
  class Scope {
  public:
    explicit Scope(Bridge &bridge);
    ~Scope();
    Scope(const Scope &) = delete;

  private:
    Bridge *previous;
  };

  Object toObject(PyObject *object);
  Handle toPython(const Object &object);
  std::vector<Object> toObjects(PyObject *tuple);

  // Computes without the GIL when other threads want it.
  template <typename Body> auto compute(Body body) {
    if (!isParallel)
      return body();
    if (stopped && stopped->load(std::memory_order_relaxed))
      raise(PyExc_KeyboardInterrupt, "another program failed");
    ReleaseGil released;
    return body();
  }

  Object call(const Object &function, llvm::ArrayRef<Object> arguments) override;
  void forgetError() override;
  void staticPrint(llvm::StringRef text) override;

private:
  Object tupleObject(PyObject *sequence);

  PythonEmbedder embedder; // for objects that only Python understands
};

// While it lives, debuggers do not see what Python runs: the package's own functions between the user's lines.
class Untraced {
public:
  Untraced();
  ~Untraced();
  Untraced(const Untraced &) = delete;

private:
  Handle tracer; // null when there is none
};

// ---- Tiles (InterpreterTensor.cpp)

Handle makeTensorType();
bool isTensor(PyObject *object);
Handle makeTensor(Value value);
const Value &tensorValue(PyObject *tensor);
Handle typeObject(Type type); // tl.float32, pointer_type, block_type

// ---- Block pointers and tensor descriptors (InterpreterRecord.cpp)

Handle makeRecordType();
bool isRecord(PyObject *object);
Handle makeRecordObject(Object object);
const Object &recordObject(PyObject *record);

// ---- Functions of the language as Python objects (InterpreterCalls.cpp)

Handle makeBuiltinType(); // _core.Builtin(module, name)
Handle makeMethodType();
Handle makeRangeType();
Handle makeMethod(const BoundMethod &method); // x.sum: called with x as the first argument
// What a `for` runs over: iterate(range, 10) counts with tiles, anything else is called.
PyObject *iterate(PyObject *, PyObject *const *args, Py_ssize_t positional, PyObject *names);
Handle callBuiltinWith(const Builtin &builtin, PyObject *receiver, PyObject *args, PyObject *keywords);
// callee(*args, **names) from the arguments of a fast call.
Handle callWith(PyObject *callee, PyObject *const *args, Py_ssize_t positional, PyObject *names);

// ---- Launches (InterpreterLaunch.cpp)

// Makes Python run every kernel that is launched from now on.
void setInterpretMode(bool isOn);
// Whether a launch of this kernel is run by Python.
bool isInterpreted(const KernelState &state);
struct InterpretedLaunch {
  PyObject *kernel;
  llvm::ArrayRef<PyObject *> values; // by parameter
  const BoundArguments &bound;
  const LaunchKeywords &keywords;
  uint32_t grid[3];
  std::vector<LaunchWatcher *> watchers{}; // of the marks in its text
  LaunchWatcher *watcher = nullptr;        // of its accesses and values; null: nobody is
};
void runInterpreted(const InterpretedLaunch &launch);
// (kind, name, line): a mark of the profiler's (compiler/ir/tile/ToldKind.h) in the program that this thread
// runs.
PyObject *markInterpreted(PyObject *module, PyObject *args);
// Arguments in a GPU's memory, replaced by copies on the host while the object lives; written back by `finish`.
class HostCopies {
public:
  PyObject *const *replace(PyObject *const *args, Py_ssize_t count);
  void finish();

private:
  std::vector<Handle> replaced;
  std::vector<PyObject *> pointers;
  Handle writeBack;
};
// Calls a function of the language from a function of the language, as Python.
PyObject *callInterpreted(PyObject *kernel, PyObject *args, PyObject *keywords);

// ---- What rewritten kernels call (InterpreterRewrites.cpp)

PyMethodDef *interpreterFunctions(); // added to the module

// ---- Errors (InterpreterErrors.cpp)

// Sets the Python error for the C++ exception that is being handled; errors of the language get the kernel's line.
void setEvaluationError();

// Runs `body` as the whole of a function called by Python inside a kernel.
template <typename Body> PyObject *evaluated(Body body) {
  try {
    return body();
  } catch (...) {
    setEvaluationError();
    return nullptr;
  }
}

} // namespace nacre::python
