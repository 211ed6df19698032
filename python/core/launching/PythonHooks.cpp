#include "python/core/launching/PythonHooks.h"
#include "python/core/Errors.h"

namespace nacre::python {

namespace {

// Two functions of Python's that are called around something.
class HookPair : public EventListener {
public:
  HookPair(EventInterest interest, PyObject *before, PyObject *after)
      : EventListener(interest), before(Handle::borrow(before)), after(Handle::borrow(after)) {}
  ~HookPair() override {
    HoldGil gil; // the last to let go of it may be a thread that launches
    before = after = Handle();
  }

protected:
  Handle before, after;
};

class LaunchHooks : public HookPair {
public:
  LaunchHooks(PyObject *before, PyObject *after) : HookPair(LaunchEvents, before, after) {}

  void launchBegin(const LaunchEvent &event) override {
    auto *launch = static_cast<PythonLaunch *>(event.caller);
    if (!launch)
      return;
    HoldGil gil;
    Handle grid = checked(Py_BuildValue("(III)", event.grid[0], event.grid[1], event.grid[2]));
    launch->token = call(before.get(), launch->compiled, launch->kernel, grid.get(), launch->arguments().get());
  }

  void launchEnd(const LaunchEvent &event) override {
    auto *launch = static_cast<PythonLaunch *>(event.caller);
    if (!launch || !launch->token)
      return;
    HoldGil gil;
    Handle token = std::move(launch->token);
    if (!event.isFailed)
      call(after.get(), token.get());
  }
};

class CompileHooks : public HookPair {
public:
  CompileHooks(PyObject *before, PyObject *after) : HookPair(CompileEvents, before, after) {}

  void compileBegin(const CompileEvent &event) override {
    if (auto *compile = static_cast<PythonCompile *>(event.caller)) {
      HoldGil gil;
      int skips = PyObject_IsTrue(tell(before, *compile).get());
      checkedStatus(skips);
      *event.isSkipped |= skips == 1;
    }
  }

  void compileEnd(const CompileEvent &event) override {
    auto *compile = static_cast<PythonCompile *>(event.caller);
    if (compile && event.kernel) {
      HoldGil gil;
      tell(after, *compile);
    }
  }

private:
  static Handle tell(const Handle &function, const PythonCompile &compile) {
    return call(function.get(), compile.kernel, compile.signature, compile.constants, compile.attributes,
                compile.options, compile.isWarmup);
  }
};

// Puts a new pair in the place of the one before.
template <typename Pair> PyObject *replacePair(std::shared_ptr<EventListener> &current, PyObject *args) {
  return guarded([&]() -> PyObject * {
    PyObject *before, *after;
    if (!PyArg_ParseTuple(args, "OO", &before, &after))
      throw PythonError();
    if (current)
      removeListener(*current);
    current = before == Py_None ? nullptr : std::make_shared<Pair>(before, after);
    if (current)
      addListener(current);
    Py_RETURN_NONE;
  });
}

} // namespace

PyObject *setLaunchHooks(PyObject *, PyObject *args) {
  static auto *current = new std::shared_ptr<EventListener>;
  return replacePair<LaunchHooks>(*current, args);
}

PyObject *setCompileHooks(PyObject *, PyObject *args) {
  static auto *current = new std::shared_ptr<EventListener>;
  return replacePair<CompileHooks>(*current, args);
}

} // namespace nacre::python
