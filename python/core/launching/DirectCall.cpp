#include "python/core/launching/DirectCall.h"
#include "python/core/Errors.h"
#include "python/core/launching/Arguments.h"
#include "python/core/launching/NativeKernel.h"
#include "runtime/Events.h"
#include "llvm/ADT/StringSwitch.h"

namespace nacre::python {

namespace {

PyTypeObject *directCallType = nullptr;

struct Step {
  enum class Operation : uint8_t { Number, Argument, Add, Subtract, Multiply, FloorDivide, Modulo, Negate, Max, Min };
  Operation operation;
  int64_t number;
};

struct Slot {
  Py_ssize_t place;
  Type type;
  Handle name;
};

struct Switch {
  Handle names, name; // a dictionary, and a name in it
};

struct DirectCallState {
  std::shared_ptr<Kernel> kernel;
  Device *device;
  llvm::SmallVector<Slot, 8> slots;
  llvm::SmallVector<Step, 4> grid[3];
  llvm::SmallVector<Switch, 2> switches;
  Py_ssize_t parameters = 0; // of the call, at least
  bool isCooperative = false;
  Handle longWay;
};

struct DirectCallObject {
  PyObject_HEAD DirectCallState *state;
};

const DirectCallState &stateOf(PyObject *self) { return *reinterpret_cast<DirectCallObject *>(self)->state; }

// An int that fits; anything else is for the long way.
bool readPlainInteger(PyObject *value, int64_t &number) {
  if (!PyLong_CheckExact(value))
    return false;
  int overflow = 0;
  number = PyLong_AsLongLongAndOverflow(value, &overflow);
  return overflow == 0;
}

// As Python divides: towards minus infinity.
bool divide(int64_t left, int64_t right, int64_t &quotient, int64_t &remainder) {
  if (right == 0 || (left == INT64_MIN && right == -1))
    return false;
  quotient = left / right;
  remainder = left % right;
  if (remainder != 0 && (remainder < 0) != (right < 0)) {
    --quotient;
    remainder += right;
  }
  return true;
}

// False where it does not come out as a number of programs: the long way says what is wrong.
bool runSteps(llvm::ArrayRef<Step> steps, PyObject *const *args, uint32_t &extent) {
  llvm::SmallVector<int64_t, 8> stack;
  for (const Step &step : steps) {
    using Operation = Step::Operation;
    if (step.operation == Operation::Number) {
      stack.push_back(step.number);
      continue;
    }
    if (step.operation == Operation::Argument) {
      if (!readPlainInteger(args[step.number], stack.emplace_back()))
        return false;
      continue;
    }
    if (step.operation == Operation::Negate) {
      if (__builtin_sub_overflow(int64_t(0), stack.back(), &stack.back()))
        return false;
      continue;
    }
    int64_t right = stack.pop_back_val(), left = stack.back(), unused;
    bool isRight = true;
    switch (step.operation) {
    case Operation::Add:
      isRight = !__builtin_add_overflow(left, right, &stack.back());
      break;
    case Operation::Subtract:
      isRight = !__builtin_sub_overflow(left, right, &stack.back());
      break;
    case Operation::Multiply:
      isRight = !__builtin_mul_overflow(left, right, &stack.back());
      break;
    case Operation::FloorDivide:
      isRight = divide(left, right, stack.back(), unused);
      break;
    case Operation::Modulo:
      isRight = divide(left, right, unused, stack.back());
      break;
    case Operation::Max:
      stack.back() = std::max(left, right);
      break;
    case Operation::Min:
      stack.back() = std::min(left, right);
      break;
    default:
      llvm_unreachable("handled above");
    }
    if (!isRight)
      return false;
  }
  if (stack.back() < 0 || stack.back() > INT32_MAX)
    return false;
  extent = static_cast<uint32_t>(stack.back());
  return true;
}

// Whether nobody wants to see launches, and every switch is off.
bool isUnobserved(const DirectCallState &state) {
  if (events::isWanted(LaunchEvents | LaunchTimeEvents | ProgramEvents | AccessEvents | SampleEvents))
    return false;
  for (const Switch &one : state.switches) {
    PyObject *value = PyDict_GetItemWithError(one.names.get(), one.name.get()); // borrowed
    if (value == Py_False)
      continue;
    if (!value || PyObject_IsTrue(value) != 0) {
      PyErr_Clear();
      return false;
    }
  }
  return true;
}

// False where an argument is not what was compiled for, as far as it can be told here.
bool readSlot(const Slot &slot, PyObject *value, uint64_t &read, llvm::SmallVectorImpl<Handle> &keepAlive) {
  if (slot.type.isPointer()) {
    ArrayView view;
    if (!readArray(value, slot.name.get(), view, keepAlive) || view.device || view.address == 0)
      return false;
    read = view.address;
    return true;
  }
  if (int64_t number; !slot.type.isFloating() && !slot.type.isBool() && readPlainInteger(value, number)) {
    read = static_cast<uint64_t>(number);
    return true;
  }
  read = numberSlot(value, slot.type, slot.name.get());
  return true;
}

bool hasOtherKeywords(PyObject *names) {
  if (!names)
    return false;
  Py_ssize_t size = PyTuple_Size(names);
  return size > 1 || (size == 1 && PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, 0), "stream") != 0);
}

PyObject *goLongWay(const DirectCallState &state, PyObject *const *args, Py_ssize_t positional, PyObject *names) {
  Handle function = state.longWay; // which may be let go while it runs
  if (!function)
    raise(PyExc_RuntimeError, "the kernel is being collected");
  Handle tuple = checked(PyTuple_New(positional)), named = checked(PyDict_New());
  for (Py_ssize_t i = 0; i < positional; ++i)
    checkedStatus(PyTuple_SetItem(tuple.get(), i, Handle::borrow(args[i]).release()));
  for (Py_ssize_t i = 0, size = names ? PyTuple_Size(names) : 0; i < size; ++i)
    checkedStatus(PyDict_SetItem(named.get(), PyTuple_GetItem(names, i), args[positional + i]));
  return checked(PyObject_Call(function.get(), tuple.get(), named.get())).release();
}

PyObject *launchDirectly(PyObject *self, PyObject *const *args, Py_ssize_t positional, PyObject *names) {
  return guarded([&]() -> PyObject * {
    const DirectCallState &state = stateOf(self);
    if (positional != state.parameters || hasOtherKeywords(names) || !isUnobserved(state))
      return goLongWay(state, args, positional, names);
    uint32_t grid[3];
    for (int axis = 0; axis < 3; ++axis)
      if (!runSteps(state.grid[axis], args, grid[axis]))
        return goLongWay(state, args, positional, names);
    llvm::SmallVector<uint64_t, 32> slots;
    llvm::SmallVector<Handle, 4> keepAlive;
    for (const Slot &slot : state.slots)
      if (!readSlot(slot, args[slot.place], slots.emplace_back(), keepAlive))
        return goLongWay(state, args, positional, names);
    LaunchOptions options;
    options.cooperative = state.isCooperative;
    std::shared_ptr<Kernel> kernel = state.kernel; // others may let the function go meanwhile
    launchReleased(*kernel, *state.device, grid, slots, options);
    Py_RETURN_NONE;
  });
}
PyMethodDef launchMethod = {"run", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(launchDirectly)),
                            METH_FASTCALL | METH_KEYWORDS, "Runs the kernel with these arguments."};

Step::Operation operationNamed(PyObject *name) {
  using Operation = Step::Operation;
  auto found = llvm::StringSwitch<std::optional<Operation>>(llvm::StringRef(textView(name)))
                   .Case("number", Operation::Number)
                   .Case("argument", Operation::Argument)
                   .Case("+", Operation::Add)
                   .Case("-", Operation::Subtract)
                   .Case("*", Operation::Multiply)
                   .Case("//", Operation::FloorDivide)
                   .Case("%", Operation::Modulo)
                   .Case("negate", Operation::Negate)
                   .Case("max", Operation::Max)
                   .Case("min", Operation::Min)
                   .Default(std::nullopt);
  if (!found)
    raise(PyExc_ValueError, "%R is not a step of a grid", name);
  return *found;
}

llvm::SmallVector<Step, 4> readSteps(PyObject *program, Py_ssize_t parameters) {
  llvm::SmallVector<Step, 4> steps;
  int depth = 0;
  for (Py_ssize_t i = 0, size = PyTuple_Size(program); i < size; ++i) {
    PyObject *name;
    long long number;
    if (!PyArg_ParseTuple(PyTuple_GetItem(program, i), "UL", &name, &number))
      throw PythonError();
    Step step{operationNamed(name), number};
    bool isValue = step.operation == Step::Operation::Number || step.operation == Step::Operation::Argument;
    bool isKnown = step.operation != Step::Operation::Argument || (number >= 0 && number < parameters);
    int taken = isValue ? 0 : step.operation == Step::Operation::Negate ? 1 : 2;
    if (!isKnown || depth < taken)
      raise(PyExc_ValueError, "%R is not the way to a grid's extent", program);
    depth += 1 - taken;
    steps.push_back(step);
  }
  if (depth != 1)
    raise(PyExc_ValueError, "%R is not the way to a grid's extent", program);
  return steps;
}

int visitState(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  if (reinterpret_cast<DirectCallObject *>(self)->state) {
    Py_VISIT(stateOf(self).longWay.get());
    for (const Switch &one : stateOf(self).switches)
      Py_VISIT(one.names.get());
  }
  return 0;
}

int clearState(PyObject *self) {
  if (DirectCallState *state = reinterpret_cast<DirectCallObject *>(self)->state) {
    Handle longWay = std::exchange(state->longWay, Handle()); // whose end may run anything
    auto switches = std::exchange(state->switches, {});
  }
  return 0;
}

void deallocate(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  delete std::exchange(reinterpret_cast<DirectCallObject *>(self)->state, nullptr);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

PyType_Slot typeSlots[] = {
    {Py_tp_dealloc, reinterpret_cast<void *>(deallocate)},
    {Py_tp_traverse, reinterpret_cast<void *>(visitState)},
    {Py_tp_clear, reinterpret_cast<void *>(clearState)},
    {Py_tp_doc, const_cast<char *>("What a function of direct_call() holds.")},
    {0, nullptr},
};
PyType_Spec typeSpec = {"nacre._core.DirectCall", sizeof(DirectCallObject), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_HAVE_GC, typeSlots};

} // namespace

Handle makeDirectCallType() {
  Handle type = checked(PyType_FromSpec(&typeSpec));
  directCallType = reinterpret_cast<PyTypeObject *>(type.get());
  return type;
}

PyObject *directCall(PyObject *, PyObject *args) {
  return guarded([&] {
    PyObject *kernel, *types, *names, *places, *grid[3], *switches, *longWay;
    Py_ssize_t parameters;
    int cooperative;
    if (!PyArg_ParseTuple(args, "OO!O!O!n(O!O!O!)pO!O", &kernel, &PyTuple_Type, &types, &PyTuple_Type, &names,
                          &PyTuple_Type, &places, &parameters, &PyTuple_Type, &grid[0], &PyTuple_Type, &grid[1],
                          &PyTuple_Type, &grid[2], &cooperative, &PyTuple_Type, &switches, &longWay))
      throw PythonError();
    auto state = std::make_unique<DirectCallState>();
    std::tie(state->kernel, state->device) = nativeKernel(kernel);
    state->parameters = parameters;
    state->isCooperative = cooperative;
    state->longWay = Handle::borrow(longWay);
    Py_ssize_t count = PyTuple_Size(types);
    if (PyTuple_Size(names) != count || PyTuple_Size(places) != count)
      raise(PyExc_ValueError, "types, names and places are of the same arguments");
    for (Py_ssize_t i = 0; i < count; ++i) {
      if (textView(PyTuple_GetItem(types, i)).empty())
        continue;
      Type type = Type::parseShortName(llvm::StringRef(textView(PyTuple_GetItem(types, i))));
      Py_ssize_t place = PyLong_AsSsize_t(PyTuple_GetItem(places, i));
      if (PyErr_Occurred())
        throw PythonError();
      if (!type || place < 0 || place >= parameters)
        raise(PyExc_ValueError, "%R cannot be an argument of a kernel", PyTuple_GetItem(names, i));
      state->slots.push_back({place, type, Handle::borrow(PyTuple_GetItem(names, i))});
    }
    for (int axis = 0; axis < 3; ++axis)
      state->grid[axis] = readSteps(grid[axis], parameters);
    for (Py_ssize_t i = 0, size = PyTuple_Size(switches); i < size; ++i) {
      PyObject *owner, *name;
      if (!PyArg_ParseTuple(PyTuple_GetItem(switches, i), "O!U", &PyDict_Type, &owner, &name))
        throw PythonError();
      state->switches.push_back({Handle::borrow(owner), Handle::borrow(name)});
    }
    auto allocator = reinterpret_cast<allocfunc>(PyType_GetSlot(directCallType, Py_tp_alloc));
    Handle self = checked(allocator(directCallType, 0));
    reinterpret_cast<DirectCallObject *>(self.get())->state = state.release();
    return checked(PyCFunction_NewEx(&launchMethod, self.get(), nullptr)).release();
  });
}

} // namespace nacre::python
