// See WatchedLaunch.h.
#include "python/core/launching/WatchedLaunch.h"
#include "python/core/Errors.h"
#include "python/core/launching/PythonHooks.h"
#include "sanitizer/StaticCheck.h"

namespace nacre::python {

namespace {

std::vector<int64_t> numbers(PyObject *sequence) {
  std::vector<int64_t> values;
  Handle list = checked(PySequence_List(sequence));
  for (Py_ssize_t i = 0; i < PyList_Size(list.get()); ++i)
    values.push_back(PyLong_AsLongLong(PyList_GetItem(list.get(), i)));
  if (PyErr_Occurred())
    throw PythonError();
  return values;
}

Handle tupleOf(llvm::ArrayRef<int64_t> values) {
  Handle tuple = checked(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
  for (size_t i = 0; i < values.size(); ++i)
    checkedStatus(
        PyTuple_SetItem(tuple.get(), static_cast<Py_ssize_t>(i), checked(PyLong_FromLongLong(values[i])).release()));
  return tuple;
}

sanitizer::Array readArray(PyObject *row) {
  unsigned long long begin, end, origin;
  int isReadOnly;
  unsigned itemSize;
  const char *name, *type;
  PyObject *shape, *strides;
  if (!PyArg_ParseTuple(row, "KKKpssOOI", &begin, &end, &origin, &isReadOnly, &name, &type, &shape, &strides,
                        &itemSize))
    throw PythonError();
  sanitizer::Array array{begin, end, origin, isReadOnly != 0, name, type, numbers(shape), numbers(strides), itemSize};
  array.prepare();
  return array;
}

// The arrays of the kernel's arguments, in order: each begins at its argument's address, and one may be passed several
// times.
std::vector<int32_t> arraysOfArguments(const sanitizer::LaunchFacts &facts, const BoundArguments &bound) {
  std::vector<int32_t> found;
  size_t next = 0;
  for (const BoundArgument &argument : bound.arguments) {
    if (argument.kind != BoundArgument::Kind::Pointer && argument.kind != BoundArgument::Kind::Number)
      continue;
    found.push_back(-1);
    if (argument.kind != BoundArgument::Kind::Pointer)
      continue;
    for (size_t i = next; i < facts.arrays.size(); ++i)
      if (facts.arrays[i].origin == argument.slot) {
        found.back() = static_cast<int32_t>(i);
        next = i + 1;
        break;
      }
  }
  return found;
}

Handle partyDictionary(const sanitizer::Party &party) {
  return checked(Py_BuildValue("{ss ss sI sI sO sO s(III)}", "access", party.access.c_str(), "file", party.file.c_str(),
                               "line", party.line, "column", party.column, "writes", party.writes ? Py_True : Py_False,
                               "atomic", party.isAtomic ? Py_True : Py_False, "program", party.program[0],
                               party.program[1], party.program[2]));
}

const char *kindName(sanitizer::Kind kind) {
  switch (kind) {
  case sanitizer::Bounds:
    return "asan";
  case sanitizer::Races:
    return "tsan";
  case sanitizer::Uninitialized:
    return "msan";
  case sanitizer::Arithmetic:
    return "ub";
  }
  return "";
}

Handle findingDictionary(const sanitizer::LaunchFacts &facts, const sanitizer::Finding &finding) {
  Handle other = finding.other ? partyDictionary(*finding.other) : Handle::borrow(Py_None);
  Handle array = Handle::borrow(Py_None);
  if (finding.array)
    array = checked(PyLong_FromLongLong(finding.array - facts.arrays.data()));
  return checked(Py_BuildValue(
      "{ss ss sN sN sK sI ss sN sN sN sL sO ss sK}", "kind", kindName(finding.kind), "what", finding.what.c_str(),
      "party", partyDictionary(finding.party).release(), "other", other.release(), "address",
      static_cast<unsigned long long>(finding.address), "size", finding.size, "type", finding.type.c_str(), "array",
      array.release(), "shape", tupleOf(finding.shape).release(), "lanes", tupleOf(finding.lanes).release(),
      "lane_count", static_cast<long long>(finding.laneCount), "masked", finding.isMasked ? Py_True : Py_False,
      "detail", finding.detail.c_str(), "repeats", static_cast<unsigned long long>(finding.repeats)));
}

template <typename T> Handle numberList(const std::vector<T> &values) {
  Handle list = checked(PyList_New(static_cast<Py_ssize_t>(values.size())));
  for (size_t i = 0; i < values.size(); ++i)
    checkedStatus(PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i),
                                 checked(PyLong_FromUnsignedLongLong(static_cast<uint64_t>(values[i]))).release()));
  return list;
}

Handle floatList(const std::vector<double> &values) {
  Handle list = checked(PyList_New(static_cast<Py_ssize_t>(values.size())));
  for (size_t i = 0; i < values.size(); ++i)
    checkedStatus(
        PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i), checked(PyFloat_FromDouble(values[i])).release()));
  return list;
}

Handle recordDictionary(const viz::Recorder &recorder, const sanitizer::LaunchFacts &facts) {
  using Count = unsigned long long;
  Handle sites = checked(PyList_New(0)), programs = checked(PyList_New(0)), accesses = checked(PyList_New(0));
  for (const viz::Site &site : recorder.sites)
    checkedStatus(PyList_Append(sites.get(),
                                checked(Py_BuildValue("(ssIIKKKKK)", site.name.c_str(), site.file.c_str(), site.line,
                                                      site.column, Count(site.accesses), Count(site.lanes),
                                                      Count(site.enabled), Count(site.bytes), Count(site.cacheLines)))
                                    .get()));
  for (const viz::Recorder::ProgramSums &sums : recorder.programs)
    checkedStatus(
        PyList_Append(programs.get(), checked(Py_BuildValue("(KKKKK)", Count(sums.loaded), Count(sums.stored),
                                                            Count(sums.lanes), Count(sums.enabled), Count(sums.time)))
                                          .get()));
  for (const viz::RecordedAccess &access : recorder.accesses) {
    const sanitizer::Array *array = facts.arrayOf(access.argument);
    if (!array && !access.addresses.empty())
      array = facts.nearest(access.addresses[0]);
    long long number = array ? array - facts.arrays.data() : -1;
    checkedStatus(
        PyList_Append(accesses.get(),
                      checked(Py_BuildValue("(KsIILINNN)", Count(access.program), access.name.c_str(), access.effects,
                                            access.size, number, access.site, tupleOf(access.shape).release(),
                                            numberList(access.addresses).release(), numberList(access.lanes).release()))
                          .get()));
  }
  Handle values = checked(PyList_New(0));
  for (const viz::RecordedValue &value : recorder.values) {
    Handle tiles = checked(PyList_New(0));
    for (const viz::RecordedValue::Tile &tile : value.tiles)
      checkedStatus(PyList_Append(
          tiles.get(),
          checked(Py_BuildValue("(NN)", tupleOf(tile.shape).release(), floatList(tile.first).release())).get()));
    checkedStatus(PyList_Append(
        values.get(), checked(Py_BuildValue("(KssIIKN)", Count(value.program), value.name.c_str(), value.file.c_str(),
                                            value.line, value.column, Count(value.accessesBefore), tiles.release()))
                          .get()));
  }
  return checked(Py_BuildValue("{sN sN sN sN sN sK sK}", "values", values.release(), "sites", sites.release(),
                               "programs", programs.release(), "accesses", accesses.release(), "order",
                               numberList(recorder.order).release(), "step", Count(recorder.step), "left_out",
                               Count(recorder.leftOut)));
}

} // namespace

WatchedLaunch::WatchedLaunch(PyObject *tool, PyObject *kernel, sanitizer::LaunchFacts facts, uint32_t kinds,
                             bool goesOn)
    : tool(Handle::borrow(tool)), kernel(Handle::borrow(kernel)), sanitizer(std::move(facts), kinds, goesOn) {}

std::unique_ptr<WatchedLaunch> WatchedLaunch::begin(PyObject *tool, const PythonLaunch &launched,
                                                    const uint32_t *grid) {
  PyObject *kernel = launched.kernel;
  llvm::ArrayRef<PyObject *> values = launched.values;
  const BoundArguments &bound = *launched.bound;
  Handle tuple = checked(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
  for (size_t i = 0; i < values.size(); ++i)
    checkedStatus(PyTuple_SetItem(tuple.get(), static_cast<Py_ssize_t>(i), Handle::borrow(values[i]).release()));
  Handle extents = checked(Py_BuildValue("(III)", grid[0], grid[1], grid[2]));
  Handle slots = checked(PyList_New(0));
  for (const BoundArgument &argument : bound.arguments)
    if (bool isPointer = argument.kind == BoundArgument::Kind::Pointer;
        isPointer || argument.kind == BoundArgument::Kind::Number) {
      Handle slot =
          checked(Py_BuildValue("(OL)", isPointer ? Py_True : Py_False, static_cast<long long>(argument.slot)));
      checkedStatus(PyList_Append(slots.get(), slot.get()));
    }
  Handle wanted =
      call(attribute(tool, "begin").get(), kernel, tuple.get(), extents.get(), launched.compiled, slots.get());
  if (wanted.get() == Py_None)
    return nullptr;
  unsigned kinds;
  int goesOn, isComplete;
  PyObject *arrays;
  if (!PyArg_ParseTuple(wanted.get(), "IiOp", &kinds, &goesOn, &arrays, &isComplete))
    throw PythonError();
  // Python tells neither what atomics order nor what arithmetic does.
  if (launched.compiled == Py_None)
    kinds &= sanitizer::Bounds | sanitizer::Uninitialized | recordAccesses;
  sanitizer::LaunchFacts facts;
  facts.kernel = text(attribute(kernel, "__name__").get());
  std::copy(grid, grid + 3, facts.grid);
  facts.isComplete = isComplete != 0;
  facts.mayOrder = kinds & mayOrder;
  for (Py_ssize_t i = 0; i < PyList_Size(arrays); ++i)
    facts.arrays.push_back(readArray(PyList_GetItem(arrays, i)));
  facts.ofArgument = arraysOfArguments(facts, bound);
  std::unique_ptr<WatchedLaunch> launch(new WatchedLaunch(tool, kernel, std::move(facts), kinds, goesOn != 0));
  if (kinds & recordAccesses)
    launch->recorder = std::make_unique<viz::Recorder>(launch->sanitizer.facts.grid, static_cast<uint64_t>(goesOn));
  return launch;
}

void WatchedLaunch::end() {
  Handle findings = checked(PyList_New(0));
  for (const sanitizer::Finding &finding : sanitizer.findings())
    checkedStatus(PyList_Append(findings.get(), findingDictionary(sanitizer.facts, finding).get()));
  if (recorder) {
    Handle record = recordDictionary(*recorder, sanitizer.facts);
    checkedStatus(PyDict_SetItemString(record.get(), "findings", findings.get()));
    findings = record;
  }
  const uint32_t *grid = sanitizer.facts.grid;
  Handle extents = checked(Py_BuildValue("(III)", grid[0], grid[1], grid[2]));
  call(attribute(tool.get(), "end").get(), kernel.get(), extents.get(), findings.get());
}

namespace {
// Who watches launches for the tool.
class ToolListener : public EventListener {
public:
  explicit ToolListener(PyObject *tool) : EventListener(AccessEvents), tool(Handle::borrow(tool)) {}
  ~ToolListener() override {
    HoldGil gil; // the last to let go of it may be a thread that launches
    tool = Handle();
  }

  LaunchWatcher *watch(const LaunchEvent &event) override {
    auto *launch = static_cast<PythonLaunch *>(event.caller);
    if (!launch || !launch->bound)
      return nullptr;
    HoldGil gil;
    launch->watched = WatchedLaunch::begin(tool.get(), *launch, event.grid);
    return launch->watched ? launch->watched->watcher() : nullptr;
  }

private:
  Handle tool;
};
} // namespace

PyObject *setLaunchTool(PyObject *, PyObject *tool) {
  static auto *current = new std::shared_ptr<EventListener>;
  if (*current)
    removeListener(**current);
  *current = tool == Py_None ? nullptr : std::make_shared<ToolListener>(tool);
  if (*current)
    addListener(*current);
  Py_RETURN_NONE;
}

// [(factor, (symbol, ...)), ...]
static sanitizer::Polynomial readPolynomial(PyObject *terms) {
  sanitizer::Polynomial polynomial;
  Handle list = checked(PySequence_List(terms));
  for (Py_ssize_t i = 0; i < PyList_Size(list.get()); ++i) {
    long long factor;
    PyObject *symbols;
    if (!PyArg_ParseTuple(PyList_GetItem(list.get(), i), "LO", &factor, &symbols))
      throw PythonError();
    std::vector<int64_t> places = numbers(symbols);
    polynomial.terms.push_back({factor, {places.begin(), places.end()}});
  }
  return polynomial;
}

static std::shared_ptr<sanitizer::LaunchFamily> readFamily(PyObject *tuple) {
  auto family = std::make_shared<sanitizer::LaunchFamily>();
  PyObject *symbols, *conditions, *grid[3], *slots, *arrays, *sizes;
  if (!PyArg_ParseTuple(tuple, "O!O!(OOO)O!OO!", &PyList_Type, &symbols, &PyList_Type, &conditions, &grid[0], &grid[1],
                        &grid[2], &PyList_Type, &slots, &arrays, &PyList_Type, &sizes))
    throw PythonError();
  for (Py_ssize_t i = 0; i < PyList_Size(symbols); ++i) {
    const char *name;
    long long low, high;
    if (!PyArg_ParseTuple(PyList_GetItem(symbols, i), "sLL", &name, &low, &high))
      throw PythonError();
    family->symbols.push_back({name, low, high});
  }
  for (Py_ssize_t i = 0; i < PyList_Size(conditions); ++i)
    family->atLeastZero.push_back(readPolynomial(PyList_GetItem(conditions, i)));
  for (int axis = 0; axis < 3; ++axis)
    family->grid[axis] = readPolynomial(grid[axis]);
  for (Py_ssize_t i = 0; i < PyList_Size(slots); ++i)
    family->slots.push_back(readPolynomial(PyList_GetItem(slots, i)));
  for (int64_t array : numbers(arrays))
    family->arrays.push_back(static_cast<int32_t>(array));
  for (Py_ssize_t i = 0; i < PyList_Size(sizes); ++i) {
    const char *name;
    PyObject *bytes;
    if (!PyArg_ParseTuple(PyList_GetItem(sizes, i), "sO", &name, &bytes))
      throw PythonError();
    family->arrayNames.emplace_back(name);
    family->bytes.push_back(bytes == Py_None ? std::nullopt : std::optional(readPolynomial(bytes)));
  }
  return family;
}

PyObject *staticCheck(PyObject *, PyObject *args) {
  return guarded([&] {
    const char *text;
    PyObject *slots, *arrays, *family = Py_None;
    sanitizer::StaticLaunch launch;
    uint32_t *grid = launch.facts.grid;
    if (!PyArg_ParseTuple(args, "s(III)OO|O", &text, grid, grid + 1, grid + 2, &slots, &arrays, &family))
      throw PythonError();
    if (family != Py_None)
      launch.family = readFamily(family);
    for (Py_ssize_t i = 0; i < PyList_Size(arrays); ++i)
      launch.facts.arrays.push_back(readArray(PyList_GetItem(arrays, i)));
    for (Py_ssize_t i = 0; i < PyList_Size(slots); ++i) {
      int isPointer;
      long long value;
      if (!PyArg_ParseTuple(PyList_GetItem(slots, i), "pL", &isPointer, &value))
        throw PythonError();
      launch.slots.push_back({isPointer != 0, value});
    }
    std::vector<sanitizer::Verdict> verdicts;
    {
      ReleaseGil released;
      verdicts = checkStatically(text, launch);
    }
    Handle list = checked(PyList_New(0));
    for (const sanitizer::Verdict &verdict : verdicts) {
      Handle row =
          checked(Py_BuildValue("(ssssss)", nameOf(verdict.check), nameOf(verdict.answer), verdict.access.c_str(),
                                verdict.place.c_str(), verdict.otherPlace.c_str(), verdict.text.c_str()));
      checkedStatus(PyList_Append(list.get(), row.get()));
    }
    return list.release();
  });
}

PyObject *markUnwritten(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    unsigned long long address, bytes;
    if (!PyArg_ParseTuple(args, "KK", &address, &bytes))
      throw PythonError();
    sanitizer::Unwritten::shared().add(address, bytes);
    Py_RETURN_NONE;
  });
}

} // namespace nacre::python
