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

static SharedType boxTileOf(Value map, const LinearLayout &parts) {
  RankedTensorType block = cast<TensorMapType>(map.getType()).getBlock();
  SmallVector<int64_t> own(block.getShape());
  for (unsigned axis = 0; axis < own.size(); ++axis)
    own[axis] >>= parts.axisBits(axis);
  LinearLayout layout = boxLayout(recipeOf(map), own).product(parts);
  return SharedType::get(map.getContext(), block.getShape(), block.getElementType(),
                         LayoutAttr::get(map.getContext(), layout), 1);
}

static LinearLayout allInEach(unsigned rank, unsigned blockBits) {
  LinearLayout parts((SmallVector<unsigned>(rank)));
  for (unsigned bit = 0; bit < blockBits; ++bit)
    parts.add(Place::Block, 0);
  return parts;
}

SharedType nacre::simt::boxTile(Value map) {
  auto kernel = cast<func::FuncOp>(cast<BlockArgument>(map).getOwner()->getParentOp());
  int64_t ctas = BlockShape::of(kernel->getParentOfType<ModuleOp>()).ctas;
  return boxTileOf(map, allInEach(cast<TensorMapType>(map.getType()).getRank(), llvm::Log2_64(ctas)));
}

SharedType nacre::simt::boxTile(Value map, const LinearLayout &registers) {
  TensorMapRecipe recipe = recipeOf(map);
  LinearLayout parts = registers.parts();
  bool isWhole = registers.ofOneBlock().has_value();
  for (unsigned axis = 0; axis < registers.rank(); ++axis)
    isWhole &= (registers.extent(axis) >> parts.axisBits(axis)) >= recipe.box[axis];
  return isWhole ? boxTileOf(map, parts) : boxTile(map);
}

SmallVector<int64_t> nacre::simt::ownShape(SharedType tile) {
  LinearLayout parts = tile.getLayout().getValue().parts();
  SmallVector<int64_t> own(tile.getShape());
  for (unsigned axis = 0; axis < own.size(); ++axis)
    own[axis] >>= parts.axisBits(axis);
  return own;
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
