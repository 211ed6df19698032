// The pointers to a block of an array, and where they lie inside it: what block pointers and tensor descriptors come
// down to on a machine that knows only pointers and masks.
#pragma once

#include "compiler/language/meaning/Builder.h"

namespace nacre {

// The mask is null when no axis is checked.
struct BlockPlace {
  Value pointers, mask;
};

// The block that starts at `offsets`, one an axis; the mask tells of the axes `checked`.
BlockPlace locate(Builder &builder, const BlockArray &array, llvm::ArrayRef<Value> offsets,
                  llvm::ArrayRef<bool> checked);
// Rows of an array of two axes, one for each of `rows` (int64), a block's width from `column` on; all bounds are
// checked.
BlockPlace locateRows(Builder &builder, const BlockArray &array, Value rows, Value column);
// What elements outside of the array read as; null for zero.
Value paddingTile(Builder &builder, Padding padding, Type tile);

} // namespace nacre
