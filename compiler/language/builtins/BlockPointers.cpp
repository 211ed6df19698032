// Block pointers: a place in an array together with the array's bounds, moved by advance.
#include "compiler/language/builtins/BlockPointers.h"
#include "compiler/language/meaning/BlockView.h"
#include "compiler/language/builtins/Definitions.h"
#include "llvm/ADT/STLExtras.h"

namespace nacre {

namespace {

const std::vector<std::string> fields{"base", "shape", "strides", "offsets", "block_shape"};

Object makeBlockPointer(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  ArrayArguments array = arrayArguments(evaluation, arguments[0], arguments[1], arguments[2], arguments[4]);
  llvm::SmallVector<Value> offsets = offsetsArgument(evaluation, arguments[3], array.rank, "offsets");
  // The order in which the axes lie in memory is a hint; it must still name each axis once.
  llvm::SmallVector<int64_t> order = integersArgument(evaluation, arguments[5], "order");
  llvm::SmallVector<int64_t> sorted = order;
  llvm::sort(sorted);
  bool isOrder = sorted.size() == array.rank;
  for (size_t axis = 0; isOrder && axis < array.rank; ++axis)
    isOrder = sorted[axis] == static_cast<int64_t>(axis);
  if (!isOrder)
    evaluation.fail(Diagnostic::Kind::Value, "`order` must name each of the " + std::to_string(array.rank) +
                                                 " axes once, found " + shapeText(order));
  return makeRecord(blockPointerName, fields,
                    {array.base, array.shape, array.strides,
                     Object::makeTuple(std::vector<Object>(offsets.begin(), offsets.end())), array.blockShape});
}

llvm::SmallVector<Value> offsetsOf(const Object &blockPointer) {
  llvm::SmallVector<Value> offsets;
  for (const Object &offset : blockPointer.tuple().items[3].tuple().items)
    offsets.push_back(offset.value());
  return offsets;
}

Object advance(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  const Object &pointer = arguments[0];
  if (!isBlockPointer(pointer))
    evaluation.fail(Diagnostic::Kind::Type, "`base` must be a block pointer, not " + describe(pointer),
                    "make one with tl.make_block_ptr; a plain pointer moves with +");
  llvm::SmallVector<Value> offsets = offsetsOf(pointer);
  llvm::SmallVector<Value> moves = offsetsArgument(evaluation, arguments[1], offsets.size(), "offsets");
  auto moved = std::make_shared<TupleValue>(pointer.tuple());
  std::vector<Object> sums;
  for (auto [offset, move] : llvm::zip_equal(offsets, moves))
    sums.push_back(evaluation.builder().binary(BinaryOp::AddI, offset, move));
  moved->items[3] = Object::makeTuple(std::move(sums));
  return std::shared_ptr<const TupleValue>(std::move(moved));
}

BlockPlace placeOf(Evaluation &evaluation, const BlockView &view, const Object &pointer, const Object &boundaryCheck) {
  llvm::SmallVector<bool> checked(view.blockShape.size(), false);
  if (!boundaryCheck.isNone())
    for (int64_t axis : integersArgument(evaluation, boundaryCheck, "boundary_check")) {
      if (axis < 0 || axis >= static_cast<int64_t>(checked.size()))
        evaluation.fail(Diagnostic::Kind::Value, "`boundary_check` names axis " + std::to_string(axis) +
                                                     ", but the block has " + std::to_string(checked.size()) +
                                                     (checked.size() == 1 ? " axis" : " axes"));
      checked[static_cast<size_t>(axis)] = true;
    }
  return locate(evaluation.builder(), blockArray(evaluation, view), offsetsOf(pointer), checked);
}

void rejectMask(Evaluation &evaluation, const Object &mask, const char *name) {
  if (!mask.isNone())
    evaluation.fail(Diagnostic::Kind::Argument, std::string("`") + name + "` cannot be used with a block pointer",
                    "name the axes that may be out of bounds with boundary_check=");
}

} // namespace

bool isBlockPointer(const Object &object) { return object.isRecord(blockPointerName); }

Object loadBlock(Evaluation &evaluation, const Object &pointer, const Object &mask, const Object &other,
                 const Object &boundaryCheck, const Object &padding, const LoadOptions &options) {
  rejectMask(evaluation, mask, "mask");
  rejectMask(evaluation, other, "other");
  BlockView view(pointer);
  int choice = choiceArgument(evaluation, padding, {"zero", "nan"}, 0, "padding_option");
  Padding filler = choice == 1 ? Padding::Nan : Padding::Zero;
  checkPadding(evaluation, view, filler);
  BlockPlace place = placeOf(evaluation, view, pointer, boundaryCheck);
  Type tile = Type::block(view.element(), view.blockShape);
  Value outside = place.mask ? paddingTile(evaluation.builder(), filler, tile) : Value();
  return loadTile(evaluation, place.pointers, place.mask, outside ? Object(outside) : Object(), options);
}

void storeBlock(Evaluation &evaluation, const Object &pointer, const Object &value, const Object &mask,
                const Object &boundaryCheck, const StoreOptions &options) {
  rejectMask(evaluation, mask, "mask");
  BlockView view(pointer);
  requireWritable(evaluation, view.base);
  BlockPlace place = placeOf(evaluation, view, pointer, boundaryCheck);
  storeTile(evaluation, place.pointers, value, place.mask, options);
}

void addBlockPointers(Table &table) {
  table.section(languageModule, "memory");
  table.add("make_block_ptr(base: tensor, shape: tuple, strides: tuple, offsets: tuple, block_shape: constexpr tuple, "
            "order: constexpr tuple)",
            "A pointer to a block of an array, which knows the array's bounds.\n\n"
            "base: a pointer to the array's first element.\n"
            "shape, strides: of the array, one integer an axis, counted in elements.\n"
            "offsets: where the block starts.\n"
            "block_shape: of the tiles that are loaded and stored.\n"
            "order: the axes by their place in memory, the fastest first; a hint.",
            makeBlockPointer);
  table.add("advance(base: tensor, offsets: tuple)",
            "A block pointer moved by offsets, one an axis, counted in elements.", advance, Table::method);
}

} // namespace nacre
