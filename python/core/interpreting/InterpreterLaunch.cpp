// A launch that Python runs: the kernel's arguments as tiles, and one program after another, or several side by side.
#include "compiler/language/meaning/BlockView.h"
#include "compiler/reference/Buffer.h"
#include "python/core/Errors.h"
#include "python/core/interpreting/Interpreter.h"
#include "python/core/launching/CompileSettings.h"
#include "python/core/launching/KnownMemory.h"
#include "runtime/Device.h"
#include "runtime/Events.h"
#include "runtime/Knobs.h"
#include "runtime/threads/Crew.h"
#include <atomic>
#include <set>
#include <thread>

namespace nacre::python {

namespace {

bool interpretMode = false;

// The kernel's text rewritten for Python, made once.
Handle interpretedFunction(PyObject *kernel) {
  KernelState &state = kernelState(kernel);
  if (!state.interpreted) {
    Untraced untraced;
    state.interpreted = call(attribute(kernel, "_interpreted").get());
    Handle module = attribute(kernel, "__module__"); // None where the kernel's text was executed without a module
    state.isLibrary = PyUnicode_Check(module.get()) && textView(module.get()).starts_with("nacre.language");
  }
  return state.interpreted;
}

class ArgumentTiles {
public:
  ArgumentTiles(Bridge &bridge, llvm::ArrayRef<BoundArgument> bound, const MemoryMap &memory)
      : bridge(bridge), bound(bound), numbers(memory) {}

  // The argument at `place`, and the place after it.
  Handle next() {
    const BoundArgument &argument = bound[place++];
    switch (argument.kind) {
    case BoundArgument::Kind::Pointer: {
      Value pointer = bridge.interpreter.scalar(Type::pointer(argument.type, argument.isConst), argument.slot);
      bufferOf(pointer).array = numbers.arrayAt(argument.slot);
      return makeTensor(pointer);
    }
    case BoundArgument::Kind::Number:
      return makeTensor(bridge.interpreter.scalar(argument.type, argument.slot));
    case BoundArgument::Kind::Constant:
      if (argument.isRunTimeField)
        return bridge.toPython(bridge.interpreter.asVariable(bridge.toObject(argument.constant)));
      if (PyObject_IsInstance(argument.constant, languageTypes().constexprType.get()) == 1)
        return attribute(argument.constant, "value");
      return Handle::borrow(argument.constant);
    case BoundArgument::Kind::Tuple:
      break;
    }
    Handle items = checked(PyTuple_New(argument.elements));
    for (uint32_t i = 0; i < argument.elements; ++i)
      checkedStatus(PyTuple_SetItem(items.get(), i, next().release()));
    if (argument.isDescriptor) {
      auto record = std::make_shared<TupleValue>(bridge.toObject(items.get()).tuple());
      record->names.assign(std::begin(descriptorFields), std::end(descriptorFields));
      record->typeName = descriptorName;
      record->isRecord = true;
      return makeRecordObject(std::shared_ptr<const TupleValue>(std::move(record)));
    }
    if (argument.isAggregate)
      return aggregate(argument.constant, items.get());
    if (PyTuple_CheckExact(argument.constant))
      return items;
    return checked(PyObject_CallObject(reinterpret_cast<PyObject *>(Py_TYPE(argument.constant)), items.get()));
  }

private:
  // An instance like the launch's, without running its __init__ again.
  static Handle aggregate(PyObject *original, PyObject *items) {
    auto *type = reinterpret_cast<PyObject *>(Py_TYPE(original));
    Handle made = call(attribute(type, "__new__").get(), type), fields = aggregateFields(original);
    for (Py_ssize_t i = 0; i < PyTuple_Size(fields.get()); ++i)
      checkedStatus(PyObject_SetAttr(made.get(), PyTuple_GetItem(fields.get(), i), PyTuple_GetItem(items, i)));
    return made;
  }

  Bridge &bridge;
  llvm::ArrayRef<BoundArgument> bound;
  ArrayNumbers numbers;
  size_t place = 0;
};

// Tells the launch's watcher what programs do, and ends those that it wants ended. Used with the GIL.
class ToldPrograms : public ProgramWatcher {
public:
  ToldPrograms(LaunchWatcher &watcher, const BoundArguments &bound) : watcher(watcher) {
    for (const BoundArgument &argument : bound.arguments)
      if (argument.kind == BoundArgument::Kind::Pointer || argument.kind == BoundArgument::Kind::Number)
        slots.push_back(argument.kind == BoundArgument::Kind::Pointer ? argument.slot : 0);
  }

  void access(const ProgramContext &program, const Access &access) override {
    HoldGil gil;
    auto [file, line] = place();
    uint32_t effects =
        (access.reads ? AccessReads : 0) | (access.writes ? AccessWrites : 0) | (access.isAtomic ? AccessAtomic : 0);
    auto found = access.array ? llvm::find(slots, access.array->origin) : slots.end();
    int32_t argument = found == slots.end() ? -1 : static_cast<int32_t>(found - slots.begin());
    std::string name = access.name.str();
    bool isPointer = access.element.isPointer();
    auto kind = static_cast<uint32_t>(isPointer ? ScalarKind::UInt64 : access.element.scalarKind());
    end(watcher.access({numbered(program), name.c_str(), effects, kind,
                        static_cast<uint32_t>(access.element.byteSize()), argument, access.shape,
                        static_cast<int64_t>(access.addresses.size()), access.addresses.data(), access.mask, file, line,
                        0}));
  }

  void value(const ProgramContext &program, llvm::StringRef name, llvm::ArrayRef<Value> tiles) override {
    HoldGil gil;
    auto [file, line] = place();
    std::vector<BufferRef> kept;
    std::vector<uint32_t> kinds;
    std::vector<int64_t> shapes;
    std::vector<const void *> data;
    for (const Value &tile : tiles) {
      Type scalar = tile.type().scalarType();
      Shape shape = tile.type().isBlock() ? tile.type().shape() : Shape();
      auto kind = static_cast<uint32_t>(scalar.isPointer() ? ScalarKind::UInt64 : scalar.scalarKind());
      kinds.push_back(kind | static_cast<uint32_t>(shape.size()) << 8 | (scalar.isPointer() ? 1u << 16 : 0));
      shapes.insert(shapes.end(), shape.begin(), shape.end());
      kept.push_back(contiguous(bufferRef(tile)));
      data.push_back(kept.back()->data);
    }
    std::string text = name.str();
    end(watcher.told({numbered(program), ToldKind::Value, text, file, line, 0, static_cast<uint32_t>(tiles.size()),
                      kinds.data(), shapes.data(), data.data()}));
  }

private:
  static ProgramPlace numbered(const ProgramContext &program) {
    const auto &id = program.programId, &grid = program.grid;
    return {id.data(), id[0] + uint64_t(grid[0]) * (id[1] + uint64_t(grid[1]) * id[2])};
  }

  void end(bool goesOn) {
    if (goesOn)
      return;
    Bridge::any().hasLeft = true;
    raise(PyExc_RuntimeError, "the program was ended by whoever watches the launch");
  }

  // The line of the user's that runs, and its file: one address for each.
  std::pair<const char *, uint32_t> place() {
    static const std::string ours = text(attribute(importModule("nacre").get(), "__file__").get());
    llvm::StringRef folder = llvm::StringRef(ours).rsplit('/').first;
    Handle frame = Handle::borrow(reinterpret_cast<PyObject *>(PyEval_GetFrame()));
    while (frame && frame.get() != Py_None) {
      std::string file = text(attribute(attribute(frame.get(), "f_code").get(), "co_filename").get());
      if (!llvm::StringRef(file).starts_with(folder)) {
        auto line = static_cast<uint32_t>(PyFrame_GetLineNumber(reinterpret_cast<PyFrameObject *>(frame.get())));
        return {files.insert(std::move(file)).first->c_str(), line};
      }
      frame = attribute(frame.get(), "f_back");
    }
    return {files.insert("").first->c_str(), 0};
  }

  LaunchWatcher &watcher;
  llvm::SmallVector<uint64_t, 16> slots;
  std::set<std::string> files;
};

// All that the programs of a launch share.
struct Programs {
  PyObject *function, *args, *keywords;
  const uint32_t *grid;
  Interpreter::Options options;
  const MemoryMap *memory;
  llvm::ArrayRef<LaunchWatcher *> watchers;
  ProgramWatcher *watcher = nullptr;

  void prepare(Bridge &bridge) const {
    ProgramContext &program = bridge.interpreter.program();
    bridge.watchers = watchers;
    program.grid = {grid[0], grid[1], grid[2]};
    program.memory = memory;
    program.watcher = watcher;
    program.print = [&bridge](llvm::StringRef text) { bridge.staticPrint(text); };
  }

  void run(Bridge &bridge, uint64_t number) const {
    ProgramContext &program = bridge.interpreter.program();
    program.programId = {static_cast<uint32_t>(number % grid[0]), static_cast<uint32_t>(number / grid[0] % grid[1]),
                         static_cast<uint32_t>(number / grid[0] / grid[1])};
    program.leadsAnywhere = false;
    checked(PyObject_Call(function, args, keywords));
  }
};

// More would do nothing but take the GIL from one another.
constexpr uint64_t mostThreads = 64;

// Programs take turns on this thread unless more threads are asked for, or one waits for another that has not begun.
// The first error ends them all. `own` serves the calling thread.
void runPrograms(const Programs &programs, Bridge &own, uint64_t count, uint64_t threads) {
  std::atomic<bool> failed = false;
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr; // the first error
  std::optional<Crew> crew;

  auto runOne = [&](Bridge &bridge, uint64_t number) {
    Bridge::Scope scope(bridge);
    bridge.stopped = &failed;
    programs.prepare(bridge);
    Crew::Wait wait;
    bridge.interpreter.program().waiting = [&] {
      {
        std::optional<ReleaseGil> released;
        if (!bridge.isParallel) // else tiles are computed without it anyway
          released.emplace();
        // Each look takes the GIL from somebody who works: they are rare.
        if (crew->waitLong(wait, std::chrono::milliseconds(20)))
          return;
      }
      HoldGil gil;
      raise(PyExc_RuntimeError, "the launch was stopped");
    };
    try {
      programs.run(bridge, number);
      return true;
    } catch (const PythonError &) {
      if (std::exchange(bridge.hasLeft, false)) {
        PyErr_Clear();
        return true;
      }
      if (!failed.exchange(true))
        PyErr_Fetch(&type, &value, &trace);
      PyErr_Clear();
      return false;
    }
  };
  std::thread::id caller = std::this_thread::get_id();
  auto program = [&](uint64_t number) {
    HoldGil gil;
    if (threads == 1 && std::this_thread::get_id() == caller)
      return runOne(own, number);
    Bridge bridge(programs.options);
    bridge.isParallel = true;
    return runOne(bridge, number);
  };
  crew.emplace(count, program, nullptr, mostThreads);
  std::string trouble;
  {
    ReleaseGil released;
    try {
      crew->run(threads);
    } catch (const std::runtime_error &error) {
      trouble = error.what();
    }
  }
  if (!trouble.empty())
    raise(PyExc_RuntimeError, "%s", trouble.c_str());
  if (failed) {
    PyErr_Restore(type, value, trace);
    throw PythonError();
  }
}

} // namespace

void setInterpretMode(bool isOn) { interpretMode = isOn; }

bool isInterpreted(const KernelState &state) { return interpretMode || state.isInterpreted; }

void runInterpreted(const InterpretedLaunch &launch) {
  KernelState &state = kernelState(launch.kernel);
  Programs programs;
  programs.options.debug = launch.keywords.isOn(LaunchOptionId::Debug, state.debug) || knobBoolean(KnobId::Debug);
  programs.options.sanitizeOverflow =
      launch.keywords.isOn(LaunchOptionId::SanitizeOverflow, knobBoolean(KnobId::SanitizeOverflow));
  programs.options.defaultInputPrecision = knobString(KnobId::Fp32Default);
  const Target &host = hostDevice().driver.target();
  programs.options.target = host.languageName({});
  programs.options.assembly = host.assembly();
  programs.options.externLibraries = libraryList(launch.keywords.externLibraries());
  programs.grid = launch.grid;
  programs.watchers = launch.watchers;
  Bridge bridge(programs.options);
  Handle function = interpretedFunction(launch.kernel);
  MemoryMap memory;
  {
    Untraced untraced;
    memory = knownMemory(launch.kernel, launch.values);
  }
  programs.memory = &memory;
  std::optional<ToldPrograms> told;
  if (launch.watcher)
    programs.watcher = &told.emplace(*launch.watcher, launch.bound);

  // Parameters after a bare * are passed by name.
  Handle code = attribute(function.get(), "__code__");
  auto positional = static_cast<size_t>(PyLong_AsLong(attribute(code.get(), "co_argcount").get()));
  Handle args = checked(PyTuple_New(static_cast<Py_ssize_t>(std::min(positional, state.parameters.size()))));
  Handle keywords = positional < state.parameters.size() ? checked(PyDict_New()) : Handle();
  ArgumentTiles tiles(bridge, launch.bound.arguments, memory);
  for (size_t i = 0; i < state.parameters.size(); ++i) {
    Handle tile = tiles.next();
    if (i < positional)
      checkedStatus(PyTuple_SetItem(args.get(), static_cast<Py_ssize_t>(i), tile.release()));
    else
      checkedStatus(PyDict_SetItem(keywords.get(), state.parameters[i].name.get(), tile.get()));
  }
  programs.function = function.get();
  programs.args = args.get();
  programs.keywords = keywords.get();

  uint64_t count = static_cast<uint64_t>(launch.grid[0]) * launch.grid[1] * launch.grid[2];
  // The programs of a cooperative grid begin together.
  auto asked = static_cast<uint64_t>(std::max<int64_t>(1, knobInteger(KnobId::InterpretThreads)));
  uint64_t threads = launch.keywords.cooperative() ? count : std::min({count, asked, mostThreads});
  runPrograms(programs, bridge, count, threads);
}

PyObject *markInterpreted(PyObject *, PyObject *args) {
  return guarded([&] {
    const char *kind, *name;
    unsigned line;
    if (!PyArg_ParseTuple(args, "ssI", &kind, &name, &line))
      throw PythonError();
    std::optional<ToldKind> mark = toldKindNamed(kind);
    assert(mark && isMark(*mark) && "a function of the profiler's language");
    Bridge *bridge = Bridge::running();
    if (!bridge)
      raise(PyExc_RuntimeError, "pl.%s works inside a kernel only: call it from a function decorated with @triton.jit",
            kind);
    const ProgramContext &program = bridge->interpreter.program();
    const uint32_t *id = program.programId.data(), *grid = program.grid.data();
    uint64_t number = id[0] + uint64_t(grid[0]) * (id[1] + uint64_t(grid[1]) * id[2]);
    for (LaunchWatcher *watcher : bridge->watchers)
      watcher->told({{id, number}, *mark, name, "", line, 0, 0, nullptr, nullptr, nullptr});
    return Handle::borrow(Py_None).release();
  });
}

PyObject *const *HostCopies::replace(PyObject *const *args, Py_ssize_t count) {
  Untraced untraced;
  Handle tuple = checked(PyTuple_New(count));
  for (Py_ssize_t i = 0; i < count; ++i)
    checkedStatus(PyTuple_SetItem(tuple.get(), i, Handle::borrow(args[i]).release()));
  Handle module = importModule("nacre.runtime.interpreter");
  // (arguments, a function that writes the copies back), or None when all are on the host
  Handle copies = call(attribute(module.get(), "_host_copies").get(), tuple.get());
  if (copies.get() == Py_None)
    return args;
  PyObject *arguments = PyTuple_GetItem(copies.get(), 0);
  for (Py_ssize_t i = 0; i < count; ++i) {
    replaced.push_back(Handle::borrow(PyTuple_GetItem(arguments, i)));
    pointers.push_back(replaced.back().get());
  }
  writeBack = Handle::borrow(PyTuple_GetItem(copies.get(), 1));
  return pointers.data();
}

void HostCopies::finish() {
  if (!writeBack)
    return;
  Untraced untraced;
  call(writeBack.get());
}

PyObject *callInterpreted(PyObject *kernel, PyObject *args, PyObject *keywords) {
  return guarded([&] {
    if (!Bridge::running()) {
      Handle name = attribute(kernel, "__name__");
      raise(PyExc_RuntimeError, "%U is a kernel: launch it with %U[grid](...), or call it from a kernel", name.get(),
            name.get());
    }
    Handle function = interpretedFunction(kernel);
    std::optional<Untraced> untraced;
    if (kernelState(kernel).isLibrary) // debuggers step over it
      untraced.emplace();
    return checked(PyObject_Call(function.get(), args, keywords)).release();
  });
}

} // namespace nacre::python
