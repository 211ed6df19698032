// See Boxes.h.
#include "compiler/ir/simt/Boxes.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

TensorMapRecipe nacre::simt::recipeOf(Value map) {
  auto argument = cast<BlockArgument>(map);
  auto kernel = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  auto text = kernel.getArgAttrOfType<StringAttr>(argument.getArgNumber(), recipeAttribute);
  std::optional<TensorMapRecipe> recipe = text ? TensorMapRecipe::parse(text.getValue()) : std::nullopt;
  assert(recipe && "a tensor map has a recipe");
  return std::move(*recipe);
}

// The axes in the order of memory: the last one first.
static LinearLayout plainLayout(const TensorMapRecipe &recipe, ArrayRef<int64_t> shape) {
  LinearLayout layout(LinearLayout::paddedBits(shape));
  unsigned rank = static_cast<unsigned>(shape.size());
  for (unsigned axis = rank; axis-- > 0;)
    for (int64_t step = 1; step < recipe.box[axis]; step *= 2)
      layout.add(Place::Offset, axis, static_cast<uint32_t>(step));
  auto addRest = [&](unsigned axis) {
    for (int64_t step = recipe.box[axis]; step < shape[axis]; step *= 2)
      layout.add(Place::Offset, axis, static_cast<uint32_t>(step));
  };
  for (unsigned axis = rank - 1; axis-- > 0;)
    addRest(axis);
  addRest(rank - 1);
  return layout;
}

LinearLayout nacre::simt::boxLayout(const TensorMapRecipe &recipe, ArrayRef<int64_t> shape) {
  LinearLayout layout = plainLayout(recipe, shape);
  if (!recipe.swizzle)
    return layout;
  // Address bit 7 + i is added to bit 4 + i, for as many bits as pieces of 16 bytes in a row have.
  unsigned elementBits = llvm::Log2_64(TensorMapRecipe::bytesOf(recipe.element));
  SmallVector<uint32_t> plain(layout.basesOf(Place::Offset));
  for (unsigned i = 0; i < llvm::Log2_32(recipe.swizzle) - 4; ++i)
    if (7 + i - elementBits < plain.size())
      layout.setBasis(Place::Offset, 7 + i - elementBits, plain[7 + i - elementBits] ^ plain[4 + i - elementBits]);
  return layout;
}

SharedType nacre::simt::boxTile(Value map) {
  RankedTensorType block = cast<TensorMapType>(map.getType()).getBlock();
  LinearLayout layout = boxLayout(recipeOf(map), block.getShape());
  return SharedType::get(map.getContext(), block.getShape(), block.getElementType(),
                         LayoutAttr::get(map.getContext(), layout), 1);
}

SmallVector<BoxPiece> nacre::simt::boxPieces(const TensorMapRecipe &recipe, ArrayRef<int64_t> shape) {
  LinearLayout plain = plainLayout(recipe, shape); // boxes begin where the swizzle changes nothing
  int64_t boxElements = 1, elements = 1;
  for (auto [extent, box] : llvm::zip_equal(shape, recipe.box))
    boxElements *= box, elements *= extent;
  SmallVector<BoxPiece> pieces;
  for (int64_t offset = 0; offset < elements; offset += boxElements) {
    BoxPiece &piece = pieces.emplace_back();
    piece.offset = offset;
    for (uint32_t coordinate : plain.unpack(plain.apply(Position{.offset = static_cast<uint32_t>(offset)})))
      piece.coordinates.push_back(coordinate);
  }
  return pieces;
}
