// Interning of types and the questions asked of them. Descriptions live as long as the program and are shared by all
// threads.
#include "compiler/language/meaning/Type.h"
#include "compiler/support/ForkSafety.h"
#include "llvm/ADT/FoldingSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"
#include <cassert>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

namespace nacre {

struct TypeStorage {
  Type::Kind kind = Type::Kind::Scalar;
  ScalarKind scalar = ScalarKind::Void;
  Type element;
  bool isConst = false;
  int addressSpace = 1;
  std::vector<int64_t> shape;
};

namespace {

struct ScalarFacts {
  llvm::StringLiteral name;      // as printed
  llvm::StringLiteral shortName; // as in signatures
  int bits;
};

// In the order of ScalarKind.
constexpr ScalarFacts scalarFacts[] = {
    {"void", "void", 0},         {"int1", "i1", 1},         {"int8", "i8", 8},           {"int16", "i16", 16},
    {"int32", "i32", 32},        {"int64", "i64", 64},      {"uint8", "u8", 8},          {"uint16", "u16", 16},
    {"uint32", "u32", 32},       {"uint64", "u64", 64},     {"fp8e4nv", "fp8e4nv", 8},   {"fp8e5", "fp8e5", 8},
    {"fp8e4b15", "fp8e4b15", 8}, {"fp8e4b8", "fp8e4b8", 8}, {"fp8e5b16", "fp8e5b16", 8}, {"fp16", "fp16", 16},
    {"bf16", "bf16", 16},        {"fp32", "fp32", 32},      {"fp64", "fp64", 64},
};
constexpr size_t scalarKindCount = sizeof(scalarFacts) / sizeof(scalarFacts[0]);
static_assert(scalarKindCount == static_cast<size_t>(ScalarKind::Float64) + 1);

const ScalarFacts &facts(ScalarKind kind) { return scalarFacts[static_cast<size_t>(kind)]; }

class Interner {
public:
  Interner() {
    for (size_t index = 0; index < scalarKindCount; ++index)
      scalars[index].scalar = static_cast<ScalarKind>(index);
  }

  const TypeStorage *scalar(ScalarKind kind) const { return &scalars[static_cast<size_t>(kind)]; }

  const TypeStorage *compound(TypeStorage description) {
    Key key(description.kind, description.element.opaque(), description.isConst, description.addressSpace,
            description.shape);
    std::lock_guard<ProcessLock> guard(lock);
    std::unique_ptr<TypeStorage> &slot = compounds[key];
    if (!slot)
      slot = std::make_unique<TypeStorage>(std::move(description));
    return slot.get();
  }

private:
  using Key = std::tuple<Type::Kind, const void *, bool, int, std::vector<int64_t>>;
  TypeStorage scalars[scalarKindCount];
  ProcessLock lock;
  std::map<Key, std::unique_ptr<TypeStorage>> compounds;
};

// Never destroyed: types are used by other static objects at exit.
Interner &interner() {
  static Interner &instance = *new Interner;
  return instance;
}

} // namespace

Type Type::scalar(ScalarKind kind) { return Type(interner().scalar(kind)); }

Type Type::pointer(Type element, bool isConst, int addressSpace) {
  assert(element && !element.isBlock() && "a pointer points to a scalar or a pointer");
  TypeStorage description;
  description.kind = Kind::Pointer;
  description.element = element;
  description.isConst = isConst;
  description.addressSpace = addressSpace;
  return Type(interner().compound(std::move(description)));
}

Type Type::block(Type element, Shape shape) {
  assert(element && (element.isScalar() || element.isPointer()) && "a block holds scalars or pointers");
  assert(!shape.empty() && "a block has at least one axis");
  TypeStorage description;
  description.kind = Kind::Block;
  description.element = element;
  description.shape.assign(shape.begin(), shape.end());
  return Type(interner().compound(std::move(description)));
}

Type Type::descriptor(Type block) {
  assert(block && block.isBlock() && "a descriptor describes blocks");
  TypeStorage description;
  description.kind = Kind::Descriptor;
  description.element = block;
  return Type(interner().compound(std::move(description)));
}

Type::Kind Type::kind() const { return storage->kind; }

ScalarKind Type::scalarKind() const {
  assert(isScalar());
  return storage->scalar;
}

Type Type::element() const {
  assert(!isScalar());
  return storage->element;
}

bool Type::isConst() const { return storage->isConst; }
int Type::addressSpace() const { return storage->addressSpace; }
Shape Type::shape() const { return storage->shape; }

int64_t Type::elementCount() const {
  int64_t count = 1;
  for (int64_t extent : shape())
    count *= extent;
  return count;
}

Type Type::scalarType() const { return isBlock() ? storage->element : *this; }
Type Type::withShape(Shape shape) const { return shape.empty() ? scalarType() : block(scalarType(), shape); }
Type Type::withScalar(Type element) const { return isBlock() ? block(element, shape()) : element; }

// The scalar kind the predicates ask about; Void (which answers no to all) for pointers and descriptors.
static ScalarKind predicateKind(const Type &type) {
  Type scalar = type.scalarType();
  return scalar.isScalar() ? scalar.scalarKind() : ScalarKind::Void;
}

bool Type::isBool() const { return predicateKind(*this) == ScalarKind::Int1; }
bool Type::isInteger() const {
  ScalarKind kind = predicateKind(*this);
  return kind >= ScalarKind::Int1 && kind <= ScalarKind::UInt64;
}
bool Type::isSigned() const {
  ScalarKind kind = predicateKind(*this);
  return kind >= ScalarKind::Int8 && kind <= ScalarKind::Int64;
}
bool Type::isUnsigned() const { return isInteger() && !isSigned(); }
bool Type::isFloating() const { return predicateKind(*this) >= ScalarKind::Float8E4NV; }
bool Type::isFp8() const {
  ScalarKind kind = predicateKind(*this);
  return kind >= ScalarKind::Float8E4NV && kind <= ScalarKind::Float8E5B16;
}
bool Type::isPointerLike() const { return scalarType().isPointer(); }

int Type::bitWidth() const {
  Type scalar = scalarType();
  return scalar.isScalar() ? facts(scalar.scalarKind()).bits : 64;
}
int Type::byteSize() const { return (bitWidth() + 7) / 8; }

std::string Type::str() const {
  switch (kind()) {
  case Kind::Scalar:
    return facts(scalarKind()).name.str();
  case Kind::Pointer:
    return (isConst() ? "const_pointer<" : "pointer<") + element().str() + ">";
  case Kind::Block: {
    std::string extents =
        llvm::join(llvm::map_range(shape(), [](int64_t extent) { return "'" + std::to_string(extent) + "'"; }), ", ");
    return "<[" + extents + "], " + element().str() + ">";
  }
  case Kind::Descriptor:
    return "tensor_descriptor<" + element().str() + ">";
  }
  llvm_unreachable("every kind is printed");
}

std::string Type::shortName() const {
  switch (kind()) {
  case Kind::Scalar:
    return facts(scalarKind()).shortName.str();
  case Kind::Pointer:
    return (isConst() ? "*k" : "*") + element().shortName();
  case Kind::Block: {
    std::string extents =
        llvm::join(llvm::map_range(shape(), [](int64_t extent) { return std::to_string(extent); }), ", ");
    return element().shortName() + "[" + extents + "]";
  }
  case Kind::Descriptor:
    return "tensordesc<" + element().shortName() + ">";
  }
  llvm_unreachable("every kind is printed");
}

Type Type::parseShortName(llvm::StringRef text) {
  text = text.trim();
  if (text.ends_with("]")) {
    auto [elementText, shapeText] = text.drop_back().split('['); // of a block of pointers: "*fp32[64]"
    Type element = parseShortName(elementText);
    if (!element || element.isBlock())
      return Type();
    llvm::SmallVector<int64_t> shape;
    for (llvm::StringRef part : llvm::split(shapeText, ',')) {
      int64_t extent;
      if (part.trim().getAsInteger(10, extent) || extent <= 0)
        return Type();
      shape.push_back(extent);
    }
    return block(element, shape);
  }
  if (text.consume_front("*")) {
    bool isConst = text.consume_front("k");
    Type element = parseShortName(text);
    return element && !element.isBlock() ? pointer(element, isConst) : Type();
  }
  if (text.consume_front("tensordesc<")) {
    if (!text.consume_back(">"))
      return Type();
    Type block = parseShortName(text);
    return block && block.isBlock() && block.rank() <= 5 ? descriptor(block) : Type();
  }
  if (text == "u1")
    return int1();
  for (size_t index = 0; index < scalarKindCount; ++index)
    if (text == scalarFacts[index].shortName)
      return scalar(static_cast<ScalarKind>(index));
  return Type();
}

Type int1() { return Type::scalar(ScalarKind::Int1); }
Type int8() { return Type::scalar(ScalarKind::Int8); }
Type int16() { return Type::scalar(ScalarKind::Int16); }
Type int32() { return Type::scalar(ScalarKind::Int32); }
Type int64() { return Type::scalar(ScalarKind::Int64); }
Type uint8() { return Type::scalar(ScalarKind::UInt8); }
Type uint16() { return Type::scalar(ScalarKind::UInt16); }
Type uint32() { return Type::scalar(ScalarKind::UInt32); }
Type uint64() { return Type::scalar(ScalarKind::UInt64); }
Type float16() { return Type::scalar(ScalarKind::Float16); }
Type bfloat16() { return Type::scalar(ScalarKind::BFloat16); }
Type float32() { return Type::scalar(ScalarKind::Float32); }
Type float64() { return Type::scalar(ScalarKind::Float64); }
Type voidType() { return Type::scalar(ScalarKind::Void); }

} // namespace nacre
