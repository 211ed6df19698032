#include "python/core/launching/CompileSettings.h"
#include "compiler/language/meaning/Diagnostic.h"
#include "python/core/Errors.h"
#include "python/core/launching/LaunchKeywords.h"
#include "python/core/launching/NativeKernel.h"
#include "runtime/Knobs.h"
#include "runtime/compile/IRKernel.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

namespace nacre::python {

Handle *stageHook = nullptr;

namespace {

// Runs with the GIL inside of a compile, which other threads may be waiting for: what Python raises goes to all of them
// as the compile's error.
template <typename Body> auto insideCompile(const char *who, Body body) {
  HoldGil gil;
  try {
    return body();
  } catch (const PythonError &) {
    Diagnostic diagnostic;
    diagnostic.kind = Diagnostic::Kind::Value;
    diagnostic.message = std::string(who) + " raised " + takeErrorText();
    throw CompileError(diagnostic);
  }
}

// TRITON_CACHE_MANAGER: nacre.runtime.cache talks to the user's class.
class ManagedStore : public ArtifactStore {
public:
  std::optional<std::string> read(const std::string &key, const char *kind) const override {
    return insideCompile("the cache manager", [&]() -> std::optional<std::string> {
      Handle entry = call(function("_read_entry").get(), unicode(key).get(), unicode(kind).get());
      if (entry.get() == Py_None)
        return std::nullopt;
      char *data;
      Py_ssize_t size;
      checkedStatus(PyBytes_AsStringAndSize(entry.get(), &data, &size));
      return openEntry(std::string(data, static_cast<size_t>(size)));
    });
  }

  bool write(const std::string &key, const char *kind, const std::string &payload) const override {
    return insideCompile("the cache manager", [&] {
      std::string entry = sealEntry(payload);
      Handle bytes = checked(PyBytes_FromStringAndSize(entry.data(), static_cast<Py_ssize_t>(entry.size())));
      call(function("_write_entry").get(), unicode(key).get(), unicode(kind).get(), bytes.get());
      return true;
    });
  }

private:
  static Handle function(const char *name) { return attribute(importModule("nacre.runtime.cache").get(), name); }
};

std::vector<std::string> &overridePaths() {
  static auto *paths = new std::vector<std::string>;
  return *paths;
}

// An embedder that knows nothing: IR asks no questions.
class NoEmbedder : public Embedder {
public:
  Answer global(const FunctionSource &, llvm::StringRef) override { return {}; }
  Answer attribute(const Object &, llvm::StringRef) override { return {}; }
  Answer call(const Object &, llvm::ArrayRef<Object>, llvm::ArrayRef<std::pair<std::string, Object>>) override {
    return {};
  }
};

} // namespace

CompileSettings::CompileSettings(const std::string &source, PyObject *options) : settings(defaultCacheSettings()) {
  if (!knobString(KnobId::CacheManager).empty())
    settings.store = std::make_shared<ManagedStore>();
  if (!stageHook)
    return;
  Handle type = attribute(importModule("nacre.compiler.inspection").get(), "Inspection");
  inspection = call(type.get(), stageHook->get(), unicode(source).get(), options);
  settings.replace = [made = inspection.get()](const std::string &stage, const std::function<std::string()> &text) {
    std::string before = text();
    return insideCompile("a stage's function", [&]() -> std::optional<StageText> {
      Handle after = call(attribute(made, "replace").get(), unicode(stage).get(), unicode(before).get());
      if (after.get() == Py_None)
        return std::nullopt;
      return StageText{python::text(after.get()), stage};
    });
  };
}

uint64_t overrideNumber(PyObject *path) {
  if (path == Py_None)
    return 0;
  Handle plain = checked(PyOS_FSPath(path));
  if (!PyUnicode_Check(plain.get()))
    raise(PyExc_TypeError, "ir_override: expected a path, found %R", path);
  std::vector<std::string> &paths = overridePaths();
  std::string wanted = text(plain.get());
  auto found = std::find(paths.begin(), paths.end(), wanted);
  if (found == paths.end())
    found = paths.insert(paths.end(), wanted);
  return static_cast<uint64_t>(found - paths.begin()) + 1;
}

Handle overridePath(uint64_t number) {
  return number == 0 ? Handle::borrow(Py_None) : unicode(overridePaths()[number - 1]);
}

namespace {
using LibraryList = std::map<std::string, std::string>;
std::vector<std::unique_ptr<LibraryList>> &libraryLists() {
  static auto *lists = [] {
    auto *made = new std::vector<std::unique_ptr<LibraryList>>;
    made->push_back(std::make_unique<LibraryList>()); // 0: none
    return made;
  }();
  return *lists;
}
} // namespace

uint64_t libraryListNumber(PyObject *libraries) {
  LibraryList wanted;
  if (libraries != Py_None) {
    Handle dictionary =
        Handle::steal(PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject *>(&PyDict_Type), libraries, nullptr));
    if (!dictionary) {
      PyErr_Clear();
      raise(PyExc_TypeError, "extern_libs: expected a dictionary of names and paths, found %R", libraries);
    }
    PyObject *name, *path;
    Py_ssize_t position = 0;
    while (PyDict_Next(dictionary.get(), &position, &name, &path)) {
      Handle plain = Handle::steal(PyOS_FSPath(path));
      if (!plain || !PyUnicode_Check(name) || !PyUnicode_Check(plain.get())) {
        PyErr_Clear();
        raise(PyExc_TypeError, "extern_libs: expected names and paths, found %R: %R", name, path);
      }
      wanted[text(name)] = text(plain.get());
    }
  }
  auto &lists = libraryLists();
  for (size_t number = 0; number < lists.size(); ++number)
    if (*lists[number] == wanted)
      return number;
  lists.push_back(std::make_unique<LibraryList>(std::move(wanted)));
  return lists.size() - 1;
}

const std::map<std::string, std::string> &libraryList(uint64_t number) { return *libraryLists()[number]; }

Handle libraryListObject(uint64_t number) {
  Handle pairs = checked(PyList_New(0));
  for (const auto &[name, path] : libraryList(number))
    checkedStatus(PyList_Append(pairs.get(), checked(Py_BuildValue("(ss)", name.c_str(), path.c_str())).get()));
  return checked(PySequence_Tuple(pairs.get()));
}

// ".tile, .cpu, .llvm or .asm (.ttir, .ttgir, .llir, .s)"
static std::string stageSuffixes(const Target &target) {
  std::string names, aliases;
  llvm::ArrayRef<StageName> stages = target.stages();
  for (const StageName &stage : stages) {
    names += (names.empty() ? "." : &stage == &stages.back() ? " or ." : ", .") + std::string(stage.name);
    aliases += (aliases.empty() ? "." : ", .") + std::string(stage.alias);
  }
  return names + " (" + aliases + ")";
}

void addOverride(CompileRequest &request, uint64_t number) {
  if (number == 0)
    return;
  const std::string &path = overridePaths()[number - 1];
  std::string stage = request.options.target->stageNamed(
      llvm::sys::path::extension(path).drop_front(llvm::sys::path::has_extension(path)));
  if (stage.empty())
    raise(PyExc_ValueError, "ir_override: %s: the suffix names no stage; use %s", path.c_str(),
          stageSuffixes(*request.options.target).c_str());
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    raise(PyExc_FileNotFoundError, "ir_override: %s: %s", path.c_str(), buffer.getError().message().c_str());
  request.stages[stage] = {(*buffer)->getBuffer().str(), path};
}

Handle reportDictionary(const CompileReport &report) {
  Handle stages = checked(PyList_New(0));
  for (const auto &[stage, microseconds] : report.times.stages)
    checkedStatus(PyList_Append(
        stages.get(), checked(Py_BuildValue("(sL)", stage.c_str(), static_cast<long long>(microseconds))).get()));
  return checked(Py_BuildValue("{sO sL sO sL}", "cache_hit", report.cacheHit ? Py_True : Py_False, "ir_initialization",
                               static_cast<long long>(report.times.frontEnd), "lowering_stages", stages.get(),
                               "store_results", static_cast<long long>(report.storeMicroseconds)));
}

PyObject *compileIR(PyObject *, PyObject *args) {
  return guarded([&] {
    const char *file, *source;
    PyObject *options;
    if (!PyArg_ParseTuple(args, "ssO!", &file, &source, &PyDict_Type, &options))
      throw PythonError();
    CompileRequest request;
    auto text = std::make_shared<SourceText>();
    text->fileName = file;
    text->text = source;
    IRKernel description = readIRKernel(text->text, text->fileName);
    request.kernel.key = "ir:" + description.name;
    request.kernel.name = description.name;
    request.kernel.text = text;
    request.isTileIR = true;
    Device &device = activeDevice();
    request.options = compileOptionsFor(device);
    LaunchOptionValues values = readOptions(options);
    applyLaunchOptions(request.options, values);
    CompileSettings settings(text->text, options);
    CompileReport report;
    device.prepare(); // here, where reading the environment is safe
    std::shared_ptr<Kernel> kernel;
    {
      ReleaseGil released;
      NoEmbedder embedder;
      kernel = findOrCompile(request, embedder, settings.cache(), &report);
    }
    Handle types = checked(PyList_New(0)), divisibilities = checked(PyList_New(0));
    for (size_t i = 0; i < description.arguments.size(); ++i) {
      checkedStatus(PyList_Append(types.get(), unicode(description.arguments[i].shortName()).get()));
      checkedStatus(PyList_Append(divisibilities.get(), checked(PyLong_FromLong(description.divisibilities[i])).get()));
    }
    return checked(Py_BuildValue("(OsOOO)", wrapKernel(kernel, &device).get(), description.name.c_str(), types.get(),
                                 divisibilities.get(), reportDictionary(report).get()))
        .release();
  });
}

} // namespace nacre::python
