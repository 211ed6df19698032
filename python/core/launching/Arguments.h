// The arguments of a launch as Python passes them: what each is to a kernel (a pointer, a number, a constant), how it
// is specialized, and the eight bytes that the compiled code gets. This is the hot path: nothing here allocates for the
// usual arguments, torch tensors, NumPy arrays and numbers.
#pragma once

#include "python/core/launching/Arrays.h"
#include "runtime/launch/Specialization.h"
#include "llvm/ADT/SmallVector.h"

namespace nacre::python {

// A parameter of a kernel, as its definition says.
struct ParameterRecord {
  Handle name; // interned
  bool isConstexpr = false;
  bool isConst = false;          // `: tl.const`: the pointer is only read
  bool noSpecialization = false; // do_not_specialize
  bool noAlignment = false;      // do_not_specialize_on_alignment
  Type annotation;               // a type that the annotation forces, or null
  Handle defaultValue;           // or null

  SpecializationRule rule() const {
    return {.takesConstants = !noSpecialization,
            .takesDivisors = !noSpecialization && !noAlignment,
            .isConst = isConst,
            .forced = annotation};
  }
};

struct BoundArgument {
  enum class Kind : uint8_t { Pointer, Number, Constant, Tuple };
  Kind kind = Kind::Constant;
  bool divisibleBy16 = false;
  bool isConst = false;
  bool readOnly = false;        // memory that may not be written
  bool isNull = false;          // an array without an address; `constant` is the array
  bool isArray = false;         // a Pointer that says where it is, not a mere address
  Device *device = nullptr;     // of an array; null: host memory
  Type type;                    // of pointers (the pointee) and numbers
  uint64_t slot = 0;            // what the kernel gets
  PyObject *constant = nullptr; // borrowed; of Constant, and of Tuple for its class
  uint32_t elements = 0;        // of Tuple: so many arguments follow, flattened
  bool isDescriptor = false;    // a Tuple that is a tensor descriptor: its fields in descriptorFields' order
  bool isAggregate = false;     // a Tuple that is an aggregate: its fields in its class's order
  bool isRunTimeField = false;  // a field of an aggregate that is not annotated tl.constexpr
};

// One launch's arguments in order, tuples flattened behind their head.
struct BoundArguments {
  llvm::SmallVector<BoundArgument, 32> arguments;
  llvm::SmallVector<Handle, 4> keepAlive; // capsules, temporaries
  bool anyReadOnly = false, anyNull = false;
  bool anyInHostMemory = false, anyOnDevice = false; // arrays
  // The device that all arrays are on; null: there is none, or not all are on it.
  Device *onlyDevice() const { return anyInHostMemory || severalDevices ? nullptr : lastDevice; }

  // Appends `value` as the argument for `parameter`. Throws PythonError with an error that names the parameter.
  void bind(const ParameterRecord &parameter, PyObject *value);

  // Appends what tells specializations apart; objects that can only be compared by Python go to `objects`.
  void appendKey(llvm::SmallVectorImpl<char> &key, llvm::SmallVectorImpl<PyObject *> &objects) const;

private:
  Device *lastDevice = nullptr; // of the last array that is on one
  bool severalDevices = false;

  void bindConstant(PyObject *value);
  void bindInteger(const ParameterRecord &parameter, PyObject *value);
  void bindNumber(const ParameterRecord &parameter, PyObject *value);
  void bindPointer(const ParameterRecord &parameter, uint64_t address, ScalarKind kind);
  bool bindArray(const ParameterRecord &parameter, PyObject *value);
  void bindTuple(const ParameterRecord &parameter, PyObject *value);
  void bindDescriptor(const ParameterRecord &parameter, PyObject *value);
  bool bindAggregate(const ParameterRecord &parameter, PyObject *value);
};

// The bits of `value` as an argument of type `type` (a scalar). Throws PythonError.
uint64_t numberSlot(PyObject *value, Type type, PyObject *name);
// An array or tensor, or a plain integer that is an address, of which nothing else is known.
ArrayView addressOf(PyObject *value, PyObject *name, llvm::SmallVectorImpl<Handle> &keepAlive);

// (value, is const, specialize, align) -> (type, "D" or None): what a launch makes of it; ("constexpr", value).
PyObject *specializeArgument(PyObject *module, PyObject *args);
// The short name of the type that an annotation forces, or "".
PyObject *annotatedTypeName(PyObject *module, PyObject *annotation);

} // namespace nacre::python
