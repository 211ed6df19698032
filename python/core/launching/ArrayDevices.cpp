#include "python/core/launching/ArrayDevices.h"
#include "llvm/ADT/StringRef.h"

namespace nacre::python {

namespace {

bool isEmbedderName(llvm::StringRef name) {
  llvm::StringRef host = drivers().front()->name();
  return name == host || (name.starts_with(host) && name[host.size()] == ':');
}

[[noreturn]] void noDevice(std::string_view shown, PyObject *argumentName, const std::string &why) {
  raise(PyExc_ValueError,
        "argument %R is on %s, where no kernel can run: %s; pass an array in host memory, such as x.cpu()",
        argumentName, std::string(shown).c_str(), why.c_str());
}

[[noreturn]] void noDriver(std::string_view shown, PyObject *argumentName) {
  noDevice(shown, argumentName, "this build has no driver for such devices");
}

// The attributes by which torch's tensors tell their device, with their drivers.
struct TensorFlag {
  PyObject *name; // interned
  Driver *driver;
};
llvm::ArrayRef<TensorFlag> tensorFlags() {
  static const auto *flags = [] {
    auto *made = new std::vector<TensorFlag>;
    for (Driver *driver : drivers())
      if (driver->tensorFlag())
        made->push_back({PyUnicode_InternFromString(driver->tensorFlag()), driver});
    return made;
  }();
  return *flags;
}

// The driver whose arrays have this type; the host's own for its memory. Each array of a launch asks: the last answers
// are kept.
Driver *driverOfDLPack(int type, PyObject *argumentName) {
  static int lastType = -1;
  static Driver *lastDriver = nullptr;
  if (type == lastType)
    return lastDriver;
  constexpr int pinnedHostMemory[] = {3, 11}; // CUDA's and ROCm's
  Driver *found = llvm::is_contained(pinnedHostMemory, type) ? drivers().front() : nullptr;
  for (Driver *driver : drivers())
    if (!found && driver->dlpackType() == type)
      found = driver;
  if (!found)
    noDriver("a device of DLPack's type " + std::to_string(type), argumentName);
  lastType = type;
  return lastDriver = found;
}

std::string shownDevice(Device *device) { return device ? "on " + device->name() : "in host memory"; }

} // namespace

Device *deviceNumbered(Driver &driver, int index, std::string_view shown, PyObject *argumentName) {
  Device *device = driver.device(index);
  if (!device) {
    int count = driver.count();
    noDevice(shown, argumentName,
             count == 0 ? driver.whyNone() : "there are " + std::to_string(count) + " such devices");
  }
  return device;
}

Device *deviceNamed(std::string_view name, PyObject *argumentName) {
  auto [kind, number] = llvm::StringRef(name).split(':');
  if (isEmbedderName(name))
    return nullptr;
  Driver *driver = findDriver(kind);
  int index = 0;
  if (!driver || (!number.empty() && number.getAsInteger(10, index)))
    noDriver(name, argumentName);
  return deviceNumbered(*driver, number.empty() ? driver->currentIndex() : index, name, argumentName);
}

Device *deviceOfTensor(PyObject *tensor, PyCFunction getDevice, PyObject *argumentName) {
  for (const TensorFlag &flag : tensorFlags()) {
    Handle isThere = Handle::steal(PyObject_GetAttr(tensor, flag.name));
    if (!isThere)
      PyErr_Clear();
    if (!getDevice || isThere.get() != Py_True)
      continue;
    Handle number = checked(getDevice(tensor, nullptr));
    auto index = static_cast<int>(PyLong_AsLong(number.get()));
    return deviceNumbered(*flag.driver, index, flag.driver->name().str() + ":" + std::to_string(index), argumentName);
  }
  Handle shown = checked(PyObject_Str(attribute(tensor, "device").get()));
  return deviceNamed(textView(shown.get()), argumentName);
}

Device *deviceOfDLPack(int type, int index, PyObject *argumentName) {
  Driver *driver = driverOfDLPack(type, argumentName);
  if (driver == drivers().front())
    return nullptr;
  Device *device = driver->device(index);
  return device ? device
                : deviceNumbered(*driver, index, driver->name().str() + ":" + std::to_string(index), argumentName);
}

void LaunchDevice::add(PyObject *argumentName, uint64_t address, Device *device) {
  arrays.push_back({argumentName, address, device});
}

Device &LaunchDevice::choose() {
  if (arrays.empty())
    return activeDevice();
  const Array *first = &arrays.front();
  for (const Array &array : arrays)
    if (!first->device && array.device)
      first = &array;
  for (const Array &array : arrays) {
    bool isReached = array.device == first->device ||
                     (!array.device && (array.address == 0 || first->device->reachesHostMemory(array.address)));
    if (!isReached)
      raise(PyExc_ValueError,
            "argument %R is %s and argument %R is %s: all arrays of a launch must be on one device; move one of them, "
            "with x.to(y.device), or pass the number that is in it, with x.item()",
            first->name, shownDevice(first->device).c_str(), array.name, shownDevice(array.device).c_str());
  }
  return first->device ? *first->device : hostMemoryDevice();
}

} // namespace nacre::python
