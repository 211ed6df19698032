#include "python/core/launching/Arrays.h"
#include "python/core/launching/ArrayDevices.h"
#include "python/core/launching/TorchProfiler.h"
#include "runtime/threads/TorchThreads.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <cstring>
#include <unordered_map>
#include <vector>

namespace nacre::python {

namespace {

// DLPack's structures, as its header lays them out.
struct DLDevice {
  int32_t type, id;
};
struct DLDataType {
  uint8_t code, bits;
  uint16_t lanes;
};
struct DLTensor {
  void *data;
  DLDevice device;
  int32_t dimensions;
  DLDataType dtype;
  int64_t *shape, *strides;
  uint64_t byteOffset;
};
struct DLManagedTensor {
  DLTensor tensor;
  void *context;
  void (*deleter)(DLManagedTensor *);
};
// What a class's __dlpack_c_exchange_api__ points at, as far as it is used here.
struct DLPackExchange {
  uint32_t major, minor;
  DLPackExchange *previous;
  void *allocate, *exportTensor, *importTensor;
  int (*view)(void *object, DLTensor *view); // a view that owns nothing; may be null, fails with a Python error
};

// How the instances of one Python class are read; found out once.
struct ArrayClass {
  enum class Way { None, Torch, NumPy, DataPointer, DeviceInterface, DLPack };
  Way way = Way::None;
  // Torch: the methods themselves, so that no bound method is made at each launch. The second may be null.
  PyCFunction dataPointer = nullptr, getDevice = nullptr;
  int (*view)(void *, DLTensor *) = nullptr; // tells all of it at once; null: there is none
  Driver *driver = nullptr;                  // DeviceInterface: whose interface it has
};

struct Names {
  PyObject *dataPointer = PyUnicode_InternFromString("data_ptr");
  PyObject *dtype = PyUnicode_InternFromString("dtype");
  PyObject *isOnHost = PyUnicode_InternFromString("is_cpu"); // as torch calls it
  PyObject *arrayStruct = PyUnicode_InternFromString("__array_struct__");
};
const Names &names() {
  static const Names *interned = new Names;
  return *interned;
}

// What __array_struct__ points at (NumPy's array interface, version 3).
struct ArrayInterface {
  int two;
  int dimensions;
  char kind;
  int itemSize;
  int flags;
  intptr_t *shape;
  intptr_t *strides;
  void *data;
  PyObject *description;
};
constexpr int rowMajor = 0x1, notSwapped = 0x200, writeable = 0x400;

// The function of a method without arguments that is written in C; null when it is not.
PyCFunction plainMethod(PyObject *value, const char *name) {
  Handle method = attributeOrNull(value, name);
  bool isPlain = method && PyCFunction_Check(method.get()) && PyCFunction_GetFlags(method.get()) == METH_NOARGS;
  return isPlain ? PyCFunction_GetFunction(method.get()) : nullptr;
}

// Of torch's own classes alone: others may say something else of themselves than what they are made of.
int (*viewOfTensors(PyObject *type))(void *, DLTensor *) {
  Handle module = attributeOrNull(type, "__module__"), name = attributeOrNull(type, "__name__");
  if (!module || !name || !PyUnicode_Check(module.get()) || !PyUnicode_Check(name.get()))
    return nullptr;
  bool isOwn = (textView(module.get()) == "torch" && textView(name.get()) == "Tensor") ||
               (textView(module.get()) == "torch.nn.parameter" && textView(name.get()) == "Parameter");
  Handle capsule = isOwn ? attributeOrNull(type, "__dlpack_c_exchange_api__") : Handle();
  constexpr const char *capsuleName = "dlpack_exchange_api";
  if (!capsule || !PyCapsule_IsValid(capsule.get(), capsuleName))
    return nullptr;
  auto *exchange = static_cast<DLPackExchange *>(PyCapsule_GetPointer(capsule.get(), capsuleName));
  constexpr uint32_t known = 1;
  while (exchange && exchange->major > known)
    exchange = exchange->previous;
  return exchange && exchange->major == known ? exchange->view : nullptr;
}

Driver *driverOfInterface(PyObject *type) {
  for (Driver *driver : drivers())
    if (driver->arrayInterface() && attributeOrNull(type, driver->arrayInterface()))
      return driver;
  return nullptr;
}

ArrayClass classify(PyObject *value) {
  auto *type = reinterpret_cast<PyObject *>(Py_TYPE(value));
  ArrayClass found;
  if (attributeOrNull(type, "data_ptr") && attributeOrNull(value, "dtype")) {
    found.way = ArrayClass::Way::DataPointer;
    PyCFunction dataPointer = plainMethod(value, "data_ptr");
    if (dataPointer && attributeOrNull(type, "is_cpu")) {
      found.way = ArrayClass::Way::Torch;
      lookForTorch();
      lookForTorchThreads();
      found.dataPointer = dataPointer;
      found.getDevice = plainMethod(value, "get_device");
      found.view = viewOfTensors(type);
    }
  } else if (Driver *driver = driverOfInterface(type)) {
    found.way = ArrayClass::Way::DeviceInterface;
    found.driver = driver;
  } else if (attributeOrNull(type, "__array_struct__") &&
             attributeOrNull(type, "__len__")) { // NumPy's scalars have no length
    found.way = ArrayClass::Way::NumPy;
  } else if (attributeOrNull(type, "__dlpack__")) {
    found.way = ArrayClass::Way::DLPack;
  }
  return found;
}

const ArrayClass &arrayClass(PyObject *value) {
  static auto *classes = new std::unordered_map<PyTypeObject *, ArrayClass>;
  static PyTypeObject *lastType = nullptr;
  static const ArrayClass *lastClass = nullptr;
  PyTypeObject *type = Py_TYPE(value);
  if (type == lastType)
    return *lastClass;
  auto found = classes->find(type);
  if (found == classes->end()) {
    ArrayClass made = classify(value);
    Py_INCREF(reinterpret_cast<PyObject *>(type)); // its address is the key: it must not be used again
    found = classes->emplace(type, made).first;
  }
  lastType = type;
  lastClass = &found->second;
  return found->second;
}

[[noreturn]] void unsupportedElements(PyObject *argumentName, const std::string &what) {
  bool isComplex = what.find("complex") != std::string::npos;
  raise(PyExc_TypeError,
        "argument %R: an array of %s cannot be passed to a kernel; its elements may be bool, int8 to int64, uint8 to "
        "uint64, "
        "float16, bfloat16, float32, float64 and torch's float8 types%s",
        argumentName, what.c_str(),
        isComplex ? "; complex numbers can be passed as pairs of floats, torch.view_as_real(x) or x.view(numpy.float32)"
                  : "");
}

// dtype objects are few and live for ever, so they are recognized by address.
ScalarKind elementKind(PyObject *dtype, PyObject *argumentName) {
  static auto *known = new std::vector<std::pair<PyObject *, ScalarKind>>;
  for (const auto &[object, kind] : *known)
    if (object == dtype)
      return kind;
  Handle shown = checked(PyObject_Str(dtype));
  ScalarKind kind = scalarKindFromName(textView(shown.get()));
  if (kind == ScalarKind::Void)
    unsupportedElements(argumentName, text(shown.get()));
  if (known->size() < 64) {
    Py_INCREF(dtype);
    known->emplace_back(dtype, kind);
  }
  return kind;
}

// What data_ptr() gave. Tensors without memory may refuse to say: their address is null, which a launch refuses.
uint64_t addressFrom(Handle address) {
  if (!address && PyErr_ExceptionMatches(PyExc_RuntimeError)) {
    PyErr_Clear();
    return 0;
  }
  uint64_t value = address ? PyLong_AsUnsignedLongLong(address.get()) : 0;
  if (PyErr_Occurred())
    throw PythonError();
  return value;
}

ScalarKind dlpackKind(DLDataType type);

// All at once; false where that does not tell: then the tensor is asked piece by piece.
bool readView(const ArrayClass &way, PyObject *value, PyObject *argumentName, ArrayView &view) {
  DLTensor tensor;
  if (!way.view)
    return false;
  if (way.view(value, &tensor) != 0) {
    PyErr_Clear();
    return false;
  }
  view.element = dlpackKind(tensor.dtype);
  view.address = reinterpret_cast<uint64_t>(tensor.data) + tensor.byteOffset;
  if (view.element == ScalarKind::Void || view.address == 0)
    return false;
  view.device = deviceOfDLPack(tensor.device.type, tensor.device.id, argumentName);
  return true;
}

void readTorch(const ArrayClass &way, PyObject *value, PyObject *argumentName, ArrayView &view) {
  if (readView(way, value, argumentName, view))
    return;
  Handle onHost = checked(PyObject_GetAttr(value, names().isOnHost));
  if (onHost.get() != Py_True)
    view.device = deviceOfTensor(value, way.getDevice, argumentName);
  view.address = addressFrom(Handle::steal(way.dataPointer(value, nullptr)));
  view.element = elementKind(checked(PyObject_GetAttr(value, names().dtype)).get(), argumentName);
}

void readDataPointer(PyObject *value, PyObject *argumentName, ArrayView &view) {
  Handle method = attribute(value, "data_ptr");
  view.address = addressFrom(Handle::steal(PyObject_CallFunctionObjArgs(method.get(), nullptr)));
  if (Handle device = attributeOrNull(value, "device"); device && device.get() != Py_None) {
    Handle shown = checked(PyObject_Str(device.get()));
    view.device = deviceNamed(textView(shown.get()), argumentName);
  } else {
    view.isPlaced = view.address != 0;
    view.device = deviceOf(view.address);
  }
  view.element = elementKind(attribute(value, "dtype").get(), argumentName);
}

// The element that NumPy's letter and size mean; Void: they do not tell.
ScalarKind kindOfLetter(char letter, int size) {
  auto sized = [&](ScalarKind one, ScalarKind two, ScalarKind four, ScalarKind eight) {
    return size == 1 ? one : size == 2 ? two : size == 4 ? four : size == 8 ? eight : ScalarKind::Void;
  };
  switch (letter) {
  case 'f':
    return sized(ScalarKind::Void, ScalarKind::Float16, ScalarKind::Float32, ScalarKind::Float64);
  case 'i':
    return sized(ScalarKind::Int8, ScalarKind::Int16, ScalarKind::Int32, ScalarKind::Int64);
  case 'u':
    return sized(ScalarKind::UInt8, ScalarKind::UInt16, ScalarKind::UInt32, ScalarKind::UInt64);
  case 'b':
    return ScalarKind::Int1;
  default:
    return ScalarKind::Void;
  }
}

// {"data": (address, read only), "typestr": "<f4", ...}: as NumPy's own interface, of memory on a device.
void readDeviceInterface(Driver &driver, PyObject *value, PyObject *argumentName, ArrayView &view) {
  Handle interface = attribute(value, driver.arrayInterface());
  unsigned long long address;
  int readOnly;
  PyObject *data = PyDict_Check(interface.get()) ? PyDict_GetItemString(interface.get(), "data") : nullptr;
  PyObject *type = data ? PyDict_GetItemString(interface.get(), "typestr") : nullptr;
  if (!type || !PyTuple_Check(data) || !PyUnicode_Check(type) || textView(type).size() < 3)
    raise(PyExc_TypeError, "argument %R: its %s is not what that interface says it is", argumentName,
          driver.arrayInterface());
  if (!PyArg_ParseTuple(data, "Kp", &address, &readOnly))
    throw PythonError();
  view.address = address;
  view.readOnly = readOnly;
  int size = 0;
  llvm::StringRef text(textView(type));
  if (text[0] == '>' || text.drop_front(2).getAsInteger(10, size))
    unsupportedElements(argumentName, text.str());
  ScalarKind kind = kindOfLetter(text[1], size);
  view.element = kind != ScalarKind::Void ? kind : elementKind(attribute(value, "dtype").get(), argumentName);
  view.device = driver.deviceOf(address);
  if (!view.device) // an array without elements, or of a driver that has not been started
    view.device = deviceNumbered(driver, driver.currentIndex(), driver.name(), argumentName);
}

void readNumPy(PyObject *value, PyObject *argumentName, ArrayView &view) {
  Handle capsule = checked(PyObject_GetAttr(value, names().arrayStruct));
  auto *array = static_cast<const ArrayInterface *>(PyCapsule_GetPointer(capsule.get(), nullptr));
  if (!array)
    throw PythonError();
  view.address = reinterpret_cast<uint64_t>(array->data);
  view.readOnly = !(array->flags & writeable);
  if (array->kind == 'V' && attribute(attribute(value, "dtype").get(), "names").get() != Py_None)
    raise(
        PyExc_TypeError,
        "argument %R: a structured array cannot be passed to a kernel; pass its fields as arrays of their own, such as "
        "numpy.ascontiguousarray(x['field'])",
        argumentName);
  if (!(array->flags & notSwapped))
    unsupportedElements(argumentName, "elements in the other byte order");
  if (!(array->flags & rowMajor))
    for (int axis = 0; axis < array->dimensions; ++axis)
      if (array->strides[axis] < 0) // its address is that of its last element in memory: nothing lies behind it
        raise(PyExc_ValueError,
              "argument %R: an array with a negative stride cannot be passed to a kernel; copy it with "
              "numpy.ascontiguousarray",
              argumentName);
  ScalarKind kind = kindOfLetter(array->kind, array->itemSize);
  // Types of other packages (ml_dtypes' bfloat16, ...) are known by name only.
  view.element = kind != ScalarKind::Void ? kind : elementKind(attribute(value, "dtype").get(), argumentName);
}

ScalarKind dlpackKind(DLDataType type) {
  auto sized = [&](ScalarKind one, ScalarKind two, ScalarKind four, ScalarKind eight) {
    return type.bits == 8    ? one
           : type.bits == 16 ? two
           : type.bits == 32 ? four
           : type.bits == 64 ? eight
                             : ScalarKind::Void;
  };
  if (type.lanes != 1)
    return ScalarKind::Void;
  switch (type.code) {
  case 0:
    return sized(ScalarKind::Int8, ScalarKind::Int16, ScalarKind::Int32, ScalarKind::Int64);
  case 1:
    return sized(ScalarKind::UInt8, ScalarKind::UInt16, ScalarKind::UInt32, ScalarKind::UInt64);
  case 2:
    return sized(ScalarKind::Void, ScalarKind::Float16, ScalarKind::Float32, ScalarKind::Float64);
  case 4:
    return sized(ScalarKind::Void, ScalarKind::BFloat16, ScalarKind::Void, ScalarKind::Void);
  case 6:
    return sized(ScalarKind::Int1, ScalarKind::Void, ScalarKind::Void, ScalarKind::Void);
  default:
    return ScalarKind::Void;
  }
}

void readDLPack(PyObject *value, PyObject *argumentName, ArrayView &view, llvm::SmallVectorImpl<Handle> &keepAlive) {
  // The capsule's own destructor frees the tensor, since nobody renames it as consumed: holding the capsule holds the
  // memory.
  Handle capsule = call(attribute(value, "__dlpack__").get());
  auto *managed = static_cast<DLManagedTensor *>(PyCapsule_GetPointer(capsule.get(), "dltensor"));
  if (!managed)
    throw PythonError();
  const DLTensor &tensor = managed->tensor;
  view.device = deviceOfDLPack(tensor.device.type, tensor.device.id, argumentName);
  view.address = reinterpret_cast<uint64_t>(tensor.data) + tensor.byteOffset;
  view.element = dlpackKind(tensor.dtype);
  if (view.element == ScalarKind::Void)
    unsupportedElements(argumentName, "a DLPack type that kernels do not have");
  keepAlive.push_back(std::move(capsule));
}

} // namespace

ScalarKind scalarKindFromName(std::string_view name) {
  if (size_t dot = name.rfind('.'); dot != std::string_view::npos)
    name.remove_prefix(dot + 1);
  static const std::unordered_map<std::string_view, ScalarKind> kinds = {
      {"bool", ScalarKind::Int1},
      {"int8", ScalarKind::Int8},
      {"int16", ScalarKind::Int16},
      {"int32", ScalarKind::Int32},
      {"int64", ScalarKind::Int64},
      {"uint8", ScalarKind::UInt8},
      {"uint16", ScalarKind::UInt16},
      {"uint32", ScalarKind::UInt32},
      {"uint64", ScalarKind::UInt64},
      {"float16", ScalarKind::Float16},
      {"half", ScalarKind::Float16},
      {"bfloat16", ScalarKind::BFloat16},
      {"float32", ScalarKind::Float32},
      {"float", ScalarKind::Float32},
      {"float64", ScalarKind::Float64},
      {"double", ScalarKind::Float64},
      {"float8_e4m3fn", ScalarKind::Float8E4NV},
      {"float8_e5m2", ScalarKind::Float8E5},
      {"float8_e4m3fnuz", ScalarKind::Float8E4B8},
      {"float8_e5m2fnuz", ScalarKind::Float8E5B16},
  };
  if (auto found = kinds.find(name); found != kinds.end())
    return found->second;
  Type type = Type::parseShortName(llvm::StringRef(name)); // the language's own spelling: fp32, i64
  return type && type.isScalar() ? type.scalarKind() : ScalarKind::Void;
}

bool isArray(PyObject *value) { return arrayClass(value).way != ArrayClass::Way::None; }

bool readArray(PyObject *value, PyObject *argumentName, ArrayView &view, llvm::SmallVectorImpl<Handle> &keepAlive) {
  const ArrayClass &way = arrayClass(value);
  switch (way.way) {
  case ArrayClass::Way::None:
    return false;
  case ArrayClass::Way::Torch:
    readTorch(way, value, argumentName, view);
    return true;
  case ArrayClass::Way::NumPy:
    readNumPy(value, argumentName, view);
    return true;
  case ArrayClass::Way::DataPointer:
    readDataPointer(value, argumentName, view);
    return true;
  case ArrayClass::Way::DeviceInterface:
    readDeviceInterface(*way.driver, value, argumentName, view);
    return true;
  case ArrayClass::Way::DLPack:
    readDLPack(value, argumentName, view, keepAlive);
    return true;
  }
  return false;
}

bool isEmptyArray(PyObject *array) {
  Handle shape = attributeOrNull(array, "shape");
  Handle extents = shape ? Handle::steal(PySequence_Tuple(shape.get())) : Handle();
  if (!extents) {
    PyErr_Clear();
    return false;
  }
  for (Py_ssize_t i = 0, rank = PyTuple_Size(extents.get()); i < rank; ++i) {
    long long extent = PyLong_AsLongLong(PyTuple_GetItem(extents.get(), i));
    if (extent == 0)
      return true;
    PyErr_Clear(); // an extent that is no number
  }
  return false;
}

} // namespace nacre::python
