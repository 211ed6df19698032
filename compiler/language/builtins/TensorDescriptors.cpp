// Tensor descriptors: an array with the shape of the blocks it is accessed by. Every access checks the bounds: outside
// of them nothing is written, and reads give the padding.
#include "compiler/language/meaning/BlockView.h"
#include "compiler/language/builtins/Definitions.h"
#include "llvm/ADT/STLExtras.h"

namespace nacre {

namespace {

Padding paddingOf(const Object &descriptor) {
  return BlockView::field(descriptor, "padding").as<std::string>() == "nan" ? Padding::Nan : Padding::Zero;
}

// Bools are bytes in memory.
BlockArray descriptorArray(Evaluation &evaluation, const BlockView &view) {
  BlockArray array = blockArray(evaluation, view);
  if (view.element().isBool())
    array.base = bytePointer(evaluation, array.base);
  return array;
}

// What blocks a descriptor has, wherever it was made: asked where one is made in the kernel, and where one is used.
void checkBlocks(Evaluation &evaluation, const Object &descriptor) {
  BlockView view(descriptor);
  int64_t extent = view.blockShape.back(), size = view.element().byteSize();
  if (extent * size < 16)
    evaluation.fail(Diagnostic::Kind::Value,
                    "Descriptor block shape must have at least 16 bytes in the last dimension, but got " +
                        std::to_string(extent) + " * " + std::to_string(size) + " = " + std::to_string(extent * size) +
                        " bytes",
                    "make the last of `block_shape` larger, or load with pointers and a mask");
  checkPadding(evaluation, view, paddingOf(descriptor));
}

Object makeDescriptor(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  ArrayArguments array = arrayArguments(evaluation, arguments[0], arguments[1], arguments[2], arguments[3]);
  if (array.rank > 5)
    evaluation.fail(Diagnostic::Kind::Value, "a descriptor has at most 5 axes, found " + std::to_string(array.rank));
  const Object &last = array.strides.tuple().items.back();
  if (!last.isInt() || last.as<Integer>() != 1)
    evaluation.fail(Diagnostic::Kind::Value, "the last of `strides` must be the constexpr 1, not " + describe(last),
                    "the last axis of a descriptor lies in memory without gaps");
  int padding = choiceArgument(evaluation, arguments[4], {"zero", "nan"}, 0, "padding_option");
  Object descriptor = makeDescriptorRecord(array.base, array.shape, array.strides, array.blockShape,
                                           padding == 1 ? "nan" : "zero", Value());
  checkBlocks(evaluation, descriptor);
  Value handle = evaluation.builder().makeDescriptor(descriptorArray(evaluation, BlockView(descriptor)),
                                                     paddingOf(descriptor));
  return makeDescriptorRecord(array.base, array.shape, array.strides, array.blockShape, padding == 1 ? "nan" : "zero",
                              handle);
}

const Object &descriptorArgument(Evaluation &evaluation, const Object &object) {
  if (!object.isRecord(descriptorName))
    evaluation.fail(Diagnostic::Kind::Type, "`desc` must be a tensor descriptor, not " + describe(object),
                    "make one with tl.make_tensor_descriptor, or pass a TensorDescriptor to the kernel");
  checkBlocks(evaluation, object);
  return object;
}

// The descriptor as builders take it. What stands behind the named fields is the builder's own value.
Descriptor descriptorOf(Evaluation &evaluation, const Object &record) {
  Descriptor descriptor;
  descriptor.padding = paddingOf(record);
  const TupleValue &tuple = record.tuple();
  if (tuple.items.size() > tuple.names.size() && tuple.items.back().isValue())
    descriptor.handle = tuple.items.back().value();
  else
    descriptor.array = descriptorArray(evaluation, BlockView(record));
  return descriptor;
}

llvm::SmallVector<Value> offsetsOf(Evaluation &evaluation, const BlockView &view, const Object &offsets) {
  return offsetsArgument(evaluation, offsets, view.blockShape.size(), "offsets");
}

// What was read, with bytes as bools again.
Object loaded(Evaluation &evaluation, const BlockView &view, Value value) {
  return view.element().isBool() ? castTo(evaluation, value, int1()) : value;
}

// A tile of the block's shape, or one that has as many elements: an axis of 1 may be left out or added.
Object blockValue(Evaluation &evaluation, Shape blockShape, const Object &object) {
  if (!object.isValue() || object.value().type().shape() == blockShape ||
      object.value().type().rank() == static_cast<int64_t>(blockShape.size()))
    return object;
  int64_t count = 1;
  for (int64_t extent : blockShape)
    count *= extent;
  if (object.value().type().isBlock() && object.value().type().elementCount() == count)
    return evaluation.builder().reshape(object.value(), blockShape);
  return object;
}

// A value in the elements' type and the shape `shape`, as builders store it.
Value storedValue(Evaluation &evaluation, const BlockView &view, Shape shape, const Object &object) {
  Value value = convertOperand(evaluation, object, view.element());
  if (value.type().isBool())
    value = castTo(evaluation, value, int8());
  return growTo(evaluation, value, shape, "value");
}

Object load(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  const Object &descriptor = descriptorArgument(evaluation, arguments[0]);
  LoadOptions options = loadOptions(evaluation, arguments.size() > 2 ? arguments[2] : Object(),
                                    arguments.size() > 3 ? arguments[3] : Object());
  BlockView view(descriptor);
  llvm::SmallVector<Value> offsets = offsetsOf(evaluation, view, arguments[1]);
  return loaded(evaluation, view,
                evaluation.builder().loadDescriptor(descriptorOf(evaluation, descriptor), offsets, options));
}

Object store(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  const Object &descriptor = descriptorArgument(evaluation, arguments[0]);
  BlockView view(descriptor);
  requireWritable(evaluation, view.base);
  llvm::SmallVector<Value> offsets = offsetsOf(evaluation, view, arguments[1]);
  Value value = storedValue(evaluation, view, view.blockShape, blockValue(evaluation, view.blockShape, arguments[2]));
  evaluation.builder().storeDescriptor(descriptorOf(evaluation, descriptor), offsets, value);
  return Object();
}

// Nothing is returned: a descriptor's atomics only write.
template <AtomicUpdate update> Object atomic(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  const Object &descriptor = descriptorArgument(evaluation, arguments[0]);
  BlockView view(descriptor);
  AtomicOp op = atomicFor(evaluation, update, view.element(), /*isOfDescriptor=*/true);
  requireWritable(evaluation, view.base);
  llvm::SmallVector<Value> offsets = offsetsOf(evaluation, view, arguments[1]);
  Value value = storedValue(evaluation, view, view.blockShape, blockValue(evaluation, view.blockShape, arguments[2]));
  evaluation.builder().reduceDescriptor(op, descriptorOf(evaluation, descriptor), offsets, value);
  return Object();
}

// Rows for gather and scatter: the descriptor's blocks are single rows.
struct Rows {
  Value rows, column;
  llvm::SmallVector<int64_t> shape; // of what is read or written
};
Rows rowsOf(Evaluation &evaluation, const BlockView &view, const Object &rowOffsets, const Object &columnOffset) {
  if (view.blockShape.size() != 2 || view.blockShape[0] != 1)
    evaluation.fail(Diagnostic::Kind::Value,
                    "needs a descriptor of two axes whose blocks have one row, found blocks of "
                    "shape " +
                        shapeText(view.blockShape));
  Value rows = blockArgument(evaluation, rowOffsets, "x_offsets");
  if (rows.type().rank() != 1 || !rows.type().isInteger())
    evaluation.fail(Diagnostic::Kind::Type,
                    "`x_offsets` must be a tensor of integers with one axis, not " + describe(rowOffsets));
  Value column = offsetsArgument(evaluation, columnOffset, 1, "y_offset").front();
  return {castTo(evaluation, rows, int64()), column, {rows.type().shape()[0], view.blockShape[1]}};
}

Object gather(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  const Object &descriptor = descriptorArgument(evaluation, arguments[0]);
  BlockView view(descriptor);
  Rows rows = rowsOf(evaluation, view, arguments[1], arguments[2]);
  LoadOptions options = loadOptions(evaluation, arguments[3], arguments[4]);
  return loaded(
      evaluation, view,
      evaluation.builder().gatherDescriptor(descriptorOf(evaluation, descriptor), rows.rows, rows.column, options));
}

Object scatter(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  const Object &descriptor = descriptorArgument(evaluation, arguments[0]);
  BlockView view(descriptor);
  requireWritable(evaluation, view.base);
  Rows rows = rowsOf(evaluation, view, arguments[2], arguments[3]);
  Value value = storedValue(evaluation, view, rows.shape, arguments[1]);
  evaluation.builder().scatterDescriptor(descriptorOf(evaluation, descriptor), rows.rows, rows.column, value);
  return Object();
}

} // namespace

void addTensorDescriptors(Table &table) {
  table.section(languageModule, "memory");
  table.add("make_tensor_descriptor(base: tensor, shape: tuple, strides: tuple, block_shape: constexpr tuple, "
            "padding_option: constexpr str = \"zero\")",
            "A descriptor of an array, from which blocks are loaded and to which they are stored, bounds checked.\n\n"
            "base: a pointer to the array's first element.\n"
            "shape, strides: of the array, one integer an axis, counted in elements; the last stride is 1.\n"
            "block_shape: of the tiles that are loaded and stored.\n"
            "padding_option: what elements outside read as: \"zero\" or \"nan\".",
            makeDescriptor);
  table.add("load_tensor_descriptor(desc: tensor_descriptor, offsets: tuple)",
            "Loads the block that starts at offsets: desc.load(offsets).", load);
  table.add("store_tensor_descriptor(desc: tensor_descriptor, offsets: tuple, value: tensor)",
            "Stores value at offsets: desc.store(offsets, value).", store);

  table.section(descriptorModule, "memory");
  table.add("load(desc: tensor_descriptor, offsets: tuple, cache_modifier: constexpr str = \"\", eviction_policy: "
            "constexpr str = \"\")",
            "Loads the block that starts at offsets. Elements outside the array read as the padding.", load);
  table.add("store(desc: tensor_descriptor, offsets: tuple, value: tensor)",
            "Stores a block at offsets. Elements outside the array are dropped.", store);
  auto addAtomic = [&](const char *name, const char *what, Table::Invoke invoke) {
    std::string signature = std::string(name) + "(desc: tensor_descriptor, offsets: tuple, value: tensor)";
    table.add(signature.c_str(), std::string(what) + " the block at offsets, each element in one step.", invoke);
  };
  addAtomic("atomic_add", "Adds value to", atomic<AtomicUpdate::Add>);
  addAtomic("atomic_min", "Lowers to value, where that is smaller,", atomic<AtomicUpdate::Min>);
  addAtomic("atomic_max", "Raises to value, where that is larger,", atomic<AtomicUpdate::Max>);
  addAtomic("atomic_and", "Joins value with & to", atomic<AtomicUpdate::And>);
  addAtomic("atomic_or", "Joins value with | to", atomic<AtomicUpdate::Or>);
  addAtomic("atomic_xor", "Joins value with ^ to", atomic<AtomicUpdate::Xor>);
  table.add("gather(desc: tensor_descriptor, x_offsets: tensor, y_offset: tensor, cache_modifier: constexpr str = "
            "\"\", eviction_policy: constexpr str = \"\")",
            "Loads rows of an array of two axes: row x_offsets[i], from column y_offset on, becomes row i. The "
            "descriptor's blocks have one row.",
            gather);
  table.add("scatter(desc: tensor_descriptor, value: tensor, x_offsets: tensor, y_offset: tensor)",
            "Stores row i of value to row x_offsets[i], from column y_offset on.", scatter);
}

} // namespace nacre
