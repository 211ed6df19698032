#include "python/core/launching/LaunchKeywords.h"
#include "python/core/launching/CompileSettings.h"

namespace nacre::python {

namespace {

int64_t integerValue(const LaunchOption &option, PyObject *value) {
  if (value == Py_None)
    return 0;
  Handle index = Handle::steal(PyNumber_Index(value));
  if (!index) {
    PyErr_Clear();
    raise(PyExc_TypeError, "%s: expected an integer, found %R", option.name, value);
  }
  int64_t number = PyLong_AsLongLong(index.get());
  if (number == -1 && PyErr_Occurred())
    throw PythonError();
  return number;
}

} // namespace

PyObject *optionName(const LaunchOption &option) {
  static PyObject *const *names = [] {
    auto **made = new PyObject *[launchOptionCount];
    for (const LaunchOption &row : launchOptions)
      made[static_cast<size_t>(row.id)] = PyUnicode_InternFromString(row.name);
    return made;
  }();
  return names[static_cast<size_t>(option.id)];
}

const LaunchOption *optionWithName(PyObject *interned) {
  for (const LaunchOption &option : launchOptions)
    if (optionName(option) == interned)
      return &option;
  return nullptr;
}

const LaunchOption *optionNamed(PyObject *keyword) {
  const LaunchOption *option = optionWithName(keyword); // a call's keywords are interned as a rule
  return option ? option : findLaunchOption(llvm::StringRef(textView(keyword)));
}

int64_t switchValue(PyObject *value) {
  if (value == Py_None)
    return -1;
  int truth = PyObject_IsTrue(value);
  checkedStatus(truth);
  return truth;
}

int64_t optionValue(const LaunchOption &option, PyObject *value) {
  switch (option.kind) {
  case LaunchOptionKind::Integer:
    return integerValue(option, value);
  case LaunchOptionKind::Switch:
    return switchValue(value);
  case LaunchOptionKind::Flag:
    return switchValue(value) == 1;
  case LaunchOptionKind::Text:
    return static_cast<int64_t>(overrideNumber(value));
  case LaunchOptionKind::Libraries:
    return static_cast<int64_t>(libraryListNumber(value));
  }
  return 0;
}

static std::vector<std::string> &architectures() {
  static auto *names = new std::vector<std::string>{""};
  return *names;
}

uint64_t architectureNumber(const std::string &name) {
  std::vector<std::string> &names = architectures();
  auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    found = names.insert(names.end(), name);
  return static_cast<uint64_t>(found - names.begin());
}

const std::string &architectureName(uint64_t number) { return architectures()[number]; }

LaunchOptionValues readOptions(PyObject *dictionary) {
  LaunchOptionValues values;
  for (const LaunchOption &option : launchOptions)
    if (PyObject *value = PyDict_GetItemWithError(dictionary, optionName(option)))
      values[option.id] = optionValue(option, value);
  return values;
}

Handle optionDictionary(const LaunchOptionValues &values, const CompileOptions &decided) {
  auto switchState = [&](LaunchOptionId id) {
    switch (id) {
    case LaunchOptionId::Debug:
      return decided.debug;
    case LaunchOptionId::SanitizeOverflow:
      return decided.sanitizeOverflow;
    case LaunchOptionId::FpFusion:
      return decided.fpFusion;
    default:
      llvm_unreachable("a switch whose state the options of a compile do not have");
    }
  };
  Handle dictionary = checked(PyDict_New());
  for (const LaunchOption &option : launchOptions) {
    int64_t number = values[option.id];
    Handle value;
    switch (option.kind) {
    case LaunchOptionKind::Integer:
      value = checked(PyLong_FromLongLong(number));
      break;
    case LaunchOptionKind::Switch:
      value = checked(PyBool_FromLong(switchState(option.id)));
      break;
    case LaunchOptionKind::Flag:
      value = checked(PyBool_FromLong(number != 0));
      break;
    case LaunchOptionKind::Text:
      value = overridePath(static_cast<uint64_t>(number));
      break;
    case LaunchOptionKind::Libraries:
      value = libraryListObject(static_cast<uint64_t>(number));
      break;
    }
    checkedStatus(PyDict_SetItem(dictionary.get(), optionName(option), value.get()));
  }
  return dictionary;
}

Handle launchOptionTable() {
  Handle table = checked(PyList_New(0));
  for (const LaunchOption &option : launchOptions) {
    static constexpr const char *kinds[] = {"int", "switch", "flag", "text", "libraries"};
    Handle row = checked(Py_BuildValue("(ssLs)", option.name, kinds[static_cast<size_t>(option.kind)],
                                       static_cast<long long>(option.fallback), option.help));
    checkedStatus(PyList_Append(table.get(), row.get()));
  }
  return checked(PySequence_Tuple(table.get()));
}

} // namespace nacre::python
