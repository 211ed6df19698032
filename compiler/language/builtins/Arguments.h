// Reading a builtin's arguments: each function returns what was asked for or fails with the argument's name.
#pragma once

#include "compiler/language/meaning/Scalars.h"

namespace nacre {

int64_t integerArgument(Evaluation &evaluation, const Object &object, const char *name);
bool boolArgument(Evaluation &evaluation, const Object &object, const char *name);
std::string stringArgument(Evaluation &evaluation, const Object &object, const char *name); // None reads as ""
Type typeArgument(Evaluation &evaluation, const Object &object, const char *name);
// Of something that a tile can hold; a block's type stands for that of its elements.
Type elementTypeArgument(Evaluation &evaluation, const Object &object, const char *name);
std::vector<Object> sequenceArgument(const Object &object); // a tuple's items, or the one thing itself
llvm::SmallVector<int64_t> integersArgument(Evaluation &evaluation, const Object &object, const char *name);
// Extents, all positive, of no more elements than a tile may have.
llvm::SmallVector<int64_t> shapeArgument(Evaluation &evaluation, const Object &object, const char *name);
// A run-time value; numbers become scalars.
Value valueArgument(Evaluation &evaluation, const Object &object, const char *name);
// The same, of at least one axis.
Value blockArgument(Evaluation &evaluation, const Object &object, const char *name);
// An axis of a tensor of `rank` axes; negative ones count from the end.
int axisArgument(Evaluation &evaluation, const Object &object, int64_t rank, const char *name = "axis");
// One of a set of words; `names` and the enumeration share an order. None and "" give `otherwise`.
int choiceArgument(Evaluation &evaluation, const Object &object, llvm::ArrayRef<llvm::StringRef> names, int otherwise,
                   const char *name);

// The most elements a tile may have: TRITON_MAX_TENSOR_NUMEL.
constexpr int64_t largestTile = 1048576;
void checkTileSize(Evaluation &evaluation, Shape shape);

} // namespace nacre
