// Atomic reads and writes of memory.
#include "compiler/language/builtins/Definitions.h"
#include "compiler/language/meaning/PointerArguments.h"

namespace nacre {

namespace {

MemoryOrder orderArgument(Evaluation &evaluation, const Object &object, MemoryOrder otherwise) {
  int choice = choiceArgument(evaluation, object, {"relaxed", "acquire", "release", "acq_rel"},
                              static_cast<int>(otherwise), "sem");
  return static_cast<MemoryOrder>(choice);
}

MemoryScope scopeArgument(Evaluation &evaluation, const Object &object) {
  return static_cast<MemoryScope>(choiceArgument(evaluation, object, {"cta", "gpu", "sys"}, 1, "scope"));
}

struct Access {
  Value pointer, value, mask;
};

// Pointer, value and mask of a read-modify-write, checked and brought to one shape and type.
Access accessArguments(Evaluation &evaluation, const Object &pointerObject, const Object &valueObject,
                       const Object &maskObject) {
  Access access;
  access.pointer = pointerArgument(evaluation, pointerObject);
  requireWritable(evaluation, access.pointer);
  Type element = access.pointer.type().scalarType().element();
  access.value = fitToPointer(evaluation, access.pointer, convertOperand(evaluation, valueObject, element), "val");
  access.mask = maskArgument(evaluation, maskObject);
  if (access.mask)
    access.mask = fitToPointer(evaluation, access.pointer, access.mask, "mask");
  return access;
}

void requireElement(Evaluation &evaluation, Type element, bool isSupported, const std::string &expected) {
  if (!isSupported)
    evaluation.fail(Diagnostic::Kind::Type,
                    "memory of " + element.str() + " cannot be accessed this way; it must be " + expected);
}

bool isWide(Type type) { return !type.isPointer() && type.bitWidth() >= 32; }

Object modify(Evaluation &evaluation, llvm::ArrayRef<Object> arguments, AtomicOp op) {
  Access access = accessArguments(evaluation, arguments[0], arguments[1], arguments[2]);
  MemoryOrder order = orderArgument(evaluation, arguments[3], MemoryOrder::AcquireRelease);
  return evaluation.builder().atomic(op, access.pointer, access.value, access.mask, order,
                                     scopeArgument(evaluation, arguments[4]));
}

Type elementOf(Evaluation &evaluation, const Object &pointer) {
  return pointerArgument(evaluation, pointer).type().scalarType().element();
}

// tl.atomic_add and its like, on the memory of the pointer that comes first.
template <AtomicUpdate update> Object atomicUpdate(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  return modify(evaluation, arguments, atomicFor(evaluation, update, elementOf(evaluation, arguments[0])));
}

Object atomicExchange(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Type element = elementOf(evaluation, arguments[0]);
  requireElement(evaluation, element, isWide(element), "a type of 32 or 64 bits");
  return modify(evaluation, arguments, AtomicOp::Exchange);
}

// Neither casts nor broadcasts, except that a number is made in the memory's type and shape.
Value exactOperand(Evaluation &evaluation, const Value &pointer, const Object &object, const char *name) {
  Type expected = pointer.type().withScalar(pointer.type().scalarType().element());
  if (object.isNumber())
    return constantOf(evaluation, expected, object);
  Value value = valueArgument(evaluation, object, name);
  if (value.type() != expected)
    evaluation.fail(Diagnostic::Kind::Type,
                    std::string("`") + name + "` must be " + Object(Value::unowned(expected, nullptr)).typeName() +
                        " like the memory, not " + describe(object),
                    "convert and broadcast it first");
  return value;
}

Object atomicCompareExchange(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Value pointer = pointerArgument(evaluation, arguments[0]);
  requireWritable(evaluation, pointer);
  Type element = pointer.type().scalarType().element();
  requireElement(evaluation, element, element.bitWidth() >= 16, "a type of 16, 32 or 64 bits");
  Value expected = exactOperand(evaluation, pointer, arguments[1], "cmp"),
        desired = exactOperand(evaluation, pointer, arguments[2], "val");
  MemoryOrder order = orderArgument(evaluation, arguments[3], MemoryOrder::AcquireRelease);
  return evaluation.builder().atomicCas(pointer, expected, desired, order, scopeArgument(evaluation, arguments[4]));
}

bool isNumber(Type type) { return type.isInteger() || type.isFloating(); }

// The same memory as integers of its width.
Value asBits(Evaluation &evaluation, Value pointer) {
  Type address = pointer.type().scalarType();
  int width = 8 * address.element().byteSize();
  Type bits = width == 8 ? int8() : width == 16 ? int16() : width == 32 ? int32() : int64();
  return castTo(evaluation, pointer, Type::pointer(bits, address.isConst(), address.addressSpace()));
}

// An atomic load is `or` with zero: it reads the old value and writes the same bits back.
Object atomicLoad(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Value pointer = pointerArgument(evaluation, arguments[0]);
  Type address = pointer.type().scalarType(), element = address.element();
  requireElement(evaluation, element, isNumber(element), "of integers or floats");
  MemoryOrder order = orderArgument(evaluation, arguments[2], MemoryOrder::Acquire);
  if (order != MemoryOrder::Acquire && order != MemoryOrder::Relaxed)
    evaluation.fail(Diagnostic::Kind::Value, "`sem` must be \"acquire\" or \"relaxed\"");
  Value mask = maskArgument(evaluation, arguments[1]);
  if (mask)
    std::tie(pointer, mask) = unifyShapes(evaluation, pointer, mask);
  Value raw = asBits(evaluation, pointer);
  Type bits = raw.type().scalarType().element();
  Value zero = constantOf(evaluation, raw.type().withScalar(bits), 0);
  Value old =
      evaluation.builder().atomic(AtomicOp::Or, raw, zero, mask, order, scopeArgument(evaluation, arguments[3]));
  return castTo(evaluation, old, element, std::nullopt, /*bitcast=*/!element.isBool());
}

Object atomicStore(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Type element = elementOf(evaluation, arguments[0]);
  requireElement(evaluation, element, isNumber(element), "of integers or floats");
  Access access = accessArguments(evaluation, arguments[0], arguments[1], arguments[2]);
  MemoryOrder order = orderArgument(evaluation, arguments[3], MemoryOrder::Release);
  if (order != MemoryOrder::Release && order != MemoryOrder::Relaxed)
    evaluation.fail(Diagnostic::Kind::Value, "`sem` must be \"release\" or \"relaxed\"");
  if (!isWide(element)) {
    access.pointer = asBits(evaluation, access.pointer);
    access.value = castTo(evaluation, access.value, access.pointer.type().scalarType().element(), std::nullopt,
                          /*bitcast=*/!element.isBool());
  }
  evaluation.builder().atomic(AtomicOp::Exchange, access.pointer, access.value, access.mask, order,
                              scopeArgument(evaluation, arguments[4]));
  return Object();
}

} // namespace

AtomicOp atomicFor(Evaluation &evaluation, AtomicUpdate update, Type element, bool isOfDescriptor) {
  bool isHalf = element == float16() || element == bfloat16();
  switch (update) {
  case AtomicUpdate::Add:
    requireElement(evaluation, element, isWide(element) || isHalf, "a type of 32 or 64 bits, fp16 or bf16");
    return element.isFloating() ? AtomicOp::AddF : AtomicOp::AddI;
  case AtomicUpdate::Min:
  case AtomicUpdate::Max: {
    requireElement(evaluation, element, isWide(element) || (isOfDescriptor && isHalf),
                   isOfDescriptor ? "a type of 32 or 64 bits, fp16 or bf16" : "a type of 32 or 64 bits");
    bool isMaximum = update == AtomicUpdate::Max;
    if (element.isFloating())
      return isMaximum ? AtomicOp::MaxF : AtomicOp::MinF;
    if (element.isSigned())
      return isMaximum ? AtomicOp::MaxS : AtomicOp::MinS;
    return isMaximum ? AtomicOp::MaxU : AtomicOp::MinU;
  }
  case AtomicUpdate::And:
  case AtomicUpdate::Or:
  case AtomicUpdate::Xor:
    requireElement(evaluation, element, isWide(element) && element.isInteger(), "an integer of 32 or 64 bits");
    return update == AtomicUpdate::And ? AtomicOp::And : update == AtomicUpdate::Or ? AtomicOp::Or : AtomicOp::Xor;
  }
  llvm_unreachable("every update is handled");
}

void addAtomics(Table &table) {
  table.section(languageModule, "atomics");
  auto describeUpdate = [](const char *what, const char *types) {
    return std::string(what) +
           " Returns the old value.\n\n"
           "pointer: a pointer or a tensor of pointers, to " +
           types +
           ".\n"
           "val: converted to the memory's type and broadcast to the pointers' shape.\n"
           "mask: int1; where it is false nothing happens.\n"
           "sem: \"acq_rel\" (the default), \"acquire\", \"release\" or \"relaxed\".\n"
           "scope: who sees it as one step: \"gpu\" (the default), \"cta\" or \"sys\".";
  };
  const char *numbers = "32 or 64 bits", *integers = "integers of 32 or 64 bits";
  auto add = [&](const char *name, std::string documentation, Table::Invoke invoke) {
    std::string signature =
        std::string(name) +
        "(pointer: tensor, val: tensor, mask: tensor = None, sem: constexpr str = None, scope: constexpr str = None)";
    table.add(signature.c_str(), std::move(documentation), invoke, Table::method);
  };
  add("atomic_add", describeUpdate("Adds val to memory in one step.", "32 or 64 bits, fp16 or bf16"),
      atomicUpdate<AtomicUpdate::Add>);
  add("atomic_max", describeUpdate("Raises memory to val, where val is larger, in one step.", numbers),
      atomicUpdate<AtomicUpdate::Max>);
  add("atomic_min", describeUpdate("Lowers memory to val, where val is smaller, in one step.", numbers),
      atomicUpdate<AtomicUpdate::Min>);
  add("atomic_and", describeUpdate("Joins val to memory with & in one step.", integers),
      atomicUpdate<AtomicUpdate::And>);
  add("atomic_or", describeUpdate("Joins val to memory with | in one step.", integers), atomicUpdate<AtomicUpdate::Or>);
  add("atomic_xor", describeUpdate("Joins val to memory with ^ in one step.", integers),
      atomicUpdate<AtomicUpdate::Xor>);
  add("atomic_xchg", describeUpdate("Puts val in memory in one step.", numbers), atomicExchange);
  table.add(
      "atomic_cas(pointer: tensor, cmp: tensor, val: tensor, sem: constexpr str = None, scope: constexpr str = None)",
      "Puts val in memory where it holds cmp, in one step. Returns the old value.\n\n"
      "pointer: a pointer or a tensor of pointers, to 16, 32 or 64 bits.\n"
      "cmp, val: of the memory's type and the pointers' shape; neither is converted.\n"
      "sem: \"acq_rel\" (the default), \"acquire\", \"release\" or \"relaxed\".\n"
      "scope: \"gpu\" (the default), \"cta\" or \"sys\".",
      atomicCompareExchange, Table::method);
  table.add("atomic_load(pointer: tensor, mask: tensor = None, sem: constexpr str = None, scope: constexpr str = None)",
            "Reads memory in one step.\n\n"
            "pointer: a pointer or a tensor of pointers, to integers or floats.\n"
            "mask: int1; where it is false nothing is read.\n"
            "sem: \"acquire\" (the default) or \"relaxed\".\n"
            "scope: \"gpu\" (the default), \"cta\" or \"sys\".",
            atomicLoad, Table::method);
  table.add("atomic_store(pointer: tensor, val: tensor, mask: tensor = None, sem: constexpr str = None, scope: "
            "constexpr str = None)",
            "Writes memory in one step.\n\n"
            "pointer: a pointer or a tensor of pointers, to integers or floats.\n"
            "val: converted to the memory's type and broadcast to the pointers' shape.\n"
            "mask: int1; where it is false nothing is written.\n"
            "sem: \"release\" (the default) or \"relaxed\".\n"
            "scope: \"gpu\" (the default), \"cta\" or \"sys\".",
            atomicStore, Table::method);
}

} // namespace nacre
