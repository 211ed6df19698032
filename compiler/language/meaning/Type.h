// The types of the language, free of MLIR. A Type is a pointer to an interned, immutable description: copying is free and
// equality is identity.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <string>

namespace nacre {

enum class ScalarKind : uint8_t {
  Void, Int1, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64,
  Float8E4NV, Float8E5, Float8E4B15, Float8E4B8, Float8E5B16, Float16, BFloat16, Float32, Float64,
};

using Shape = llvm::ArrayRef<int64_t>;

struct TypeStorage;

class Type {
public:
  enum class Kind : uint8_t { Scalar, Pointer, Block, Descriptor };

  Type() = default; // the null type
  explicit operator bool() const { return storage != nullptr; }
  bool operator==(const Type &other) const { return storage == other.storage; }

  static Type scalar(ScalarKind kind);
  // `element` is a scalar or a pointer; a pointer to Int1 addresses bytes.
  static Type pointer(Type element, bool isConst = false, int addressSpace = 1);
  // `element` is a scalar or a pointer type. A block of rank 0 is never made: that is the scalar itself.
  static Type block(Type element, Shape shape);
  // A tensor descriptor over blocks of type `block`.
  static Type descriptor(Type block);

  Kind kind() const;
  bool isScalar() const { return kind() == Kind::Scalar; }
  bool isPointer() const { return kind() == Kind::Pointer; }
  bool isBlock() const { return kind() == Kind::Block; }

  ScalarKind scalarKind() const;   // of a scalar type
  Type element() const;            // of a pointer, block, or descriptor
  bool isConst() const;            // of a pointer
  int addressSpace() const;        // of a pointer
  Shape shape() const;             // of a block; empty for anything else
  int64_t rank() const { return static_cast<int64_t>(shape().size()); }
  int64_t elementCount() const;    // of a block; 1 for anything else

  Type scalarType() const;         // the element of a block, or the type itself
  Type withShape(Shape shape) const;      // same scalar type, other shape (empty: the scalar)
  Type withScalar(Type element) const;    // same shape, other scalar type

  // Predicates on the scalar type (a block answers for its elements; a pointer answers no to all of them).
  bool isBool() const;
  bool isInteger() const;          // Int1 included
  bool isSigned() const;           // Int1 is not signed
  bool isUnsigned() const;         // Int1 included
  bool isFloating() const;         // fp8 included
  bool isFp8() const;
  bool isPointerLike() const;      // a pointer or a block of pointers
  int bitWidth() const;            // 1 for Int1, 64 for pointers
  int byteSize() const;            // in memory: 1 for Int1, 8 for pointers

  std::string str() const;         // as Triton prints it: "fp32", "pointer<fp32>", "<['128', '64'], fp32>"
  std::string shortName() const;   // as in signatures: "fp32", "*fp32", "*kfp16", "i1"
  static Type parseShortName(llvm::StringRef text); // null when it is not a type's short name

  const void *opaque() const { return storage; }

private:
  explicit Type(const TypeStorage *storage) : storage(storage) {}
  const TypeStorage *storage = nullptr;
};

// Spelled-out constructors for the common ones.
Type int1(); Type int8(); Type int16(); Type int32(); Type int64();
Type uint8(); Type uint16(); Type uint32(); Type uint64();
Type float16(); Type bfloat16(); Type float32(); Type float64(); Type voidType();

} // namespace nacre

template <> struct std::hash<nacre::Type> {
  size_t operator()(const nacre::Type &type) const { return std::hash<const void *>()(type.opaque()); }
};
