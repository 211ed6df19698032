// An array in memory that is read and written by blocks: what block pointers and tensor descriptors share. Both are
// records (Object.h), so loops, branches and calls carry them like any other values.
#pragma once

#include "compiler/language/builtins/BlockAddresses.h"
#include "compiler/language/meaning/PointerArguments.h"

namespace nacre {

inline constexpr const char *blockPointerName = "block_ptr";
inline constexpr const char *descriptorName = "tensor_descriptor";
inline constexpr const char *constexprTypeName = "constexpr_type"; // the type of a constexpr: its one field is `value`
inline constexpr const char *descriptorModule = "triton.language.tensor_descriptor"; // its methods

Object makeRecord(const char *typeName, std::vector<std::string> names, std::vector<Object> items);
// A tensor descriptor. The builder's own value for it, where there is one, stands behind the named fields.
Object makeDescriptorRecord(Object base, Object shape, Object strides, Object blockShape, Object padding, Value handle);

// The arguments that both kinds are made from: `base` checked, `shape` and `strides` as tuples of one integer scalar an
// axis. Extents and strides that are constexpr stay so.
struct ArrayArguments {
  Value base;
  Object shape, strides, blockShape;
  size_t rank;
};
ArrayArguments arrayArguments(Evaluation &evaluation, const Object &base, const Object &shape, const Object &strides,
                              const Object &blockShape);

struct BlockView {
  Value base;
  std::vector<Object> shape, strides; // integer scalars, or constexpr ints
  llvm::SmallVector<int64_t> blockShape;

  explicit BlockView(const Object &record);
  static const Object &field(const Object &record, llvm::StringRef name);
  Type element() const { return base.type().element(); }
};

// One integer scalar for each axis of the array, as int64.
llvm::SmallVector<Value> offsetsArgument(Evaluation &evaluation, const Object &object, size_t rank, const char *name);

// The array as builders take it.
BlockArray blockArray(Evaluation &evaluation, const BlockView &view);

// Fails where the elements cannot be padded so.
void checkPadding(Evaluation &evaluation, const BlockView &view, Padding padding);
} // namespace nacre
