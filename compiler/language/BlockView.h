// An array in memory that is read and written by blocks: what block pointers and tensor descriptors share. Both are
// records of scalars (Object.h), so loops, branches and calls carry them like any other values; an access computes the
// block's pointers and its mask and is then an ordinary one.
#pragma once

#include "compiler/language/PointerArguments.h"

namespace nacre {

inline constexpr const char *blockPointerName = "block_ptr";
inline constexpr const char *descriptorName = "tensor_descriptor";
inline constexpr const char *descriptorModule = "triton.language.tensor_descriptor"; // its methods

Object makeRecord(const char *typeName, std::vector<std::string> names, std::vector<Object> items);

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
  Type element() const { return base.type().element(); }
};

// One integer scalar for each axis of the array, as int64.
llvm::SmallVector<Value> offsetsArgument(Evaluation &evaluation, const Object &object, size_t rank, const char *name);

// The pointers to the block that starts at `offsets`, and where they lie inside the array along the axes `checked`:
// null when none is.
struct BlockPlace {
  Value pointers, mask;
};
BlockPlace locate(Evaluation &evaluation, const BlockView &view, llvm::ArrayRef<Value> offsets,
                  llvm::ArrayRef<bool> checked);
// Rows of a two-dimensional array, one for each of `rows`, a block's width from `column` on; all bounds are checked.
BlockPlace locateRows(Evaluation &evaluation, const BlockView &view, Value rows, Value column);

// What elements outside the array read as, from a padding option: null for zero.
Value paddingValue(Evaluation &evaluation, const BlockView &view, llvm::StringRef padding);

} // namespace nacre
